/** Inside the isolate: `tls`, the client's half. The host makes and verifies every TLS connection. */
import { refuse } from "../errors.ts";
import { connectArguments } from "./socket.ts";
import type { SocketOptions } from "./socket.ts";
import { TLSSocket } from "./tls-socket.ts";

const SERVER = "a plugin cannot listen; use api.registerGatewayMethod";

function connect(...args: unknown[]): TLSSocket {
  const { options: first, callback } = connectArguments(args);
  // `(port, host, options)` and `(port, options)`.
  const more = args.find((one) => typeof one === "object" && one !== null && one !== first) as SocketOptions | undefined;
  const options = { ...first, ...more };
  const made = new TLSSocket(options["socket"], options);
  if (callback) made.once("secureConnect", callback);
  return options["socket"] ? made : made.connect(options);
}

/** Keys and certificates of a plugin's are taken and have no effect: the host verifies with the gateway's authorities. */
function createSecureContext(): object {
  return { context: {} };
}

export default {
  connect,
  TLSSocket,
  createSecureContext,
  SecureContext: createSecureContext,
  checkServerIdentity: (): undefined => undefined,
  getCiphers: () => ["tls_aes_256_gcm_sha384", "tls_chacha20_poly1305_sha256", "tls_aes_128_gcm_sha256"],
  getCACertificates: () => [],
  setDefaultCACertificates: refuse("tls.setDefaultCACertificates", "the host verifies with the gateway's authorities"),
  rootCertificates: Object.freeze([]),
  DEFAULT_ECDH_CURVE: "auto",
  DEFAULT_MIN_VERSION: "TLSv1.2",
  DEFAULT_MAX_VERSION: "TLSv1.3",
  DEFAULT_CIPHERS: "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256",
  CLIENT_RENEG_LIMIT: 3,
  CLIENT_RENEG_WINDOW: 600,
  convertALPNProtocols: (protocols: unknown, out: { ALPNProtocols?: unknown }): void => void (out.ALPNProtocols = protocols),
  Server: refuse("tls.Server", SERVER),
  createServer: refuse("tls.createServer", SERVER),
};
