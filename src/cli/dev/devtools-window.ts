/** The window of DevTools that `creel dev` has opened: one, whose start the other keys do not wait for. */
import type { InspectAddress } from "../../host/inspect/door.ts";
import type { DevTools } from "./devtools.ts";

type Say = (text: string) => void;

export class DevtoolsWindow implements Disposable {
  readonly #address: InspectAddress | undefined;
  #opening: Promise<DevTools | undefined> | undefined;
  #isOver = false;

  /** Undefined: no debugger can attach. */
  constructor(address: InspectAddress | undefined) {
    this.#address = address;
  }

  async show(say: Say): Promise<void> {
    const address = this.#address;
    if (!address) return say("no debugger can attach: start again with --inspect");
    say(`DevTools: ${address.devtools}`);
    if (this.#opening) return say("its window is open, or about to be");
    const opening = import("./devtools.ts").then(({ openDevtools }) => openDevtools(address, () => (this.#opening = undefined)));
    this.#opening = opening;
    void opening.then(
      (opened) => this.#opened(opened, say),
      () => this.#opened(undefined, say),
    );
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    void this.#opening?.then((opened) => opened?.[Symbol.dispose]());
  }

  #opened(opened: DevTools | undefined, say: Say): void {
    if (opened || this.#isOver) return;
    this.#opening = undefined;
    say("no Chrome or Chromium started here (CHROME_PATH names one): open that address in yours");
  }
}
