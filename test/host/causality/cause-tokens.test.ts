/** Tokens for causes that leave the process: how long they mean something, and how many there are. */
import { expect, it } from "vitest";
import { CauseTokens } from "../../../src/host/causality/cause-tokens.ts";
import type { Chain } from "../../../src/host/causality/causes.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const chain = (rootRunId: string): Chain => ({ rootRunId, depth: 1, path: [], runIds: [], by: "p", client: undefined });

it("a token means its chain until it is too old", () => {
  let nowMs = 0;
  const tokens = new CauseTokens(() => nowMs);
  const token = tokens.issue(chain("r"));
  nowMs = LIMITS.causality.causeTokenMs - 1;
  expect(tokens.chainOf(token)?.rootRunId).toBe("r");
  nowMs = LIMITS.causality.causeTokenMs;
  expect(tokens.chainOf(token)).toBeUndefined();
});

it("the oldest is forgotten when there are too many", () => {
  const tokens = new CauseTokens();
  const given = Array.from({ length: LIMITS.causality.causeTokens + 2 }, (_, index) => tokens.issue(chain(String(index))));
  expect(given.slice(0, 3).map((token) => tokens.chainOf(token)?.rootRunId)).toEqual([undefined, undefined, "2"]);
  expect(tokens.chainOf(given.at(-1)!)?.rootRunId).toBe(String(LIMITS.causality.causeTokens + 1));
});
