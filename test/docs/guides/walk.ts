/**
 * Walks through a guide: a fresh folder, the packed package, a terminal for each command, and what the page says is typed at each question.
 * /srv and ~ of the page are folders of the walk.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { appEnv, packedCreel } from "../../support/packed.ts";
import { folder } from "../../support/files.ts";
import { CTRL_C, onTerminal } from "../../support/pty.ts";
import type { Screen } from "../../support/pty.ts";
import { stepsOf } from "./blocks.ts";
import type { Command } from "./blocks.ts";
import { isPrinted, screenText, withIds } from "./printed.ts";
import type { Ids } from "./printed.ts";

/** They run until Ctrl-C: the walk goes on beside them, and what they printed is compared at its end. */
const STAYS = /^(?:npx )?creel (?:serve|tail|console)\b(?!.*[;&|])/;
/** What those print of which the page shows nothing. */
const READY = ["…", "ready: …"];
/** They look at what another process writes when it has time. */
const LOOKS = /^creel (?:explain|permissions suggest|approvals|dead (?:list|show)|replay)\b(?! (?:allow|deny|always))/;
/** A question, and what is typed. */
const QUESTION = /^(.*(?:\[y\/N\]|\[Y\/n\]|granted:|permissions:)) (\S+)$/;

/** For a command on a busy machine, or for a line that it shows. */
const PATIENCE_MS = 45_000;

interface Running {
  readonly step: Command;
  readonly screen: Screen;
}

export class Walk implements AsyncDisposable {
  readonly #page: string;
  readonly #world: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #ids: Ids = new Map();
  readonly #running: Running[] = [];
  #cwd: string;

  static async begin(page: string, env: Readonly<Record<string, string>> = {}): Promise<Walk> {
    const world = folder({});
    for (const name of ["srv/gateway", "srv/other", "home", "run"]) mkdirSync(join(world, name), { recursive: true, mode: 0o700 });
    symlinkSync((await packedCreel()).modules, join(world, "srv/node_modules"));
    const clean = await appEnv({ ...env, HOME: join(world, "home"), XDG_RUNTIME_DIR: join(world, "run") });
    return new Walk(page, world, clean);
  }

  private constructor(page: string, world: string, env: Readonly<Record<string, string>>) {
    this.#page = page;
    this.#world = world;
    this.#env = env;
    this.#cwd = join(world, "srv/gateway");
  }

  /** Where the walk's commands are run. */
  get folder(): string {
    return join(this.#world, "srv/gateway");
  }

  /** Every block of the page, and then what still runs. Gives the number of commands. */
  async all(acts: Readonly<Record<string, () => Promise<void>>> = {}): Promise<number> {
    let commands = 0;
    for (const step of stepsOf(this.#page)) {
      if (step.kind === "file") this.#write(step.name, step.text);
      if (step.kind === "act") await (step.name === "stop" ? this.#stopAll() : acts[step.name]!());
      if (step.kind !== "command") continue;
      commands++;
      await this.#do(step);
    }
    await this.#stopAll();
    return commands;
  }

  async #stopAll(): Promise<void> {
    for (const { step, screen } of this.#running.splice(0).toReversed()) await this.#stop(step, screen);
  }

  #write(name: string, text: string): void {
    const path = resolve(this.#cwd, this.#here(name));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  async #do(step: Command): Promise<void> {
    const command = this.#here(withIds(step.command, this.#ids));
    const [, to] = /^cd (\S+)$/.exec(command) ?? [];
    if (to !== undefined) {
      this.#cwd = resolve(this.#cwd, to);
      return;
    }
    const open = (): Screen =>
      onTerminal(["sh", "-c", `trap : INT; stty rows 1000 cols 100; ${command}`], { cwd: this.#cwd, env: this.#env });
    let screen = open();
    if (STAYS.test(command)) {
      const prints = step.prints ?? READY;
      const first = prints.slice(0, prints.findIndex((line) => line !== "…") + 1);
      const begun = screen.until((raw) => isPrinted([...first, "…"], this.#text(raw), this.#ids));
      await this.#within(step, screen, begun);
      this.#running.push({ step, screen });
      return;
    }
    for (const line of step.prints ?? []) {
      const [, question, answer] = QUESTION.exec(line) ?? [];
      if (question === undefined) continue;
      await this.#within(step, screen, screen.shows(question.slice(-40)));
      screen.type(`${answer}\n`);
    }
    let code = await this.#within(step, screen, screen.ended);
    const isRight = (): boolean => !step.prints || isPrinted(step.prints, this.#text(screen.raw()), this.#ids);
    for (const until = Date.now() + PATIENCE_MS; LOOKS.test(command) && !isRight() && Date.now() < until;) {
      screen = open();
      code = await this.#within(step, screen, screen.ended);
    }
    const printed = this.#text(screen.raw());
    if (process.env.CREEL_WALK) console.log(`### ${this.#where(step)}\n${printed}`);
    else if (!isRight()) throw this.#wrong(step, "does not print what the page says, but", printed);
    if (step.code !== undefined && code !== step.code) throw this.#wrong(step, `ended with ${code} instead of ${step.code}:`, printed);
  }

  async #stop(step: Command, screen: Screen): Promise<void> {
    const isAll = (raw: string): boolean => isPrinted([...(step.prints ?? READY), "…"], this.#text(raw), this.#ids);
    if (!process.env.CREEL_WALK) await this.#within(step, screen, screen.until(isAll));
    else console.log(`### ${step.line} $ ${step.command}\n${this.#text(screen.raw())}`);
    screen.type(CTRL_C);
    const code = await screen.ended;
    if (code !== 0) throw this.#wrong(step, `ended with ${code}:`, this.#text(screen.raw()));
  }

  /** Fails with what is on the screen if what the page says does not come. */
  async #within<T>(step: Command, screen: Screen, work: Promise<T>): Promise<T> {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    const late = new Promise<never>((_, fail) => {
      patience.addEventListener("abort", () => fail(this.#wrong(step, "waits, and shows", this.#text(screen.raw()))), { once: true });
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      screen.hangUp();
      throw error;
    }
  }

  #where({ line, command }: Command): string {
    return `${this.#page}:${line}: $ ${command}`;
  }

  #wrong(step: Command, what: string, printed: string): Error {
    return new Error(`${this.#where(step)}\n${what}\n${printed}\n\nthe page says\n${step.prints?.join("\n") ?? ""}`);
  }

  /** A text of the page, for this machine. */
  #here(text: string): string {
    return text.replaceAll("/srv/", `${this.#world}/srv/`);
  }

  /** What was printed, as the page would say it. */
  #text(raw: string): string {
    return screenText(raw).replaceAll(`${this.#world}/run`, "/run/user/1000").replaceAll(this.#world, "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { screen } of this.#running) {
      screen.type(CTRL_C);
      await screen.ended;
    }
    rmSync(this.#world, { recursive: true, force: true });
  }
}
