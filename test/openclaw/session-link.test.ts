/** Which `session:patch` event of the gateway is the echo of a plugin's own patch. The gateway's client is a stand-in. */
import { expect, it } from "vitest";
import { SessionLink } from "../../src/openclaw/session-link.ts";
import type { GatewaySdk } from "../../src/openclaw/gateway-api.ts";

const PATCH = { key: "main", label: "a" };
const event = (patch: object = PATCH) => ({ type: "session", action: "patch", context: { patch } });

function link(request: () => Promise<Record<string, unknown>> = async () => ({ entry: {} })): {
  link: SessionLink;
  cause: { token?: string };
} {
  const cause: { token?: string } = {};
  const GatewayClient = class {
    readonly #options: { onHelloOk(): void };
    constructor(options: { onHelloOk(): void }) {
      this.#options = options;
    }
    start(): void {
      this.#options.onHelloOk();
    }
    stop(): void {}
    request = request;
  };
  const api = { runtime: { config: { current: () => ({}) } } };
  const sdk = async () => ({ GatewayClient }) as unknown as GatewaySdk;
  return { link: new SessionLink(api as never, sdk, () => cause.token), cause };
}

it("an echo is used up: all listeners of its event hear the cause, and the same patch by somebody else has none", async () => {
  const { link: sessions, cause } = link();
  cause.token = "one";
  await sessions.patch(PATCH);
  const echo = event();
  expect([sessions.causeOf(echo), sessions.causeOf(echo)]).toEqual(["one", "one"]);
  expect(sessions.causeOf(event())).toBeUndefined();
  expect(sessions.causeOf(echo)).toBe("one");
});

it("two equal patches have two echoes, in their order, and another patch is none of them", async () => {
  const { link: sessions, cause } = link();
  for (const token of ["one", "two"]) {
    cause.token = token;
    await sessions.patch(PATCH);
  }
  expect(sessions.causeOf(event({ key: "main", label: "b" }))).toBeUndefined();
  expect([event(), event(), event()].map((one) => sessions.causeOf(one))).toEqual(["one", "two", undefined]);
});

it("a patch that the gateway refused has no echo", async () => {
  const { link: sessions, cause } = link(() => Promise.reject(new Error("label already in use")));
  cause.token = "one";
  await expect(sessions.patch(PATCH)).rejects.toThrow("label already in use");
  expect(sessions.causeOf(event())).toBeUndefined();
});
