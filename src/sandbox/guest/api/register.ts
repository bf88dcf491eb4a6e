/**
 * Inside the isolate: OpenClaw's ways to declare something that the gateway may call: tools, commands, gateway methods,
 * HTTP routes, command lines, services. The plugin's functions stay here; the host gets plain data about them.
 */
import { requestHost } from "../turn/requests.ts";
import { abortable, settled } from "../turn/abortable.ts";
import { declareFunction } from "./declared.ts";
import { part } from "../boot/library.ts";
import { bare, call, isArray, isThenable, NativeError, NativePromise, promiseThen, sliceText } from "../boot/primordials.ts";

type Fields = Record<string, unknown>;

interface Tool extends Fields {
  name?: unknown;
  execute?: unknown;
}

/** What functions receive beside their arguments. What the host says about the call goes over what `api` says. */
let surroundings: Fields = bare({});

export function setSurroundings(fields: Fields): void {
  surroundings = fields;
}

function around(context: Fields): Fields {
  return { ...surroundings, ...context };
}

/** Takes a tool, or a function that makes one or several for the session it is called in. */
export function registerTool(tool: unknown, options?: unknown): void {
  const given = fieldsOf(options);
  if (typeof tool !== "function") return declareTool(toolOf(tool), (it) => it, tool as Tool, given);
  const make = tool as (context: Fields) => unknown;
  // A tool's name and parameters do not depend on the session, but its existence may.
  for (const sample of toolsOf(make(around(bare({}))))) {
    const { name } = sample;
    const remade = (_: Tool, context: Fields): Tool => {
      const found = toolsOf(make(around(context)));
      for (let i = 0; i < found.length; i++) if (found[i]!.name === name) return found[i]!;
      throw new NativeError(`the tool "${String(name)}" is not there in this session`);
    };
    declareTool(toolOf(sample), remade, sample, given);
  }
}

function declareTool(name: string, resolve: (tool: Tool, context: Fields) => Tool, tool: Tool, options: Fields): void {
  const { label, description } = tool;
  const about = bare({ label, description, parameters: tool.parameters ?? tool.inputSchema, optional: options.optional });
  const execute = (args: unknown[], context: Fields): unknown => {
    const made = resolve(tool, context);
    const { toolCallId = "", ...rest } = context;
    const update = (partial: unknown): void => {
      if (rest.wantsUpdates === true)
        void call(promiseThen, requestHost("function.update", bare({ update: partial })), [undefined, () => {}]);
    };
    return abortable((signal) => call(made.execute as () => unknown, made, [toolCallId, args[0] ?? {}, signal, update]));
  };
  declareFunction("tool", name, about, execute, options);
}

function toolOf(tool: unknown): string {
  const { name, execute } = fieldsOf(tool);
  if (typeof name !== "string" || name === "") throw new NativeError("api.registerTool needs a tool with a name");
  if (typeof execute !== "function") throw new NativeError(`api.registerTool: the tool "${name}" has no function named execute`);
  return name;
}

function toolsOf(made: unknown): Tool[] {
  if (made === undefined || made === null) return [];
  return (isArray(made) ? made : [made]) as Tool[];
}

export function registerCommand(command: unknown): void {
  const { name, description, acceptsArgs, requireAuth, handler } = fieldsOf(command);
  if (typeof name !== "string" || name === "") throw new NativeError("api.registerCommand needs a command with a name");
  if (typeof handler !== "function") throw new NativeError(`api.registerCommand: the command "${name}" has no function named handler`);
  const run = (args: unknown[], context: Fields): unknown => {
    const text = typeof args[0] === "string" ? args[0] : "";
    const commandContext = {
      isAuthorizedSender: true,
      args: text,
      commandBody: text === "" ? `/${name}` : `/${name} ${text}`,
      ...around(context),
    };
    return call(handler as () => unknown, command, [commandContext]);
  };
  declareFunction("command", name, bare({ description, acceptsArgs, requireAuth }), run);
}

