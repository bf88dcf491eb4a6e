/**
 * Untrusted side, lane thread: ends a turn from outside. isolated-vm's own timeout is a wall clock that nothing can move once a turn has
 * begun, and CPU time is what counts. So each lane has a stopper: an isolate without any plugin's code, which waits on a thread of
 * isolated-vm's until the stall detector names a turn (lane-status.ts), and then disposes of the isolate that the lane is in. It waits
 * without polling. If it does not come, isolated-vm's timeout ends the turn later.
 */
import ivm from "isolated-vm";
import { STOPPER_FIELDS as AT } from "../../../transport/lane-status.ts";
import type { LaneStatus } from "../../../transport/lane-status.ts";

/** Registers come in groups, since the stopper has to leave its wait for them: 0.1 ms. */
const GROUP_MS = 5;
/** The smallest heap that isolated-vm allows. */
const HEAP_MB = 8;

const TASK = { init: 0, add: 1, remove: 2, wait: 3 } as const;

const CODE = `(() => {
  const isolates = new Map();
  let at, words;
  const wait = () => {
    for (let handled = 0; ; ) {
      const signal = Atomics.load(words, ${AT.STOPPER_SIGNAL});
      if (Atomics.load(words, ${AT.STOPPER_LEAVES}) === 1) return;
      const turn = at[${AT.STOP}];
      if (turn !== handled) {
        handled = turn;
        const cell = at[${AT.CELL}];
        const isolate = isolates.get(cell);
        if (isolate !== undefined && at[${AT.TURN}] === turn) {
          isolates.delete(cell);
          at[${AT.STOPPED_CELL}] = cell;
          at[${AT.STOPPED}] = turn;
          try { isolate.dispose(); } catch {}
        }
        continue;
      }
      Atomics.wait(words, ${AT.STOPPER_SIGNAL}, signal);
    }
  };
  return (task, ...args) => {
    if (task === ${TASK.init}) { at = new Float64Array(args[0], 0, ${AT.STOPPER_SIGNAL} / 2); words = new Int32Array(args[0]); }
    else if (task === ${TASK.add}) for (let i = 0; i < args.length; i += 2) isolates.set(args[i], args[i + 1]);
    else if (task === ${TASK.remove}) for (const cell of args) isolates.delete(cell);
    else wait();
  };
})()`;

type Enter = ivm.Reference<(task: number, ...args: unknown[]) => void>;

export class Stopper {
  readonly #status: LaneStatus;
  #isolate: ivm.Isolate | undefined;
  #enter: Enter | undefined;
  /** Cells that it can end now, and changes that it does not know yet; undefined: the cell has gone. */
  readonly #known = new Set<number>();
  readonly #changes = new Map<number, ivm.Isolate | undefined>();
  #timer: NodeJS.Timeout | undefined;

  constructor(status: LaneStatus) {
    this.#status = status;
  }

  /**
   * Can it end a turn of this cell? Before the first turn of a cell it is told at once: a plugin that loops just after a reload would have
   * the wall clock's time. Only to start it takes too long for that: then the cell is in the first group.
   */
  guards(cell: number): boolean {
    if (this.#enter && this.#changes.has(cell)) {
      clearTimeout(this.#timer);
      this.#register();
    }
    return this.#known.has(cell);
  }

  add(cell: number, isolate: ivm.Isolate): void {
    this.#change(cell, isolate);
  }

  remove(cell: number): void {
    if (this.#known.has(cell) || this.#changes.has(cell)) this.#change(cell, undefined);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#changes.clear();
    this.#known.clear();
    this.#status.setStopperWaits(false);
    this.#isolate?.dispose();
    this.#isolate = undefined;
  }

  #change(cell: number, isolate: ivm.Isolate | undefined): void {
    this.#known.delete(cell);
    this.#changes.set(cell, isolate);
    this.#timer ??= setTimeout(() => this.#register(), GROUP_MS);
  }

  #register(): void {
    this.#timer = undefined;
    const enter = this.#start();
    // It leaves its wait first: an isolate has one thread at a time.
    this.#status.setStopperWaits(false);
    const gone: number[] = [];
    const added: unknown[] = [];
    for (const [cell, isolate] of this.#changes) {
      if (!isolate || isolate.isDisposed) {
        gone.push(cell);
      } else {
        added.push(cell, isolate);
        this.#known.add(cell);
      }
    }
    this.#changes.clear();
    if (gone.length > 0) enter.applySync(undefined, [TASK.remove, ...gone]);
    if (added.length > 0) enter.applySync(undefined, [TASK.add, ...added] as never);
    this.#status.setStopperWaits(true);
    // No promise: a thread that is ended while isolated-vm has an answer for it never ends.
    enter.applyIgnored(undefined, [TASK.wait]);
  }

  #start(): Enter {
    if (this.#enter) return this.#enter;
    this.#isolate = new ivm.Isolate({ memoryLimit: HEAP_MB });
    const context = this.#isolate.createContextSync();
    this.#enter = this.#isolate.compileScriptSync(CODE).runSync(context, { reference: true }) as unknown as Enter;
    this.#enter.applySync(undefined, [TASK.init, new ivm.ExternalCopy(this.#status.memory).copyInto()] as never);
    return this.#enter;
  }
}
