/**
 * Untrusted side, lane thread: serves the host's messages. It enters cells, keeps their clocks, and sends back text. It
 * decides nothing that counts: order, merge, policy and blame are the host's, which checks whatever comes from here.
 */
import { availableParallelism } from "node:os";
import type { ChainRule } from "../protocol/chain-rule.ts";
import { pack, unpack } from "../protocol/frame.ts";
import type { Frame, Unpacked } from "../protocol/frame.ts";
import type { Gauge } from "../protocol/gauge.ts";
import { isHot, readRun, writeReply } from "../protocol/hot.ts";
import type { HotRun } from "../protocol/hot.ts";
import type { Link } from "../protocol/link.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Hello, HostMessage, Open, Route } from "../protocol/messages.ts";
import { errorJson } from "./answer.ts";
import { GuestCode } from "./cell.ts";
import { Hop } from "./hop.ts";
import type { HopLane, LaneRoute } from "./hop.ts";
import { Linger } from "./linger.ts";
import { Nursery } from "./nursery.ts";
import { Resident } from "./resident.ts";
import type { Entry, ResidentEvents } from "./resident.ts";

/** On one CPU, making cells on several threads takes a tenth longer than on one. */
const MAKES_AHEAD = availableParallelism() > 1;

/** What came, or what was made of it. */
type Item = Frame | Unpacked;

const REMOVED = {
  status: "failed",
  wallUs: 0,
  cpuUs: 0,
  body: errorJson("ERR_CALL_NOT_LOADED", { detail: "it was removed" }),
} as const;

/** What belongs to one link: its runs, which it numbers by itself, and what is to be sent back on it. */
interface Side extends HopLane {
  readonly link: Link<Frame>;
  readonly hops: Map<number, Hop>;
  outbox: string[];
}

export class Lane {
  readonly #main: Link<Frame>;
  readonly #sync: Link<Frame>;
  readonly #gauge: Gauge;
  readonly #residents = new Map<number, Resident>();
  /** Whose cells were entered in this batch. Not a Set: one that is filled and emptied with every call makes itself a new table each time. */
  readonly #touched: Resident[] = [];
  readonly #routes = new Map<number, LaneRoute>();
  readonly #sides = new Map<Link<Frame>, Side>();
  /** Those with something in their outbox. */
  readonly #unsent: Side[] = [];
  #rules: Hello["rules"] = {};
  #guest = new GuestCode("");
  readonly #nursery = new Nursery();
  /** What came while cells were made ahead; undefined: none are. */
  #held: { readonly items: readonly Item[]; readonly side: Side }[] | undefined;
  /** Whose cells may have left something after their answers. */
  readonly #late = new Set<Resident>();
  #lateSinceMs = 0;
  #firstUnsentMs = 0;
  #isServing = false;
  readonly #linger: Linger;

