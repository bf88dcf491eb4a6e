/** The page: what recorded runs would be with other plugins. Everything here happens in a sandbox of its own, without consequences. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ToolReplay, ToolVerdict } from "../../console-tools.ts";
import { escapeInJson } from "../../../protocol/dangerous-text.ts";
import { rpc } from "../connection.ts";
import { Act, Badge, Command, PluginLink, RunLink, Section, T } from "../parts.tsx";
import { hasTools, mayUseTools } from "../store.ts";
import { clockMs, count, visible } from "../text.ts";

function Verdict({ verdict: { decision, by, reason } }: { readonly verdict: ToolVerdict }) {
  return (
    <>
      <Badge word={decision} /> {by !== undefined && <PluginLink id={by} />}{" "}
      {reason !== undefined && (
        <span class="quiet">
          <T text={reason} max={300} />
        </span>
      )}
    </>
  );
}

/** Of one run: again, with its event edited, and which plugins cause its outcome. */
export function Rerun({ runId }: { readonly runId: string }) {
  const recorded = useSignal<object | null | undefined>(undefined);
  const text = useSignal("");
  const again = useSignal<{ readonly before: ToolVerdict; readonly after: ToolVerdict } | undefined>(undefined);
  const cause = useSignal<{ readonly plugins: readonly string[]; readonly words: readonly string[] } | undefined>(undefined);
  const isTried = mayUseTools.value;
  useEffect(() => {
    if (!isTried) return;
    void rpc<object | null>("recorded", { runId }).then(
      (event) => {
        recorded.value = event;
        // SECURITY: here, too, nothing obeys what a person could not see. test/cli/console/project-tools.test.ts
        text.value = escapeInJson(JSON.stringify(event, undefined, 2));
      },
      () => undefined,
    );
  }, [runId, isTried]);
  if (!isTried || recorded.value === undefined) return null;
  if (recorded.value === null)
    return (
      <Section title="Run it again">
        <p class="quiet">
          This run was not recorded: "record" in creel.json keeps whole events, for reruns and what-ifs. It is off by default.
        </p>
      </Section>
    );
  const rerun = async (): Promise<void> => {
    again.value = undefined;
    again.value = await rpc("rerun", { runId, event: JSON.parse(text.value) as object });
  };
  return (
    <Section title="Run it again" aside="in a sandbox of its own: no network, a copy of the data">
      <textarea
        aria-label="event"
        class="mono"
        rows={8}
        spellcheck={false}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <p class="switches">
        <Act text="Run it again" tone="primary" work={rerun} />
        <Act text="Which plugins cause it?" work={async () => (cause.value = await rpc("bisect", { runId }))} />
      </p>
      {again.value && (
        <p class="rerun" role="status">
          then <Verdict verdict={again.value.before} /> · now <Verdict verdict={again.value.after} />
        </p>
      )}
      {cause.value && (
        <p class="bisected" role="status">
          {cause.value.words.map((sentence) => (
            <span key={sentence}>
              <T text={sentence} max={2_000} />.{" "}
            </span>
          ))}
          {cause.value.plugins.map((id) => (
            <PluginLink key={id} id={id} />
          ))}
        </p>
      )}
    </Section>
  );
}

export function Replayed({ report }: { readonly report: ToolReplay }) {
  const { runs, changes, differences, failures, unstable, skipped } = report;
  return (
    <div class="replayed" role="status">
      {changes.length === 0 && <p>{count(runs, "recorded run")}: every decision stays as it is.</p>}
      {changes.map(({ hook, before, after, count: times }) => (
        <p key={`${hook}${before}${after}`}>
          {times.toLocaleString("en")} of {count(runs, "recorded run")}: <T text={hook} /> <Badge word={before} /> → <Badge word={after} />
        </p>
      ))}
      {unstable + skipped > 0 && (
        <p class="quiet">
          {unstable} are decided otherwise than recorded even without the change, {skipped} are no longer valid.
        </p>
      )}
      {failures.map(({ plugin, error }) => (
        <p key={plugin} class="problem">
          <T text={`${plugin}: ${error}`} max={300} />
        </p>
      ))}
      <ol class="events">
        {differences.map(({ runId, at, event, before, after }) => (
          <li key={runId}>
            <time>{clockMs(at)}</time>
            <RunLink id={runId}>run</RunLink>
            <span>
              <Badge word={before.decision} /> → <Badge word={after.decision} />
            </span>
            <code>{visible(JSON.stringify(event), 200)}</code>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Of a plugin: recorded runs without it, and a newer version of it. */
export function WhatIf({ plugin, isInstalled }: { readonly plugin: string; readonly isInstalled: boolean }) {
  const report = useSignal<ToolReplay | undefined>(undefined);
  const update = useSignal<Update | undefined>(undefined);
  if (!hasTools.value)
    return (
      <Section title="What if">
        <p>
          <Command text={`creel replay --without ${plugin}`} />{" "}
          {isInstalled && <Command text={`creel update ${plugin} --dry-run --replay`} />}
        </p>
      </Section>
    );
  if (!mayUseTools.value) return null;
  return (
    <Section title="What if" aside="recorded runs, in a sandbox of its own">
      <p class="switches">
        <Act text="Without this plugin" work={async () => (report.value = await rpc("whatIf", { plugin }))} />
        {isInstalled && <Act text="Look for an update" work={async () => (update.value = await rpc("reviewUpdate", { plugin }))} />}
      </p>
      {report.value && <Replayed report={report.value} />}
      {update.value && <Reviewed plugin={plugin} update={update.value} />}
    </Section>
  );
}

interface Update {
  readonly outcome: string;
  readonly from?: string;
  readonly to?: string;
  readonly digest?: string;
  readonly error?: string;
  readonly changes: readonly string[];
  readonly replay?: ToolReplay;
}

function Reviewed({
  plugin,
  update: { outcome, from, to, digest, error, changes, replay },
}: {
  readonly plugin: string;
  readonly update: Update;
}) {
  if (error !== undefined)
    return (
      <p class="problem" role="status">
        <T text={error} max={400} />
      </p>
    );
  if (outcome === "unchanged") return <p role="status">It is up to date.</p>;
  return (
    <div role="status">
      <p>
        <T text={from ?? "?"} max={40} /> → <T text={to ?? "?"} max={40} />
      </p>
      <ul>
        {changes.map((text) => (
          <li key={text}>
            <T text={text} max={300} />
          </li>
        ))}
      </ul>
      {replay && <Replayed report={replay} />}
      {digest !== undefined && (
        <p>
          To read its code and accept exactly this: <Command text={`creel update ${plugin} --diff --accept ${digest}`} />
        </p>
      )}
    </div>
  );
}
