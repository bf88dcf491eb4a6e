/**
 * A page, as far as the gateway notices one: signs in, follows the stream, and reads it; hidden, it holds none. In a process of its own, as a
 * browser is. It is told an address to show, or nothing to hide, and answers when that is done.
 */
interface Session {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

let session: Session | undefined;

process.on("message", (address: string) => {
  void change(address).then(() => process.send!("done"));
});

async function change(address: string): Promise<void> {
  session?.stop.abort();
  await session?.ended;
  session = address === "" ? undefined : await follow(address);
}

/** Resolves when the first line has been read. */
async function follow(address: string): Promise<Session> {
  const { origin, hash } = new URL(address);
  const signedIn = await fetch(`${origin}/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-creel-console": "1" },
    body: JSON.stringify({ code: hash.slice(1) }),
  });
  const { token } = (await signedIn.json()) as { token: string };
  const stop = new AbortController();
  const feed = await fetch(`${origin}/feed?since=0&host=`, { headers: { authorization: `Bearer ${token}` }, signal: stop.signal });
  const first = Promise.withResolvers<void>();
  const ended = read(feed, first.resolve).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await first.promise;
  return { stop, ended };
}

async function read(feed: Response, tell: () => void): Promise<void> {
  let runs = 0;
  let held = "";
  for await (const text of feed.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (held + text).split("\n");
    held = lines.pop()!;
    for (const line of lines) runs += (JSON.parse(line) as { runs?: unknown[] }).runs?.length ?? 0;
    if (lines.length > 0) tell();
  }
}
