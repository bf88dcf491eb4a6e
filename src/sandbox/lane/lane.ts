/**
 * Untrusted side, lane thread: serves the host's messages. It opens slots, runs hops through their cells, and sends
 * back text. It makes no decision that the host relies on: order, merge, policy and blame are the host's, and the host
 * checks everything that comes from here.
 */
import { availableParallelism } from "node:os";
import { pack, unpack } from "../../transport/frames.ts";
import type { Frame, Unpacked } from "../../transport/frames.ts";
import type { LaneStatus } from "../../transport/lane-status.ts";
import { writeReply } from "../../transport/call-frames.ts";
import type { CallRequest } from "../../transport/call-frames.ts";
import type { Link } from "../../transport/link.ts";
import { RequestPoller } from "../../transport/busy-poll.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Hello, HostMessage, Open } from "../../protocol/messages/host-lane.ts";
import { errorJson } from "./answer.ts";
import { GuestCode } from "./cell/cell.ts";
import { CellSlot } from "./cell/cell-slot.ts";
import { DebugSlot } from "./cell/debug-slot.ts";
import { Prewarm } from "./cell/prewarm.ts";
import { Stopper } from "./cell/stopper.ts";
import type { Slot, SlotEvents, SlotLane } from "./cell/slot-lane.ts";
import { Hop, laneRoute } from "./hop.ts";
import type { HopLane, LaneRoute } from "./hop.ts";
import { callOf, messageOf, toItem } from "./items.ts";
import type { Item } from "./items.ts";
import { LaneClock } from "./lane-clock.ts";
import { LaneLoop, Outbox } from "./lane-loop.ts";
import type { OutboxSide } from "./lane-loop.ts";
import { ManualLaneClock } from "./manual-clock.ts";
import { PrewarmHold } from "./prewarm-hold.ts";

/** On one CPU, making cells on several threads takes a tenth longer than on one. */
const PREWARMS = availableParallelism() > 1;

const REMOVED = {
  status: "failed",
  wallUs: 0,
  cpuUs: 0,
  body: errorJson("ERR_CALL_NOT_LOADED", { detail: "it was removed" }),
} as const;

/** One link with its hops, which the host numbers for each link, and its unsent frames. */
interface Side extends HopLane, OutboxSide {
  readonly hops: Map<number, Hop>;
}

export class Lane {
  readonly #main: Link<Frame>;
  readonly #sync: Link<Frame>;
  readonly #status: LaneStatus;
  readonly #stopper: Stopper;
  readonly #slots = new Map<number, Slot>();
  /** Of slots that were removed: what is still under way in them. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #routes = new Map<number, LaneRoute>();
  readonly #sides = new Map<Link<Frame>, Side>();
  #rules: Hello["rules"] = {};
  /** Undefined: the package's own, and nothing has needed it yet. */
  #guest: GuestCode | undefined;
  readonly #ownGuest: () => string;
  #clock = new LaneClock();
  readonly #poller: RequestPoller;
  readonly #outbox: Outbox;
  readonly #loop: LaneLoop;
  readonly #prewarm = new Prewarm();
  readonly #hold = new PrewarmHold<Side>(this.#prewarm, (items, side) => this.#serveInTurn(items, side));

