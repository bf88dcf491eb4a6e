/**
 * A plugin's connection to a host and port, and what the host says about it. Bytes travel as a string with one
 * character, U+0000 to U+00FF, for each byte. The guest asks for each piece; the host holds a request to read until
 * something arrives.
 */

/** The names of the services begin with this. */
export const CONNECT = "connect.";

/** Host → guest: the connection is there. */
export interface ConnectOpened {
  /** Of a TLS connection. */
  readonly alpn?: string;
  readonly protocol?: string;
  readonly cipher?: string;
}

/** Host → guest: what has arrived. */
export interface ConnectPiece {
  readonly bytes?: string;
  /** The server sends nothing more. */
  readonly end?: boolean;
  /** Another request to read took the place of this one. */
  readonly superseded?: boolean;
}

/** Host → guest. */
export interface ConnectAddresses {
  readonly addresses: readonly { readonly address: string; readonly family: number }[];
}
