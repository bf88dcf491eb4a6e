/** Trusted side: diagnostics about members of `api` that a plugin used and the sandbox does not have. The plugin chooses the names; the words are ours. */
import { LIMITS } from "../../protocol/limits.ts";
import { unknownMember } from "../../protocol/rules/registration.ts";
import type { UnknownMember } from "../../protocol/rules/registration.ts";
import { oneLine } from "../../text/one-line.ts";
import type { ServiceGroup } from "../services/service.ts";

export function unknownApiDiagnostic({ member, as }: UnknownMember): string {
  const name = `api.${oneLine(member, LIMITS.call.nameChars)}`;
  return as === "inert"
    ? `${name} does nothing here: a sandboxed plugin has hooks, tools, commands, gateway methods and services`
    : `the plugin looked for ${name}, which is not there in the sandbox`;
}

/** For members that the plugin uses after `register`. */
export function unknownApiServices(): ServiceGroup {
  return {
    services: {
      "api.unknownMember": {
        answer: ({ plugin, args }) => {
          const one = unknownMember.safeParse(args);
          if (!one.success) return;
          const text = unknownApiDiagnostic(one.data);
          plugin.diagnostics.note(text, text);
        },
      },
    },
  };
}
