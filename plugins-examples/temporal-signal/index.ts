/**
 * Tells a waiting workflow that its session has ended, so that it can go on to its next step. The gateway's workflow engine
 * (Temporal's HTTP API, or anything shaped like it) starts a session with `metadata: { workflowId }`, and gets the id back here.
 */
import { definePlugin } from "creel/plugin";

interface Config {
  /** Where to signal; `{workflowId}` stands for the session's workflow. */
  url?: string;
}

interface Signal {
  sessionKey: string;
  stopReason: string;
  lastMessage?: string;
}

/** A workflow wants the gist; the transcript is elsewhere. */
const MAX_MESSAGE = 16_000;
/** Where the operator does not allow durable events: what may be better in a moment is tried again after these, and then it is lost. */
const PAUSES_MS = [250, 1_000];

export default definePlugin<Config>({
  id: "temporal-signal",
  name: "Temporal Signal",
  register(api) {
    const { url } = api.pluginConfig;
    if (!url?.includes("{workflowId}")) throw new Error('config.url is missing: set it to the signal\'s URL, with "{workflowId}" in it');

    // A workflow that is not told waits for ever, so the event should outlive this process and the server's troubles.
    api.on(
      "session:end",
      async ({ sessionKey, context: { stopReason, lastMessage, metadata } }, { delivery }) => {
        const workflowId = metadata?.workflowId;
        // Most sessions belong to no workflow.
        if (typeof workflowId !== "string" || workflowId === "") return;
        const signal: Signal = {
          sessionKey,
          stopReason,
          ...(lastMessage !== undefined && { lastMessage: lastMessage.slice(0, MAX_MESSAGE) }),
        };
        const target = url.replace("{workflowId}", encodeURIComponent(workflowId));
        let status: number;
        try {
          status = await (delivery ? post(target, signal, delivery.id) : send(target, signal));
        } catch (error) {
          // Thrown to the host, which tries again; what it refuses itself will be refused again.
          if (delivery && isPassing(error)) throw error;
          return api.logger.error(`workflow ${workflowId} was not told: ${(error as Error).message}`);
        }
        if (status < 300) return api.logger.info(`workflow ${workflowId} was told that its session ended with ${stopReason}`);
        const trouble = `workflow ${workflowId} was not told: the server answered ${status}`;
        if (delivery && status >= 500) throw new Error(trouble);
        api.logger.error(trouble);
      },
      { durable: true },
    );
  },
});

/** The status of the last attempt. */
async function send(url: string, signal: Signal): Promise<number> {
  for (const pauseMs of PAUSES_MS) {
    const status = await post(url, signal).catch((error: unknown) => {
      if (!isPassing(error)) throw error;
    });
    if (status !== undefined && status < 500) return status;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return post(url, signal);
}

/** The server could not be reached in time, or there were too many requests. Any other error is a refusal, and stays one. */
const PASSING = new Set(["ERR_FETCH_FAILED", "ERR_FETCH_TIMEOUT", "ERR_FETCH_BUSY", "ERR_FETCH_RATE"]);

function isPassing(error: unknown): boolean {
  return PASSING.has((error as { code?: string }).code ?? "");
}

/** `id`: the same at every attempt, so that the server can tell a duplicate. */
async function post(url: string, signal: Signal, id?: string): Promise<number> {
  const { status } = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(id !== undefined && { "idempotency-key": id }) },
    body: JSON.stringify(signal),
  });
  return status;
}
