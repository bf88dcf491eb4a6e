/** Trusted side: how an agent's run ended, and its last words, read from the messages that `agent_end` carries. Providers' words differ. */
export const STOP_REASONS = ["stop", "toolUse", "maxTokens", "error"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** The data of `agent_end` that says how a run ended. */
export interface AgentEnd {
  readonly messages: readonly unknown[];
  readonly success: boolean;
}

const WORDS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  tooluse: "toolUse",
  tool_use: "toolUse",
  tool_calls: "toolUse",
  length: "maxTokens",
  max_tokens: "maxTokens",
  maxtokens: "maxTokens",
  error: "error",
  aborted: "error",
};

/** A run that failed ended with `error`, whatever its last message says; an unknown word is a normal end. */
export function stopReasonOf({ messages, success }: AgentEnd): StopReason {
  if (!success) return "error";
  const word = lastAssistant(messages)?.stopReason;
  const key = typeof word === "string" ? word.toLowerCase() : "";
  return Object.hasOwn(WORDS, key) ? WORDS[key]! : "stop";
}

/** The text of the last assistant message; undefined when there is none, or it has no text (only tool calls, say). */
export function lastAssistantText(messages: readonly unknown[]): string | undefined {
  const content = lastAssistant(messages)?.content;
  if (typeof content === "string") return content === "" ? undefined : content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((block: unknown) => {
    const { type, text } = Object(block) as { type?: unknown; text?: unknown };
    return type === "text" && typeof text === "string" ? [text] : [];
  });
  return texts.length === 0 ? undefined : texts.join("\n");
}

function lastAssistant(messages: readonly unknown[]): { readonly stopReason?: unknown; readonly content?: unknown } | undefined {
  return messages.findLast((message) => (Object(message) as { role?: unknown }).role === "assistant") as object | undefined;
}
