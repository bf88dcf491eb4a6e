/** Trusted side: tools, commands, gateway methods, HTTP routes and command lines of a sandboxed plugin, offered to OpenClaw in the plugin's name. */
import type { FunctionOutcome } from "../protocol/messages/functions.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { gatewaySecrets } from "./settings.ts";
import type { CliProgram, Fields, GatewayTool } from "./gateway-api.ts";
import { OWN_METHODS } from "./release.ts";
import type { Attachment, SharedHost } from "./shared-host.ts";
import { commandLinesOf } from "./shim-facts.ts";
import type { CommandLine, ShimFunction } from "./shim-facts.ts";

/** What a function is told about its call: identities, no live objects. */
const CALL_FIELDS = ["sessionKey", "sessionId", "agentId", "channel", "channelId", "senderId", "isAuthorizedSender", "accountId"] as const;

export function registerFunctions(attachment: Attachment, shared: SharedHost): void {
  const { facts, api } = attachment;
  const of = (kind: string): ShimFunction[] => facts.functions.filter((one) => one.kind === kind);
  for (const tool of of("tool"))
    api.registerTool((ctx) => [toolOf(attachment, shared, tool, ctx)], {
      names: [tool.name],
      ...(tool.about.optional === true && { optional: true }),
    });
  for (const command of of("command")) api.registerCommand(commandOf(attachment, shared, command));
  for (const { name, about } of of("method")) {
    // OpenClaw trims names.
    if (name.trim().startsWith(OWN_METHODS)) {
      api.logger.warn(`creel: ${facts.id} has a method "${name}", but names with "${OWN_METHODS}" are Creel's own; it is left out`);
      continue;
    }
    api.registerGatewayMethod(
      name,
      async ({ params, respond }) => {
        try {
          const host = await shared.ready(attachment);
          const { ok, payload, error } = Object(valueOf(await host.call({ method: name, plugin: facts.id }, params))) as Fields;
          respond(ok === true, payload, error);
        } catch (error) {
          respond(false, undefined, { code: "UNAVAILABLE", message: (error as Error).message });
        }
      },
      typeof about.scope === "string" ? { scope: about.scope } : {},
    );
  }
  for (const { name, about } of of("route")) {
    const { auth, match } = about as { auth: "gateway" | "plugin"; match: "exact" | "prefix" };
    const handler = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
      const host = await shared.ready(attachment);
      return (await import("../sdk/gateway/http-routes.ts")).serveRoute(
        host,
        { name, plugin: facts.id, about: { auth, match } },
        request,
        response,
        { secrets: gatewaySecrets(api) },
      );
    };
    api.registerHttpRoute?.({ path: name, auth, match, handler });
  }
}

/** OpenClaw asks for these by themselves, too, when it only wants to know its commands: then there is no runtime. */
export function registerCommandLines(attachment: Attachment, shared: SharedHost): void {
  const { facts, api } = attachment;
  for (const descriptor of commandLinesOf(facts))
    api.registerCli?.(({ program }) => void cliOf(program, descriptor, attachment, shared), { descriptors: [descriptor] });
}

/** Everything behind the name goes to the plugin, which reads it. */
function cliOf(program: CliProgram, { name, description }: CommandLine, attachment: Attachment, shared: SharedHost): CliProgram {
  const command = program.command(name).description(description).helpOption(false).allowUnknownOption().allowExcessArguments();
  return command.action(async (_, { args }) => {
    const host = await shared.ready(attachment);
    const outcome = await host.call({ cli: name, plugin: attachment.facts.id }, { argv: args });
    const { exitCode, stdout, stderr } = Object(valueOf(outcome)) as { exitCode?: number; stdout?: string; stderr?: string };
    process.stdout.write(stdout ?? "");
    process.stderr.write(stderr ?? "");
    process.exitCode = exitCode ?? 0;
  });
}

function toolOf(attachment: Attachment, shared: SharedHost, { name, about }: ShimFunction, ctx: Fields): GatewayTool {
  const { facts } = attachment;
  return {
    name,
    label: text(about.label) ?? name,
    description: text(about.description) ?? "",
    parameters: (about.parameters as Fields | undefined) ?? { type: "object", properties: {} },
    async execute(toolCallId, params, signal, onUpdate) {
      const host = await shared.ready(attachment);
      const outcome = await host.call({ tool: name, plugin: facts.id }, params, {
        ctx: { ...callContext(ctx), toolCallId },
        ...(signal && { signal }),
        ...(onUpdate && { onUpdate }),
      });
      // As it is: OpenClaw makes the same of it as of a native tool's answer.
      return valueOf(outcome);
    },
  };
}

function commandOf(attachment: Attachment, shared: SharedHost, { name, about }: ShimFunction) {
  const { facts } = attachment;
  return {
    name,
    description: text(about.description) ?? `${name} of ${facts.name}`,
    ...(typeof about.acceptsArgs === "boolean" && { acceptsArgs: about.acceptsArgs }),
    ...(typeof about.requireAuth === "boolean" && { requireAuth: about.requireAuth }),
    async handler(ctx: Fields): Promise<unknown> {
      const host = await shared.ready(attachment);
      const outcome = await host.call({ command: name, plugin: facts.id }, text(ctx.args) ?? "", { ctx: callContext(ctx) });
      const value = valueOf(outcome);
      return typeof value === "string" ? { text: value } : (value ?? {});
    },
  };
}

function callContext(ctx: Fields): Fields {
  return Object.fromEntries(CALL_FIELDS.flatMap((name) => (ctx[name] === undefined ? [] : [[name, ctx[name]]])));
}

function valueOf({ status, value, error }: FunctionOutcome): unknown {
  if (status !== "ok") throw new Error(error?.message ?? `the call ended with "${status}"`);
  return value;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
