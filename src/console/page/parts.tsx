/** The page: small pieces that every view is made of. All text goes through `visible`. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { href } from "./route.ts";
import { json, visible } from "./text.ts";

export type Tone = "good" | "warn" | "bad" | "quiet" | "busy";

const TONES: Readonly<Record<string, Tone>> = {
  pass: "good",
  ok: "good",
  ready: "good",
  closed: "good",
  handled: "busy",
  block: "bad",
  cancel: "bad",
  abort: "bad",
  failed: "bad",
  crashed: "bad",
  memory: "bad",
  quarantined: "bad",
  open: "warn",
  "half-open": "warn",
  timeout: "warn",
  cpu: "warn",
  recursion: "warn",
  error: "bad",
  warn: "warn",
  critical: "bad",
  warning: "warn",
  running: "busy",
};

const toneOf = (word: string): Tone => TONES[word] ?? "quiet";

export function Badge({ word, tone = toneOf(word) }: { readonly word: string; readonly tone?: Tone }) {
  return <span class={`badge ${tone}`}>{visible(word, 40)}</span>;
}

export function T({ text, max }: { readonly text: unknown; readonly max?: number }) {
  return <bdi>{visible(text, max)}</bdi>;
}

/** Words of ours, with `code` between backticks. */
export function Words({ text }: { readonly text: string }) {
  return (
    <>
      {text.split("`").map((part, at) =>
        at % 2 === 1 ? (
          <code key={at}>
            <T text={part} max={200} />
          </code>
        ) : (
          <T key={at} text={part} max={400} />
        ),
      )}
    </>
  );
}

export function PluginLink({ id }: { readonly id: string }) {
  return (
    <a class="plugin" href={href("plugins", id)}>
      <T text={id} max={80} />
    </a>
  );
}

export function RunLink({ id, children }: { readonly id: string; readonly children?: ComponentChildren }) {
  return (
    <a class="mono" href={href("run", id)}>
      {children ?? <T text={id} max={60} />}
    </a>
  );
}

/** `isWhole`: nothing of it is folded or cut, for a person who decides about it. */
export function Json({ value, label, isWhole = false }: { readonly value: unknown; readonly label?: string; readonly isWhole?: boolean }) {
  const text = json(value, isWhole ? Infinity : undefined);
  const isLong = !isWhole && text.split("\n").length > 14;
  const isOpen = useSignal(false);
  return (
    <div class="json">
      {label !== undefined && <span class="label">{label}</span>}
      <pre class={isLong && !isOpen.value ? "folded" : ""}>{text}</pre>
      {isLong && (
        <button class="link" onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? "less" : "all of it"}
        </button>
      )}
    </div>
  );
}

/** A command to type, and a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  const isCopied = useSignal(false);
  const shown = visible(text, 1_000);
  return (
    <span class="command">
      <code>{shown}</code>
      <button
        class="link"
        title="copy"
        onClick={() =>
          void navigator.clipboard.writeText(shown).then(() => {
            isCopied.value = true;
          })
        }
      >
        {isCopied.value ? "copied" : "copy"}
      </button>
    </span>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

export function Section({
  title,
  aside,
  isWide = false,
  children,
}: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  /** In a grid: over all its columns. */
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <section class={isWide ? "all-columns" : undefined}>
      <h2>
        {title}
        {aside !== undefined && <span class="aside">{aside}</span>}
      </h2>
      {children}
    </section>
  );
}

export function Fields({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren] | undefined)[] }) {
  return <dl>{rows.flatMap((row) => (row ? [<dt key={`t${row[0]}`}>{row[0]}</dt>, <dd key={`d${row[0]}`}>{row[1]}</dd>] : []))}</dl>;
}

/** A button for something that happens elsewhere: it waits for the answer, and says what went wrong. */
export function Act({
  text,
  tone = "",
  ask,
  disabled = false,
  work,
}: {
  readonly text: string;
  readonly tone?: string;
  readonly ask?: string;
  readonly disabled?: boolean;
  readonly work: () => Promise<unknown>;
}) {
  const state = useSignal<"" | "sure?" | "busy">("");
  const problem = useSignal("");
  const click = async (): Promise<void> => {
    if (ask !== undefined && state.value === "") {
      state.value = "sure?";
      setTimeout(() => {
        if (state.value === "sure?") state.value = "";
      }, 4_000);
      return;
    }
    state.value = "busy";
    problem.value = "";
    try {
      await work();
    } catch (error) {
      problem.value = (error as Error).message;
    }
    state.value = "";
  };
  return (
    <>
      <button class={tone} disabled={disabled || state.value === "busy"} onClick={() => void click()}>
        {state.value === "sure?" ? ask : text}
      </button>
      {problem.value !== "" && (
        <span class="problem" role="alert">
          <T text={problem.value} max={400} />
        </span>
      )}
    </>
  );
}
