/** What a plugin learns when a connection fails, by the code that Node's programs look for. */
export const CONNECT_FAULTS = {
  ENOTFOUND: "its name does not resolve",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  EHOSTUNREACH: "it cannot be reached",
  CERT_INVALID: "its certificate is not valid",
  EPROTO: "no secure connection could be made",
} as const;
