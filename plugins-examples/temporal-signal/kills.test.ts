/** The real plugin, asking for durable events: the gateway is killed again and again, and no workflow waits for ever. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killGateway } from "../../test/support/durable-kills.ts";

const SIGNALS = "/api/v1/namespaces/default/workflows/";

it(
  "the gateway is killed twelve times, a tenth of the signals is refused: no workflow misses its signal",
  { timeout: 400_000 },
  async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "creel-signals-"));
    try {
      const figures = await killGateway({
        stateDir,
        kills: 12,
        events: 130,
        sessions: 10,
        refuses: 0.1,
        lifeMs: 100,
        // Only the plugin asks, and its operator allows it.
        durable: [],
        plugin: (origin) => ({
          path: import.meta.dirname,
          config: { url: `${origin}${SIGNALS}{workflowId}/signal/complete` },
          grants: { fetch: [{ origin, methods: ["POST"], pathPrefix: SIGNALS }] },
          hooks: { durable: true },
        }),
        read: (url, body, headers) => {
          const [n, life] = url.slice(SIGNALS.length).split("/")[0]!.slice(1).split("-").map(Number);
          const id = headers["idempotency-key"];
          expect(id).toMatch(/^[\w-]{16}$/);
          return { n: n!, life: life!, session: (body as { sessionKey: string }).sessionKey, id: String(id) };
        },
      });
      expect(figures).toMatchObject({ kills: 12, emitted: 130, lost: 0, outOfOrder: 0, otherIds: 0 });
      expect(figures.refused).toBeGreaterThan(0);
    } finally {
      rmSync(stateDir, { recursive: true });
    }
  },
);
