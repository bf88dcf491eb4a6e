/** The rounds of `creel dev`: load, run, show what is different, wait for a change or a key. */
import { findPlugin } from "../../discovery/manifest.ts";
import type { InspectAddress } from "../../host/inspect/door.ts";
import { Caller } from "../call/caller.ts";
import type { CallerOptions } from "../call/caller.ts";
import type { CallInput } from "../call/input.ts";
import { failure, page, told } from "../call/page.ts";
import { CreelError, ERRORS } from "../../protocol/errors.ts";
import { ranOutOfCpu } from "../../protocol/outcome.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { UsageError } from "../options.ts";
import { oneLine } from "../../text/one-line.ts";
import { sayInspect } from "../inspect/options.ts";
import type { Inspection } from "../inspect/options.ts";
import { DevtoolsWindow } from "./devtools-window.ts";
import { codeFrame } from "../ui/code-frame.ts";
import { printableJson } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import { EXIT } from "../verb.ts";
import { sayWalls } from "../ui/walls.ts";
import { Actions } from "./actions.ts";
import type { Action } from "./actions.ts";
import { differencePage } from "./difference.ts";
import type { Shown } from "./difference.ts";
import { readFixtures } from "./fixtures.ts";
import type { Fixture } from "./fixtures.ts";
import { InlineCheck } from "./inline-check.ts";
import { Keys } from "./keys.ts";
import { Watch } from "./watch.ts";

export interface DevelopOptions extends Omit<CallerOptions, "plugins" | "log" | "inspect"> {
  readonly path: string;
  /** Undefined: the fixtures; without any, nothing is run. */
  readonly input: CallInput | undefined;
  readonly inspection: Inspection | undefined;
  readonly isJson: boolean;
  readonly out: Terminal;
  readonly err: Terminal;
  /** Where keys are pressed, if it is a terminal. */
  readonly keyboard: NodeJS.ReadStream;
  /** Ends it. */
  readonly signal: AbortSignal;
}

export async function develop(options: DevelopOptions): Promise<void> {
  const { path, inspection, out, err, keyboard, signal, isJson, ...rest } = options;
  const { root } = await findPlugin(path);
  using watch = await Watch.on(root);
  signal.addEventListener("abort", () => watch[Symbol.dispose](), { once: true });
  let address: InspectAddress | undefined;
  let logs: string[] = [];
  if (inspection?.isBreak) signal.addEventListener("abort", giveUp, { once: true });
  await using caller = await Caller.open({
    ...rest,
    plugins: [path],
    ...(inspection && {
      inspect: {
        port: inspection.port,
        break: inspection.isBreak,
        listening: (opened) => sayInspect((address = opened), inspection.isBreak, err),
      },
    }),
    log: (line) => {
      logs.push(line.text);
      told(line, err);
    },
  });
  signal.removeEventListener("abort", giveUp);
  sayWalls(caller.wallsWarning(), err);
  const actions = new Actions(watch);
  const round = new Round(options, caller, root, actions);
  using devtools = new DevtoolsWindow(address);
  using keys = Keys.at(
    keyboard,
    (key) => actions.push({ key }),
    () => actions.end(),
  );
  const unlessOver = (work: () => Promise<void>): Promise<void> => actions.orOver(attempt(work, actions, err));
  await unlessOver(() => round.show(() => logs));
  err.line(err.paint("gray", `watching ${root}; ${keys ? "press ? for keys, q to stop" : "press Ctrl-C to stop"}`));
  for (let action: Action | undefined = await actions.next(); action; action = await actions.next()) {
    logs = [];
    if (action === "changed") {
      await unlessOver(() => caller.reload());
      if (actions.isOver) break;
      if (!isJson) out.line(out.paint("gray", `── ${new Date().toLocaleTimeString()} ──`));
      await unlessOver(() => round.show(() => logs));
    } else if (keys) {
      const { press } = await import("./press.ts");
      await unlessOver(() => press(action.key, { round, keys, caller, root, devtools, options, shownLogs: () => logs }));
    }
  }
}

/** A host that waits for a debugger cannot be closed. What it has started ends with this process. */
function giveUp(): never {
  process.exit(EXIT.ok);
}

/** What cannot be done is shown, and the watch goes on. */
async function attempt(work: () => Promise<void>, actions: Actions, { line, paint }: Terminal): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (actions.isOver) return;
    if (!(error instanceof CreelError || error instanceof UsageError)) throw error;
    line(`${paint("red", "✗")} ${oneLine(error.message)}`);
    line(`  ${paint("bold", "Fix:")} ${oneLine(error.fix)}`);
  }
}

