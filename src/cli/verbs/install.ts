/** `creel install`: fetches a plugin, looks at it, shows what it may do, and installs it if the operator says so. */
import { CONSENT, only, PLACE } from "../plugins/options.ts";
import { defineVerb, EXIT } from "../verb.ts";

export const install = defineVerb({
  name: "install",
  summary: "fetches a plugin, rehearses it without grants, shows what it asks for, and installs it if you accept",
  takes: "<package, folder, tarball or git address>",
  options: { ...CONSENT, ...PLACE },
  examples: [
    "creel install @acme/weather",
    "creel install ./my-plugin --no-grant kv",
    "creel install weather@1.2.3 --json | jq -r .digest",
    "creel install weather@1.2.3 --accept sha256-…",
  ],
  prints:
    "`outcome`, `digest`, the whole `review`, the lock's `entry`, the `guards` that were asked and their `findings`; `running`, if a `creel serve` has that state folder: a row per host, with `pid`, `socket`, `status`, `version`, `error`",
  exits: { ok: "it is installed", failed: "it is not: refused, blocked, or something is wrong with it" },
  async run({ values, positionals, isJson, out, err }) {
    const source = only("install", "one source", positionals, "creel install @acme/weather");
    const { findPlace, makeConfig } = await import("../plugins/place.ts");
    const { install: start } = await import("../../install/install.ts");
    const { consentOf, decide } = await import("../plugins/consent.ts");
    const { progress } = await import("../plugins/progress.ts");
    const { reviewPage } = await import("../plugins/review-page.ts");
    const { tellRunning } = await import("../plugins/running.ts");
    const { who } = await import("../plugins/who.ts");
    const { afterInstall } = await import("../plugins/after-install.ts");
    if (makeConfig(values)) (isJson ? err : out).line("there was no creel.json here: it is made, with its state in .creel");
    const { config, base, state } = await findPlace(values);
    const consent = consentOf(values, isJson);
    const result = await start(source, {
      state,
      config,
      base,
      by: who(),
      progress: progress(isJson ? err : out),
      decide: async (review, digest) => {
        if (!isJson) reviewPage(review, digest, out);
        return decide(review, digest, (await state.read()).get(review.id), consent, out);
      },
    });
    const { outcome, review, digest, guards, findings } = result;
    const running = outcome === "installed" ? await tellRunning(state.dir, review.id) : undefined;
    if (isJson) out.line(JSON.stringify({ ...result, ...(running && { running: running.rows }) }, (_, value: unknown) => value ?? null, 2));
    else {
      out.line();
      for (const { severity, file, line, message } of findings)
        out.line(`  ${severity.padEnd(8)} ${message} (${file}:${line}, by a guard)`);
      if (outcome === "installed") {
        const asked = guards.length === 0 ? "" : `; ${guards.join(", ")} had nothing against it`;
        out.line(`${out.paint("green", "✓")} ${review.id} is installed${asked}`);
        if (running) running.say(out);
        else out.line(out.paint("gray", "  a gateway that runs has it when it is started again"));
        afterInstall(review, values, out);
      } else if (outcome === "unchanged") out.line(`${out.paint("green", "✓")} ${review.id} is installed already, as it is there`);
    }
    if (outcome !== "refused") return EXIT.ok;
    err.line(`${err.paint("red", "✗")} ${review.id} was not installed: nobody has accepted it`);
    if (!consent.ask) err.line(`  ${err.paint("bold", "what to do:")} if you accept what is shown, run it again with --accept ${digest}`);
    return EXIT.failed;
  },
});
