/**
 * Inside the isolate: `api.runtime`, and what else OpenClaw plugins read about their surroundings. Paths are those of
 * the cell's own file system.
 */
import { HOME } from "../../../protocol/messages/files.ts";
import { agentMembers, subscribing } from "./agent-events.ts";
import { watched } from "./members.ts";
import { runContext } from "./run-context.ts";
import { moduleNamed } from "../boot/library.ts";
import { bare, NativeTypeError, sliceText } from "../boot/primordials.ts";

/** The release of OpenClaw whose plugin API this one follows. */
const OPENCLAW_VERSION = "2026.9.6";
const { emitAgentEvent, enqueueNextTurnInjection } = agentMembers;
const STATE_DIR = `${HOME}/.openclaw`;

export function runtimeOf(config: unknown, logger: () => object): object {
  const members = {
    version: OPENCLAW_VERSION,
    config: watched({ current: () => config, loadConfig: () => config }, "runtime.config."),
    logging: watched({ shouldLogVerbose: () => false, getChildLogger: () => logger() }, "runtime.logging."),
    state: watched({ resolveStateDir: () => STATE_DIR }, "runtime.state."),
    events: watched(subscribing(bare({}), "onAgentEvent"), "runtime.events."),
  };
  return watched(members, "runtime.");
}

/** As a user would write it: `~` is the plugin's home, and relative paths begin there. */
export function resolvePath(input: unknown): string {
  if (typeof input !== "string") throw new NativeTypeError("api.resolvePath needs a path");
  const isHome = input === "~" || sliceText(input, 0, 2) === "~/";
  const path = moduleNamed("path")!.exports as { resolve(...parts: string[]): string };
  return path.resolve(HOME, isHome ? `.${sliceText(input, 1)}` : input);
}

/** OpenClaw's groups of members, some of which also exist on `api` itself. */
export function groupsOf(session: object): Record<string, object> {
  return bare({
    session: watched(
      {
        ...session,
        state: watched({}, "session.state."),
        workflow: watched({ enqueueNextTurnInjection }, "session.workflow."),
        controls: watched({}, "session.controls."),
      },
      "session.",
    ),
    agent: watched({ events: watched(subscribing({ emitAgentEvent }, "registerAgentEventSubscription"), "agent.events.") }, "agent."),
    runContext: watched({ ...runContext }, "runContext."),
    lifecycle: watched({}, "lifecycle."),
  });
}
