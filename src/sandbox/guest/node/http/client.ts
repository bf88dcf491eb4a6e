/** Inside the isolate: `request` and `get` of `http` and `https`. */
import type { Agent } from "./agent.ts";
import { ClientRequest } from "./client-request.ts";

interface Client {
  request(...args: unknown[]): ClientRequest;
  get(...args: unknown[]): ClientRequest;
}

/** `usual` gives the agent that is used unless the request names one. */
export function clientOf(usual: () => Agent): Client {
  const request = (...args: unknown[]): ClientRequest => new ClientRequest(usual(), args);
  return {
    request,
    get: (...args) => {
      const sent = request(...args);
      sent.end();
      return sent;
    },
  };
}
