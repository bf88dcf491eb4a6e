/**
 * Shows what an agent is doing while its channel is silent: a line when a tool starts, one every few seconds while it has
 * something to show, and one when it is done. The state lives in the module: a plugin has one cell, so the handler of
 * `tool:result` finds what the handler of `tool:start` noted.
 */
import { definePlugin } from "creel/plugin";

/** `tool:update` is not throttled by the host: a plugin that talks to a rate-limited service does it itself. */
const UPDATE_EVERY_MS = 2_000;
/** A run that was killed never says `result`. */
const MAX_ACTIVE = 200;

interface Active {
  readonly startedMs: number;
  shownMs: number;
}

const active = new Map<string, Active>();

interface Config {
  /** Only sessions of this platform; unset: all. */
  platform?: string;
}

export default definePlugin<Config>({
  id: "tool-visibility",
  name: "Tool Visibility",
  register(api) {
    const { platform } = api.pluginConfig;
    const isShown = ({ sessionMeta }: { sessionMeta: { platform?: string | undefined } }): boolean =>
      platform === undefined || sessionMeta.platform === platform;

    api.on("tool:start", ({ context }) => {
      if (!isShown(context)) return;
      const now = Date.now();
      // Noted before anything is awaited, so that a result that comes soon finds it.
      active.set(context.toolCallId, { startedMs: now, shownMs: now });
      if (active.size > MAX_ACTIVE) active.delete(active.keys().next().value!);
      api.logger.info(`⚙️ ${context.toolName} is running (${active.size} active)`);
    });

    api.on("tool:update", ({ context }) => {
      const tool = active.get(context.toolCallId);
      if (!tool || Date.now() - tool.shownMs < UPDATE_EVERY_MS) return;
      tool.shownMs = Date.now();
      api.logger.info(`⏳ ${context.toolName}: ${String(context.partialResult)}`);
    });

    api.on("tool:result", ({ context }) => {
      const tool = active.get(context.toolCallId);
      if (!tool) return;
      active.delete(context.toolCallId);
      const seconds = ((Date.now() - tool.startedMs) / 1_000).toFixed(1);
      api.logger.info(`${context.isError ? "❌" : "✅"} ${context.toolName} after ${seconds} s (${active.size} active)`);
    });
  },
});
