/** `creel call` of a host that `creel serve` runs: every kind of function, by an installed plugin and by one of the configuration. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Served } from "../../../../src/serve/server.ts";
import { creelHere } from "../../../support/cli-in-process.ts";
import { folder, QUICK } from "../../../support/files.ts";
import { plugin } from "../../../support/host.ts";
import { putInstalled } from "../../../support/installed.ts";
import { served } from "../../../support/serve.ts";

const functionsOf = (id: string) => `
  api.registerTool({ name: "${id}-double", execute: (call, { n }) => ({ twice: 2 * n }) });
  api.registerCommand({ name: "${id}-greet", acceptsArgs: true, handler: ({ args }) => ({ text: "hello " + args }) });
  api.registerGatewayMethod("${id}.status", ({ respond, params }) => { respond(true, { got: params }); });
  api.schedule.on("${id}-nightly", (data, job) => { api.logger.info(job.id); if (data.fails) throw new Error("no luck"); });
`;

let server: Served;
beforeAll(async () => {
  const stateDir = folder({}, QUICK);
  // As the review listed them.
  const functions = [
    { kind: "tool", name: "installed-double" },
    { kind: "command", name: "installed-greet" },
    { kind: "method", name: "installed.status" },
    { kind: "job", name: "installed-nightly" },
  ] as const;
  const source = `export default (api) => { api.on("message_sending", () => {}); ${functionsOf("installed")} };`;
  await putInstalled(stateDir, "installed", source, { functions: [...functions], grants: { schedule: true } });
  const config = { stateDir, sandbox: { spare: false, walls: "none" } } as const;
  server = await served({ config, plugins: [plugin("named", functionsOf("named"))] });
});
afterAll(() => server.close());

const call = async (...args: string[]) => {
  const { code, out } = await creelHere("call", ...args, "--socket", server.socket, "--json");
  return { code, answer: JSON.parse(out) as Record<string, unknown> };
};

it.each(["named", "installed"])("calls a tool, a command, a method and a job of a plugin that is %s", async (id) => {
  const kinds: [string, string, unknown][] = [
    [`tool:${id}-double`, '{"n":4}', { twice: 8 }],
    [`command:${id}-greet`, "Ann and Ben", { text: "hello Ann and Ben" }],
    [`method:${id}.status`, '{"a":1}', { ok: true, payload: { got: { a: 1 } } }],
    [`job:${id}-nightly`, '{"day":"Monday"}', null],
  ];
  for (const [name, argument, value] of kinds) {
    const { code, answer } = await call(name, "--argument", argument);
    expect([name, code, answer]).toEqual([name, 0, expect.objectContaining({ plugin: id, status: "ok", value })]);
  }
  const { code, answer } = await call(`job:${id}-nightly`, "--argument", '{"fails":true}');
  expect([code, answer]).toMatchObject([1, { status: "failed", error: { message: expect.stringContaining("no luck") as string } }]);
});

it.each(["tool", "command", "method", "job"])("an unknown %s is an error with the name that was meant", async (kind) => {
  const name = kind === "method" ? "named.statuss" : `named-${{ tool: "doubl", command: "gret", job: "nightli" }[kind]!}`;
  const { code, answer } = await call(`${kind}:${name}`);
  expect([code, answer]).toMatchObject([1, { error: { message: expect.stringContaining("did you mean") as string } }]);
});
