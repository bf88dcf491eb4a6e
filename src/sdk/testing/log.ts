/** Trusted side, in an author's test: the plugin's log lines, including those it writes before the host is open. */
import { channel } from "node:diagnostics_channel";
import type { Facts } from "../../host/report/events.ts";

export interface HarnessLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

type LogLine = Facts["log"] & { readonly host: string };

const LOG = channel("creel:log");

export class HarnessLog {
  readonly lines: HarnessLine[] = [];
  /** Lines of all hosts of this process, until the harness knows its own. */
  #early: LogLine[] | undefined = [];
  #host = "";
  #plugin = "";
  readonly #waiting = new Set<() => void>();

  constructor() {
    LOG.subscribe(this.#receive);
  }

  follow(host: string, plugin: string): void {
    this.#host = host;
    this.#plugin = plugin;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const line of early) this.#receive(line);
  }

  close(): void {
    LOG.unsubscribe(this.#receive);
  }

  /** The first line that matches, now or later. */
  async line(pattern: string | RegExp, timeoutMs: number): Promise<HarnessLine> {
    const found = (): HarnessLine | undefined =>
      this.lines.find(({ text }) =>
        typeof pattern === "string" ? text.includes(pattern) : new RegExp(pattern, pattern.flags.replaceAll(/[gy]/g, "")).test(text),
      );
    const there = found();
    if (there) return there;
    const { promise, resolve, reject } = Promise.withResolvers<HarnessLine>();
    const look = (): void => {
      const line = found();
      if (line) resolve(line);
    };
    const clock = setTimeout(() => reject(this.#missing(pattern, timeoutMs)), timeoutMs);
    this.#waiting.add(look);
    return promise.finally(() => {
      clearTimeout(clock);
      this.#waiting.delete(look);
    });
  }

  #missing(pattern: string | RegExp, timeoutMs: number): Error {
    const said = this.lines.map(({ level, text }) => `\n  ${level}: ${text}`).join("");
    return new Error(`no log line matches ${String(pattern)} after ${timeoutMs} ms; there ${said === "" ? "are none" : `are:${said}`}`);
  }

  readonly #receive = (message: unknown): void => {
    const line = message as LogLine;
    if (this.#early) return void this.#early.push(line);
    const { host, plugin, level, text } = line;
    if (host !== this.#host || plugin !== this.#plugin) return;
    this.lines.push({ level, text });
    for (const look of this.#waiting) look();
  };
}
