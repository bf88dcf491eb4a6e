/**
 * Trusted side: the breaker of one plugin, as a state machine. Strikes add up to points; enough points open the circuit, and the plugin's
 * handlers are not called for a while; then one call is let through to probe it. There is no timer: the next call notices what the clock
 * has changed. breaker.ts decides which plugin gets a strike.
 */
import { LIMITS } from "../../protocol/limits.ts";
import { oneLine } from "../../text/one-line.ts";

/** closed: calls pass. open: refused for a while. half-open: one call probes it. quarantined: refused until release or new code. */
export type CircuitState = "closed" | "open" | "half-open" | "quarantined";

export type StrikeKind = keyof typeof LIMITS.blame.strikePoints;

export interface StrikeOptions {
  /** The run in which it was called. A call counts only if the circuit let it through; what happens without one always does. */
  readonly run?: number;
  /** The plugin was being loaded. */
  readonly atLoad?: boolean;
}

/** What outlives the process; times in milliseconds since 1970. A half-open circuit is an open one whose time is over. */
export interface CircuitRecord {
  readonly state: Exclude<CircuitState, "half-open">;
  readonly why: string;
  readonly since: number;
  /** Of an open one. */
  readonly until?: number | undefined;
  readonly opens: readonly number[];
  readonly kills: readonly number[];
  readonly loadKills: number;
}

export interface CircuitReport {
  readonly state: CircuitState;
  /** When it came into this state; undefined when it never was in another. */
  readonly since: Date | undefined;
  /** Open: when the next call is let through. */
  readonly until: Date | undefined;
  readonly why: string | undefined;
  /** How often it opened, and how often the plugin took a lane or the process down, as far as that still counts. */
  readonly opens: number;
  readonly kills: number;
  readonly points: number;
}