/** A method answers through `respond`, at once or later. What it returns is ignored. */
export function registerGatewayMethod(name: unknown, handler: unknown, options?: unknown): void {
  if (typeof name !== "string" || name === "") throw new NativeError("api.registerGatewayMethod needs the name of the method");
  if (typeof handler !== "function") throw new NativeError(`api.registerGatewayMethod("${name}") needs a handler function`);
  const run = (args: unknown[], context: Fields): unknown =>
    new NativePromise((resolve, reject) => {
      const params = args[0] ?? {};
      const respond = (ok: unknown, payload?: unknown, error?: unknown): void => resolve(bare({ ok: ok === true, payload, error }));
      const methodCall = { req: bare({ method: name, params }), params, respond, client: null, context: around(context) };
      const returned = call(handler as () => unknown, undefined, [methodCall, params]);
      if (isThenable(returned)) void settled(returned, () => {}, reject);
    });
  declareFunction("method", name, bare({ scope: fieldsOf(options).scope }), run);
}

/** A path of the gateway's HTTP server. The handler gets Node's request and response. */
export function registerHttpRoute(route: unknown): void {
  const { path, handler, auth, match } = fieldsOf(route);
  if (typeof path !== "string" || path === "") throw new NativeError("api.registerHttpRoute needs a path");
  if (typeof handler !== "function") throw new NativeError(`api.registerHttpRoute: the route "${path}" has no function named handler`);
  const run = (args: unknown[]): unknown =>
    (part("node/http/route") as { serve(handler: unknown, asked: unknown): unknown }).serve(handler, args[0] ?? bare({}));
  const about = bare({ auth: auth === "plugin" ? "plugin" : "gateway", match: match === "prefix" ? "prefix" : "exact" });
  declareFunction("route", sliceText(path, 0, 1) === "/" ? path : `/${path}`, about, run);
}

interface Cli {
  Command: new (name: string) => { readonly commands: readonly { name(): string; description(): string }[] };
  run(register: (program: unknown) => unknown, root: string, words: unknown): unknown;
}

function cli(): Cli {
  return part("sdk/cli") as unknown as Cli;
}

/**
 * Command lines for the operator. `options` name them; otherwise the plugin's function is called once, to see which
 * ones it makes.
 */
export function registerCli(registrar: unknown, options?: unknown): void {
  if (typeof registrar !== "function") throw new NativeError("api.registerCli needs a function that takes the program");
  const register = (program: unknown): unknown =>
    call(registrar as () => unknown, undefined, [{ parentPath: [], ...surroundings, program }]);
  const { commands, descriptors } = fieldsOf(options);
  const found: Fields[] = isArray(descriptors) ? (descriptors as Fields[]) : [];
  const names = isArray(commands) ? (commands as unknown[]) : [];
  for (let i = 0; i < names.length; i++) found[found.length] = bare({ name: names[i] });
  if (found.length === 0) {
    const program = new (cli().Command)("openclaw");
    register(program);
    for (let i = 0; i < program.commands.length; i++)
      found[i] = bare({ name: program.commands[i]!.name(), description: program.commands[i]!.description() });
  }
  const declared = bare<Record<string, true>>({});
  for (let i = 0; i < found.length; i++) {
    const { name, description } = fieldsOf(found[i]);
    if (typeof name !== "string" || declared[name]) continue;
    declared[name] = true;
    const run = (args: unknown[]): unknown => cli().run(register, name, fieldsOf(args[0]).argv ?? []);
    declareFunction("cli", name, bare({ description: typeof description === "string" ? description : undefined }), run);
  }
}

/** The host calls it with "start" once it is open, and with "stop" before it closes. */
export function registerService(service: unknown): void {
  const { id, start, stop } = fieldsOf(service);
  if (typeof id !== "string" || id === "") throw new NativeError("api.registerService needs a service with an id");
  if (typeof start !== "function") throw new NativeError(`api.registerService: the service "${id}" has no function named start`);
  const run = ([phase]: unknown[], context: Fields): unknown => {
    const fn = phase === "start" ? start : stop;
    if (typeof fn !== "function") return undefined;
    const value: unknown = call(fn as () => unknown, service, [around(context)]);
    // The host ignores what it returns, so it need not be data.
    return isThenable(value) ? settled(value, () => undefined) : undefined;
  };
  declareFunction("service", id, bare({}), run);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : bare({});
}
