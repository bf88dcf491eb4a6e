/** Trusted side: what is said of members of `api` that a plugin looked for and that are not there. The plugin names them; the words are ours. */
import { LIMITS } from "../protocol/limits.ts";
import { touched } from "../protocol/registration.ts";
import type { Touched } from "../protocol/registration.ts";
import { oneLine } from "./guest-error.ts";
import type { ServiceGroup } from "./services/service.ts";
import { MAX_REMARKS } from "./remarks.ts";

export function touchedRemark({ member, as }: Touched): string {
  const name = `api.${oneLine(member, LIMITS.nameChars)}`;
  return as === "inert"
    ? `${name} does nothing here: a sandboxed plugin has hooks, tools, commands, gateway methods and services`
    : `the plugin looked for ${name}, which is not there in the sandbox`;
}

/** For members that are touched after `register`. */
export function touchedServices(): ServiceGroup {
  return {
    services: {
      "api.touched": {
        answer: ({ plugin, args }) => {
          const one = touched.safeParse(args);
          if (!one.success || plugin.remarks.size >= MAX_REMARKS) return;
          const remark = touchedRemark(one.data);
          plugin.remarks.set(remark, remark);
        },
      },
    },
  };
}
