/** Inside the isolate: `request` and `get` of `http` and `https`. */
import type { Agent } from "./agent.ts";
import { part } from "../../boot/library.ts";
import { ClientRequest } from "./client-request.ts";
import { argumentsOf } from "./request-options.ts";
import type * as Wire from "./wire-request.ts";

interface Client {
  request(...args: unknown[]): ClientRequest;
  get(...args: unknown[]): ClientRequest;
}

/** `usual` gives the agent that is used unless the request names one. */
export function clientOf(usual: () => Agent): Client {
  const request = (...args: unknown[]): ClientRequest => {
    const { options, callback } = argumentsOf(args);
    if (typeof options["createConnection"] !== "function") return new ClientRequest(usual(), args);
    const { WireRequest } = part("node/http/wire-request") as typeof Wire;
    return new WireRequest(usual(), options, callback) as unknown as ClientRequest;
  };
  return {
    request,
    get: (...args) => {
      const sent = request(...args);
      sent.end();
      return sent;
    },
  };
}
