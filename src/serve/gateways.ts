/**
 * Trusted side: whom the host asks what only a gateway can answer. Of the clients that offer a function the one that came first has it; when it
 * goes, the next. While nobody offers it the host is one without that function: sessions are refused, an approval has no route.
 */
import * as z from "zod";
import { CreelError } from "../protocol/errors.ts";
import type { Offer } from "../protocol/serve.ts";
import type { ApprovalDecision } from "../host/approvals.ts";
import type { OpenOptions } from "../sdk/options.ts";

export interface Asked {
  readonly offers: ReadonlySet<Offer>;
  ask(what: Offer, params: object, cause: string | undefined, signal?: AbortSignal): Promise<unknown>;
}

const entry = z.record(z.string(), z.unknown());
const patched = z.object({ sessionEntry: entry, cfg: entry.optional() });
const decision = z.enum(["allow-once", "allow-always", "deny"] satisfies ApprovalDecision[]).nullish();

export class Gateways {
  /** In the order they came. */
  readonly #clients = new Set<Asked>();
  /** The host is made with `functions`, so it comes later. */
  cause: () => string | undefined = () => undefined;
  /** Told when a user has decided. */
  decided: () => void = () => {};

  readonly functions: NonNullable<OpenOptions["gateway"]> = {
    getSession: async (key) => checked(entry.nullish(), await this.#ask("getSession", { key }), "getSession") ?? undefined,
    patchSession: async (patch, by) => {
      const { sessionEntry, cfg } = checked(patched, await this.#ask("patchSession", { patch, by }), "patchSession");
      return { sessionEntry, ...(cfg && { cfg }) };
    },
    requestApproval: async (question, { signal }) => {
      if (!this.#offering("requestApproval")) return undefined;
      const answer = checked(decision, await this.#ask("requestApproval", question, signal), "requestApproval");
      this.decided();
      return answer;
    },
  };

  add(client: Asked): void {
    this.#clients.add(client);
  }

  delete(client: Asked): void {
    this.#clients.delete(client);
  }

  async #ask(what: Offer, params: object, signal?: AbortSignal): Promise<unknown> {
    const client = this.#offering(what);
    if (!client) throw new CreelError("ERR_SERVICE_ABSENT", { service: what === "getSession" ? "session.get" : "session.patch" });
    return client.ask(what, params, this.cause(), signal);
  }

  #offering(what: Offer): Asked | undefined {
    for (const client of this.#clients) if (client.offers.has(what)) return client;
    return undefined;
  }
}

function checked<T>(schema: z.ZodType<T>, answer: unknown, what: Offer): T {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new CreelError("ERR_SERVE_FRAME", { detail: `the answer to ${what} is not valid` });
  return parsed.data;
}
