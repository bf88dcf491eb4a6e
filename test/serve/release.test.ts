/** `creel release`: who is in quarantine in a host that is served gets out by a word at the shell. */
import { expect, it } from "vitest";
import { creelHere } from "../support/cli-in-process.ts";
import { socketPath, served } from "../support/serve.ts";

const SHAKY = `export default (api) => { let calls = 0; api.on("message_sending", () => { if ((calls += 1) <= 15) throw new Error("no"); return { content: "well" }; }); };`;

it("a plugin that was quarantined is called again after it; one that there is not is named", async () => {
  await using host = await served({ plugins: [{ id: "shaky", source: SHAKY }] });
  const send = () => host.host.run("message_sending", { to: "x", content: "y" }, { channelId: "chat" });
  for (let at = 0; at < 15; at += 1) await send();
  expect((await send()).calls[0]?.status).toBe("quarantined");
  const released = await creelHere("release", "shaky", "--socket", host.socket);
  expect([released.code, released.out]).toEqual([0, "✓ shaky is out of quarantine\n"]);
  expect((await send()).calls[0]?.status).not.toBe("quarantined");
  const again = await creelHere("release", "shaky", "--socket", host.socket, "--json");
  expect(JSON.parse(again.out)).toMatchObject({ id: "shaky", circuit: { state: "closed" } });
  expect((await creelHere("release", "shaky", "--socket", host.socket)).out).toContain("was not in quarantine");
  expect(await creelHere("release", "nobody", "--socket", host.socket)).toMatchObject({ code: 1, err: expect.stringContaining("nobody") });
  expect(await creelHere("release", "shaky", "--socket", socketPath())).toMatchObject({
    code: 1,
    err: expect.stringContaining("creel serve"),
  });
});
