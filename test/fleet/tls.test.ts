/** Encryption, on a real NATS server with a certificate that openssl has made: it is never given up, whoever answers in the server's place. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connectNats } from "../../src/fleet/nats.ts";
import { folder, QUICK } from "../support/files.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";
import type { Tls } from "../support/nats.ts";

/** Undefined: there is no openssl here. */
function certificate(): Tls | undefined {
  const dir = folder({}, QUICK);
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=nats"];
  try {
    execFileSync("openssl", [...made, "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  return { key, cert, ca: readFileSync(cert, "utf8") };
}

const tls = noNats === undefined ? certificate() : undefined;
if (noNats === undefined && tls === undefined) console.warn("skipped: there is no openssl here to make a certificate with");

describe.skipIf(tls === undefined)("a fleet on tls:// addresses", () => {
  it("is encrypted; a plain server in the same place is refused, with and without an authority, and so is a wrong authority", async () => {
    const keys = keysOf("one", "host");
    await using nats = await Nats.start({ acme: [keys] }, 1, tls);
    const access = nats.accessOf(keys);
    expect(access.servers[0]).toMatch(/^tls:/);
    const bus = await connectNats(access);
    expect(bus.server.isTls).toBe(true);
    await bus.close();
    // Node does not trust it by itself.
    await expect(connectNats({ ...access, ca: undefined })).rejects.toMatchObject({ code: "ERR_FLEET_CONNECT" });
    await nats.kill();
    await nats.restart(0, true);
    const plainServers = access.servers.map((url) => url.replace("tls:", "nats:"));
    for (const ca of [tls!.ca, undefined])
      await expect(connectNats({ ...access, ca })).rejects.toMatchObject({
        code: "ERR_FLEET_CONNECT",
        params: { detail: expect.stringContaining("tls") as string },
      });
    // One address that asks for it is enough: the client may be sent to any of them.
    await expect(connectNats({ ...access, servers: [...plainServers, ...access.servers], ca: undefined })).rejects.toThrow(/tls/);
    const plain = await connectNats({ ...access, servers: plainServers, ca: undefined });
    expect(plain.server.isTls).toBe(false);
    await plain.close();
  });
});
