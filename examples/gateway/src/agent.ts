/** A stand-in for a model: a message that begins with "run " is a call of the tool "shell", all others are answered at once. */
import type { Host } from "creel";
import type { Feed } from "./feed.ts";

export class Agent {
  readonly #host: Host;
  readonly #feed: Feed;

  constructor(host: Host, feed: Feed) {
    this.#host = host;
    this.#feed = feed;
  }

  async hear(text: string): Promise<void> {
    this.#feed.say({ kind: "user", text });
    // Plugins hear of it; nothing waits for them.
    this.#host.emit("message_received", { from: "you", content: text }, { channelId: "web" });
    if (text.startsWith("run ")) await this.#shell(text.slice(4));
    else this.#feed.say({ kind: "agent", text: `You said "${text}". Try: run ls, run rm -rf build, run git push, or the word loop.` });
  }

  async #shell(command: string): Promise<void> {
    const event = { toolName: "shell", params: { command } };
    const outcome = await this.#host.run("before_tool_call", event);
    if (outcome.decision === "block") return this.#feed.say({ kind: "blocked", text: `${outcome.by ?? "Creel"} blocked it: ${outcome.reason ?? ""}` });
    // This example runs nothing; yours would.
    const result = `(pretended to run "${String(outcome.result?.params?.command ?? command)}")`;
    this.#feed.say({ kind: "tool", text: result });
    this.#host.emit("after_tool_call", { ...event, result });
  }
}
