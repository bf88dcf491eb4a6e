/**
 * Inside the isolate: `http`, the client's half, over the host's fetch service. A plugin cannot be a server.
 */
import { refuse } from "../errors.ts";
import { Agent } from "./agent.ts";
import { clientOf } from "./client.ts";
import { ClientRequest } from "./client-request.ts";
import { METHODS, STATUS_CODES } from "./http-tables.ts";
import { IncomingMessage } from "./incoming-message.ts";
import { OutgoingMessage, validateHeaderName, validateHeaderValue } from "./outgoing-message.ts";

const SERVER = "a plugin cannot listen; use api.registerGatewayMethod";

/** In Node's form: `new http.ClientRequest(url, options, callback)`. */
function Request(this: unknown, ...args: unknown[]): ClientRequest {
  return new ClientRequest(http.globalAgent, args);
}
Object.defineProperty(Request, "name", { value: "ClientRequest" });
Request.prototype = ClientRequest.prototype;

const http: Record<string, unknown> & { globalAgent: Agent } = {
  METHODS,
  STATUS_CODES,
  Agent,
  ClientRequest: Request,
  IncomingMessage,
  OutgoingMessage,
  Server: refuse("http.Server", SERVER),
  ServerResponse: refuse("http.ServerResponse", SERVER),
  createServer: refuse("http.createServer", SERVER),
  validateHeaderName,
  validateHeaderValue,
  ...clientOf(() => http.globalAgent),
  setMaxIdleHTTPParsers: (): void => {},
  maxHeaderSize: 16_384,
  globalAgent: new Agent({ keepAlive: true, scheduling: "lifo", timeout: 5000 }),
};

export default http;
