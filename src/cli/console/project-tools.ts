/** `creel console`: what the page can do with the project's files, by the same functions as the commands. One thing at a time. */
import { concernsOf, requestedKeys } from "../../install/review/grant-concerns.ts";
import { grantOf } from "../../protocol/config/permission-key.ts";
import { permissionKeysOf, acceptedBy } from "../../install/review/permission-keys.ts";
import { bisect } from "../../replay/bisect.ts";
import { replay } from "../../replay/replay.ts";
import type { ReplaySetup } from "../../replay/replay-host.ts";
import { rerun } from "../../replay/rerun.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { RecordedRun } from "../../protocol/recording.ts";
import { Recordings } from "../../state/recordings.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ConsoleTools, ToolBlame } from "../../console/console-tools.ts";
import { blamesOf } from "../profile/blame.ts";
import type { BlamedRun } from "../profile/blame.ts";
import { changePermissions } from "../plugins/change-permissions.ts";
import { consentOf } from "../plugins/consent.ts";
import { findInstalled } from "../plugins/installed-plugin.ts";
import type { Project } from "../plugins/project.ts";
import { tellRunning } from "../plugins/running-hosts.ts";
import { updateAll } from "../plugins/update.ts";
import type { Terminal } from "../ui/terminal.ts";

const UNSEEN: Terminal = { width: 100, line: () => undefined, paint: (_, text) => text };

export interface ToolsOptions {
  readonly isolation?: ReplaySetup["isolation"] | undefined;
  /** What the gateway names beside the configuration. */
  readonly plugins?: ReplaySetup["plugins"] | undefined;
  /** Tells the host in this process that a plugin's entry in the lock has changed. */
  readonly changed?: (plugin: string) => Promise<unknown>;
}

export function projectTools(project: Project, { isolation, plugins, changed }: ToolsOptions = {}): ConsoleTools {
  const { config, base, state } = project;
  const setup: ReplaySetup = { config, base, stateDir: state.dir, ...(isolation && { isolation }), ...(plugins && { plugins }) };
  const recordings = (): Recordings => new Recordings(state.dir);
  const found = async (runId: string): Promise<RecordedRun> => {
    const run = await recordings().find(runId);
    if (!run) throw new CreelError("ERR_REPLAY_RUN", { runId });
    return run;
  };
  const alone = oneAtATime();
  const blames = new Map<string, Promise<ToolBlame>>();
  return {
    stateDir: state.dir,
    recorded: async (runId) => (await recordings().find(runId))?.event,
    rerun: (runId, event) =>
      alone(async () => {
        const run = await found(runId);
        return rerun(run, setup, event ?? run.event);
      }),
    bisect: (runId) => alone(async () => bisect(await found(runId), setup)),
    blame: (run) => {
      const { runId } = run;
      const making = blames.get(runId);
      if (making) return making;
      if (blames.size >= LIMITS.console.blames)
        return Promise.resolve({ unknown: "other runs are being profiled; open this one again in a moment" });
      const made = alone(() => blamesOf(run as BlamedRun, project, plugins)).finally(() => blames.delete(runId));
      blames.set(runId, made);
      return made;
    },
    whatIf: (plugin, withoutPermission) =>
      alone(async () => {
        if (await recordings().isEmpty()) throw new CreelError("ERR_REPLAY_EMPTY", { path: state.dir, detail: "" });
        if (withoutPermission === undefined) return replay(recordings().runs(), setup, { without: [plugin] });
        const { entry } = await findInstalled(project, plugin);
        const before = permissionKeysOf(entry);
        const { grants } = acceptedBy(
          before.filter((key) => key !== withoutPermission),
          before,
        );
        return replay(recordings().runs(), setup, { grants: { [plugin]: grants } });
      }),
    refused: async (plugin) => {
      if (!(await state.read()).has(plugin)) return undefined;
      const { review, permissions } = await findInstalled(project, plugin);
      return (review?.permissions ?? []).filter(({ key }) => !permissions.includes(key)).map(({ key, words }) => ({ key, words }));
    },
    changePermission: (action, plugin, key) =>
      alone(async () => {
        const { entry, review } = await findInstalled(project, plugin);
        const asked = requestedKeys(review?.permissions ?? []);
        // SECURITY: what needs a second question is for the command line, which asks it. test/cli/console/project-tools.test.ts
        const isRisky = action === "grant" && (!asked.includes(key) || !grantOf(key) || concernsOf([key], asked, entry).length > 0);
        if (isRisky) throw new CreelError("ERR_CONSOLE_GRANT", { key, plugin });
        await changePermissions(state, plugin, action, [key]);
        await tellRunning(state.dir, plugin);
        await changed?.(plugin);
      }),
    reviewUpdate: (plugin) =>
      alone(async () => {
        const hasReplay = !(await recordings().isEmpty());
        const consent = consentOf({}, { verb: "update", isJson: true, outcome: () => "" });
        const more = { terminal: UNSEEN, isJson: true, isDry: true, hasDiff: false, hasReplay, changed: () => undefined };
        const [updated] = await updateAll(project, plugin, { consent, ...more });
        const { outcome, from, to, digest, error, review, replay: replayed } = updated!;
        const changes = (review?.changes ?? [])
          .filter(({ sign }) => sign !== "=")
          .map(({ sign, what, text }) => `${sign} ${what}: ${text}`);
        return { outcome, from, to, digest, error, changes, replay: replayed };
      }),
  };
}

/** Replays start sandboxes: two at once would only slow each other down. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}
