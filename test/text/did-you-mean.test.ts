/** The nearest known name to a misspelt one, or silence when nothing is near. */
import { expect, it } from "vitest";
import { suggest } from "../../src/text/did-you-mean.ts";

const KNOWN = ["before_tool_call", "message_sending", "session:patch", "agent_end"];

it.each([
  ["before_tool_cal", "before_tool_call"],
  ["beforeToolCall", "before_tool_call"],
  ["BEFORE_TOOL_CALL", "before_tool_call"],
  ["session.patch", "session:patch"],
  ["agentend", "agent_end"],
  ["mesage_sendng", "message_sending"],
])("%s suggests %s", (name, near) => {
  expect(suggest(name, KNOWN)).toBe(`; did you mean "${near}"?`);
});

it.each(["", "x", "something_else_entirely", "end"])("%j suggests nothing", (name) => {
  expect(suggest(name, KNOWN)).toBe("");
});

it("with nothing known there is nothing to suggest", () => {
  expect(suggest("agent_end", [])).toBe("");
});
