/** Blocks commands that delete, and asks before commands that publish. */
import { definePlugin } from "creel/plugin";

export default definePlugin({
  id: "command-guard",
  name: "Command Guard",
  register(api) {
    api.on("before_tool_call", (event) => {
      const command = String(event.params.command ?? "");
      if (/\brm\b/.test(command)) return { block: true, blockReason: "deleting is not for agents" };
      if (/\bpush\b/.test(command))
        return { requireApproval: { title: "Publish", description: `Run "${command}"?`, severity: "warning" } };
      return undefined;
    });
  },
});
