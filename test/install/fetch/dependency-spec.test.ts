/** Which texts about a dependency are for a registry, and which lead somewhere else. */
import { describe, expect, it } from "vitest";
import { expectRegistrySpecs, isExactPackage, isRegistrySpec } from "../../../src/install/fetch/dependency-spec.ts";

describe("a dependency", () => {
  it.each([
    "",
    "*",
    "1.2.3",
    "^1.2.0",
    "~1",
    ">=1.2.3 <2",
    "1.x || >=2.5.0 || 5.0.0 - 7.2.3",
    "=1.0.0-rc.1+build",
    "v1.0.0",
    "latest",
    "next-11",
    "npm:other",
    "npm:other@^1.0.0",
    "npm:@scope/other@1.2.3",
    "npm:@scope/other",
  ])("may be %j, which only a registry answers", (spec) => expect(isRegistrySpec(spec)).toBe(true));

  it.each([
    "http://169.254.169.254/latest/meta-data/iam",
    "https://example.com/x.tgz",
    "HTTPS://EXAMPLE.COM/x.tgz",
    "//example.com/x",
    "git://example.com/x.git",
    "git+ssh://git@example.com/x.git",
    "git+https://example.com/x",
    "git@example.com:x/y.git",
    "ssh://example.com/x",
    "user/repo",
    "github:user/repo",
    "gist:11081aaa281",
    "bitbucket:user/repo#main",
    "user/repo#semver:^1",
    "file:../x",
    "link:../x",
    "portal:../x",
    "workspace:*",
    "catalog:",
    "patch:x@1#y",
    "../x",
    "./x.tgz",
    ".",
    "/etc",
    "~/x",
    "C:\\x",
    "C:/x",
    "x.tgz",
    "x.tar.gz",
    "X.TAR",
    "npm:http://example.com/x.tgz",
    "npm:user/repo",
    "npm:x@file:../y",
    "npm:x@http://example.com",
    "npm:@scope/x/y",
    "npm:npm:x",
    "npm:../x@1",
    "jsr:@scope/x",
    "1.0.0\nhttp://example.com",
  ])("may not be %j", (spec) => {
    expect(isRegistrySpec(spec)).toBe(false);
    expect(() => expectRegistrySpecs("weather", { good: "^1.0.0" }, undefined, { bad: spec })).toThrow(
      expect.objectContaining({ code: "ERR_INSTALL_SPEC", message: expect.stringMatching(/^weather needs "bad" as "/) as string }) as Error,
    );
  });

  it("has a name that npm can read in one way only", () => {
    for (const name of ["../x", "http://example.com/x", "a b", "@scope", "@a/b/c", "x@1"])
      expect(() => expectRegistrySpecs("weather", { [name]: "1.0.0" })).toThrow("not a version");
    expect(() => expectRegistrySpecs("weather", { "@scope/x": "1.0.0", JSONStream: "1", "a.b_c-d": "1" })).not.toThrow();
  });

  it("that was resolved is one package and one version, whatever the registry calls it", () => {
    expect(isExactPackage({ name: "@scope/x", version: "1.2.3-rc.1+b" })).toBe(true);
    for (const wrong of [
      { name: "http://example.com/x", version: "1.2.3" },
      { name: "x", version: "^1.2.3" },
      { name: "x", version: "file:../y" },
      { name: "-x", version: "latest" },
    ])
      expect(isExactPackage(wrong)).toBe(false);
  });
});
