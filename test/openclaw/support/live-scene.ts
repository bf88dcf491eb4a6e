/** The one gateway that the live tests share and build on: which plugins it has, and what tests ask of it. */
import { cpSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findNodeAtLocation } from "jsonc-parser";
import { readJson } from "../../../src/text/jsonc.ts";
import { folder, write } from "../../support/files.ts";
import { Gateway, LONG } from "./gateway.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { NATIVE } from "./native-plugins.ts";
import { waitFor } from "./wait-for.ts";

/** A real plugin from npm, with a handler for every hook. */
export const KITCHEN_SINK = "openclaw-kitchen-sink-fixture";
export const OTHERS = ["hog", "looper", "observer", KITCHEN_SINK];

interface Planned {
  readonly id: string;
  readonly state: string;
  readonly canMove: boolean;
  readonly digest: string;
}

export class LiveScene {
  readonly gateway: Gateway;
  readonly #openclaw: string;
  #client: GatewayClient | undefined;
  /** Before anything was moved: what `plan` said, `plugins.entries`, and what kitchen-sink answered. */
  plan: Planned[] = [];
  entries = "";
  nativeKitchen = "";

  /** `openclaw`: the file that is run as its command. */
  constructor(openclaw: string) {
    this.#openclaw = openclaw;
    this.gateway = new Gateway(openclaw, folder({}));
  }

  get client(): GatewayClient {
    return this.#client!;
  }

  /** With all plugins native. */
  async start(): Promise<void> {
    const { gateway } = this;
    await gateway.prepare({ toolSearch: true });
    const extensions = join(gateway.root, "state/extensions");
    for (const [id, files] of Object.entries(NATIVE)) write(join(extensions, id), files);
    cpSync(join(dirname(this.#openclaw), "../@openclaw/kitchen-sink"), join(extensions, KITCHEN_SINK), { recursive: true });
    const hooks = { allowConversationAccess: true, allowPromptInjection: true };
    gateway.edit(({ plugins }) => {
      plugins.entries = {
        guard: { enabled: true, hooks: { allowConversationAccess: true }, config: { forbid: "forbidden" } },
        looper: { enabled: true },
        hog: { enabled: true },
        observer: { enabled: true, hooks },
        [KITCHEN_SINK]: { enabled: true, hooks, config: { personality: "conformance" } },
      };
    });
    await gateway.start();
    await this.reconnect();
  }

  async close(): Promise<void> {
    this.#client?.close();
    await this.gateway.close();
  }

  async reconnect(): Promise<void> {
    this.#client?.close();
    this.#client = await this.gateway.client();
  }

  /** In the same process. */
  async restart(): Promise<void> {
    const mark = this.gateway.log.length;
    await this.client.request("gateway.restart.request", { reason: "test", skipDeferral: true });
    await this.gateway.isReady(mark);
    await this.reconnect();
  }

  /** OpenClaw refuses it while it still works on an earlier change. */
  async reload(id: string): Promise<void> {
    const reloaded = async (): Promise<true | undefined> => {
      try {
        await this.client.request("plugins.reload", { plugins: [{ pluginId: id }] });
        return true;
      } catch (error) {
        if (/operation is already running; retry/.test((error as Error).message)) return undefined;
        throw error;
      }
    };
    await waitFor(reloaded, LONG, `the reload of ${id}`);
  }

  since(mark: number): string {
    return this.gateway.log.slice(mark);
  }

  /** Byte for byte, as they are in the file. */
  entriesNow(): string {
    const text = readFileSync(this.gateway.configFile, "utf8");
    const { offset, length } = findNodeAtLocation(readJson(text), ["plugins", "entries"])!;
    return text.slice(offset, offset + length);
  }

  accept(...ids: string[]): string[] {
    return ids.flatMap((id) => ["--accept", this.plan.find((one) => one.id === id)!.digest]);
  }

  shimOf(id: string): string {
    return this.gateway.config.plugins.load!.paths!.find((path) => path.includes(`/${id}/`))!;
  }

  isReady(id: string, mark: number): Promise<string> {
    return waitFor(() => new RegExp(`"plugin":"${id}","status":"ready"`).exec(this.since(mark))?.[0], LONG, `${id} in the sandbox`);
  }

  /** Of hosts that were opened since. */
  hostsSince(mark: number): number {
    return this.since(mark).match(/creel: host \S+ open/g)?.length ?? 0;
  }

  weigh(name: string) {
    return this.gateway.invoke("lobster_weight", { name });
  }

  async loops(): Promise<number> {
    return Number(/patches: (\d+)/.exec(JSON.stringify(await this.gateway.invoke("loop_count", {})))?.[1]);
  }

  /** Where the guard runs: only a process of Node's has `process.binding`. */
  async place(): Promise<string> {
    return (await this.client.request("lobster.status")).where === "function" ? "native" : "sandboxed";
  }

  /** What the observer was told, a line each. */
  async observed(): Promise<string> {
    return `${((await this.client.request("observer.seen")) as { seen: string[] }).seen.join("\n")}\n`;
  }

  /** The question that plugins ask the user during the work. */
  async asked(work: () => Promise<unknown>, decision: string): Promise<Record<string, unknown>> {
    const known = this.client.events.length;
    const working = work();
    const event = () => this.client.events.slice(known).find((one) => one.event === "plugin.approval.requested")?.payload;
    const { id, request } = await waitFor(event, LONG, "the question");
    await this.client.request("plugin.approval.resolve", { id, decision });
    await working;
    return request as Record<string, unknown>;
  }

  /** What kitchen-sink's tool, its gate, its question and its command say. */
  async kitchen(session: string): Promise<string> {
    const search = (query: string) => this.gateway.invoke("kitchen_sink_search", { query });
    const { result } = await search("tide");
    const { error } = await search("please block the tide");
    const { pluginId, title, description, toolName } = await this.asked(() => search("tide, with permission"), "deny");
    const { message } = JSON.parse(await this.client.chat(`agent:main:${session}`, "/kitchen-sink status")) as {
      message?: { content?: unknown };
    };
    return JSON.stringify([result, error?.message, pluginId, title, description, toolName, message?.content]);
  }
}
