/** The page: one run. Why it ended so, who was called when, what each saw and returned, what caused it, and what to do. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { RecordedCall, RunDetail } from "../../../protocol/live-report.ts";
import type { ToolBlame } from "../../console-tools.ts";
import type { ExplainedRun } from "../../explained-run.ts";
import { rpc } from "../connection.ts";
import { Badge, Command, Empty, Fields, Json, PluginLink, RunLink, Section, T } from "../parts.tsx";
import { Blame } from "./blame.tsx";
import { Rerun } from "./replay.tsx";
import { connection, hostId } from "../store.ts";
import { audited, clockMs, count, ms } from "../text.ts";

const AGAIN_MS = 1_000;

export function Run({ id }: { readonly id: string }) {
  const found = useSignal<Shown | null | undefined>(undefined);
  const problem = useSignal("");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const load = async (): Promise<void> => {
      clearTimeout(timer);
      // A hidden tab asks nothing; it loads when it is shown.
      if (document.hidden) return;
      try {
        const answer = await rpc<Shown | null>("run", { runId: id });
        if (isOver) return;
        found.value = answer;
        problem.value = "";
        clearTimeout(timer);
        if (answer && answer.run.wallMs === undefined) timer = setTimeout(() => void load(), AGAIN_MS);
      } catch (error) {
        if (!isOver) problem.value = (error as Error).message;
      }
    };
    void load();
    const seen = (): void => void load();
    document.addEventListener("visibilitychange", seen);
    return () => {
      isOver = true;
      document.removeEventListener("visibilitychange", seen);
      clearTimeout(timer);
    };
  }, [id, connection.value, hostId.value]);
  if (problem.value !== "" && !found.value)
    return (
      <Empty title="This run could not be read.">
        <T text={problem.value} />
      </Empty>
    );
  if (found.value === undefined) return <div class="view" />;
  if (found.value === null)
    return (
      <Empty title="The host no longer has this run.">
        It keeps the latest ones only. If it was blocked or failed, the audit log has it: <Command text={`creel explain ${id}`} />
      </Empty>
    );
  return <Found {...found.value} />;
}

/** The lines are there if they were made before. */
type Shown = ExplainedRun & ToolBlame;

