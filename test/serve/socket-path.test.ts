/** Where the socket is: nobody else may enter, a dead host's is replaced, a living one's is not. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHost } from "creel";
import { SERVE_PROTOCOL } from "../../src/protocol/serve.ts";
import { folder } from "../support/files.ts";
import { silent } from "../support/host.ts";
import { socketPath, served } from "../support/serve.ts";

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("the place of the socket", () => {
  it("is made for the owner alone, and taken away at the end", async () => {
    const socket = join(folder({}), "deep/er/s.sock");
    const server = await served({ socket });
    expect([mode(dirname(socket)), mode(socket), mode(`${socket}.json`)]).toEqual(["700", "600", "600"]);
    expect(JSON.parse(readFileSync(`${socket}.json`, "utf8"))).toMatchObject({ protocol: SERVE_PROTOCOL, pid: process.pid });
    await server.close();
    expect([existsSync(socket), existsSync(`${socket}.json`)]).toEqual([false, false]);
  });

  it("a living host is not replaced, and named by its pid; not even by one that starts at the same time", async () => {
    const socket = socketPath();
    const started = await Promise.allSettled([served({ socket }), served({ socket })]);
    const refused = started.filter((one) => one.status === "rejected");
    expect(refused.map(({ reason }) => reason as unknown)).toMatchObject([
      { code: "ERR_SERVE_RUNNING", message: expect.stringContaining(`pid ${process.pid}`) },
    ]);
    await using client = await openHost({ connect: socket, logger: silent });
    expect(client.plugins()).toEqual([]);
    for (const one of started) if (one.status === "fulfilled") await one.value.close();
  });

  it("a dead one's socket is replaced", async () => {
    const socket = socketPath();
    const script = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", script, socket]);
    expect(statSync(socket).isSocket()).toBe(true);
    await expect(openHost({ connect: socket })).rejects.toMatchObject({ code: "ERR_SERVE_CONNECT" });
    await using server = await served({ socket });
    await using client = await openHost({ connect: socket, logger: silent });
    expect(client.id).toBe(server.host.id);
  });

  it.each([
    ["a folder that others may enter", (root: string) => (chmodSync(root, 0o755), join(root, "s.sock"))],
    [
      "a folder behind a link",
      (root: string) => (mkdirSync(join(root, "a"), { mode: 0o700 }), symlinkSync("a", join(root, "b")), join(root, "b/s.sock")),
    ],
    ["a file that is no socket", (root: string) => (writeFileSync(join(root, "s.sock"), "mine"), join(root, "s.sock"))],
    ["a path that is too long", (root: string) => join(root, "x".repeat(120))],
  ])("%s is refused", async (_, make) => {
    const socket = make(folder({}));
    await expect(served({ socket })).rejects.toMatchObject({ code: "ERR_SERVE_PLACE" });
  });

  it("a client trusts no socket in a folder that others may enter", async () => {
    await using server = await served();
    chmodSync(dirname(server.socket), 0o770);
    await expect(openHost({ connect: server.socket })).rejects.toMatchObject({ code: "ERR_SERVE_PLACE" });
    chmodSync(dirname(server.socket), 0o700);
  });
});
