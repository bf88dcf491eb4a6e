/** The page: a list of runs of any length. Rows have one height, and only those in sight are in the document. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { RunRow } from "../page-lines.ts";
import { Badge, T } from "./parts.tsx";
import { go, href } from "./route.ts";
import { clock, fraction, ms } from "./text.ts";

const ROW = 30;
const MORE = 8;

/** `rows`: the latest first. While a person has scrolled down, the rows stand still. */
export function RunList({ rows, label }: { readonly rows: readonly RunRow[]; readonly label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  const chosen = useSignal("");
  const held = useRef<readonly RunRow[] | undefined>(undefined);
  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => (height.value = element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [height]);
  if (top.value < ROW) held.current = undefined;
  else held.current ??= rows;
  const shown = held.current ?? rows;
  const first = Math.max(0, Math.floor(top.value / ROW) - MORE);
  const end = Math.min(shown.length, Math.ceil((top.value + height.value) / ROW) + MORE);
  const news = held.current && rows[0] !== held.current[0] ? "There are newer runs" : "";
  const longestMs = shown.slice(first, end).reduce((most, { wallMs = 0 }) => Math.max(most, wallMs), 1);
  const move = (step: number): void => {
    const at = shown.findIndex(({ runId }) => runId === chosen.value);
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + step))];
    if (!next) return;
    chosen.value = next.runId;
    const y = shown.indexOf(next) * ROW;
    if (y < box.current!.scrollTop) box.current!.scrollTop = y;
    else if (y + ROW > box.current!.scrollTop + height.value) box.current!.scrollTop = y + ROW - height.value;
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "j" || event.key === "ArrowDown") move(1);
    else if (event.key === "k" || event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter" && chosen.value !== "") go(href("run", chosen.value));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="list-frame">
      {news !== "" && (
        <button class="news" onClick={() => box.current!.scrollTo({ top: 0 })}>
          {news} ↑
        </button>
      )}
      <div
        class="list"
        ref={box}
        tabIndex={0}
        role="listbox"
        aria-label={label}
        data-rows={shown.length}
        onScroll={(event) => (top.value = event.currentTarget.scrollTop)}
        onKeyDown={key}
      >
        <div class="list-all" style={{ height: `${shown.length * ROW}px` }}>
          {shown.slice(first, end).map((run, at) => (
            <Row key={run.runId} run={run} y={(first + at) * ROW} longestMs={longestMs} isChosen={run.runId === chosen.value} />
          ))}
        </div>
      </div>
    </div>
  );
}

/** The call that took the most of a run that passed. */
function longest(calls: RunRow["calls"]): string {
  const [first] = calls.toSorted((one, other) => other.wallMs - one.wallMs);
  return first && first.wallMs > 0 ? `longest: ${first.plugin}, ${ms(first.wallMs)}` : "";
}

function Row({
  run,
  y,
  longestMs,
  isChosen,
}: {
  readonly run: RunRow;
  readonly y: number;
  readonly longestMs: number;
  readonly isChosen: boolean;
}) {
  const { runId, at, hook, toolName, wallMs, decision, by, reason, calls, cause, plugins } = run;
  const word = wallMs === undefined ? "running" : (decision ?? "aborted");
  const failed = calls.find(({ error }) => error !== undefined);
  const who = by ?? failed?.plugin ?? cause?.by;
  const why = cause?.by === undefined ? undefined : `caused by ${cause.by}`;
  const note = plugins?.join(", ") ?? reason ?? failed?.error ?? why ?? longest(calls);
  return (
    <a
      class={`row ${isChosen ? "chosen" : ""}`}
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      href={href("run", runId)}
      style={{ transform: `translateY(${y}px)` }}
    >
      <time>
        {clock(at)}
        <span class="fraction">{fraction(at)}</span>
      </time>
      <Badge word={word} tone={failed && word === "pass" ? "warn" : undefined!} />
      <span class="hook">
        <T text={hook} max={60} />
        {toolName !== undefined && (
          <span class="tool-name">
            {" "}
            <T text={toolName} max={60} />
          </span>
        )}
      </span>
      <span class="who">{who === undefined ? "" : <T text={who} max={60} />}</span>
      <span class="note">
        <T text={note} max={200} />
      </span>
      <span class="wall">
        <i style={{ width: `${Math.max(2, (100 * (wallMs ?? 0)) / longestMs)}%` }} />
        <b>{ms(wallMs)}</b>
      </span>
    </a>
  );
}
