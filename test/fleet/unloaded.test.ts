/** A single machine needs none of it: a host that names no server loads no client of one. In a process of its own, so that nothing else has loaded it. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const LOADS = `
  import { registerHooks } from "node:module";
  const seen = [];
  registerHooks({
    resolve(specifier, context, next) {
      if (/^(?:@nats-io\\/|postgres$)/.test(specifier)) seen.push(specifier);
      return next(specifier, context);
    },
  });
  const { openHost } = await import("creel");
  await import("./src/serve/server.ts");
  const source = 'export default (api) => { api.on("message_sending", (e) => ({ content: e.content + "!" })); };';
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const host = await openHost({ isolation: "thread", lanes: 1, plugins: [{ id: "p", source }], logger });
  const { result } = await host.run("message_sending", { to: "me", content: "x" }, { channelId: "c" });
  await host.close();
  const unasked = [...seen];
  await import("./src/fleet/nats.ts").then(({ makeNkey }) => makeNkey());
  console.log(JSON.stringify({ content: result.content, unasked, asked: seen.length > 0 }));
`;

it("a host without a fleet or a shared store loads neither the client of NATS nor that of PostgreSQL", () => {
  const args = ["-C", "source", "--disable-warning=ExperimentalWarning", "--input-type=module", "-e", LOADS];
  const said = execFileSync(process.execPath, args, { cwd: join(import.meta.dirname, "../.."), encoding: "utf8" });
  expect(JSON.parse(said)).toEqual({ content: "x!", unasked: [], asked: true });
});
