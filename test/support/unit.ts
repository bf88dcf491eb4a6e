/** A unit that is played by the test: its links, what was seen of it, its life and its loss. */
import type { LaneUnit, UnitEvents } from "../../src/host/supervisor/unit.ts";
import { PlayedLink } from "./lane.ts";

export class PlayedUnit implements LaneUnit {
  readonly links: PlayedLink[];
  readonly pid = 1;
  readonly #ended = Promise.withResolvers<string>();
  readonly ended = this.#ended.promise;
  isClosed = false;
  events: UnitEvents | undefined;
  bytes: number | undefined;
  pings = 0;
  onPing: () => void = () => {};

  constructor(lanes: number) {
    this.links = Array.from({ length: lanes }, () => new PlayedLink());
  }
  observe(events: UnitEvents): void {
    this.events = events;
  }
  rssBytes(): number | undefined {
    return this.bytes;
  }
  tightened = 0;
  tighten(): void {
    this.tightened += 1;
  }
  ping(): void {
    this.pings += 1;
    this.onPing();
  }
  ready(): void {
    for (const link of this.links) link.ready();
  }
  die(why = "it died"): void {
    this.#ended.resolve(why);
  }
  kill(): void {
    this.die("it was killed");
  }
  async close(): Promise<void> {
    this.isClosed = true;
    this.die("it was closed");
    await this.ended;
  }
}
