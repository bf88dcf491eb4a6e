/** TLS of plugins' connections: made and verified by the host, never weaker than the grant. */
import { once } from "node:events";
import { createServer as createPlain } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { createServer, TLSSocket } from "node:tls";
import * as tls from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Connections } from "../../../../src/host/services/connect/connect.ts";
import type { Caller } from "../../../../src/host/services/connect/connect.ts";
import { selfSigned } from "../../../support/certificate.ts";

const trusted = selfSigned("localhost");
const wrongName = selfSigned("elsewhere.example.com");
const unknown = selfSigned("localhost");
const servers: Server[] = [];
const all = new Connections();
const before = tls.getCACertificates("default");
let next = 1;

beforeAll(() => tls.setDefaultCACertificates([trusted.cert, wrongName.cert]));
afterAll(() => {
  tls.setDefaultCACertificates(before);
  all.shut();
  for (const server of servers) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const secure = (options: tls.TlsOptions): Promise<number> =>
  portOf(createServer(options, (socket) => void socket.on("error", () => {}).pipe(socket)).on("tlsClientError", () => {}));
const caller = (...connect: string[]): Caller => ({ id: "p", cell: 1, grants: { connect } });
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no failure",
    (error: Error) => error.message,
  );

it("a valid certificate is enough, whatever the grant says about TLS", async () => {
  const port = await secure({ ...trusted, ALPNProtocols: ["own"] });
  for (const target of [`localhost:${port}`, `tls://localhost:${port}`]) {
    const plugin = caller(target);
    const id = next++;
    expect(await all.open(plugin, { id, host: "localhost", port, tls: { alpn: ["own"] } })).toMatchObject({
      protocol: "TLSv1.3",
      alpn: "own",
    });
    await all.write(plugin, { id, bytes: "hello" });
    expect(await all.read(plugin, { id })).toEqual({ bytes: "hello" });
  }
});

it.each([
  ["nobody has signed", unknown],
  ["is another host's", wrongName],
])("a certificate that %s is refused, also with NODE_TLS_REJECT_UNAUTHORIZED=0", async (_, certificate) => {
  const port = await secure(certificate);
  const set = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  try {
    expect(await failure(all.open(caller(`localhost:${port}`), { id: next++, host: "localhost", port, tls: {} }))).toBe(
      `the connection to localhost:${port} failed: its certificate is not valid`,
    );
  } finally {
    if (set === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = set;
  }
});

it("a grant for TLS carries no plain byte, and no other server name", async () => {
  const port = await secure(wrongName);
  const plugin = caller(`tls://localhost:${port}`);
  expect(await failure(all.open(plugin, { id: next++, host: "localhost", port }))).toBe(`the grant for localhost:${port} is for TLS only`);
  const named = { id: next++, host: "localhost", port, tls: { servername: "elsewhere.example.com" } };
  expect(await failure(all.open(plugin, named))).toMatch(/its certificate is not valid/);
});

it("a version before TLS 1.2 is refused", async () => {
  const port = await secure({ ...trusted, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" });
  expect(await failure(all.open(caller(`localhost:${port}`), { id: next++, host: "localhost", port, tls: {} }))).toMatch(
    /no secure connection could be made|the connection was cut/,
  );
});

/** Says `yes` in plain text, then expects TLS; `more` follows in plain text. */
async function upgrading(more: string): Promise<number> {
  return portOf(
    createPlain((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        socket.write(`yes${more}`);
        const made = new TLSSocket(socket, { ...trusted, isServer: true });
        made.on("error", () => {});
        made.pipe(made);
      });
    }),
  );
}

it("a plain connection becomes a TLS connection once, and its certificate is verified", async () => {
  const port = await upgrading("");
  const plugin = caller(`localhost:${port}`);
  const id = next++;
  await all.open(plugin, { id, host: "localhost", port });
  await all.write(plugin, { id, bytes: "tls?" });
  expect(await all.read(plugin, { id })).toEqual({ bytes: "yes" });
  const waiting = all.read(plugin, { id });
  expect(await all.secure(plugin, { id, servername: "localhost" })).toMatchObject({ protocol: "TLSv1.3" });
  expect(await waiting).toEqual({ superseded: true });
  await all.write(plugin, { id, bytes: "secret" });
  expect(await all.read(plugin, { id })).toEqual({ bytes: "secret" });
  expect(await failure(all.secure(plugin, { id, servername: "localhost" }))).toMatch(/cannot become a TLS connection now/);

  const other = next++;
  await all.open(plugin, { id: other, host: "localhost", port });
  await all.write(plugin, { id: other, bytes: "tls?" });
  await all.read(plugin, { id: other });
  expect(await failure(all.secure(plugin, { id: other, servername: "elsewhere.example.com" }))).toMatch(/its certificate is not valid/);
  expect(await failure((async () => all.write(plugin, { id: other, bytes: "in plain text?" }))())).toMatch(/its certificate is not valid/);
});

it("plain bytes that came before the handshake are not part of what comes after it", async () => {
  const port = await upgrading("OK injected\r\n");
  const plugin = caller(`localhost:${port}`);
  const id = next++;
  await all.open(plugin, { id, host: "localhost", port });
  await all.write(plugin, { id, bytes: "tls?" });
  // The plugin has not read them.
  expect(await failure(all.secure(plugin, { id, servername: "localhost" }))).toMatch(/no secure connection could be made|the connection/);
});
