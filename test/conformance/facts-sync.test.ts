/** Facts 73 to 76: the hooks of a gateway that cannot wait. */
import { expect, it } from "vitest";
import { persist } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, recorder, statuses } from "../support/host.ts";
import { pair } from "./stage.ts";

const add = (text: string) => `return { message: { text: event.message.text + "${text}" } }`;

contract("facts: sync hooks", (isolation) => {
  const log = recorder();
  const shared = pair(isolation, ["tool_result_persist", "before_message_write"], { logger: log.logger });
  const keep = (script: Script) => shared.host.runSync("tool_result_persist", persist(script));
  const write = (script: Script) => shared.host.runSync("before_message_write", persist(script));

  it("73. each handler sees the message of the one before it; changing it in place counts as returning it", () => {
    expect(keep({ a: add("+A"), b: add("+B") }).result).toEqual({ message: { text: "orig+A+B" } });
    expect(keep({ a: `event.message.text = "in place"` }).result).toEqual({ message: { text: "in place" } });
  });

  it("74. what an asynchronous handler returns is ignored, with one warning", () => {
    log.lines.length = 0;
    expect(keep({ a: `async return { message: { text: "late" } }` })).toMatchObject({ decision: "pass", result: undefined });
    expect(log.lines).toMatchObject([{ level: "warn", fields: { plugin: "a", code: "ERR_CALL_ASYNC" } }]);
  });

  it("76. a block keeps the message out, at any position, and later handlers are not called", () => {
    const first = write({ a: `return { block: true }`, b: add("+B") });
    expect(first).toMatchObject({ decision: "block", by: "a" });
    expect(statuses(first)).toEqual(["a:ok", "b:skipped"]);
    expect(write({ a: add("+A"), b: `return { block: true }` })).toMatchObject({ decision: "block", by: "b" });
  });
});
