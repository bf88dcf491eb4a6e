/** A broken plugin: the word "loop" in a message keeps it busy for ever. Creel stops it, and the gateway does not notice. */
import { definePlugin } from "creel/plugin";

export default definePlugin({
  id: "endless-loop",
  name: "Endless Loop",
  register(api) {
    api.on("message_received", (event) => {
      if (String(event.content).includes("loop")) for (;;);
    });
  },
});
