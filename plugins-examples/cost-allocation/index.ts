/**
 * Counts which models sessions are switched to, for whoever has to split the bill. `session:patch` fires after every patch, also
 * when it changed nothing and when it is about something else: only a model that differs from the session's last one counts.
 */
import { definePlugin } from "creel/plugin";

const DEFAULT = "(default)";
/** A session whose model was not set for so long is forgotten. */
const FORGET_MS = 30 * 24 * 3_600_000;

export default definePlugin({
  id: "cost-allocation",
  name: "Cost Allocation",
  register(api) {
    api.on("session:patch", async ({ sessionKey, context }) => {
      const { model: asked } = context.patch;
      if (asked === undefined) return;
      // Null: back to the gateway's default.
      const model = asked ?? DEFAULT;
      let before: string | undefined;
      const remember = (old: string | undefined): string => {
        before = old;
        return model;
      };
      // Two patches of one session may be handled at the same time: each must see what the other made of it.
      await api.kv.update(`session:${sessionKey}`, remember, { ttlMs: FORGET_MS });
      if (before === model) return;
      await api.kv.increment(`switches:${model}`);
      const { entries } = await api.kv.list<number>({ prefix: "switches:" });
      const totals = entries.map(({ key, value }) => `${key.slice("switches:".length)} ${value}`).join(", ");
      const agent = /^agent:([^:]+):/.exec(sessionKey)?.[1] ?? "unknown";
      api.logger.info(`agent ${agent}: ${before ?? DEFAULT} -> ${model}; so far ${totals}`);
    });
  },
});
