/** The findings of `creel check` beside the outcome of `creel dev`: types, and permissions that the manifest does not request. */
import type { Findings } from "../check/examine.ts";
import { unrequestedLines } from "../check/page.ts";
import type { Terminal } from "../ui/terminal.ts";
import { wrap } from "../ui/text.ts";

export class InlineCheck {
  readonly #path: string;
  readonly #err: Terminal;
  #isRunning = false;
  #isStale = false;
  /** What was said last: the same is not said again. */
  #said = "";

  constructor(path: string, err: Terminal) {
    this.#path = path;
    this.#err = err;
  }

  /** In the background: the outcome does not wait for TypeScript. */
  start(): void {
    this.#isStale = this.#isRunning;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { examine } = await import("../check/examine.ts");
    const findings = await examine(this.#path, "auto").catch(() => undefined);
    this.#isRunning = false;
    if (this.#isStale) return this.start();
    if (findings) this.#say(findings);
  }

  #say({ problems, unrequested }: Findings): void {
    // What does not load was shown already.
    const shown = problems.filter(({ step }) => step === "types");
    const text = JSON.stringify([shown, unrequested]);
    if (text === this.#said) return;
    const wasSilent = this.#said === "" || this.#said === "[[],[]]";
    this.#said = text;
    const { line, paint, width } = this.#err;
    for (const { message, at } of shown) {
      for (const [index, part] of wrap(`check: ${message}`, width - 4).entries()) line(`${index === 0 ? paint("red", "✗") : " "} ${part}`);
      if (at !== undefined) line(paint("gray", `    at ${at}`));
    }
    unrequestedLines(unrequested, this.#err);
    if (shown.length + unrequested.length === 0 && !wasSilent) line(`${paint("green", "✓")} check: no findings any more`);
  }
}
