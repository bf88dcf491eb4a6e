/** Inside the isolate: `api.runtime` and what else an OpenClaw plugin asks about the place it runs in. Paths are those of the cell's own file system. */
import { HOME } from "../../protocol/volume.ts";
import { watched } from "./members.ts";
import { moduleNamed } from "./library.ts";
import { bare, NativeTypeError, sliceText } from "./primordials.ts";

/** The release of OpenClaw whose plugin API this one follows. */
const OPENCLAW_VERSION = "2026.9.6";
const STATE_DIR = `${HOME}/.openclaw`;

export function runtimeOf(config: unknown, logger: () => object): object {
  const members = {
    version: OPENCLAW_VERSION,
    config: watched({ current: () => config, loadConfig: () => config }, "runtime.config."),
    logging: watched({ shouldLogVerbose: () => false, getChildLogger: () => logger() }, "runtime.logging."),
    state: watched({ resolveStateDir: () => STATE_DIR }, "runtime.state."),
  };
  return watched(members, "runtime.");
}

/** As a user would write it: `~` is the plugin's home, and so is where a relative path begins. */
export function resolvePath(input: unknown): string {
  if (typeof input !== "string") throw new NativeTypeError("api.resolvePath needs a path");
  const isHome = input === "~" || sliceText(input, 0, 2) === "~/";
  const path = moduleNamed("path")!.exports as { resolve(...parts: string[]): string };
  return path.resolve(HOME, isHome ? `.${sliceText(input, 1)}` : input);
}

/** OpenClaw's groups of members that also stand on `api` itself. */
export function groupsOf(session: object): Record<string, object> {
  return bare({
    session: watched(
      {
        ...session,
        state: watched({}, "session.state."),
        workflow: watched({}, "session.workflow."),
        controls: watched({}, "session.controls."),
      },
      "session.",
    ),
    agent: watched({ events: watched({}, "agent.events.") }, "agent."),
    runContext: watched({}, "runContext."),
    lifecycle: watched({}, "lifecycle."),
  });
}
