/** A certificate that nobody has signed but its own key, made anew for each use: no key of ours is in the repository. */
import { generateKeyPairSync, sign } from "node:crypto";

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const hex = (text: string): Buffer => Buffer.from(text, "hex");
const time = (text: string): Buffer => der(0x18, Buffer.from(text));
const ECDSA_SHA256 = sequence(der(0x06, hex("2a8648ce3d040302")));

/** For `tls.createServer`. */
export function selfSigned(name: string): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const named = sequence(der(0x31, sequence(der(0x06, hex("550403")), der(0x0c, Buffer.from(name)))));
  const validity = sequence(time("20200101000000Z"), time("21200101000000Z"));
  const spki = publicKey.export({ type: "spki", format: "der" });
  const body = sequence(der(0xa0, der(0x02, hex("02"))), der(0x02, hex("01")), ECDSA_SHA256, named, validity, named, spki);
  const cert = sequence(body, ECDSA_SHA256, der(0x03, hex("00"), sign("sha256", body, privateKey)));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${cert.toString("base64").replaceAll(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
  };
}
