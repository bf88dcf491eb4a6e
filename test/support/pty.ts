/**
 * A command on a real pseudo-terminal, by `script` of util-linux, which every Debian has. Keys are typed when the screen shows what is waited for, so
 * nothing here depends on time.
 */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { folder } from "./files.ts";

/** Without it there are no pseudo-terminals for Node. Where CI is set, test/cli/consent-terminal.test.ts demands it. */
export const hasPty = spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

/** Longer than a busy machine needs for anything here. */
const LATE_MS = 60_000;

export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";

export interface Screen {
  /** All that was shown so far, without colours and cursor movements. */
  readonly text: () => string;
  /** The same as it came. */
  readonly raw: () => string;
  /** Waits until it is shown, after what was shown the last time. Rejects if the command ends before, and with the screen if it takes too long. */
  readonly shows: (what: string | RegExp) => Promise<void>;
  /** Waits until all that was shown, as it came, is what is waited for. Rejects if the command ends before. */
  readonly until: (isIt: (raw: string) => boolean) => Promise<void>;
  readonly type: (keys: string) => void;
  /** Takes the terminal away, as a closed window does. */
  readonly hangUp: () => void;
  /** The command's own exit code. */
  readonly ended: Promise<number>;
}

export function onTerminal(command: readonly string[], options: { cwd: string; env: Readonly<Record<string, string>> }): Screen {
  const codes = folder({});
  // A hang-up and Ctrl-C reach the shell as well: it lives on to write down how the command ended.
  const line = `trap : HUP INT; ${command.map(quoted).join(" ")}; echo $? > ${quoted(join(codes, "code"))}`;
  const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    cwd: options.cwd,
    env: { TERM: "xterm", SHELL: "/bin/sh", ...options.env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  let seen = 0;
  let isOver = false;
  const waiting = new Set<() => void>();
  const look = (): void => waiting.forEach((one) => one());
  child.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    look();
  });
  child.stdin.on("error", () => {});
  const text = (): string => stripVTControlCharacters(shown).replaceAll("\r", "");
  const over = new Promise<void>((done) => child.once("close", () => done()));
  void over.then(() => {
    isOver = true;
    look();
  });
  return {
    text,
    raw: () => shown,
    type: (keys) => void child.stdin.write(keys),
    hangUp: () => void child.kill("SIGKILL"),
    shows: (what) =>
      new Promise((done, fail) => {
        const check = (): void => {
          const unseen = text().slice(seen);
          const found = typeof what === "string" ? what : what.exec(unseen)?.[0];
          const at = found === undefined ? -1 : unseen.indexOf(found);
          if (at === -1 && !isOver) return;
          end();
          if (at === -1) return fail(new Error(`it ended before it showed ${shownAs(what)}:\n${text()}`));
          seen += at + found!.length;
          done();
        };
        const late = setTimeout(() => {
          end();
          fail(new Error(`it has not shown ${shownAs(what)} for ${LATE_MS / 1000} s:\n${text()}`));
        }, LATE_MS);
        const end = (): void => {
          waiting.delete(check);
          clearTimeout(late);
        };
        waiting.add(check);
        check();
      }),
    until: (isIt) =>
      new Promise((done, fail) => {
        const check = (): void => {
          const isSeen = isIt(shown);
          if (!isSeen && !isOver) return;
          waiting.delete(check);
          if (isSeen) done();
          else fail(new Error(`it ended before it showed what was waited for:\n${text()}`));
        };
        waiting.add(check);
        check();
      }),
    ended: over.then(() => codeIn(join(codes, "code"))),
  };
}

/** After a hang-up, the shell writes it a moment after the terminal is gone. */
async function codeIn(file: string): Promise<number> {
  for (;;) {
    try {
      const text = readFileSync(file, "utf8");
      if (text.endsWith("\n")) return Number(text);
    } catch {
      // Not yet.
    }
    await new Promise((done) => setTimeout(done, 20));
  }
}

function shownAs(what: string | RegExp): string {
  return typeof what === "string" ? JSON.stringify(what) : String(what);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
