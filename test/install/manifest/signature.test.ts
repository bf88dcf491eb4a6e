/** A signature fits the files that were signed, and no others. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signPackage } from "../../../src/install/manifest/sign-package.ts";
import { checkedSignature, keyName, privateKeyOf, SIGNATURE, signedWith } from "../../../src/install/manifest/signature.ts";
import { creelHere } from "../../support/cli-in-process.ts";
import { folder } from "../../support/files.ts";
import { operator } from "../pipeline.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const file = (path: string, text: string) => ({ path, bytes: text.length, sha512: createHash("sha512").update(text).digest("base64") });
const FILES = [file("package.json", "{}"), file("index.js", "1"), file(SIGNATURE, "whatever")];

describe("a signature", () => {
  const text = signedWith(privateKey, FILES);

  it("fits the files it was made for, in any order, and names its key", () => {
    expect(checkedSignature(text, FILES.toReversed())).toEqual({ state: "good", key: keyName(publicKey) });
    expect(keyName(publicKey)).toMatch(/^ed25519:[\w+/]{43}=$/);
  });

  it.each([
    ["a changed file", [FILES[0]!, file("index.js", "2")]],
    ["a file more", [...FILES, file("more.js", "")]],
    ["a file less", [FILES[1]!]],
    ["a file by another name", [FILES[0]!, { ...FILES[1]!, path: "other.js" }]],
    ["two files in one name", [{ ...FILES[0]!, path: `index.js\n${FILES[1]!.sha512}  package.json` }]],
  ])("does not fit %s", (_, files) => expect(checkedSignature(text, files)).toEqual({ state: "bad" }));

  it.each([
    ["of another key", signedWith(generateKeyPairSync("ed25519").privateKey, FILES).replace(/ed25519:[^"]+/, keyName(publicKey))],
    ["that is no JSON", "{"],
    ["with more fields", text.replace("}", ',"x":1}')],
    ["of another kind", text.replace("ed25519:", "rsa:")],
    ["that is cut", text.replace(/(signature":")..../, "$1")],
    ["of a key that is no point", text.replace(/ed25519:[^"]+/, `ed25519:${"A".repeat(43)}=`)],
  ])("%s is none", (_, wrong) => expect(checkedSignature(wrong, FILES).state).toBe("bad"));

  it("is made with an Ed25519 key, and with no other", () => {
    expect(privateKeyOf(privateKey.export({ format: "pem", type: "pkcs8" }) as string)).toBeDefined();
    const { privateKey: other } = generateKeyPairSync("x25519");
    expect(privateKeyOf(other.export({ format: "pem", type: "pkcs8" }) as string)).toBeUndefined();
    expect(privateKeyOf("")).toBeUndefined();
  });
});

const plugin = (more = {}) =>
  folder({
    "package.json": JSON.stringify({ name: "weather", version: "1.0.0", ...more }),
    "creel.plugin.json": JSON.stringify({ id: "weather", version: "1.0.0" }),
    "index.ts": `export default (api) => { api.on("llm_input", () => {}); };`,
  });

describe("creel sign", () => {
  it("signs what would be published, and the review says by whom; a file that is changed after that is a critical finding", async () => {
    const root = plugin();
    const key = join(folder({ "key.pem": privateKey.export({ format: "pem", type: "pkcs8" }) as string }), "key.pem");
    const { code, out } = await creelHere("sign", root, "--key", key, "--json");
    expect([code, JSON.parse(out)]).toEqual([
      0,
      { file: join(root, SIGNATURE), key: keyName(publicKey), files: ["creel.plugin.json", "index.ts", "package.json"] },
    ]);
    const update = { auto: "same-permissions" as const, signedBy: [keyName(publicKey)] };
    const config = { sandbox: { walls: "none" as const }, update };
    const found = async () =>
      (await operator().install(root, false, { config })).review.scan.findings.filter(({ rule }) => rule === "signature");
    expect(await found()).toMatchObject([
      { severity: "info", message: expect.stringContaining(`${keyName(publicKey)}, which update.signedBy names`) },
    ]);
    writeFileSync(join(root, "index.ts"), `${readFileSync(join(root, "index.ts"), "utf8")}//`);
    expect(await found()).toMatchObject([{ severity: "critical", message: expect.stringContaining("does not match") }]);
  });

  it("refuses a package that would be published without its signature, and leaves none", async () => {
    const root = plugin({ files: ["index.ts"] });
    await expect(signPackage(root, privateKey)).rejects.toThrow('leaves creel.signature out: add it to "files"');
    expect(() => readFileSync(join(root, SIGNATURE))).toThrow("ENOENT");
  });

  it("needs a key, and says how to make one", async () => {
    expect(await creelHere("sign", plugin())).toMatchObject({ code: 2, err: expect.stringContaining("openssl genpkey") as string });
    expect((await creelHere("sign", plugin(), "--key", "/dev/null")).code).toBe(2);
  });
});
