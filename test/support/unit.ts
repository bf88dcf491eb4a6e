/** A unit that is played by the test: its links, what was seen of it, its life and its death. */
import type { LaneUnit, UnitWatcher } from "../../src/host/lanes/unit.ts";
import { PlayedLink } from "./lane.ts";

export class PlayedUnit implements LaneUnit {
  readonly links: PlayedLink[];
  readonly pid = 1;
  readonly #ended = Promise.withResolvers<string>();
  readonly ended = this.#ended.promise;
  isClosed = false;
  watcher: UnitWatcher | undefined;
  bytes: number | undefined;
  pings = 0;
  onPing: () => void = () => {};

  constructor(lanes: number) {
    this.links = Array.from({ length: lanes }, () => new PlayedLink());
  }
  watch(watcher: UnitWatcher): void {
    this.watcher = watcher;
  }
  residentBytes(): number | undefined {
    return this.bytes;
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
