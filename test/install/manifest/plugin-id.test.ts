/** Ids of plugins that are to be installed: what is refused, and what the operator is warned of. */
import { describe, expect, it } from "vitest";
import { checkedInstallId, lookalikes } from "../../../src/install/manifest/plugin-id.ts";
import type { CreelError } from "../../../src/protocol/errors.ts";
import { thrownBy } from "../../support/errors.ts";

const installed = ["tool-preflight", "@acme/audit-log", "paypal", "Weather", "kv"];
const refusal = (id: string): string | undefined => (thrownBy(() => checkedInstallId(id)) as CreelError | undefined)?.message;

describe("ids that are refused", () => {
  it.each([
    ["a Cyrillic letter", "p\u0430ypal", 'it has U+0430, of the Cyrillic script, which looks like "a"'],
    ["a Greek letter", "paypa\u03B9", 'it has U+03B9, of the Greek script, which looks like "i"'],
    ["a wide letter", "\uFF50aypal", 'it has U+FF50, which looks like "p"'],
    ["a mathematical letter", "\u{1D429}aypal", 'it has U+1D429, which looks like "p"'],
    ["an accent", "pa\u00FFpal", 'it has U+00FF, which looks like "y"'],
    ["another dash", "tool\u2010preflight", 'it has U+2010, which looks like "-"'],
    ["letters of another script", "天气", "it has U+5929, of the Han script"],
    ["a sign of no width", "pay\u200Bpal", "it has U+200B"],
    ["a text that is turned around", "pay\u202Elap", "it has U+202E"],
    ["a line break", "pay\npal", "it has U+000A"],
    ["an escape sequence", "pay\u001B[2Jpal", "it has U+001B"],
    ["nothing", "", "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["a space", "pay pal", "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["a path", "../paypal", "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["a path in its scope", "@acme/../paypal", "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["two scopes", "@a/@b/c", "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["a capital in its scope", "@Acme/a", "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["a leading dot", ".hidden", "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["__proto__", "__proto__", "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["129 characters", "a".repeat(129), "it may have letters, digits, dots, dashes and underscores, optionally after @scope/"],
    ["two dots", "a..b", "it has too many dots"],
    ["a dot at the end", "a.", "it has too many dots"],
    ["a key that every object has", "constructor", '"constructor" is reserved in JavaScript or npm'],
    ["npm's folder", "@acme/node_modules", '"node_modules" is reserved in JavaScript or npm'],
    ["a device", "nul.js", '"nul.js" is a device on Windows'],
  ])("%s", (_, id, detail) => {
    expect(refusal(id)).toMatch(/^[\x20-\x7E…]+$/);
    expect(refusal(id)!.endsWith(`cannot be the id of a plugin: ${detail}`)).toBe(true);
  });

  it.each(["paypal", "@acme/audit-log", "Weather", "a", "3d", "a.b_c-d", "console", "nullify"])("%s is fine", (id) => {
    expect(checkedInstallId(id)).toBe(id);
  });
});

describe("ids that could be taken for that of an installed plugin", () => {
  it.each([
    ["TOOL-preflight", "tool-preflight", "differs only in upper and lower case"],
    ["weather", "Weather", "differs only in upper and lower case"],
    ["tool_preflight", "tool-preflight", "differs only in dashes, dots and underscores"],
    ["toolpreflight", "tool-preflight", "differs only in dashes, dots and underscores"],
    ["tool.pre-flight", "tool-preflight", "differs only in dashes, dots and underscores"],
    ["audit-log", "@acme/audit-log", "has the same name in another scope"],
    ["@acme-labs/audit-log", "@acme/audit-log", "has the same name in another scope"],
    ["@acme/paypal", "paypal", "has the same name in another scope"],
    ["acme-audit-log", "@acme/audit-log", "has the other's scope as a part of its name"],
    ["@tool/preflight", "tool-preflight", "has the other's scope as a part of its name"],
    ["paypa1", "paypal", "differs only in characters that look alike"],
    ["paypaI", "paypal", "differs only in characters that look alike"],
    ["t00l-preflight", "tool-preflight", "differs only in characters that look alike"],
    ["@acrne/audit-log", "@acme/audit-log", "has the same name in another scope"],
    ["@evil/aud1t-log", "@acme/audit-log", "has a name that looks the same, in another scope"],
    ["paypall", "paypal", "differs in one letter"],
    ["paypl", "paypal", "differs in one letter"],
    ["paupal", "paypal", "differs in one letter"],
    ["papyal", "paypal", "differs in one letter"],
    ["p\u0430yp\u0430l", "paypal", "differs only in letters of another script"],
    ["\uFF50aypal", "paypal", "differs only in letters of another script"],
  ])("%s, for %s", (id, other, why) => {
    expect(lookalikes(id, installed)).toEqual([{ id: other, why }]);
  });

  it.each(["paypal", "kw", "k", "weather-report", "paypal-audit", "@acme/other", "tool-postflight"])("%s, for none", (id) => {
    expect(lookalikes(id, installed)).toEqual([]);
  });

  it("the most alike comes first", () => {
    expect(lookalikes("tool-a", ["tool-b", "tool_a", "toola", "Tool-A"]).map(({ id }) => id)).toEqual([
      "Tool-A",
      "tool_a",
      "toola",
      "tool-b",
    ]);
  });

  it("works for what has no letters to tell apart, and for names of objects' own", () => {
    expect(lookalikes("constructor", ["toString", "__proto__"])).toEqual([]);
    expect(lookalikes("aa", ["aa"])).toEqual([]);
  });
});
