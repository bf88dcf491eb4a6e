/** A gateway may run with --expose-gc, which puts a `gc` into every context that cannot be deleted: a plugin gets none all the same. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ISOLATIONS } from "../support/host.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it.each(ISOLATIONS)("no gc inside, %s isolation", async (isolation) => {
  const gateway = spawn(
    process.execPath,
    [
      "-C",
      "source",
      "--expose-gc",
      "--input-type=module-typescript",
      "-e",
      `import { openHost } from "creel";
       const source = "export default (api) => { api.on('message_sending', () => ({ content: typeof gc })); };";
       await using host = await openHost({ isolation: "${isolation}", lanes: 1, plugins: [{ id: "a", source }] });
       const { result } = await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" });
       console.log(JSON.stringify([typeof gc, result?.content]));`,
    ],
    { stdio: ["ignore", "pipe", "inherit"], cwd: ROOT },
  );
  const [line] = (await once(createInterface({ input: gateway.stdout }), "line")) as [string];
  expect(JSON.parse(line)).toEqual(["function", "undefined"]);
});
