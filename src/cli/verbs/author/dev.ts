/** `creel dev`: a plugin loaded again with every change, and its hook run again. */
import { CALL_OPTIONS } from "../../call/options.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const dev = defineVerb({
  name: "dev",
  summary: "reloads a plugin whenever its files change and runs a hook through it each time, until Ctrl-C",
  takes: "<folder or file>",
  options: {
    hook: { type: "string", value: "hook", help: "the hook to run (default: none; the plugin is only loaded)" },
    ...CALL_OPTIONS,
  },
  examples: ["creel dev ./my-plugin", `creel dev ./my-plugin --hook message_sending --event '{"to":"me","content":"hello"}'`],
  prints: "a line per load: the outcome, or `{ loaded, error }`",
  exits: { ok: "ended by Ctrl-C", failed: "there is no such plugin" },
  async run({ values, positionals, isJson, out, err }) {
    const [path, extra] = positionals;
    if (path === undefined || extra !== undefined)
      throw new UsageError("dev takes one plugin, as a folder or a file", 'such as "creel dev ./my-plugin"');
    const { exampleOf, findHook, readInput } = await import("../../call/input.ts");
    const hook = values.hook === undefined ? undefined : findHook(values.hook, undefined);
    if (!hook && values.event !== undefined) throw new UsageError("an event needs a hook to run", "name it with --hook");
    // Without an event, the example shows at least that the handler runs.
    const input = hook && (await readInput(hook, values.event ?? JSON.stringify(exampleOf(hook)), values.ctx));
    const { develop } = await import("../../dev/develop.ts");
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    process.once("SIGTERM", () => stop.abort());
    const { config, isolation = "process", approve: approval } = values;
    await develop({ path, input, config, isolation, approval, isJson, out, err, signal: stop.signal });
    return EXIT.ok;
  },
});
