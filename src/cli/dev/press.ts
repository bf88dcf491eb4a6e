/** What the keys of `creel dev` do. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Caller } from "../call/caller.ts";
import { contextFor } from "../../host/run/absent-context.ts";
import { exampleOf, findHook, readInput } from "../call/input.ts";
import type { CallInput } from "../call/input.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { DevtoolsWindow } from "./devtools-window.ts";
import type { DevelopOptions, Round } from "./develop.ts";
import { saveFixture } from "./fixtures.ts";
import type { Keys } from "./keys.ts";

export interface Pressed {
  readonly round: Round;
  readonly keys: Keys;
  readonly caller: Caller;
  readonly root: string;
  readonly devtools: DevtoolsWindow;
  readonly options: Pick<DevelopOptions, "out" | "err">;
  readonly shownLogs: () => readonly string[];
}

const HELP = [
  ["r", "run the event again"],
  ["e", "edit the event"],
  ["h", "list the hooks it listens to"],
  ["1-9", "choose a hook of that list, and run its smallest event"],
  ["n", "take the next event of fixtures/"],
  ["s", "save the event in fixtures/"],
  ["p", "profile: which lines take the time"],
  ["d", "open DevTools (with --inspect)"],
  ["q", "quit"],
] as const;

export async function press(key: string, pressed: Pressed): Promise<void> {
  const { round, root, devtools, options, shownLogs } = pressed;
  const { err } = options;
  const say = (text: string): void => err.line(err.paint("gray", text));
  if (key === "?") for (const [name, what] of HELP) say(`  ${name.padEnd(3)}  ${what}`);
  if (/^[1-9]$/.test(key)) return chooseHook(Number(key), pressed);
  if (key === "h") listHooks(pressed.caller, err);
  if (key === "d") return devtools.show(say);
  if (!round.input && "renps".includes(key) && key !== "n") return say("there is no event yet: press h to choose a hook");
  if (key === "s") say(`saved as ${await saveFixture(root, round.input!)}`);
  if (key === "n") {
    const next = await round.nextFixture();
    if (!next) return say("there are no fixtures: press s to save an event");
    say(`fixtures/${next.name}`);
  }
  if (key === "e") {
    const edited = await edit(round.input!, pressed.keys, say);
    if (!edited) return;
    round.choose(edited);
  }
  if (key === "p") return round.profile();
  if ("ren".includes(key)) await round.run(shownLogs);
}

function listHooks(caller: Caller, { line, paint }: Terminal): void {
  const names = hooksOf(caller);
  if (names.length === 0) line(paint("gray", "it listens to no hook"));
  for (const [at, name] of names.entries()) line(paint("gray", `  ${at + 1}  ${name}`));
}

async function chooseHook(number: number, { caller, round, shownLogs, options: { err } }: Pressed): Promise<void> {
  const name = hooksOf(caller)[number - 1];
  if (name === undefined) return;
  const hook = findHook(name, undefined);
  round.choose(await readInput(hook, JSON.stringify(exampleOf(hook)), undefined));
  err.line(err.paint("gray", `${name}, with the smallest event that it takes; press e to edit it`));
  await round.run(shownLogs);
}

/** As many as there are keys. */
function hooksOf(caller: Caller): string[] {
  return [...new Set(caller.report().hooks.map(({ hook }) => hook))].slice(0, 9);
}

/** Undefined: it is not valid. A context that was made from the event is made again; one that was given is kept. */
async function edit(input: CallInput, keys: Keys, say: (text: string) => void): Promise<CallInput | undefined> {
  const hook = findHook(input.hook, undefined);
  const isMade = isDeepStrictEqual(input.ctx, contextFor(hook, input.event));
  const ctx = isMade || !input.ctx ? undefined : JSON.stringify(input.ctx);
  const folder = await mkdtemp(join(tmpdir(), "creel-event-"));
  const file = join(folder, `${input.hook.replaceAll(":", "-")}.json`);
  try {
    await writeFile(file, `${JSON.stringify(input.event, undefined, 2)}\n`);
    keys.pause();
    const editor = process.env.VISUAL ?? process.env.EDITOR ?? "vi";
    const child = spawn(`${editor} "${file}"`, { stdio: "inherit", shell: true });
    await new Promise((resolve) => child.once("close", resolve).once("error", resolve));
    return await readInput(hook, await readFile(file, "utf8"), ctx);
  } catch (error) {
    say((error as Error).message);
    return undefined;
  } finally {
    keys.resume();
    await rm(folder, { recursive: true, force: true });
  }
}
