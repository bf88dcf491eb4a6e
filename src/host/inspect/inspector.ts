/**
 * Trusted side: connects a debugger with the cell of the one plugin that is inspected. Messages travel on the lane's own
 * link. The debugger's connection outlives the cell: after a reload it gets the new one, with its breakpoints. When the
 * debugger goes away, in whatever state, its session ends, and a paused plugin goes on.
 */
import { pluginScript } from "../../protocol/guest-surface/scripts.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { fitsBytes } from "../../transport/frames.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { LaneClient } from "../supervisor/lane-client.ts";
import { CellView } from "./cell-view.ts";
import { DebuggerState } from "./debugger-state.ts";
import type { CdpMessage } from "./debugger-state.ts";
import { Door } from "./door.ts";
import type { Client, InspectAddress } from "./door.ts";
import { LateRemovals } from "./late-removals.ts";
import type { InspectSession } from "./session.ts";
import { sourceMapUrl } from "./sources.ts";

export interface InspectOptions {
  /** The id of the plugin. */
  readonly plugin: string;
  /** Default: 9229, or any free port if that is taken. */
  readonly port?: number | undefined;
  /** Load the plugin only when a debugger has connected and says so, and pause at its first line. */
  readonly break?: boolean | undefined;
  /** The door is open, and no plugin is loaded yet. */
  readonly listening?: ((address: InspectAddress) => void) | undefined;
}

/** An isolate that can be debugged. */
interface Target {
  readonly lane: LaneClient;
  readonly cell: number;
  readonly view: CellView;
  /** Was the lane told to load the plugin? */
  isGoing: boolean;
}

/** Ids of the host's own commands. A debugger counts from 1; the lane's own id is the highest. */
const FIRST_OWN_ID = 2 ** 30;
/** Creel's own code is always left out of stepping; cell-view.ts adds it. */
const NO_PATTERNS: CdpMessage = { method: "Debugger.setBlackboxPatterns", params: { patterns: [] } };

export class Inspector {
  readonly plugin: string;
  readonly #options: InspectOptions;
  readonly #session: InspectSession | undefined;
  readonly #door: Door;
  /** The isolates of the plugin, the newest last: that one is debugged. */
  #targets: Target[] = [];
  /** The last announcement of each cell that waits for its source map. */
  readonly #announced = new Map<number, object>();
  #lastAnnounced: Promise<unknown> = Promise.resolve();
  #client: Client | undefined;
  #state = new DebuggerState();
  /** Commands that the cell has not answered: the debugger's, by their ids, and the host's own. */
  readonly #unanswered = new Set<number>();
  readonly #ownAnswered = new Map<number, (result: unknown) => void>();
  /** Commands that came while there was no isolate. */
  #early: CdpMessage[] = [];
  #nextId = FIRST_OWN_ID;
  /** The breakpoint at the plugin's first line. */
  #firstBreak: string | undefined;
  readonly #late = new LateRemovals((breakpointId) => this.#own({ method: "Debugger.removeBreakpoint", params: { breakpointId } }));
  /** Does the first load wait for a debugger? */
  #mustWait: boolean;

