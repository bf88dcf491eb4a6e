/**
 * Counts which models sessions are switched to, for whoever has to split the bill. `session:patch` fires after every patch, also
 * when it changed nothing and when it is about something else: only a model that differs from the session's last one counts.
 */
import { definePlugin } from "creel/plugin";

/** Sessions whose model is remembered; the one that was patched longest ago is forgotten first. */
const MAX_SESSIONS = 5_000;
const DEFAULT = "(default)";

/** The model each session has now, as far as patches told. */
const models = new Map<string, string>();
const switches = new Map<string, number>();

export default definePlugin({
  id: "cost-allocation",
  name: "Cost Allocation",
  register(api) {
    api.on("session:patch", ({ sessionKey, context }) => {
      const { model: asked } = context.patch;
      if (asked === undefined) return;
      // Null: back to the gateway's default.
      const model = asked ?? DEFAULT;
      const before = models.get(sessionKey);
      models.delete(sessionKey);
      models.set(sessionKey, model);
      if (models.size > MAX_SESSIONS) models.delete(models.keys().next().value!);
      if (before === model) return;
      switches.set(model, (switches.get(model) ?? 0) + 1);
      const agent = /^agent:([^:]+):/.exec(sessionKey)?.[1] ?? "unknown";
      api.logger.info(`agent ${agent}: ${before ?? DEFAULT} -> ${model}; so far ${totals()}`);
    });
  },
});

function totals(): string {
  return Array.from(switches, ([model, count]) => `${model} ${count}`).join(", ");
}
