/** Which grants deserve a second yes. */
import { describe, expect, it } from "vitest";
import { concernsOf, expectMeant, requestedKeys } from "../../../src/install/review/grant-concerns.ts";
import { acceptedBy } from "../../../src/install/review/permission-keys.ts";

const ASKED = ["fetch:https://api.example.com", "kv:1024", "fetch:http://localhost:3000", "connect:db.example.com:5432"];

const command = (...flags: string[]) => ["creel permissions grant weather …", ...flags].join(" ");

describe("a grant", () => {
  it.each([
    ["fetch:https://api.example.com", []],
    ["fetch:https://api.example.com/v1#GET", []],
    ["kv:1000", []],
    ["kv", ["unasked"]],
    ["env:TOKEN", ["unasked"]],
    ["fetch:https://api.exmple.com", ["unasked"]],
    ["fetch:http://api.example.com", ["unasked", "insecure"]],
    ["fetch:http://localhost:3000", ["insecure"]],
    ["connect:db.example.com:5432", ["insecure"]],
    ["connect:tls://db.example.com:5432", []],
    ["connect:10.0.0.7:5432", ["unasked", "insecure"]],
    ["connect:localhost:5432", ["unasked"]],
    ["connect:[::1]:5432", ["unasked"]],
  ])("of %s raises %j", (key, expected) => {
    const raised = concernsOf([key], ASKED, undefined).flatMap(({ isUnasked, isInsecure }) => [
      ...(isUnasked ? ["unasked"] : []),
      ...(isInsecure ? ["insecure"] : []),
    ]);
    expect(raised).toEqual(expected);
    // Once granted, it is granted.
    expect(concernsOf([key], ASKED, acceptedBy([key], []))).toEqual([]);
  });

  it("of what only the scan of the code found was never asked for", () => {
    const found = (["manifest", "hooks", "scan"] as const).map((from) => ({
      from,
      key: { manifest: "kv", hooks: "prompt", scan: "env:TOKEN" }[from],
    }));
    expect(concernsOf(["kv", "prompt", "env:TOKEN"], requestedKeys(found), undefined)).toMatchObject([
      { key: "env:TOKEN", isUnasked: true },
    ]);
  });

  it("that is nearly what was asked for is told apart by a did-you-mean", () => {
    expect(concernsOf(["fetch:http://api.exmple.com"], ASKED, undefined)[0]!.hint).toBe('; did you mean "fetch:https://api.example.com"?');
  });

  it.each([
    ["fetch:http://localhost:3000", "fetch:https://localhost:3000"],
    ["connect:db.example.com:5432", "connect:tls://db.example.com:5432"],
  ])("of %s names the encrypted one in its error: %s", (key, better) => {
    expect(() => expectMeant(concernsOf([key], ASKED, undefined), { isUnasked: true, isInsecure: false }, "weather", command)).toThrow(
      expect.objectContaining({ code: "ERR_GRANT_INSECURE", fix: expect.stringContaining(`grant ${better}; or`) }) as Error,
    );
  });

  it("without a terminal needs the flag for each concern, and the error has the whole command", () => {
    const concerns = concernsOf(["fetch:http://api.exmple.com"], ASKED, undefined);
    const none = { isUnasked: false, isInsecure: false };
    expect(() => expectMeant(concerns, none, "weather", command)).toThrow(
      expect.objectContaining({
        code: "ERR_GRANT_UNASKED",
        message: '"weather" never asked for fetch:http://api.exmple.com; did you mean "fetch:https://api.example.com"?',
        fix: "if you mean it, run: creel permissions grant weather … --unasked --insecure",
      }) as Error,
    );
    expect(() => expectMeant(concerns, { ...none, isUnasked: true }, "weather", command)).toThrow("allows unencrypted connections");
    expect(() => expectMeant(concerns, { isUnasked: true, isInsecure: true }, "weather", command)).not.toThrow();
  });
});
