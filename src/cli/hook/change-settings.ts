/**
 * `creel hook install` and `uninstall`: plans the changes of an agent's files, shows them, asks, and writes. Nothing is
 * written without a yes, and not if a file has changed since it was shown.
 */
import { chmod, mkdir, readFile, realpath, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { diff } from "node:util";
import { CreelError } from "../../protocol/errors.ts";
import { withoutDanger } from "../../protocol/dangerous-text.ts";
import type { AgentFormat } from "../../serve/agents/format.ts";
import { askerAt, isYes } from "../ui/question.ts";
import type { Keyboard } from "../ui/question.ts";
import type { Terminal } from "../ui/terminal.ts";
import { printableJson } from "../ui/text.ts";
import { EXIT } from "../verb.ts";
import { edited, isEmptyObject } from "./edit-settings.ts";
import { commandsFor, markOf, SETTINGS } from "./settings-places.ts";
import type { OwnFiles, Place, SharedFile } from "./settings-places.ts";

export type HookAction = "install" | "uninstall";

export interface ChangeOptions {
  readonly isProject: boolean;
  /** Instead of the agent's usual file or folder. */
  readonly file: string | undefined;
  readonly socket: string | undefined;
  readonly isYes: boolean;
  readonly isDryRun: boolean;
  readonly isJson: boolean;
  readonly out: Terminal;
  readonly err: Terminal;
  readonly start: readonly string[];
  readonly place?: Place;
  readonly keyboard?: Keyboard;
}

interface Change {
  readonly path: string;
  /** Undefined: there is no such file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isExecutable: boolean;
  /** Folders that go with the file, if they are empty then. */
  readonly emptied: readonly string[];
}

export async function changeSettings(action: HookAction, format: AgentFormat, options: ChangeOptions): Promise<number> {
  const { isJson, isDryRun, out, err } = options;
  const changes = await planned(action, format, options);
  const shown = isJson ? err : out;
  for (const change of changes) show(change, shown);
  const outcome = await decided(action, changes, options);
  if (outcome === "done") for (const change of changes) await write(change);
  const { next } = SETTINGS[format.name]!;
  const files = changes.map(({ path, before, after }) => ({
    path,
    change: before === undefined ? "create" : after === undefined ? "delete" : "edit",
  }));
  if (isJson)
    out.line(
      printableJson({ agent: format.name, action, outcome, files, ...(action === "install" && outcome !== "declined" && { next }) }),
    );
  else if (outcome === "done") {
    out.line(
      `${out.paint("green", "done:")} ${format.title} ${action === "install" ? "asks Creel before its tools run" : "no longer asks Creel"}`,
    );
    if (action === "install") out.line(`${out.paint("gray", "next:")} ${next}`);
  } else if (outcome === "unchanged") out.line(action === "install" ? "It is installed already." : "There is nothing to remove.");
  else if (!isDryRun) out.line("Nothing was changed.");
  return outcome === "declined" ? EXIT.failed : EXIT.ok;
}

type Outcome = "done" | "unchanged" | "declined" | "dry-run";

async function decided(action: HookAction, changes: readonly Change[], options: ChangeOptions): Promise<Outcome> {
  if (changes.length === 0) return "unchanged";
  if (options.isDryRun) return "dry-run";
  if (options.isYes) return "done";
  const ask = options.isJson ? undefined : askerAt(() => "Nothing was changed.", options.keyboard);
  if (!ask) {
    options.err.line('There is no terminal to ask at. Add "--yes" to make these changes.');
    return "declined";
  }
  return isYes(await ask(`${action === "install" ? "Write" : "Remove"} this? [y/N] `)) ? "done" : "declined";
}

async function planned(action: HookAction, format: AgentFormat, options: ChangeOptions): Promise<Change[]> {
  const { where } = SETTINGS[format.name]!;
  const place = options.place ?? { home: homedir(), project: process.cwd(), env: process.env };
  const path = placeOf(where, place, options);
  const commands = commandsFor(format, {
    start: options.start,
    socket: options.socket === undefined ? undefined : resolve(options.socket),
  });
  const isInstall = action === "install";
  if (where.kind === "own") {
    const changes = Object.entries(where.files(commands)).map(([name, text]) =>
      ownChange(join(path, name), isInstall ? text : undefined, format, where),
    );
    return (await Promise.all(changes)).flatMap((change) => change ?? []);
  }
  const before = await textOf(path);
  if (before === undefined && !isInstall) return [];
  const wanted = [...commands].map(([event, command]) => {
    const entry = isInstall ? where.entry(command) : undefined;
    return [event, { entry, mark: markOf(format, event) }] as const;
  });
  let after: string;
  try {
    after = edited(before ?? "", new Map(wanted));
  } catch (error) {
    throw new CreelError("ERR_HOOK_SETTINGS", { path, detail: (error as Error).message });
  }
  if (after === before) return [];
  return [{ path, before, after: !isInstall && isEmptyObject(after) ? undefined : after, isExecutable: false, emptied: [dirname(path)] }];
}

function placeOf(where: SharedFile | OwnFiles, place: Place, { file, isProject }: ChangeOptions): string {
  if (file !== undefined) return resolve(file);
  return isProject ? where.ofProject(place) : where.user(place);
}

/** Undefined: it is as it should be. A file of another author is left alone. */
async function ownChange(
  path: string,
  after: string | undefined,
  format: AgentFormat,
  { isExecutable }: OwnFiles,
): Promise<Change | undefined> {
  const before = await textOf(path);
  if (before === after) return undefined;
  const isOurs = before === undefined || before.includes(` hook --for ${format.name} --event `) || /"name": "creel"/.test(before);
  if (!isOurs && after === undefined) return undefined;
  if (!isOurs) throw new CreelError("ERR_HOOK_SETTINGS", { path, detail: "it is not a file of Creel's" });
  return { path, before, after, isExecutable, emptied: [dirname(path), dirname(dirname(path))] };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new CreelError("ERR_HOOK_SETTINGS", { path, detail: message });
  }
}

