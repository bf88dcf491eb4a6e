/**
 * Trusted side: the signature of a package, in `creel.signature`: Ed25519 over the list of its files and their digests.
 * Checked offline, with keys that the operator names. It covers the package's own files, not its dependencies.
 * SECURITY: test/install/manifest/signature.test.ts
 */
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { publicKey } from "../../protocol/config/update-policy.ts";
import { parseJson } from "../../text/parse-json.ts";
import type { UnpackedFile } from "../archive/archive.ts";

export const SIGNATURE = "creel.signature";
/** Prefix of the signed text, so that signatures made for another purpose are not valid here. */
const PURPOSE = "creel package signature 1\n";
const MAX_BYTES = 1_024;

const signature = z.strictObject({ key: publicKey, signature: z.base64().length(88) });

/** `none`: it brings none. `bad`: it brings one that does not fit its files. */
export type Signed = { readonly state: "none" } | { readonly state: "bad" } | { readonly state: "good"; readonly key: string };

/** As `sha512sum` writes it, but in base64, in the order of the paths, without the signature itself. */
function signedText(files: readonly Pick<UnpackedFile, "path" | "sha512">[]): string {
  const lines = files.filter(({ path }) => path !== SIGNATURE).map(({ path, sha512 }) => `${sha512}  ${path}\n`);
  return PURPOSE + lines.toSorted().join("");
}

/** `root` is the folder of the package. */
export async function signedBy(root: string, files: readonly UnpackedFile[]): Promise<Signed> {
  const file = files.find(({ path }) => path === SIGNATURE);
  if (!file) return { state: "none" };
  if (file.bytes > MAX_BYTES) return { state: "bad" };
  return checkedSignature(await readFile(join(root, SIGNATURE), "utf8"), files);
}

export function checkedSignature(text: string, files: readonly Pick<UnpackedFile, "path" | "sha512">[]): Signed {
  const parsed = parseJson(signature, text);
  if (!parsed.success) return { state: "bad" };
  const { key, signature: bytes } = parsed.data;
  const isGood = verify(null, Buffer.from(signedText(files)), keyObject(key), Buffer.from(bytes, "base64"));
  return isGood ? { state: "good", key } : { state: "bad" };
}

/** The content of `creel.signature`. */
export function signedWith(privateKey: KeyObject, files: readonly Pick<UnpackedFile, "path" | "sha512">[]): string {
  const bytes = sign(null, Buffer.from(signedText(files)), privateKey).toString("base64");
  return `${JSON.stringify({ key: keyName(createPublicKey(privateKey)), signature: bytes })}\n`;
}

/** Undefined: it is no private Ed25519 key in PEM. */
export function privateKeyOf(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined;
  }
}

/** As an operator writes it into `update.signedBy`. */
export function keyName(key: KeyObject): string {
  return `ed25519:${Buffer.from(key.export({ format: "jwk" }).x!, "base64url").toString("base64")}`;
}

function keyObject(name: string): KeyObject {
  const x = Buffer.from(name.slice("ed25519:".length), "base64").toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}
