/** Follows a host and reports its facts, until the host closes or the signal fires. */
import type { FactName, Facts } from "../../host/report/events.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { EventFilter } from "../../protocol/serve.ts";
import { ServeLink } from "../../sdk/remote/serve-link.ts";

export interface FollowOptions {
  readonly socket: string;
  readonly filter: EventFilter;
  readonly signal: AbortSignal;
  readonly told: <K extends FactName>(name: K, fact: Facts[K]) => void;
  /** The subscription is active. */
  readonly began: (host: { readonly id: string; readonly pid: number }) => void;
}

/** Gives the reason for the end; undefined: the signal. Rejects if no host is running or the filter is invalid. */
export async function follow({ socket, filter, signal, told, began }: FollowOptions): Promise<string | undefined> {
  const over = Promise.withResolvers<string | undefined>();
  const link = await ServeLink.open({
    path: socket,
    offers: [],
    wantsState: false,
    told: ({ event, fact }) => told(event, fact as never),
    asked: () => Promise.reject(new CreelError("ERR_SERVE_UNABLE", { what: "an answer" })),
    lost: ({ params }) => over.resolve(String(params.detail)),
  });
  const stop = (): void => over.resolve(undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await link.request("subscribe", filter);
    began({ id: link.hostId, pid: link.hostPid });
    return await over.promise;
  } finally {
    signal.removeEventListener("abort", stop);
    await link.close();
  }
}
