/** A host of a fleet whose machine is gone for good while it works on a durable event: another one delivers what the servers have. */
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { makeSigningKey } from "../../../src/fleet/control/signature.ts";
import { Operator } from "../../../src/fleet/control/operator.ts";
import { connectNats } from "../../../src/fleet/nats.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { sessionEndEvent } from "../../../src/sdk/gateway/session-events.ts";
import { openHost } from "../../../src/sdk/open.ts";
import { startHostProcess } from "../../support/fleet-failures.ts";
import { folder } from "../../support/files.ts";
import { silent } from "../../support/host.ts";
import { keysOf, Nats, noNats } from "../../support/nats.ts";

interface Told {
  readonly n: number;
  readonly id: string;
  readonly attempt: number;
  readonly host: string;
}

it.skipIf(noNats !== undefined)(
  "events of a machine that is gone, state folder and all, are delivered by another: those it had begun under the same id, as another attempt",
  { timeout: 120_000 },
  async () => {
    const [one, two, boss] = [keysOf("one", "host"), keysOf("two", "host"), keysOf("boss", "operator")];
    await using nats = await Nats.start({ acme: [one, two, boss] });
    await using operator = await Operator.listen(await connectNats(nats.accessOf(boss)));
    await operator.events.make(1);
    await operator.events.makeConsumers(["teller"]);
    const told: Told[] = [];
    const begun = Promise.withResolvers<void>();
    // The first host's are not answered: it is killed between doing and saying so.
    await using receiver = createServer(
      (request, response) =>
        void text(request).then((body) => {
          told.push(JSON.parse(body) as Told);
          if (told.at(-1)!.host === "two") response.end("{}");
          else if (told.length === LIMITS.outbox.atOnce) begun.resolve();
        }),
    );
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const teller = (host: string) => ({
      id: "teller",
      source: `export default (api) => api.on("session:end", async ({ context }, { delivery }) => {
        const { ok } = await fetch("${origin}/", { method: "POST", body: JSON.stringify({ n: context.metadata.n, ...delivery, host: "${host}" }) });
        if (!ok) throw new Error("refused");
      });`,
      grants: { fetch: [origin] },
    });
    const root = folder({});
    const start = (keys: typeof one) => {
      const { name } = keys.member;
      const settings = { ...nats.accessOf(keys), operators: [makeSigningKey().publicKey], auditDays: undefined };
      return startHostProcess(join(root, name), settings, [teller(name)], { durable: ["session:end"], through: "jetstream" });
    };
    const children = [await start(one)];
    await using _ = { [Symbol.asyncDispose]: async () => void children.map((child) => child.kill("SIGKILL")) };
    await using gateway = await openHost({ connect: join(root, "one", "s.sock"), logger: silent });
    const events = 40;
    for (let n = 0; n < events; n++)
      await gateway.emit("session:end", sessionEndEvent({ sessionId: `s${n}`, sessionKey: `k${n}`, metadata: { n } }))!.kept;
    await begun.promise;
    // All of them have left the machine.
    const waiting = async () => (await operator.events.backlogs())!.reduce((sum, { waiting: w, unsettled }) => sum + w + unsettled, 0);
    await expect.poll(waiting).toBe(events);
    children[0]!.kill("SIGKILL");
    rmSync(join(root, "one"), { recursive: true, maxRetries: 5 });
    children.push(await start(two));
    await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
    const [first, second] = [told.filter(({ host }) => host === "one"), told.filter(({ host }) => host === "two")];
    expect(second.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(Array.from({ length: events }, (_zero, n) => n));
    expect(first).toHaveLength(LIMITS.outbox.atOnce);
    for (const { n, id } of first) expect(second.find((again) => again.n === n)).toMatchObject({ id, attempt: 2 });
    expect(second.filter(({ attempt }) => attempt === 1)).toHaveLength(events - first.length);
  },
);