  /** `session`: a debugger of this process, instead of the door. */
  constructor(options: InspectOptions, session?: InspectSession) {
    this.#options = options;
    this.#session = session;
    this.plugin = options.plugin;
    this.#mustWait = options.break === true;
    this.#door = new Door({
      port: options.port,
      title: options.plugin,
      connected: (client) => this.#connect(client),
    });
  }

  async open(): Promise<void> {
    if (this.#session) this.#connect(this.#session);
    else this.#options.listening?.(await this.#door.open());
  }

  get address(): InspectAddress {
    return this.#door.address;
  }

  close(): void {
    if (this.#session) this.#session.end();
    else this.#door.close();
  }

  /** The lane has an isolate for the plugin. */
  inspectable(lane: LaneClient, plugin: Plugin, cell: number): void {
    const { generation } = lane;
    const announcement = {};
    this.#announced.set(cell, announcement);
    // In the order of the announcements, however long a map takes: the newest isolate is the one that is debugged.
    this.#lastAnnounced = Promise.all([this.#mapUrl(plugin), this.#lastAnnounced]).then(([url]) => {
      // The cell has gone meanwhile, or has another isolate by now.
      if (this.#announced.get(cell) !== announcement) return;
      this.#announced.delete(cell);
      if (lane.generation !== generation || !lane.isConnected) return;
      if (this.#session) this.#session.mapUrl = url;
      this.#detach();
      this.#targets = this.#targets.filter((target) => target.cell !== cell);
      this.#targets.push({ lane, cell, view: new CellView(this.plugin, url), isGoing: false });
      this.#attach();
    });
  }

  /** A cell is gone. */
  left(cell: number): void {
    this.#announced.delete(cell);
    const wasCurrent = this.#current?.cell === cell;
    this.#targets = this.#targets.filter((target) => target.cell !== cell);
    if (!wasCurrent) return;
    this.#forgetCell();
    if (this.#targets.length > 0) this.#attach();
  }

  /** SECURITY: a lane may speak for the cell that is debugged, and for no other. test/host/inspect/inspector.test.ts */
  message(cell: number, text: string): void {
    if (!fitsBytes(text, LIMITS.inspect.messageBytes)) throw new RangeError("a debugger message that is too long");
    const target = this.#current;
    if (!this.#targets.some((one) => one.cell === cell)) throw new RangeError("a debugger message of a cell that is not inspected");
    if (target?.cell !== cell || !this.#client) return;
    const message = JSON.parse(text) as Partial<CdpMessage> & { result?: unknown };
    if (message.id === undefined) return this.#notify(target, message as CdpMessage);
    this.#unanswered.delete(message.id);
    const own = this.#ownAnswered.get(message.id);
    this.#ownAnswered.delete(message.id);
    if (own) return own(message.result);
    this.#state.answered(message.id, message.result);
    this.#client.send(text);
  }

  get #current(): Target | undefined {
    return this.#targets.at(-1);
  }

  async #mapUrl({ bundle, sourcePlace }: Plugin): Promise<string | undefined> {
    return bundle && sourceMapUrl(bundle.map, (await sourcePlace?.().catch(() => undefined)) ?? {});
  }

  #connect(client: Client): void {
    this.#client = client;
    this.#state = new DebuggerState();
    this.#early = [];
    if (this.#current) this.#post("attach");
    client.onMessage((text) => this.#receive(text));
    client.onEnd(() => {
      this.#client = undefined;
      this.#detach();
    });
  }

  #receive(text: string): void {
    let message: CdpMessage;
    try {
      message = JSON.parse(text) as CdpMessage;
    } catch {
      return;
    }
    if (!Number.isSafeInteger(message.id) || typeof message.method !== "string") return;
    if (message.id! >= FIRST_OWN_ID)
      return this.#client!.send(JSON.stringify({ id: message.id, error: { code: -32_600, message: "the id is too high" } }));
    if (!this.#current) return void this.#early.push(message);
    this.#command(message);
  }

  #command(message: CdpMessage): void {
    if (message.method === "Debugger.setBreakpointByUrl") this.#late.setting(message);
    const isHeld = this.#isHeld(message);
    this.#state.sent(message);
    if (isHeld) return this.#client!.send(JSON.stringify({ id: message.id, result: {} }));
    this.#unanswered.add(message.id!);
    this.#send(message);
    if (message.method === "Debugger.enable") {
      this.#state.sent(NO_PATTERNS);
      this.#own(NO_PATTERNS);
    }
    if (message.method === "Runtime.runIfWaitingForDebugger" && this.#mustWait) this.#begin();
  }

  #isHeld({ method, params }: CdpMessage): boolean {
    if (method !== "Debugger.removeBreakpoint") return false;
    const id = String(params?.breakpointId);
    return this.#late.hold(id, this.#state.breakpoint(id));
  }

  /** The debugger is ready: the plugin is loaded, and pauses at its first line. */
  #begin(): void {
    this.#mustWait = false;
    const target = this.#current!;
    if (!this.#state.isEnabled("Debugger")) return this.#go(target);
    // `Debugger.pause` would stop in Creel's own code, which is left out of stepping, and be forgotten.
    this.#own({ method: "Debugger.setBreakpointByUrl", params: { url: pluginScript(this.plugin), lineNumber: 0 } }, (result) => {
      this.#firstBreak = (result as { breakpointId?: string } | undefined)?.breakpointId;
      this.#go(target);
    });
  }

  #notify({ view }: Target, message: CdpMessage): void {
    const shown = view.notification(message.method === "Debugger.paused" ? this.#atFirstLine(message) : message);
    if (shown) this.#client?.send(JSON.stringify(shown));
  }

  /** A pause at the first line is no breakpoint of the debugger's. */
  #atFirstLine(message: CdpMessage): CdpMessage {
    const breakpointId = this.#firstBreak;
    if (breakpointId === undefined) return message;
    this.#firstBreak = undefined;
    this.#own({ method: "Debugger.removeBreakpoint", params: { breakpointId } });
    return { ...message, params: { ...message.params, reason: "Break on start", hitBreakpoints: [] } };
  }

  /** Opens a session with the current isolate, and sets there what the debugger had set in the one before. */
  #attach(): void {
    const target = this.#current!;
    if (!this.#client) return this.#mustWait ? undefined : this.#go(target);
    this.#client.send(JSON.stringify({ method: "Runtime.executionContextsCleared", params: {} }));
    this.#post("attach");
    this.#late.begin();
    // Breakpoints must be set before the plugin's first line runs.
    const set = this.#state.commands().map((command) => new Promise((resolve) => this.#own(command, resolve)));
    void Promise.all(set).then(() => this.#mustWait || this.#go(target));
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.#command(message);
  }

  #go(target: Target): void {
    if (target.isGoing || !this.#targets.includes(target)) return;
    target.isGoing = true;
    target.lane.post({ kind: "inspect", cell: target.cell, action: "go" });
  }

  /** The session with the current isolate ends. If the isolate waits to be loaded, it need not wait any longer. */
  #detach(): void {
    const target = this.#current;
    if (!target) return;
    this.#post("detach");
    this.#forgetCell();
    if (!this.#mustWait) this.#go(target);
  }

  /** Commands that the cell will not answer any more get an error: debuggers wait for their answers. */
  #forgetCell(): void {
    const error = { code: -32_000, message: "the plugin was loaded again" };
    for (const id of this.#unanswered) this.#client?.send(JSON.stringify({ id, error }));
    this.#unanswered.clear();
    this.#ownAnswered.clear();
    this.#late.clear();
    if (this.#state.isEnabled("Debugger")) this.#client?.send(JSON.stringify({ method: "Debugger.resumed", params: {} }));
  }

  #own(command: CdpMessage, answered: (result: unknown) => void = () => {}): void {
    const id = this.#nextId++;
    this.#ownAnswered.set(id, answered);
    this.#send({ ...command, id });
  }

  #send(message: CdpMessage): void {
    const target = this.#current;
    target?.lane.post({ kind: "cdp", cell: target.cell }, JSON.stringify(target.view.command(message)));
  }

  #post(action: "attach" | "detach"): void {
    const target = this.#current!;
    target.lane.post({ kind: "inspect", cell: target.cell, action });
  }
}