export class Circuit {
  /** A good call would change nothing: the only field that is read while the plugin works well. */
  isClear = true;
  /** The plugin is inspected: nothing counts against it. */
  isExempt = false;
  /** Called after every change of state. */
  changed: (state: CircuitState | "released") => void = () => {};
  /** Called when the plugin begins to rest, and when that is over. */
  rested: (isResting: boolean) => void = () => {};
  #wasResting = false;
  readonly #now: () => number;
  #state: CircuitState = "closed";
  #why = "";
  /** When it came into this state; 0: never was in another. */
  #since = 0;
  #openSince = 0;
  #openUntil = 0;
  #strikes: { readonly kind: StrikeKind; readonly atMs: number }[] = [];
  #opens: number[] = [];
  #kills: number[] = [];
  #loadKills = 0;
  /** The run that probes a half-open circuit. */
  #probe: number | undefined;

  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
  }

  get state(): CircuitState {
    return this.#state;
  }

  get why(): string {
    return this.#why;
  }

  get until(): Date | undefined {
    return this.#state === "open" ? new Date(this.#openUntil) : undefined;
  }

  /** No call passes, and no probe is under way: nothing of the plugin may run. */
  get isResting(): boolean {
    return this.#state !== "closed" && this.#probe === undefined;
  }

  #tellRest(): void {
    if (this.isResting === this.#wasResting) return;
    this.#wasResting = this.isResting;
    this.rested(this.#wasResting);
  }

  /** May a handler be called in this run? The first run after the open time becomes the probe. */
  admits(run: number): boolean {
    if (this.#state === "closed") return true;
    if (this.#state === "quarantined" || this.#probe !== undefined || !this.#isOver()) return false;
    this.#probe = run;
    if (this.#state === "open") this.#enter("half-open", this.#why);
    else this.#tellRest();
    return true;
  }

  /** A call succeeded. */
  good(run: number): void {
    if (this.#state === "half-open" && this.#probe === run) return this.#enter("closed", "the call that tried it went well");
    if (this.#state !== "closed") return;
    this.#strikes = this.#strikes.filter(({ kind }) => kind !== "failed");
    this.isClear = true;
  }

  isTriedBy(run: number): boolean {
    return this.#probe === run;
  }

  /** The probe says nothing: its handler was not reached, its run was aborted, or its sandbox died for another reason. */
  forgo(run: number): void {
    if (this.#probe !== run) return;
    this.#probe = undefined;
    this.#tellRest();
  }

  strike(kind: StrikeKind, why: string, { run, atLoad = false }: StrikeOptions = {}): void {
    if (this.#state === "quarantined" || this.isExempt) return;
    if (kind === "killed" && this.#killed(why, atLoad)) return;
    // A call that was in flight when the circuit opened says nothing new.
    if (run !== undefined && this.#state !== "closed" && run !== this.#probe) return;
    if (this.#state === "half-open") return this.#open(why);
    this.#strikes.push({ kind, atMs: this.#now() });
    if (this.#points() >= LIMITS.blame.breakerPoints) return this.#open(why);
    if (kind === "failed") this.isClear = false;
  }

  /** Another host of the fleet has quarantined the same code. */
  quarantine(why: string): void {
    if (this.#state !== "quarantined") this.#enter("quarantined", why);
  }

  /** Forgets everything. */
  release(why: string): void {
    this.#opens = [];
    this.#kills = [];
    this.#loadKills = 0;
    if (this.#state === "closed") this.#clear();
    else this.#enter("closed", why, "released");
  }

  /** Undefined: there is nothing to remember. */
  record(): CircuitRecord | undefined {
    if (this.#state === "closed" && this.#opens.length + this.#kills.length + this.#loadKills === 0) return undefined;
    const isOpen = this.#state === "open" || this.#state === "half-open";
    return {
      state: isOpen ? "open" : (this.#state as "closed" | "quarantined"),
      why: this.#why,
      since: isOpen ? this.#openSince : this.#since,
      ...(isOpen && { until: this.#openUntil }),
      opens: this.#opens,
      kills: this.#kills,
      loadKills: this.#loadKills,
    };
  }

  /** Restores the state that an earlier process left. */
  restore({ state, why, since, until = since, opens, kills, loadKills }: CircuitRecord): void {
    this.#state = state;
    this.#why = why;
    this.#since = since;
    this.#openSince = since;
    this.#openUntil = Math.min(until, since + LIMITS.blame.breakerMaxOpenMs);
    this.#opens = [...opens];
    this.#kills = [...kills];
    this.#loadKills = loadKills;
    this.isClear = state === "closed";
    this.#wasResting = this.isResting;
  }

  report(): CircuitReport {
    return {
      state: this.#state,
      since: this.#since === 0 ? undefined : new Date(this.#since),
      until: this.until,
      why: this.#why === "" ? undefined : this.#why,
      opens: this.#recent(this.#opens).length,
      kills: this.#recent(this.#kills).length,
      points: this.#points(),
    };
  }

  /** True: the plugin is quarantined for it. */
  #killed(why: string, atLoad: boolean): boolean {
    this.#kills = [...this.#recent(this.#kills), this.#now()];
    if (atLoad) this.#loadKills += 1;
    const isTooMany = this.#loadKills >= LIMITS.blame.breakerLoadKills || this.#kills.length >= LIMITS.blame.breakerKills;
    if (isTooMany)
      this.#enter("quarantined", `it took the sandbox down ${atLoad ? "again while it was loaded" : "again and again"}: ${why}`);
    return isTooMany;
  }

  #open(why: string): void {
    this.#opens = [...this.#recent(this.#opens), this.#now()];
    if (this.#opens.length >= LIMITS.blame.breakerOpens) return this.#enter("quarantined", `it failed again and again: ${why}`);
    const lastMs = this.#state === "closed" ? 0 : this.#openUntil - this.#openSince;
    this.#openSince = this.#now();
    this.#openUntil = this.#openSince + Math.min(Math.max(lastMs * 2, LIMITS.blame.breakerOpenMs), LIMITS.blame.breakerMaxOpenMs);
    this.#enter("open", why);
  }

  #enter(state: CircuitState, why: string, told: CircuitState | "released" = state): void {
    this.#state = state;
    this.#why = oneLine(why);
    this.#since = this.#now();
    if (state !== "half-open") this.#clear();
    this.isClear = state === "closed";
    this.#tellRest();
    this.changed(told);
  }

  #clear(): void {
    this.#strikes = [];
    this.#probe = undefined;
    this.isClear = true;
  }

  #points(): number {
    const after = this.#now() - LIMITS.blame.breakerWindowMs;
    this.#strikes = this.#strikes.filter(({ atMs }) => atMs > after);
    return this.#strikes.reduce((sum, { kind }) => sum + LIMITS.blame.strikePoints[kind], 0);
  }

  /** A clock that was set back must not keep it open. */
  #isOver(): boolean {
    const now = this.#now();
    return now >= this.#openUntil || now < this.#openSince;
  }

  #recent(times: readonly number[]): number[] {
    const after = this.#now() - LIMITS.blame.breakerMemoryMs;
    return times.filter((atMs) => atMs > after);
  }
}