  readonly #events: ResidentEvents = {
    opened: ({ id }, ok, loadMs, body) => this.#send(pack({ kind: "opened", cell: id, ok, loadMs }, body)),
    fault: ({ id }, why) => this.#send(pack({ kind: "fault", cell: id }, why)),
    ask: ({ id }, ask, run, service, args) => this.#send(pack({ kind: "ask", cell: id, ask, run }, service, args)),
    volume: ({ id }) => this.#send(pack({ kind: "volume", cell: id })),
    spent: ({ id }, us) => this.#send(pack({ kind: "spent", cell: id, us })),
    log: ({ id }, level, run, text) => this.#send(pack({ kind: "log", cell: id, level, run }, text.slice(0, LIMITS.logBytes + 1))),
  };

  /** `sync` is for runs that the host blocks on; it is served when the host says so. */
  constructor(main: Link<Frame>, sync: Link<Frame>, gauge: Gauge) {
    this.#main = main;
    this.#sync = sync;
    this.#gauge = gauge;
    this.#linger = new Linger({
      poll: () => this.#main.poll?.() ?? false,
      hasTwoWays: main.hasTwoWays === true,
      isCrowded: () => this.#gauge.crowd >= LIMITS.lingerCrowd,
      awake: () => this.#main.stayAwake?.(),
      rests: () => {
        this.#sweepLate();
        this.#main.rest?.();
      },
    });
    this.attach(main);
  }

  /** Serves a link. All links share the cells; answers go back where the question came from. */
  attach(link: Link<Frame>): void {
    const hops = new Map<number, Hop>();
    const side: Side = {
      link,
      isSync: link !== this.#main,
      hops,
      outbox: [],
      resident: (cell) => {
        const resident = this.#residents.get(cell);
        if (resident && !this.#touched.includes(resident)) this.#touched.push(resident);
        return resident;
      },
      reply: (hop, frame, isLast) => {
        if (isLast && hops.size > 0) hops.delete(hop.id);
        this.#sendOn(side, frame);
      },
      flush: () => this.#flush(),
    };
    this.#sides.set(link, side);
    link.onFrames((frames) => this.#serve(frames, side));
    link.onEnd(() => this.#sides.delete(link));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#linger.end();
    // Nobody waits for it any more.
    this.#held?.splice(0);
    await this.#nursery[Symbol.asyncDispose]();
    for (const resident of this.#residents.values()) resident.dispose();
    this.#residents.clear();
    this.#touched.length = 0;
    this.#late.clear();
    this.#guest = new GuestCode("");
  }

  #serve(frames: readonly Frame[], side: Side): void {
    if (this.#held) this.#hold(frames, side);
    else this.#serveNow(frames, side);
  }

  #serveNow(items: readonly Item[], side: Side): void {
    this.#isServing = true;
    for (let at = 0; at < items.length; at++) {
      const item = items[at]!;
      const run = runOf(item);
      if (run) {
        at += this.#run(run, items, at, side) - 1;
      } else {
        const { header, bodies } = typeof item === "string" ? unpack(item) : (item as Unpacked);
        const message = header as HostMessage;
        if (message.kind === "open" && this.#makesAhead(items, at, side)) break;
        this.#handle(message, bodies, side);
      }
      if (items.length > 1) this.#flushInTime();
    }
    // Answers first; what the turns left behind can wait until they are on their way.
    this.#flush();
    for (const resident of this.#touched) {
      if (resident.hasMail) resident.sweep();
      else if (resident.mayHaveMail) this.#late.add(resident);
    }
    this.#touched.length = 0;
    this.#flush();
    this.#isServing = false;
    const nowMs = performance.now();
    if (this.#lateSinceMs === 0) this.#lateSinceMs = nowMs;
    this.#linger.begin(nowMs, items.length);
    // Who stays awake does that when nothing comes any more, or too much. Not by a timer: with one pending, falling asleep costs more (a call 52 instead of 40 µs, on a machine at a load of 2).
    if (!this.#linger.isOn || nowMs - this.#lateSinceMs > LIMITS.sweepMs) this.#sweepLate();
  }

  /** A plugin is to be loaded into a lane without any, and there is more behind it: the cells of all that come are made first, together. Whatever is behind it waits for that. */
  #makesAhead(items: readonly Item[], at: number, side: Side): boolean {
    if (!MAKES_AHEAD || this.#residents.size > 0 || this.#held || at === items.length - 1) return false;
    this.#held = [];
    this.#hold(items.slice(at), side);
    void this.#nursery.cook(this.#guest).then(() => {
      for (const held of this.#held!) this.#serveNow(held.items, held.side);
      this.#held = undefined;
    });
    return true;
  }

  #hold(frames: readonly Item[], side: Side): void {
    const items = frames.map((frame) => (typeof frame === "string" && !isHot(frame) ? unpack(frame) : frame));
    this.#held!.push({ items, side });
    for (const item of items) {
      const message = typeof item !== "string" && "header" in item ? (item.header as HostMessage) : undefined;
      if (message?.kind === "open") this.#nursery.want(message.limits.heapMb);
    }
  }

  /** Of many runs that came together, the answers to the first do not wait for the last. */
  #flushInTime(): void {
    if (this.#unsent.length === 0) return;
    const nowMs = performance.now();
    if (this.#firstUnsentMs === 0) this.#firstUnsentMs = nowMs;
    else if (nowMs - this.#firstUnsentMs > LIMITS.flushMs) this.#flush();
  }

  #sweepLate(): void {
    this.#lateSinceMs = 0;
    if (this.#late.size === 0) return;
    for (const resident of this.#late) resident.sweep();
    this.#late.clear();
    this.#flush();
  }

  #handle(message: HostMessage, bodies: string[], side: Side): void {
    switch (message.kind) {
      case "route":
        this.#routes.set(message.route, this.#laneRoute(message));
        return;
      case "cancel":
        side.hops.get(message.id)?.cancel();
        side.hops.delete(message.id);
        return;
      case "tell":
        return this.#residents.get(message.cell)?.tell(message.ask, message.ok, bodies[0]!);
      case "volume":
        return this.#residents.get(message.cell)?.furnish(message.ok, bodies[0]!);
      case "invoke":
        return this.#residents.get(message.cell)?.invoke(message.handle, message.cause, bodies[0]!);
      case "hello":
        this.#rules = message.rules;
        this.#guest = new GuestCode(bodies[0]!);
        return this.#send(pack({ kind: "ready", version: message.version }));
      case "open":
        return this.#open(message, bodies);
      case "drop":
        return this.#drop(message.cell);
      case "sync":
        return this.attach(this.#sync);
    }
  }

  #laneRoute(route: Route): LaneRoute {
    const rule = this.#rules[route.hook];
    return { ...route, rule, entry: entryOf(route, rule) };
  }

  /** Gives how many runs were run: those behind it may share its turn. */
  #run(run: HotRun, items: readonly Item[], at: number, side: Side): number {
    const route = this.#routes.get(run.route);
    if (!side.isSync) this.#gauge.begin(run.id);
    // It went with one of its cells, while the run was on its way.
    if (!route) {
      this.#sendOn(side, writeReply(run.id, true, [{ step: run.from, ...REMOVED }]));
      return 1;
    }
    if (at + 1 < items.length && canShare(run, route) && !side.isSync) {
      const count = this.#runTogether(run, route, items, at, side);
      if (count > 0) return count;
    }
    const hop = new Hop(side, route, run);
    hop.start();
    this.#keepOpen(hop, side);
    return 1;
  }

  /** Nearly all are over by now. One that is not may be cancelled. */
  #keepOpen(hop: Hop, side: Side): void {
    if (!hop.isOver) side.hops.set(hop.id, hop);
  }

  /** As many of these runs as may share a turn. 0: this one has to be run by itself. */
  #runTogether(first: HotRun, route: LaneRoute, items: readonly Item[], at: number, side: Side): number {
    const step = route.steps[0]!;
    const resident = this.#residents.get(step[0]);
    if (!resident?.sharesTurns) return 0;
    const runs = [first];
    let chars = first.event.length + first.context.length;
    for (let next = at + 1; next < items.length && runs.length < LIMITS.togetherCalls; next++) {
      const run = runOf(items[next]!);
      if (run?.route !== route.route || !canShare(run, route)) break;
      chars += run.event.length + run.context.length;
      if (chars > resident.sharedBytes) break;
      runs.push(run);
    }
    if (runs.length === 1) return 0;
    const hops = runs.map((run) => new Hop(side, route, run));
    for (const hop of hops) hop.shareTurn();
    // Which of them are begun is not known before the turn is over.
    this.#gauge.begin(runs.at(-1)!.id);
    const count = side.resident(step[0])!.callTogether(hops, runs, step);
    this.#gauge.begin(runs[count - 1]!.id);
    for (const hop of hops.slice(0, count)) this.#keepOpen(hop, side);
    // The host can go on with these while the next ones are called.
    if (side.outbox.length >= LIMITS.togetherCalls / 2) this.#flush();
    return count;
  }

  #drop(cell: number): void {
    this.#residents.get(cell)?.dispose();
    this.#residents.delete(cell);
    for (const [number, { steps }] of this.#routes) if (steps.some((step) => step[0] === cell)) this.#routes.delete(number);
  }

  #open(message: Open, bodies: string[]): void {
    this.#residents.get(message.cell)?.dispose();
    const { cell, plugin, limits, hasFineClock, hasVolume } = message;
    const spec = { cell, plugin, limits, hasFineClock, hasVolume, code: bodies[0]!, facts: bodies[1]!, files: bodies[2] };
    const resident = new Resident(spec, this.#guest, this.#nursery, this.#gauge, this.#events);
    this.#residents.set(message.cell, resident);
    resident.load();
    // If the next one takes the process with it, the host must know that this one did not.
    this.#flush();
  }

  #send(frame: string): void {
    const side = this.#sides.get(this.#main);
    if (side) this.#sendOn(side, frame);
  }

  #sendOn(side: Side, frame: string): void {
    side.outbox.push(frame);
    if (side.outbox.length > 1) return;
    this.#unsent.push(side);
    // Turns that no message started (timers, a cell that was rebuilt) have nobody else to send for them.
    if (!this.#isServing) setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#firstUnsentMs = 0;
    for (let side = this.#unsent.pop(); side; side = this.#unsent.pop()) {
      const frames = side.outbox;
      side.outbox = [];
      side.link.send(frames, this.#linger.isOn);
    }
  }
}

/** Nothing else comes in parts. */
function runOf(item: Item): HotRun | undefined {
  const isRun = typeof item === "string" ? isHot(item) : !("header" in item);
  return isRun ? readRun(item as Frame) : undefined;
}

/** A run of one handler, of which nothing was tried before. */
function canShare({ spentMs }: HotRun, { mode, steps }: LaneRoute): boolean {
  return mode === "chain" && steps.length === 1 && spentMs === 0;
}

function entryOf({ mode }: Route, rule: ChainRule | undefined): Entry {
  if (mode === "sync") return { as: "sync", echo: rule?.echo };
  return { as: mode === "fan" ? "observer" : "result" };
}
