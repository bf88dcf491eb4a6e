/** An open page, as far as the gateway notices one: signs in, follows the stream, and reads it. In a process of its own, as a browser is. */
const [address = ""] = process.argv.slice(2);
const { origin, hash } = new URL(address);
const session = await fetch(`${origin}/session`, {
  method: "POST",
  headers: { "content-type": "application/json", "x-creel-console": "1" },
  body: JSON.stringify({ code: hash.slice(1) }),
});
const { token } = (await session.json()) as { token: string };
const feed = await fetch(`${origin}/feed?since=0&host=`, { headers: { authorization: `Bearer ${token}` } });
let runs = 0;
let held = "";
for await (const text of feed.body!.pipeThrough(new TextDecoderStream())) {
  if (runs === 0 && held === "") process.send?.("reading");
  const lines = (held + text).split("\n");
  held = lines.pop()!;
  for (const line of lines) runs += (JSON.parse(line) as { runs?: unknown[] }).runs?.length ?? 0;
}
export {};