const CONTEXT = 2;

/** Lines that change, with a few around them. */
function show({ path, before = "", after = "" }: Change, { line, paint }: Terminal): void {
  line(paint("bold", path));
  const lines = diff(before.split("\n"), after.split("\n"));
  const isNear = (at: number): boolean => lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([kind]) => kind !== 0);
  let isCut = false;
  for (const [at, [kind, text]] of lines.entries()) {
    if (!isNear(at)) {
      if (!isCut) line(paint("gray", "  …"));
      isCut = true;
      continue;
    }
    isCut = false;
    const shown = withoutDanger(text.replaceAll("\t", "  "));
    // `diff` says what the first text has that the second has not.
    line(kind === 0 ? `  ${shown}` : kind > 0 ? paint("red", `- ${shown}`) : paint("green", `+ ${shown}`));
  }
}

async function write({ path, before, after, isExecutable, emptied }: Change): Promise<void> {
  if ((await textOf(path)) !== before) throw new CreelError("ERR_HOOK_SETTINGS", { path, detail: "it was changed while this command ran" });
  if (after === undefined) {
    await rm(path, { force: true });
    // Folders that Creel made for it. Those that hold more stay.
    for (const folder of emptied) await rmdir(folder).catch(() => {});
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  // A settings file may be a link into a folder under version control.
  const target = await realpath(path).catch(() => path);
  const mode = isExecutable
    ? 0o755
    : await stat(target).then(
        ({ mode: found }) => found & 0o777,
        () => 0o644,
      );
  const fresh = `${target}.creel-${process.pid}`;
  try {
    await writeFile(fresh, after, { mode, flag: "wx" });
    await chmod(fresh, mode);
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { force: true });
    throw new CreelError("ERR_HOOK_SETTINGS", { path, detail: (error as Error).message });
  }
}
