/** The round of `creel dev`: load, run, show, wait for a change. */
import { findPlugin } from "../../discovery/manifest.ts";
import { Caller } from "../call/caller.ts";
import type { CallerOptions } from "../call/caller.ts";
import type { CallInput } from "../call/input.ts";
import { failure, page, told } from "../call/page.ts";
import { printable } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import { sayWalls } from "../ui/walls.ts";
import { Watch } from "./watch.ts";

export interface DevelopOptions extends Omit<CallerOptions, "plugins" | "log"> {
  readonly path: string;
  /** Undefined: nothing is run. */
  readonly input: CallInput | undefined;
  readonly isJson: boolean;
  readonly out: Terminal;
  readonly err: Terminal;
  /** Ends it. */
  readonly signal: AbortSignal;
}

export async function develop({ path, input, isJson, out, err, signal, ...options }: DevelopOptions): Promise<void> {
  const { root } = await findPlugin(path);
  using watch = await Watch.on(root);
  signal.addEventListener("abort", () => watch[Symbol.dispose](), { once: true });
  await using caller = await Caller.open({ ...options, plugins: [path], log: (line) => told(line, err) });
  sayWalls(caller.wallsWarning(), err);
  const print = (value: object): void => out.line(printable(value));
  const show = async (): Promise<void> => {
    const failed = caller.failures().find(({ isNamed }) => isNamed)?.report;
    if (failed && isJson) print({ loaded: false, error: failed.error });
    if (failed && !isJson) failure(failed, out);
    if (failed) return;
    for (const { plugin, remark } of caller.remarks()) err.line(`${err.paint("yellow", "!")} ${plugin}: ${remark}`);
    if (!input && isJson) print({ loaded: true, error: undefined });
    if (!input && !isJson) out.line(`${out.paint("green", "✓")} loaded`);
    if (!input) return;
    const outcome = await caller.call(input);
    if (isJson) print(outcome);
    else page(outcome, out);
  };
  await show();
  err.line(err.paint("gray", `watching ${root}; press Ctrl-C to stop`));
  while (await watch.next()) {
    await caller.reload();
    if (signal.aborted) break;
    if (!isJson) out.line(out.paint("gray", `── ${new Date().toLocaleTimeString()} ──`));
    await show();
  }
}
