/**
 * The page: its one way to the server, which is the origin it came from. It exchanges the code in its address for a token, keeps the token
 * for this tab, and holds a stream open only while it is shown: a hidden tab costs nothing.
 */
import { batch } from "@preact/signals";
import * as store from "./store.ts";

const TOKEN = "creel.console.token";
/** No line for so long: the connection is dead, though the socket may not say so. Beats come every 4.8 s. */
const SILENCE_MS = 12_000;
const RETRY_MS = 1_000;

let stop: AbortController | undefined;
let wakeUp: (() => void) | undefined;

/** The code is taken out of the address before anything else happens. A tab that is signed in stays so if the code is no good. */
export async function signIn(): Promise<void> {
  const code = /^#([\w-]{20,64})$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(undefined, "", "#/overview");
  const response = await fetch("/session", {
    method: "POST",
    headers: { "content-type": "application/json", "x-creel-console": "1" },
    body: JSON.stringify({ code }),
  }).catch(() => undefined);
  if (!response?.ok) return;
  const { token } = (await response.json()) as { token: string };
  sessionStorage.setItem(TOKEN, token);
  wakeUp?.();
}

/** Codes of later addresses as well: this tab may be open and signed in. Before anything else reads the address. */
export function takeCodes(): void {
  addEventListener("hashchange", () => void signIn());
}

/** Rejects with a sentence for the person. */
export async function rpc<T>(method: string, params: object = {}): Promise<T> {
  const response = await fetch("/rpc", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ""}` },
    body: JSON.stringify({ method, params }),
  }).catch(() => undefined);
  if (!response) throw new Error("The console does not answer.");
  if (response.status === 401) signOut();
  if (response.status === 403) throw new Error("This console may look, not act.");
  if (!response.ok) throw new Error(`The console refused it (${response.status}).`);
  const { ok, error } = (await response.json()) as { ok?: T; error?: { message: string; fix?: string } };
  if (error) throw new Error(error.fix === undefined ? error.message : `${error.message}: ${error.fix}`);
  return ok as T;
}

/** Follows the host for as long as the page lives. */
export async function follow(): Promise<never> {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stop?.abort();
    else wakeUp?.();
  });
  for (;;) {
    while (document.hidden) await new Promise<void>((resolve) => (wakeUp = resolve));
    if (sessionStorage.getItem(TOKEN) === null) {
      store.connection.value = "signed-out";
      await new Promise<void>((resolve) => (wakeUp = resolve));
      continue;
    }
    await stream();
    if (document.hidden) continue;
    if (store.connection.value !== "signed-out") store.connection.value = "lost";
    await new Promise<void>((resolve) => {
      wakeUp = resolve;
      setTimeout(resolve, RETRY_MS);
    });
  }
}

function signOut(): void {
  sessionStorage.removeItem(TOKEN);
  store.connection.value = "signed-out";
}

async function stream(): Promise<void> {
  const control = (stop = new AbortController());
  let silence = setTimeout(() => control.abort(), SILENCE_MS);
  try {
    const query = new URLSearchParams({ since: String(store.last.seq), host: store.last.host });
    const response = await fetch(`/feed?${query.toString()}`, {
      headers: { authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ""}` },
      signal: control.signal,
    });
    if (response.status === 401) return signOut();
    if (!response.ok || !response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let held = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(() => control.abort(), SILENCE_MS);
      const lines = (held + value).split("\n");
      held = lines.pop()!;
      batch(() => lines.forEach((line) => take(JSON.parse(line) as Line)));
    }
  } catch {
    // The caller says that the connection is lost, and tries again.
  } finally {
    clearTimeout(silence);
    control.abort();
  }
}

/** A line of the stream; src/console/feed.ts writes them. */
interface Line {
  readonly hello?: { readonly host: string; readonly scopes: string[]; readonly now: number; readonly hasTools: boolean };
  readonly host?: string;
  readonly beat?: number;
  readonly away?: string | null;
  readonly runs?: Parameters<typeof store.addRuns>[0];
  readonly flying?: typeof store.flying.value;
  readonly plugins?: typeof store.plugins.value;
  readonly approvals?: typeof store.approvals.value;
  readonly stats?: typeof store.stats.value;
  readonly incidents?: typeof store.incidents.value;
  readonly incident?: Parameters<typeof store.addIncident>[0];
  readonly log?: readonly store.LogLine[];
  readonly logs?: typeof store.logs.value;
  readonly sample?: Parameters<typeof store.addSample>[0];
  readonly dropped?: number;
}

function take(line: Line): void {
  if (line.hello) {
    store.setHost(line.hello.host);
    store.setHostClock(line.hello.now);
    store.scopes.value = line.hello.scopes;
    store.hasTools.value = line.hello.hasTools;
    store.connection.value = "live";
    store.away.value = line.away ?? undefined;
    void loadSamples();
  }
  if (line.host !== undefined) store.setHost(line.host);
  if (line.beat !== undefined) store.setHostClock(line.beat);
  if (line.away !== undefined) store.away.value = line.away ?? undefined;
  if (line.runs) store.addRuns(line.runs);
  if (line.flying) store.setFlying(line.flying);
  if (line.plugins) store.plugins.value = line.plugins;
  if (line.approvals) store.approvals.value = line.approvals;
  if (line.stats) store.stats.value = line.stats;
  if (line.incidents) store.incidents.value = line.incidents;
  if (line.incident) store.addIncident(line.incident);
  if (line.logs) store.logs.value = line.logs;
  if (line.log) store.addLogs(line.log);
  if (line.sample) store.addSample(line.sample);
  if (line.dropped !== undefined) store.dropped.value += line.dropped;
}

async function loadSamples(): Promise<void> {
  try {
    store.samples.value = await rpc("samples");
  } catch {
    // The plots begin now.
  }
}
