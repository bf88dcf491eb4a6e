/**
 * Untrusted side, lane thread: serves the host's messages. It enters cells, keeps their clocks, and sends back text. It
 * decides nothing that counts: order, merge, policy and blame are the host's, which checks whatever comes from here.
 */
import { connect } from "node:net";
import type { ChainRule } from "../protocol/chain-rule.ts";
import { pack, unpack } from "../protocol/frame.ts";
import { isHot, readRun } from "../protocol/hot.ts";
import type { HotRun } from "../protocol/hot.ts";
import { socketLink } from "../protocol/link.ts";
import type { Link } from "../protocol/link.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Dial, Hello, HostMessage, Open, Route } from "../protocol/messages.ts";
import { GuestCode } from "./cell.ts";
import { Hop } from "./hop.ts";
import type { HopLane, LaneRoute } from "./hop.ts";
import { Resident } from "./resident.ts";
import type { Entry, ResidentEvents } from "./resident.ts";

/** How long answers may wait for the rest of their batch: they are lost if the next turn wedges the thread. */
const FLUSH_MS = 1;

export class Lane {
  readonly #main: Link;
  readonly #outboxes = new Map<Link, string[]>();
  readonly #residents = new Map<number, Resident>();
  /** Runs that wait for something, by link: each numbers its own. */
  readonly #hops = new Map<Link, Map<number, Hop>>();
  /** Whose cells were entered in this batch. */
  readonly #touched = new Set<Resident>();
  readonly #routes = new Map<number, LaneRoute>();
  readonly #sides = new Map<Link, HopLane>();
  #rules: Hello["rules"] = {};
  #guest = new GuestCode("");
  #firstUnsentMs = 0;
  #isServing = false;

  readonly #events: ResidentEvents = {
    opened: ({ id }, ok, loadMs, body) => this.#send(pack({ kind: "opened", cell: id, ok, loadMs }, body)),
    fault: ({ id }, why) => this.#send(pack({ kind: "fault", cell: id }, why)),
    ask: ({ id }, ask, run, service, args) => this.#send(pack({ kind: "ask", cell: id, ask, run }, service, args)),
    log: ({ id }, level, run, text) => this.#send(pack({ kind: "log", cell: id, level, run }, text.slice(0, LIMITS.logBytes + 1))),
  };

  constructor(main: Link) {
    this.#main = main;
    this.attach(main);
  }

  /** Serves a link. All links share the cells; answers go back where the question came from. */
  attach(link: Link): void {
    this.#outboxes.set(link, []);
    this.#hops.set(link, new Map());
    link.onFrames((frames) => this.#serve(frames, link));
    link.onEnd(() => {
      this.#outboxes.delete(link);
      this.#hops.delete(link);
      this.#sides.delete(link);
    });
  }

  dispose(): void {
    for (const resident of this.#residents.values()) resident.dispose();
    this.#residents.clear();
    this.#touched.clear();
    this.#guest = new GuestCode("");
  }

  #serve(frames: readonly string[], link: Link): void {
    this.#isServing = true;
    for (const frame of frames) {
      if (isHot(frame)) {
        this.#run(readRun(frame), link);
      } else {
        const { header, bodies } = unpack(frame);
        this.#handle(header as HostMessage, bodies, link);
      }
      if (this.#firstUnsentMs > 0 && frames.length > 1 && performance.now() - this.#firstUnsentMs > FLUSH_MS) this.#flush();
    }
    // Answers first; what the turns left behind can wait until they are on their way.
    this.#flush();
    for (const resident of this.#touched) resident.sweep();
    this.#touched.clear();
    this.#flush();
    this.#isServing = false;
  }

  #handle(message: HostMessage, bodies: string[], link: Link): void {
    switch (message.kind) {
      case "route":
        this.#routes.set(message.route, this.#laneRoute(message));
        return;
      case "cancel":
        this.#hops.get(link)?.get(message.id)?.cancel();
        this.#hops.get(link)?.delete(message.id);
        return;
      case "tell":
        return this.#residents.get(message.cell)?.tell(message.ask, message.ok, bodies[0]!);
      case "invoke":
        return this.#residents.get(message.cell)?.invoke(message.handle, message.cause, bodies[0]!);
      case "hello":
        this.#rules = message.rules;
        this.#guest = new GuestCode(bodies[0]!);
        return this.#send(pack({ kind: "ready", version: message.version }), this.#main);
      case "open":
        return this.#open(message, bodies);
      case "drop":
        this.#residents.get(message.cell)?.dispose();
        this.#residents.delete(message.cell);
        return;
      case "dial":
        return this.#dial(message);
    }
  }

  #laneRoute(route: Route): LaneRoute {
    const rule = this.#rules[route.hook];
    return { ...route, rule, entry: entryOf(route, rule) };
  }

  #run(run: HotRun, link: Link): void {
    const hops = this.#hops.get(link);
    const route = this.#routes.get(run.route);
    if (!hops || !route) return;
    const lane: HopLane = this.#laneOf(link);
    const hop = new Hop(lane, route, run);
    hops.set(run.id, hop);
    hop.start();
  }

  /** One per link, made when it is attached. */
  #laneOf(link: Link): HopLane {
    let lane = this.#sides.get(link);
    if (!lane) {
      lane = {
        resident: (cell) => {
          const resident = this.#residents.get(cell);
          if (resident) this.#touched.add(resident);
          return resident;
        },
        reply: (hop, frame, isLast) => {
          if (isLast) this.#hops.get(link)?.delete(hop.id);
          this.#send(frame, link);
        },
        flush: () => this.#flush(),
      };
      this.#sides.set(link, lane);
    }
    return lane;
  }

  #open(message: Open, bodies: string[]): void {
    this.#residents.get(message.cell)?.dispose();
    const spec = { plugin: message.plugin, heapMb: message.heapMb, code: bodies[0]!, facts: bodies[1]! };
    const resident = new Resident(message.cell, spec, this.#guest, this.#events);
    this.#residents.set(message.cell, resident);
    resident.load();
  }

  /** The host wants a second link, for runs it blocks on. */
  #dial({ path, token }: Dial): void {
    const socket = connect(path, () => {
      const link = socketLink(socket);
      link.send([token]);
      this.attach(link);
    });
    socket.on("error", () => socket.destroy());
  }

  #send(frame: string, link = this.#main): void {
    const outbox = this.#outboxes.get(link);
    if (!outbox) return;
    outbox.push(frame);
    if (this.#firstUnsentMs > 0) return;
    this.#firstUnsentMs = performance.now();
    // Turns that no message started (timers, a cell that was rebuilt) have nobody else to send for them.
    if (!this.#isServing) setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#firstUnsentMs = 0;
    for (const [link, outbox] of this.#outboxes) {
      if (outbox.length > 0) link.send(outbox.splice(0));
    }
  }
}

function entryOf({ mode }: Route, rule: ChainRule | undefined): Entry {
  if (mode === "sync") return { as: "sync", echo: rule?.echo };
  return { as: mode === "fan" ? "observer" : "result" };
}
