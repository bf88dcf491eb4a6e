/** A person who has installed the packed package and types commands in a folder of their own; what was on their screen is kept. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { appEnv, appFolder } from "../support/packed.ts";
import { onTerminal } from "../support/pty.ts";
import type { Screen } from "../support/pty.ts";

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Both. */
  readonly text: string;
}

export class Person {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** All that was printed. */
  readonly seen: string[] = [];

  static async begin(files: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}): Promise<Person> {
    const home = await appFolder(files);
    mkdirSync(`${home}/run`, { mode: 0o700 });
    return new Person(home, await appEnv({ ...env, XDG_RUNTIME_DIR: `${home}/run` }));
  }

  private constructor(home: string, env: Readonly<Record<string, string>>) {
    this.home = home;
    this.env = env;
  }

  /** Without a terminal, as in a script. */
  creel(...args: string[]): Promise<Ended> {
    return this.run("creel", args);
  }

  run(command: string, args: readonly string[], cwd = this.home): Promise<Ended> {
    return new Promise((done) => {
      const child = execFile(command, [...args], { cwd, env: this.env, timeout: 60_000, maxBuffer: 2 ** 24 }, (_, out, err) => {
        const text = out + err;
        this.seen.push(text);
        done({ code: child.exitCode ?? 1, out, err, text });
      });
      child.stdin?.end();
    });
  }

  /** A line of a shell. */
  async sh(line: string): Promise<{ readonly code: number; readonly stdout: string }> {
    const { code, out } = await this.run("sh", ["-c", line]);
    return { code, stdout: out };
  }

  async install(source: string): Promise<Ended> {
    return this.accept(await this.creel("install", source), source);
  }

  /** Accepts a review by the digest that it was refused with. */
  accept(review: Ended, source: string): Promise<Ended> {
    return this.creel("install", source, "--accept", /--accept (\S+)/.exec(review.text)![1]!);
  }

  terminal(command: string, cwd = this.home): Screen {
    const screen = onTerminal(["sh", "-c", `trap : INT; stty rows 200 cols 100; ${command}`], { cwd, env: this.env });
    void screen.ended.then(() => this.seen.push(screen.text()));
    return screen;
  }
}