/** One event at a time, and what the last answer to it was. */
export class Round {
  readonly #options: DevelopOptions;
  readonly #caller: Caller;
  readonly #root: string;
  readonly #check: InlineCheck;
  readonly #actions: Actions;
  readonly #last = new Map<string, Shown>();
  #input: CallInput | undefined;
  #isGiven: boolean;
  #fixture = 0;

  constructor(options: DevelopOptions, caller: Caller, root: string, actions: Actions) {
    this.#options = options;
    this.#actions = actions;
    this.#caller = caller;
    this.#root = root;
    this.#input = options.input;
    this.#isGiven = options.input !== undefined;
    this.#check = new InlineCheck(options.path, options.err);
  }

  get input(): CallInput | undefined {
    return this.#input;
  }

  /** Runs this event from now on. */
  choose(input: CallInput): void {
    this.#input = input;
    this.#isGiven = true;
  }

  /** Gives the next fixture; undefined: there is none. */
  async nextFixture(): Promise<Fixture | undefined> {
    const { fixtures } = await readFixtures(this.#root);
    if (fixtures.length === 0) return undefined;
    this.#fixture = (this.#fixture + 1) % fixtures.length;
    const next = fixtures[this.#fixture]!;
    this.choose(next.input);
    return next;
  }

  /** Loads have happened: shows what went wrong, or runs the event. */
  async show(logs: () => readonly string[]): Promise<void> {
    const { isJson, out, err } = this.#options;
    const print = (value: object): void => out.line(printableJson(value));
    const failed = this.#caller.failures().find(({ isNamed }) => isNamed)?.report;
    if (failed && isJson) print({ loaded: false, error: failed.error });
    if (failed && !isJson) {
      failure(failed, out);
      if (failed.error?.at !== undefined) await codeFrame(this.#root, failed.error.at, out);
    }
    if (failed) return;
    for (const { plugin, remark } of this.#caller.remarks()) err.line(`${err.paint("yellow", "!")} ${plugin}: ${remark}`);
    if (!this.#isGiven) await this.#firstFixture();
    if (!this.#input && isJson) print({ loaded: true, error: undefined });
    if (!this.#input && !isJson) out.line(`${out.paint("green", "✓")} loaded`);
    if (this.#input) await this.run(logs);
    if (!isJson && !this.#actions.isOver) this.#check.start();
  }

  /** Runs the event, and shows the outcome and what is different from the last time. */
  async run(logs: () => readonly string[]): Promise<void> {
    const { isJson, out } = this.#options;
    const input = this.#input;
    if (!input) return;
    const outcome = await this.#caller.call(input);
    if (this.#actions.isOver) return;
    const shown: Shown = { outcome, logs: logs() };
    const key = JSON.stringify(input);
    const before = this.#last.get(key);
    this.#last.set(key, shown);
    if (isJson) return out.line(printableJson(outcome));
    page(outcome, out);
    for (const { error } of outcome.calls) {
      if (error?.at !== undefined) await codeFrame(this.#root, error.at, out);
      if (error) out.line(`  ${out.paint("bold", "Fix:")} ${ERRORS[error.code].fix}`);
    }
    if (outcome.calls.some(ranOutOfCpu)) await this.profile();
    if (outcome.calls.some(({ error }) => error?.code === "ERR_CALL_MEMORY")) await this.profile("heap");
    if (before) differencePage(before, shown, out);
  }

  /** Runs the event once more, in a host of its own, with the profiler. */
  async profile(of: "cpu" | "heap" = "cpu"): Promise<void> {
    const { path, config, approval, permissions, out } = this.#options;
    const options = { path, config, approval, permissions };
    const input = this.#input;
    if (!input) return;
    const { profileCallCpu, profileCallHeap } = await import("../profile/profile.ts");
    const { cpuLines, heapLines } = await import("../profile/page.ts");
    const print =
      of === "cpu"
        ? await profileCallCpu(options, input).then((made) => () => cpuLines(made, out))
        : await profileCallHeap(options, input, LIMITS.inspect.grownMb).then((made) => () => heapLines(made, out));
    if (!this.#actions.isOver) print();
  }

  async #firstFixture(): Promise<void> {
    const { fixtures, problems } = await readFixtures(this.#root);
    for (const problem of problems) this.#options.err.line(`${this.#options.err.paint("yellow", "!")} ${problem}`);
    this.#input = fixtures[this.#fixture % Math.max(1, fixtures.length)]?.input;
  }
}
