/** Session keys come from gateways of many makings; the parser has an answer for each of them. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { parseSessionKey } from "../../../src/sdk/gateway/session-key.ts";

const NOTHING = { agentId: "", platform: "", channelType: "", channelId: "" };

it("a key names agent, platform, type of channel and channel", () => {
  expect(parseSessionKey("agent:main:discord:channel:123456")).toEqual({
    agentId: "main",
    platform: "discord",
    channelType: "channel",
    channelId: "123456",
  });
});

it("a channel's id keeps its colons", () => {
  expect(parseSessionKey("agent:main:matrix:room:!abc:matrix.org").channelId).toBe("!abc:matrix.org");
  expect(parseSessionKey("agent:main:discord:channel:1:thread:2").channelId).toBe("1:thread:2");
});

it("what a short key does not say is an empty text", () => {
  expect(parseSessionKey("agent:main:main")).toEqual({ ...NOTHING, agentId: "main", platform: "main" });
  expect(parseSessionKey("agent:main:telegram:dm")).toEqual({ ...NOTHING, agentId: "main", platform: "telegram", channelType: "dm" });
  expect(parseSessionKey("agent:main:discord:channel:").channelId).toBe("");
});

it.each(["", "main", "agent", "agent:main", "cron:daily:discord:channel:1", ":::::", "Agent:main:discord:channel:1"])(
  "the malformed key %j says nothing",
  (key) => {
    expect(parseSessionKey(key)).toEqual(NOTHING);
  },
);

it.each([undefined, null, 7, {}, ["agent:main:a:b:c"]])("a key that is no text (%j) says nothing", (key) => {
  expect(parseSessionKey(key)).toEqual(NOTHING);
});

it("any key is parsed into four texts, and a whole one can be put together again", () => {
  fc.assert(
    fc.property(fc.string(), (key) => {
      expect(Object.values(parseSessionKey(key)).every((part) => typeof part === "string")).toBe(true);
    }),
  );
  const part = fc.string().filter((text) => !text.includes(":"));
  fc.assert(
    fc.property(part, part, part, fc.string(), (agentId, platform, channelType, channelId) => {
      const meta = { agentId, platform, channelType, channelId };
      expect(parseSessionKey(`agent:${agentId}:${platform}:${channelType}:${channelId}`)).toEqual(meta);
    }),
  );
});