  readonly #events: SlotEvents = {
    opened: (cell, ok, loadMs, body) => this.#send(pack({ kind: "opened", cell, ok, loadMs, heapBytes: this.#heapBytes(cell) }, body)),
    fault: (cell, run, why) => this.#send(pack({ kind: "fault", cell, ...(run > 0 && { run }) }, why)),
    request: (cell, request, run, service, args) => this.#send(pack({ kind: "request", cell, request, run }, service, args)),
    volume: (cell) => this.#send(pack({ kind: "volume", cell })),
    spent: (cell, us, heldUs, ownUs) => this.#send(pack({ kind: "spent", cell, us, heldUs, ownUs, heapBytes: this.#heapBytes(cell) })),
    long: () => {
      this.#loop.tookLong();
    },
    wasLong: () => this.#loop.wasLong,
    flush: () => this.#outbox.flush(),
    inspectable: (cell) => this.#send(pack({ kind: "inspectable", cell })),
    cdp: (cell, message) => this.#send(pack({ kind: "cdp", cell }, message)),
    log: (cell, level, run, text) => this.#send(pack({ kind: "log", cell, level, run }, text.slice(0, LIMITS.log.bytes + 1))),
  };

  /**
   * `sync` carries runs that the host blocks on; the lane serves it from the host's message `sync` on. `ownGuest`: the guest's script, for a host
   * that sends none.
   */
  constructor(main: Link<Frame>, sync: Link<Frame>, status: LaneStatus, ownGuest = () => "") {
    this.#main = main;
    this.#ownGuest = ownGuest;
    this.#sync = sync;
    this.#status = status;
    this.#stopper = new Stopper(status);
    this.#poller = new RequestPoller(
      main,
      () => status.cpuPressure,
      () => this.#loop.sweep(),
    );
    this.#outbox = new Outbox();
    this.#loop = new LaneLoop(this.#outbox, this.#poller, (items) => {
      const side = this.#sides.get(main);
      if (side) this.#serveNow(items, side);
    });
    this.attach(main);
  }

  /** Serves a link. All links share the cells; a reply goes back on the link that its run came from. */
  attach(link: Link<Frame>): void {
    const hops = new Map<number, Hop>();
    const side: Side = {
      link,
      isSync: link !== this.#main,
      hops,
      outbox: [],
      slot: (cell) => {
        const slot = this.#slots.get(cell);
        if (slot) this.#loop.entered(slot);
        return slot;
      },
      reply: (hop, frame, isLast) => {
        if (isLast && hops.size > 0) hops.delete(hop.id);
        this.#outbox.push(side, frame);
      },
      flush: () => this.#outbox.flush(),
      mustYield: () => this.#loop.wasLong && link === this.#main,
      mustReturn: () => this.#loop.wasLong && link !== this.#main,
      yield: (resume) => this.#loop.yield(resume),
    };
    this.#sides.set(link, side);
    link.onFrames((frames) => {
      if (this.#hold.isOn) this.#hold.add(frames, side);
      else this.#serveInTurn(frames, side);
    });
    link.onEnd(() => this.#sides.delete(link));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#poller.stop();
    this.#clock.stop();
    this.#loop.stop();
    this.#hold.drop();
    await this.#prewarm[Symbol.asyncDispose]();
    for (const slot of this.#slots.values()) this.#leave(slot);
    this.#slots.clear();
    // An isolate at a breakpoint would keep its thread.
    await Promise.all(this.#leaving);
    this.#stopper.dispose();
    this.#loop.forgetSlots();
    this.#guest = new GuestCode("");
  }

  #leave(slot: Slot | undefined): void {
    const leaving = slot?.dispose();
    if (!leaving) return;
    const left = leaving.finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  /**
   * While there is a backlog, items of the main link wait behind it. The host blocks on runs of the sync link, so those
   * are served at once.
   */
  #serveInTurn(items: readonly Item[], side: Side): void {
    if (this.#loop.backlog && !side.isSync) this.#putAside(this.#loop.backlog, items, side);
    else this.#serveNow(items, side);
  }

  /** A run that has started is cancelled at once; everything else joins the backlog. */
  #putAside(backlog: Item[], items: readonly Item[], side: Side): void {
    for (const frame of items) {
      const item = toItem(frame);
      const message = messageOf(item);
      if (message?.kind === "cancel" && side.hops.has(message.id)) this.#handle(message, [], side);
      else backlog.push(item);
    }
  }

  #serveNow(items: readonly Item[], side: Side): void {
    this.#loop.begin();
    for (let at = 0; at < items.length; at++) {
      const item = items[at]!;
      const run = callOf(item);
      if (run) {
        this.#run(run, side);
      } else {
        const { header, bodies } = typeof item === "string" ? unpack(item) : (item as Unpacked);
        const message = header as HostMessage;
        if (message.kind === "open" && this.#prewarms(at < items.length - 1)) {
          this.#hold.start(this.#guestCode(), items.slice(at), side);
          break;
        }
        this.#handle(message, bodies, side);
      }
      if (this.#loop.wasLong && !side.isSync) {
        this.#loop.postpone(items.slice(at + 1));
        break;
      }
      if (items.length > 1) this.#outbox.flushInTime();
    }
    this.#loop.end(side.isSync);
  }

  /** The first plugin is to be loaded, and more items come behind it: make the cells of all plugins first. */
  #prewarms(hasMore: boolean): boolean {
    return PREWARMS && hasMore && this.#slots.size === 0 && !this.#hold.isOn;
  }

  #handle(message: HostMessage, bodies: string[], side: Side): void {
    switch (message.kind) {
      case "route":
        this.#routes.set(message.route, laneRoute(message, this.#rules[message.hook]));
        return;
      case "cancel":
        return this.#cancel(message.id, side);
      case "response":
        return this.#slots.get(message.cell)?.respond(message.request, message.ok, bodies[0]!);
      case "volume":
        return this.#slots.get(message.cell)?.provideFiles(message.ok, bodies[0]!);
      case "invoke":
        return this.#slots.get(message.cell)?.invoke(message.handle, message.cause, bodies[0]!);
      case "hello":
        this.#rules = message.rules;
        this.#guest = bodies[0] === "" ? undefined : new GuestCode(bodies[0]!);
        // While the host reads that this lane is ready.
        if (!this.#guest) setImmediate(() => this.#guestCode());
        if (message.clockMs !== undefined) this.#clock = new ManualLaneClock(message.clockMs);
        return this.#send(pack({ kind: "ready", version: message.version }));
      case "open":
        return this.#open(message, bodies);
      case "drop":
        return this.#drop(message.cell);
      case "pause":
        return this.#slots.get(message.cell)?.setPaused(message.isPaused);
      case "sync":
        return this.attach(this.#sync);
      case "advance":
        if (!(this.#clock instanceof ManualLaneClock)) return;
        this.#clock.advance(message.toMs);
        return this.#settle(this.#clock);
      case "inspect":
      case "cdp": {
        const slot = this.#slots.get(message.cell);
        if (!(slot instanceof DebugSlot)) return;
        return message.kind === "cdp" ? slot.debug(bodies[0]!) : slot.inspect(message.action);
      }
    }
  }

  #guestCode(): GuestCode {
    return (this.#guest ??= new GuestCode(this.#ownGuest()));
  }

  #run(run: CallRequest, side: Side): void {
    const route = this.#routes.get(run.route);
    if (!side.isSync) this.#status.begin(run.id);
    // The route was removed with one of its cells while the run was on its way.
    if (!route) return this.#outbox.push(side, writeReply(run.id, true, [{ step: run.from, ...REMOVED }]));
    const hop = new Hop(side, route, run);
    hop.start();
    // Nearly all hops are over by now. One that is not may be cancelled.
    if (!hop.isOver) side.hops.set(hop.id, hop);
  }

  /** The host does not wait for the answer, but it has to know that no turn of the run lasts. */
  #cancel(id: number, side: Side): void {
    const hop = side.hops.get(id);
    if (!hop) return;
    hop.cancel();
    side.hops.delete(id);
    this.#outbox.push(side, writeReply(id, true, []));
  }

  #drop(cell: number): void {
    this.#leave(this.#slots.get(cell));
    this.#slots.delete(cell);
    for (const [number, { steps }] of this.#routes) if (steps.some((step) => step[0] === cell)) this.#routes.delete(number);
  }

  #open(message: Open, bodies: string[]): void {
    this.#leave(this.#slots.get(message.cell));
    const { cell, plugin, limits, hasFineClock, hasVolume, isPaused } = message;
    const clock = this.#clock;
    const date = clock instanceof ManualLaneClock ? (): number => clock.nowMs : undefined;
    const spec = { cell, plugin, limits, hasFineClock, hasVolume, date, code: bodies[0]!, facts: bodies[1]!, files: bodies[2] };
    const lane: SlotLane = {
      guest: this.#guestCode(),
      prewarm: this.#prewarm,
      status: this.#status,
      stopper: this.#stopper,
      clock,
      turns: this.#loop.turns,
      events: this.#events,
    };
    const slot = message.isInspected ? new DebugSlot(spec, lane) : new CellSlot(spec, lane);
    slot.setPaused(isPaused);
    this.#slots.set(message.cell, slot);
    slot.load();
    // If the next plugin brings the process down, the host must know that this one did not.
    this.#outbox.flush();
  }

  /** Says `clock` when every turn that was due is over, and what it left in the mail was sent. */
  #settle(clock: ManualLaneClock): void {
    for (const slot of this.#slots.values()) slot.sweep();
    const isEntered = [...this.#slots.values()].some((slot) => slot.isEntered === true);
    if (isEntered) setTimeout(() => this.#settle(clock), 1);
    else if (clock.isAboutToRing || !this.#loop.turns.isEmpty) setImmediate(() => this.#settle(clock));
    else this.#send(pack({ kind: "clock", nextMs: clock.nextMs }));
  }

  #heapBytes(cell: number): number | undefined {
    return this.#slots.get(cell)?.heapBytes?.();
  }

  #send(frame: string): void {
    const side = this.#sides.get(this.#main);
    if (side) this.#outbox.push(side, frame);
  }
}
