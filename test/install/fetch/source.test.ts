/** What a person writes after `creel install` means one thing, or is refused with what to write instead. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSource } from "../../../src/install/fetch/source.ts";
import { folder } from "../../support/files.ts";

const root = folder({ "plugin/index.js": "", "plugin.tgz": "" });

describe("a source", () => {
  it.each([
    ["no-rm", { kind: "npm", spec: "no-rm" }],
    ["@scope/no-rm@^1.2.0", { kind: "npm", spec: "@scope/no-rm@^1.2.0" }],
    ["npm:no-rm@latest", { kind: "npm", spec: "no-rm@latest" }],
    ["https://example.com/no-rm-1.0.0.tgz", { kind: "npm", spec: "https://example.com/no-rm-1.0.0.tgz" }],
    [join(root, "plugin"), { kind: "folder", path: join(root, "plugin") }],
    [`file:${join(root, "plugin.tgz")}`, { kind: "tarball", path: join(root, "plugin.tgz") }],
    ["github:someone/no-rm", { kind: "git", url: "https://github.com/someone/no-rm.git", ref: undefined }],
    ["github:someone/no-rm#v1.0.0", { kind: "git", url: "https://github.com/someone/no-rm.git", ref: "v1.0.0" }],
    ["git+ssh://git@example.com/no-rm.git#main", { kind: "git", url: "ssh://git@example.com/no-rm.git", ref: "main" }],
    ["git:git@example.com:someone/no-rm.git", { kind: "git", url: "git@example.com:someone/no-rm.git", ref: undefined }],
    ["https://example.com/no-rm.git", { kind: "git", url: "https://example.com/no-rm.git", ref: undefined }],
  ])("%s", async (text, expected) => {
    expect(await parseSource(text)).toEqual(expected);
  });

  it.each([
    "",
    "--global",
    "npm:--registry=https://example.com",
    "a b",
    "./no-such-folder",
    "git:ext::sh -c touch% x",
    "git:--upload-pack=touch x",
    "git:https://example.com/x.git#--output=x",
    "git:https://-oProxyCommand=x/y",
    "npm:../x",
  ])("%s is refused, with what to write instead", async (text) => {
    await expect(parseSource(text)).rejects.toMatchObject({ code: "ERR_INSTALL_SOURCE" });
  });
});
