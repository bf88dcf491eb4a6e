/**
 * Trusted side: the operator's yes, as a signature. Write access to the server must not be enough to install: a host applies only what
 * was signed by a key that its own configuration names. The signature covers the list of all entries by their digests, and a serial, so
 * that entries cannot be mixed and an older list cannot come back.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { CreelError } from "../../protocol/errors.ts";
import { index, read, signedIndex } from "../messages.ts";
import type { Index, SignedIndex } from "../messages.ts";

const PREFIX = "ed25519-";
/** What stands before the 32 bytes of a public key in its DER form. */
const DER = Buffer.from("302a300506032b6570032100", "hex");

export interface SigningKey {
  readonly pem: string;
  readonly publicKey: string;
}

export function makeSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  return { pem, publicKey: publicKeyOf(pem) };
}

/** Throws if it is no private key. */
function publicKeyOf(pem: string): string {
  const der = createPublicKey(createPrivateKey(pem)).export({ type: "spki", format: "der" });
  return `${PREFIX}${der.subarray(DER.length).toString("base64")}`;
}

export function signIndex(content: Index, pem: string): SignedIndex {
  const body = JSON.stringify(content);
  return { body, key: publicKeyOf(pem), signature: sign(null, Buffer.from(body), createPrivateKey(pem)).toString("base64") };
}

/** SECURITY: nothing of it is used before its signature is known to be an operator's. test/fleet/control.test.ts */
export function verifiedIndex(text: string, operators: readonly string[]): Index {
  const signed = read(signedIndex, text);
  if (!signed) throw new CreelError("ERR_FLEET_SIGNATURE", { detail: "it is not a signed list" });
  const { body, key, signature } = signed;
  if (!operators.includes(key))
    throw new CreelError("ERR_FLEET_SIGNATURE", { detail: `it is signed with ${key}, which fleet.operators does not name` });
  const publicKey = createPublicKey({
    key: Buffer.concat([DER, Buffer.from(key.slice(PREFIX.length), "base64")]),
    type: "spki",
    format: "der",
  });
  if (!verify(null, Buffer.from(body), publicKey, Buffer.from(signature, "base64")))
    throw new CreelError("ERR_FLEET_SIGNATURE", { detail: `it was changed after ${key} signed it` });
  const content = read(index, body);
  if (!content) throw new CreelError("ERR_FLEET_SIGNATURE", { detail: "its content is of another version" });
  return content;
}
