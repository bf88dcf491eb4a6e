/** Inside the isolate: `https`. The host makes the TLS connection and verifies it; no option of a request weakens that. */
import { refuse } from "../errors.ts";
import { SecureAgent } from "./agent.ts";
import { clientOf } from "./client.ts";

const SERVER = "a plugin cannot listen; use api.registerGatewayMethod";

const https: Record<string, unknown> & { globalAgent: SecureAgent } = {
  Agent: SecureAgent,
  globalAgent: new SecureAgent({ keepAlive: true, scheduling: "lifo", timeout: 5000 }),
  Server: refuse("https.Server", SERVER),
  createServer: refuse("https.createServer", SERVER),
  ...clientOf(() => https.globalAgent),
};

export default https;
