/** What happened, for everyone who looks at the page. */
export interface Line {
  readonly kind: "user" | "agent" | "tool" | "blocked" | "approval" | "answered" | "stopped";
  readonly text: string;
  /** Of an approval. */
  readonly id?: string;
}

export class Feed {
  readonly #lines: Line[] = [];
  readonly #followers = new Set<(line: Line) => void>();

  say(line: Line): void {
    this.#lines.push(line);
    for (const follower of this.#followers) follower(line);
  }

  /** Tells what was said before, then what comes. */
  follow(follower: (line: Line) => void): () => void {
    for (const line of this.#lines.slice(-100)) follower(line);
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }
}