function Found({ run, why, advice, budgets, profile, memory }: Shown) {
  const { hook, toolName, decision, reason, runId, at, wallMs, activateMs, calls, logs, event, context, result } = run;
  return (
    <div class="view run">
      <header class="run-head">
        <h1>
          <T text={hook} /> {toolName !== undefined && <code class="tool">{<T text={toolName} max={120} />}</code>}{" "}
          <Badge word={wallMs === undefined ? "running" : (decision ?? "aborted")} />
        </h1>
        <p class="why">
          <T text={why} />
        </p>
        {reason !== undefined && (
          <blockquote>
            <T text={reason} />
          </blockquote>
        )}
        <p class="quiet">
          <span class="mono">{runId}</span> · {clockMs(at)} · {ms(wallMs)}
          {activateMs !== undefined && `, of which ${ms(activateMs)} loaded plugins`}
        </p>
        <Chain run={run} />
      </header>
      {advice.length > 0 && (
        <Section title="What to do">
          <ul class="advice">
            {advice.map(({ text, command }) => (
              <li key={text}>
                <T text={text} /> {command !== null && <Command text={command} />}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Calls" aside={count(calls.length, "call")}>
        {calls.length === 0 && (
          <p class="quiet">
            {wallMs === undefined ? (
              <T text={`It is with ${run.plugins?.join(", ") ?? "its plugins"}; what each did is shown when it has ended.`} />
            ) : (
              "No plugin was called."
            )}
          </p>
        )}
        {calls.length > 0 && (
          <p class="scale quiet" aria-hidden="true">
            <span>
              <b>0</b>
              <b>{ms(lengthOf(run) / 2)}</b>
              <b>{ms(lengthOf(run))}</b>
            </span>
          </p>
        )}
        <ol class="waterfall">
          {calls.map((call, index) => (
            <Call key={`${call.plugin}${call.priority}${index}`} call={call} run={run} step={run.steps?.[index]} budget={budgets[index]} />
          ))}
        </ol>
      </Section>
      <Blame run={run} kept={{ ...(profile && { profile }), ...(memory && { memory }) }} />
      {logs.length > 0 && (
        <Section title="Logs" aside={count(logs.length, "line")}>
          <ol class="logs">
            {logs.map(({ seq, at: when, plugin, level, text }) => (
              <li key={seq} class={level}>
                <time>{clockMs(when)}</time>
                <PluginLink id={plugin} />
                <Badge word={level} />
                <span>
                  <T text={text} />
                </span>
              </li>
            ))}
          </ol>
        </Section>
      )}
      {wallMs !== undefined && <Rerun runId={runId} />}
      <Section title="Data">
        {event === undefined && (
          <p class="quiet">The event is not shown: audit.events is "none" in creel.json, or it is no longer there.</p>
        )}
        <div class="columns">
          {event !== undefined && <Json label="event" value={audited(event)} />}
          {context !== undefined && <Json label="context" value={audited(context)} />}
          {result !== undefined && <Json label="result" value={audited(result)} />}
        </div>
      </Section>
    </div>
  );
}

function Chain({ run: { chain, caused, causedBy, runId } }: { readonly run: RunDetail }) {
  if (chain.depth === 0 && caused.length === 0) return null;
  return (
    <p class="chain">
      {chain.depth > 0 && (
        <>
          <span class="label">cause</span>
          {chain.path.map((step, at) => (
            <span key={`${step}${at}`}>
              {chain.runIds[at] === undefined ? <T text={step} /> : <RunLink id={chain.runIds[at]}>{<T text={step} />}</RunLink>} →{" "}
            </span>
          ))}
          {chain.path.length === 0 && causedBy !== undefined && <RunLink id={causedBy} />}
          <span>this run</span>
        </>
      )}
      {caused.length > 0 && (
        <span class="caused">
          <span class="label">caused</span>
          {caused
            .filter((id) => id !== runId)
            .map((id) => (
              <RunLink key={id} id={id} />
            ))}
        </span>
      )}
    </p>
  );
}

type Step = NonNullable<RunDetail["steps"]>[number];

function Call({
  call,
  run,
  step,
  budget,
}: {
  readonly call: RecordedCall;
  readonly run: RunDetail;
  readonly step: Step | undefined;
  readonly budget: ExplainedRun["budgets"][number] | undefined;
}) {
  const { plugin, status, wallMs, cpuMs, startMs, error, priority, lane, attempt, batch, ignored } = call;
  const others = run.calls.filter((one) => one !== call && batch !== undefined && one.batch === batch).map((one) => one.plugin);
  const isDecider = plugin === run.by;
  const isOpen = useSignal(isDecider || error !== undefined);
  const whole = lengthOf(run);
  return (
    <li class={isOpen.value ? "open" : ""}>
      <button class="bar" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        <span class="who">
          <T text={plugin} max={60} />
          {isDecider && <em> decided</em>}
        </span>
        <Badge word={status} />
        <span class="track">
          {startMs !== undefined && (
            <i
              class={status === "ok" ? "" : "bad"}
              style={{ left: `${(100 * startMs) / whole}%`, width: `${Math.max(0.5, (100 * wallMs) / whole)}%` }}
            />
          )}
        </span>
        <span class="cost">{startMs === undefined && wallMs === 0 ? "not called" : ms(wallMs)}</span>
      </button>
      {isOpen.value && (
        <div class="detail">
          <Fields
            rows={[
              error && [
                "error",
                <span class="problem" key="e">
                  {error.code}: <T text={error.message} />
                  {error.at !== undefined && (
                    <>
                      {" "}
                      at <T text={error.at} />
                    </>
                  )}
                </span>,
              ],
              ["used", `${ms(wallMs)}${limit(budget?.wallMs)}, CPU ${ms(cpuMs)}${limit(budget?.cpuMs)}`],
              [
                "when",
                <T
                  key="w"
                  text={`${startMs === undefined ? "not called" : `from ${ms(startMs)}`}, priority ${priority}${lane === undefined ? "" : `, lane ${lane}`}${others.length > 0 ? `, in one batch with ${others.join(", ")}` : ""}${attempt === 2 ? ", made twice: the process of the first was lost" : ""}`}
                />,
              ],
              step?.changed && ["changed", <T key="c" text={`${step.changed.join(", ")}, for the plugins after it`} />],
              ignored && ["ignored", <T key="i" text={`${ignored.join(", ")}: the hook has no such field`} />],
              ["plugin", <PluginLink key="p" id={plugin} />],
            ]}
          />
          <div class="columns">
            {step?.saw !== undefined && <Json label="saw, as changed before it" value={audited(step.saw)} />}
            <Json label="returned" value={audited(step?.returned)} />
          </div>
        </div>
      )}
    </li>
  );
}

/** Of its waterfall, in milliseconds. */
function lengthOf({ wallMs = 0, calls }: RunDetail): number {
  return Math.max(wallMs, ...calls.map(({ startMs = 0, wallMs: took }) => startMs + took), 0.001);
}

function limit(budget: { readonly value: number; readonly origin: string } | undefined): string {
  return budget && budget.value > 0 ? ` of ${ms(budget.value)} (${budget.origin})` : "";
}
