/**
 * How a cell asks its lane for `crypto.subtle`: both ends read this. Bytes travel as base64, keys with their material:
 * the lane keeps nothing.
 */

export const SUBTLE = "subtle.";

export const SUBTLE_OPERATIONS = [
  "digest",
  "importKey",
  "exportKey",
  "generateKey",
  "sign",
  "verify",
  "encrypt",
  "decrypt",
  "deriveBits",
  "deriveKey",
] as const;
export type SubtleOperation = (typeof SUBTLE_OPERATIONS)[number];

/** A key. Its material is always in one format: raw for secrets, spki for public and pkcs8 for private ones. */
export interface SubtleKey {
  type: "secret" | "public" | "private";
  extractable: boolean;
  /** As WebCrypto shows it, with `{ base64 }` for bytes. */
  algorithm: Record<string, unknown>;
  usages: string[];
  material: string;
}

export interface SubtleRequest {
  algorithm?: unknown;
  derived?: unknown;
  key?: SubtleKey;
  format?: string;
  /** Bytes in base64, or a JWK. */
  data?: string | object;
  signature?: string;
  extractable?: boolean;
  usages?: string[];
  /** Of deriveBits: a number or null, if the cell is honest. */
  length?: unknown;
}

export interface SubtleResponse {
  bytes?: string;
  jwk?: object;
  isValid?: boolean;
  key?: SubtleKey;
  pair?: { publicKey: SubtleKey; privateKey: SubtleKey };
}
