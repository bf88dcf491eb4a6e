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
/** A workflow that is not told waits for ever: what may be better in a moment is tried again after these. */
const PAUSES_MS = [250, 1_000];

export default definePlugin<Config>({
  id: "temporal-signal",
  name: "Temporal Signal",
  register(api) {
    const { url } = api.pluginConfig;
    if (!url?.includes("{workflowId}")) throw new Error('config.url is missing: set it to the signal\'s URL, with "{workflowId}" in it');

    api.on("session:end", async ({ sessionKey, context: { stopReason, lastMessage, metadata } }) => {
      const workflowId = metadata?.workflowId;
      // Most sessions belong to nobody's workflow.
      if (typeof workflowId !== "string" || workflowId === "") return;
      const signal: Signal = {
        sessionKey,
        stopReason,
        ...(lastMessage !== undefined && { lastMessage: lastMessage.slice(0, MAX_MESSAGE) }),
      };
      try {
        const status = await send(url.replace("{workflowId}", encodeURIComponent(workflowId)), signal);
        if (status < 300) api.logger.info(`workflow ${workflowId} was told that its session ended with ${stopReason}`);
        else api.logger.error(`workflow ${workflowId} was not told: the server answered ${status}`);
      } catch (error) {
        api.logger.error(`workflow ${workflowId} was not told: ${(error as Error).message}`);
      }
    });
  },
});

/** The status of the last attempt. */
async function send(url: string, signal: Signal): Promise<number> {
  for (const pauseMs of PAUSES_MS) {
    const status = await post(url, signal).catch((error: { code?: string }) => {
      // Refused by the host: it will be refused again.
      if (error.code !== "ERR_FETCH_FAILED") throw error;
    });
    if (status !== undefined && status < 500) return status;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return post(url, signal);
}

async function post(url: string, signal: Signal): Promise<number> {
  const { status } = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(signal),
  });
  return status;
}
