/** Names that look like others, scripts, and old packages are said before anybody decides. */
import { describe, expect, it } from "vitest";
import { packageFindings } from "../../../src/install/manifest/package-findings.ts";
import type { Announced, Dependency } from "../../../src/install/fetch/npm.ts";

const dependency = (name: string, more: Partial<Dependency> = {}): Dependency => ({
  path: `node_modules/${name}`,
  name,
  version: "1.0.0",
  integrity: "sha512-x",
  hasInstallScript: false,
  deprecated: undefined,
  ...more,
});
const facts = { version: "1.0.0", installScripts: [], hasBin: false };
const NOW = Date.parse("2026-11-16T12:00:00Z");
const found = (id: string, name: string, dependencies: Dependency[], installed: string[] = [], announced?: Announced) => {
  const others = installed.map((other) => ({ id: other.replace(/^@acme\//, ""), source: { spec: `${other}@^1` } }));
  return packageFindings(id, { package: { ...facts, name }, dependencies, announced }, others, [], NOW).map(
    ({ rule, severity, message }) => [rule, severity, message],
  );
};

const near = (id: string, name: string, installed: string[] = []) => found(id, name, [], installed).map(([, , message]) => message);

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
      ["typosquat", "warn", 'its package name differs in one letter: "express" is well known'],
      ["typosquat", "warn", 'it requires "loadsh", whose name differs in one letter: "lodash" is well known'],
    ]);
  });

  it("names and ids near to well-known plugins, or to the packages of installed ones, are said; those plugins themselves are not", () => {
    expect(near("talk", "@openc1aw/discord")).toEqual([
      `its package name has the same name in another scope: "@openclaw/discord" is a well-known plugin`,
    ]);
    expect(near("talk", "openclaw-discord")).toEqual([
      `its package name has the other's scope as a part of its name: "@openclaw/discord" is a well-known plugin`,
    ]);
    expect(near("talk", "@mem0/openclaw-memo")).toEqual([
      `its package name differs only in characters that look alike: "@mem0/openclaw-mem0" is a well-known plugin`,
    ]);
    expect(near("whatsap", "x")).toEqual([`its id differs in one letter: "whatsapp" is OpenClaw's own @openclaw/whatsapp`]);
    expect(near("slack", "@acme/chat")).toEqual([`its id is taken: "slack" is OpenClaw's own @openclaw/slack`]);
    expect(near("forecast", "@acme/wether", ["@acme/weather"])).toEqual([
      `its package name differs in one letter: "@acme/weather" is installed`,
    ]);
    for (const name of ["@openclaw/discord", "@openclaw/whatsapp", "@ollama/openclaw-web-search"])
      expect(near(name.split("/")[1]!, name)).toEqual([]);
    expect(near("weather", "@acme/weather", ["@acme/other"])).toEqual([]);
  });

  it("what the registry says is said, and what was not verified; dates and not ages, so that a review is the same tomorrow", () => {
    const bare: Announced = { deprecated: undefined, publishedAt: undefined, provenance: undefined, isSigned: false };
    const said = (announced: Partial<Announced>) => found("x", "x", [], [], { ...bare, ...announced });
    expect(
      said({
        deprecated: "use\n\u001b[31mnew",
        publishedAt: new Date("2026-11-15T10:20:30Z"),
        provenance: "https://slsa.dev/provenance/v1",
        isSigned: true,
      }),
    ).toEqual([
      ["deprecated", "warn", "the package is deprecated: use [31mnew"],
      [
        "provenance",
        "info",
        expect.stringMatching(
          /^the registry states provenance \(https:\/\/slsa\.dev\/provenance\/v1\) and has signed .*verified no signature$/,
        ),
      ],
      ["published", "warn", expect.stringContaining("published on 2026-11-15 10:20 UTC, only days ago")],
    ]);
    expect(said({ publishedAt: new Date("2026-11-01T10:20:30Z") })).toEqual([
      ["provenance", "info", expect.stringMatching(/^the registry states no provenance; .*verified no signature$/)],
      ["published", "info", "published on 2026-11-01 10:20 UTC"],
    ]);
    expect(said({}).at(-1)).toEqual(["published", "info", "the registry does not say when it was published"]);
  });

  it("install scripts and deprecated packages are said, in one line each, whatever their authors write", () => {
    const old = dependency("old", { hasInstallScript: true, deprecated: "use\n\u001b[31mnew" });
    expect(found("x", "x", [old])).toEqual([
      ["install-script", "warn", "old@1.0.0 has scripts that npm would run at installation; Creel did not run them"],
      ["deprecated", "warn", "old@1.0.0 is deprecated: use [31mnew"],
    ]);
  });
});
