/** Names that look like others, scripts, and old packages are said before anybody decides. */
import { describe, expect, it } from "vitest";
import { packageFindings } from "../../src/install/package-findings.ts";
import type { Dependency } from "../../src/install/npm.ts";

const dependency = (name: string, more: Partial<Dependency> = {}): Dependency => ({
  path: `node_modules/${name}`,
  name,
  version: "1.0.0",
  integrity: "sha512-x",
  hasInstallScript: false,
  deprecated: undefined,
  ...more,
});
const facts = { version: "1.0.0", installScripts: [], hasBin: false, deprecated: undefined };
const found = (id: string, name: string, dependencies: Dependency[], installed: string[] = []) =>
  packageFindings(id, { package: { ...facts, name }, dependencies }, installed, []).map(({ rule, severity, message }) => [
    rule,
    severity,
    message,
  ]);

describe("findings of a package", () => {
  it("an id that could be taken for an installed one is critical", () => {
    expect(found("red-act", "red-act", [], ["redact", "other"])).toEqual([
      ["lookalike", "critical", 'its id differs only in dashes, dots and underscores: "redact" is installed'],
    ]);
  });

  it("names near to well-known ones are said, of the package and of what it needs; the well-known ones themselves are not", () => {
    expect(
      found("x", "expresss", [dependency("loadsh"), dependency("lodash"), dependency("@acme/lodash"), dependency("left-pad")]),
    ).toEqual([
      ["typosquat", "warn", 'its package\'s name differs in one letter: "express" is well known'],
      ["typosquat", "warn", 'it needs "loadsh", whose name differs in one letter: "lodash" is well known'],
    ]);
  });

  it("install scripts and deprecated packages are said, in one line each, whatever their authors write", () => {
    const old = dependency("old", { hasInstallScript: true, deprecated: "use\n\u001b[31mnew" });
    expect(found("x", "x", [old])).toEqual([
      ["install-script", "warn", "old@1.0.0 has scripts that npm would run at installation; here none was run"],
      ["deprecated", "warn", "old@1.0.0 is deprecated: use [31mnew"],
    ]);
  });
});
