/** Code inside a plugin's cell: the plugins are actors, see actors.ts. */
import { expect } from "vitest";
import type { Host } from "creel";
import { sending } from "./actors.ts";

/** What an asynchronous function body gives inside the plugin's cell; what it throws comes as `{ code, message }`. */
export async function does(host: Pick<Host, "run">, id: string, body: string): Promise<unknown> {
  const outcome = await host.run(
    "message_sending",
    sending({
      [id]: `async let value; try { value = await (async () => { ${body} })(); } catch (error) { value = { code: error.code ?? error.name, message: error.message }; } return { cancelReason: JSON.stringify(value ?? null) };`,
    }),
    { channelId: "chat" },
  );
  expect(outcome.calls.filter(({ status }) => status !== "ok")).toEqual([]);
  return JSON.parse(outcome.result!.cancelReason!);
}
