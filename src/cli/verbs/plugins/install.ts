/** `creel install`: fetches a plugin, examines it, shows the review, and installs it if the operator accepts. */
import { CONSENT, only, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

import type { Review } from "../../../install/review/review.ts";
import { commandLine, next } from "../../self.ts";
import type { Terminal } from "../../ui/terminal.ts";

export const install = defineVerb({
  name: "install",
  summary: "fetches a plugin, loads it once without grants (a dry run), shows what it requests, and installs it if you accept",
  takes: "<package, folder, tarball or git address>",
  options: { ...CONSENT, ...PROJECT_OPTIONS },
  examples: [
    "creel install @acme/weather",
    "creel install ./my-plugin --no-grant kv",
    "creel install weather@1.2.3 --json | jq -r .digest",
    "creel install weather@1.2.3 --accept sha256-…",
  ],
  prints:
    "`outcome` (`installed`, `unchanged`, `restored`, `refused`), `digest`, the whole `review`, the lock's `entry`, the `guards` that were asked, their `findings`, and those that listen and were `notAsked`; `diff` with --diff; `running`, if a `creel serve` has that state folder: a row per host, with `pid`, `socket`, `status`, `version`, `error`",
  exits: { ok: "it is installed", failed: "it is not installed: refused, blocked or faulty" },
  asks: true,
  async run({ values, positionals, isJson, out, err }) {
    const source = only("install", "one source", positionals, "creel install @acme/weather");
    const { findProject, createConfig, freshState } = await import("../../plugins/project.ts");
    const { install: start } = await import("../../../install/install.ts");
    const { consentOf, decide } = await import("../../plugins/consent.ts");
    const { codeDiffPage, reviewPage, summaryLines } = await import("../../plugins/review-page.ts");
    const { paged } = await import("../../ui/pager.ts");
    const { progress } = await import("../../plugins/progress.ts");
    const { tellRunning } = await import("../../plugins/running-hosts.ts");
    const { sayWalls, wallsWarningFor } = await import("../../ui/walls.ts");
    const { currentUser } = await import("../../plugins/project.ts");
    const { config, configFile, base, state } = await findProject(values, true);
    const consent = consentOf(values, { verb: "install", isJson, outcome: () => "Nothing was installed." });
    let difference: readonly string[] | undefined;
    await using _fresh = freshState(state);
    const result = await start(source, {
      state,
      config,
      configFile,
      base,
      by: currentUser(),
      progress: progress(isJson ? err : out),
      decide: async (review, digest, { diff }) => {
        if (values.diff === true) difference = diff();
        if (!isJson) {
          const isLong = paged(out, (page) => {
            reviewPage(review, digest, page);
            if (difference) codeDiffPage(difference, page);
          });
          if (isLong) summaryLines(review, out);
        }
        sayWalls(await wallsWarningFor(config), isJson ? err : out);
        const decision = await decide(review, digest, (await state.read()).get(review.id), consent, out);
        if (decision.isAccepted && (await createConfig(values))) (isJson ? err : out).line("created creel.json, with its state in .creel");
        return decision;
      },
    });
    const { outcome, review, digest, guards, findings } = result;
    const running = outcome === "installed" || outcome === "restored" ? await tellRunning(state.dir, review.id) : undefined;
    if (isJson)
      out.line(
        JSON.stringify(
          { ...result, ...(difference && { diff: difference }), ...(running && { running: running.rows }) },
          (_, value: unknown) => value ?? null,
          2,
        ),
      );
    else {
      out.line();
      for (const { severity, file, line, message } of findings)
        out.line(`  ${severity.padEnd(8)} ${message} (${file}:${line}, from an install guard)`);
      if (outcome === "installed") {
        const asked = guards.length === 0 ? "" : `; ${guards.join(", ")} did not object`;
        out.line(`${out.paint("green", "✓")} ${review.id} is installed${asked}`);
        if (running) running.say(out);
        else out.line(out.paint("gray", "  Restart running gateways to load it."));
        for (const id of result.notAsked)
          out.line(
            out.paint(
              "yellow",
              `! ${id} listens to before_install but may not decide about installs; to allow it: creel permissions grant ${id} install`,
            ),
          );
        await proposeNext(review, values, out);
      } else if (outcome === "unchanged") out.line(`${out.paint("green", "✓")} ${review.id}: already up to date`);
      else if (outcome === "restored") {
        out.line(`${out.paint("green", "✓")} ${review.id}: changed files were restored; its permissions are unchanged`);
        running?.say(out);
      }
    }
    if (outcome !== "refused") return EXIT.ok;
    err.line(`${err.paint("red", "✗")} ${review.id} was not installed: it was not accepted`);
    if (!consent.ask) err.line(`  ${err.paint("bold", "Fix:")} to accept this review, run the command again with --accept ${digest}`);
    return EXIT.failed;
  },
});

/** Proposes the next commands, with the options as they were given. */
async function proposeNext(
  { id, hooks }: Review,
  { config, "state-dir": stateDir }: { readonly config?: string; readonly "state-dir"?: string },
  terminal: Terminal,
): Promise<void> {
  const { sampleOf } = await import("../../call/input.ts");
  const options = { config, "state-dir": stateDir };
  const called = hooks.map(({ hook }) => ({ hook, event: sampleOf(hook) })).find(({ event }) => event !== undefined);
  if (called) next(terminal, commandLine(["call", called.hook], { event: called.event, ...options }));
  next(terminal, commandLine(["inspect", id], options));
}
