/** Follows a host: what it tells of itself, until it ends or the signal fires. */
import type { FactName, Facts } from "../../host/events.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { Wanted } from "../../protocol/serve.ts";
import { ServeLink } from "../../sdk/serve-link.ts";

export interface FollowOptions {
  readonly socket: string;
  readonly wanted: Wanted;
  readonly signal: AbortSignal;
  readonly told: <K extends FactName>(name: K, fact: Facts[K]) => void;
  /** It is heard from now on. */
  readonly began: (host: { readonly id: string; readonly pid: number }) => void;
}

/** Gives why it ended; undefined: the signal did it. Rejects when nobody listens there, or a filter is not valid. */
export async function follow({ socket, wanted, signal, told, began }: FollowOptions): Promise<string | undefined> {
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
    await link.request("subscribe", wanted);
    began({ id: link.hostId, pid: link.hostPid });
    return await over.promise;
  } finally {
    signal.removeEventListener("abort", stop);
    await link.close();
  }
}
