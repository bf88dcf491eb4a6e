/**
 * Trusted side: functions of the host that only a gateway can answer. The client that made the run is asked, and no other: gateways
 * that share a host know nothing of each other's sessions and users. What no client has caused, such as a job, is asked of the first
 * client that offers the function. If the client does not offer it or is gone, session requests are refused and approvals have no route.
 */
import * as z from "zod";
import { CreelError } from "../protocol/errors.ts";
import { APPROVAL_DECISIONS } from "../protocol/hooks/tool.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Offer, RequestId } from "../protocol/serve.ts";
import type { ApprovalAnswer, RequestApproval } from "../host/run/approvals/approvals.ts";
import type { ApprovalQuestion } from "../host/run/approvals/question.ts";
import type { OpenOptions } from "../sdk/options.ts";

export interface CallbackClient {
  /** The name of the client in causal chains. */
  readonly name: string;
  readonly offers: ReadonlySet<Offer>;
  /** `run`: the request of the client that the question belongs to. */
  request(what: Offer, params: object, cause: string | undefined, signal?: AbortSignal, run?: RequestId): Promise<unknown>;
}

const entry = z.record(z.string(), z.unknown());
const patched = z.object({ sessionEntry: entry, cfg: entry.optional() });
const queued = z.object({ enqueued: z.boolean(), id: z.string().max(LIMITS.call.nameChars).optional() });
const SERVICES: Partial<Record<Offer, string>> = { getSession: "session.get", patchSession: "session.patch" };
const decision = z.enum(APPROVAL_DECISIONS);
const answered = z.union([decision, z.object({ decision, by: z.string().max(LIMITS.call.nameChars).optional() })]).nullish();

export class Callbacks {
  /** In the order they came. */
  readonly #clients = new Set<CallbackClient>();
  /** The host is made with `functions`, so these come later. `client`: the name of the client that caused the current work. */
  client: () => string | undefined = () => undefined;
  cause: () => string | undefined = () => undefined;

  readonly functions: NonNullable<OpenOptions["gateway"]> = {
    getSession: async (key) => checked(entry.nullish(), await this.#request("getSession", { key }), "getSession") ?? undefined,
    patchSession: async (patch, by) => {
      const { sessionEntry, cfg } = checked(patched, await this.#request("patchSession", { patch, by }), "patchSession");
      return { sessionEntry, ...(cfg && { cfg }) };
    },
    enqueueInjection: async (injection, by) => {
      const { enqueued, id = "" } = checked(queued, await this.#request("enqueueInjection", { injection, by }), "enqueueInjection");
      return { enqueued, id };
    },
    emitAgentEvent: async (event, by) => void (await this.#request("emitAgentEvent", { event, by })),
    requestApproval: async (question, { signal }) => {
      const client = this.#offering("requestApproval");
      return client && this.#approval(client, question, signal);
    },
  };

  /** For a run whose client answers its own approvals, even if it offers no function. */
  approvalsOf(client: CallbackClient, run: RequestId): RequestApproval {
    return (question, { signal }) => this.#approval(client, question, signal, run);
  }

  add(client: CallbackClient): void {
    this.#clients.add(client);
  }

  delete(client: CallbackClient): void {
    this.#clients.delete(client);
  }

  async #approval(client: CallbackClient, question: ApprovalQuestion, signal: AbortSignal, run?: RequestId): Promise<ApprovalAnswer> {
    const answer = await client.request("requestApproval", question, this.cause(), signal, run);
    return checked(answered, answer, "requestApproval") as ApprovalAnswer;
  }

  async #request(what: Offer, params: object): Promise<unknown> {
    const client = this.#offering(what);
    if (!client) throw new CreelError("ERR_SERVICE_ABSENT", { service: SERVICES[what] ?? what });
    return client.request(what, params, this.cause());
  }

  /** SECURITY: a gateway is never asked about another gateway's sessions or users. test/serve/gateway.test.ts */
  #offering(what: Offer): CallbackClient | undefined {
    const asking = this.client();
    for (const client of this.#clients) if (client.offers.has(what) && (asking ?? client.name) === client.name) return client;
    return undefined;
  }
}

function checked<T>(schema: z.ZodType<T>, answer: unknown, what: Offer): T {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new CreelError("ERR_SERVE_FRAME", { detail: `the answer to ${what} is not valid` });
  return parsed.data;
}
