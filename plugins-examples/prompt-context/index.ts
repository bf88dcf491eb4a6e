/** Adds to every prompt what the model cannot know: today's date, and the rules that the operator wrote down. */
import { definePlugin } from "creel/plugin";

interface Config {
  /** What the agent should always keep in mind. */
  rules?: string[];
  /** Rules for single agents, by id. */
  agents?: Record<string, string[]>;
}

export default definePlugin<Config>({
  id: "prompt-context",
  name: "Prompt Context",
  register(api) {
    const { rules = [], agents = {} } = api.pluginConfig;

    api.on("before_prompt_build", (event, ctx) => {
      const own = ctx.agentId !== undefined && Object.hasOwn(agents, ctx.agentId) ? agents[ctx.agentId]! : [];
      const all = [...rules, ...own];
      return {
        // What changes from turn to turn goes to the message: the system prompt stays the same, and the provider's cache warm.
        prependContext: `Today is ${new Date().toISOString().slice(0, 10)}.`,
        ...(all.length > 0 && { appendSystemContext: ["House rules:", ...all.map((rule) => `- ${rule}`)].join("\n") }),
      };
    });
  },
});
