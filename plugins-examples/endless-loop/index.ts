/** Hostile on purpose: a handler that never returns. In a gateway's own process this would be the end of the gateway. */
import { definePlugin } from "creel/plugin";

export default definePlugin({
  id: "endless-loop",
  name: "Endless Loop",
  register(api) {
    api.on("before_tool_call", () => {
      for (;;);
    });
  },
});
