/**
 * The author's side, types only: what editors show about hooks and fields. Made by scripts/field-docs.ts (npm run docs) of the catalog. Do
 * not edit.
 */
import type { HookName } from "../../protocol/catalog.ts";
import type { ExactHandler, HandlerOptions, HookHandlers } from "./plugin.ts";

/** The name itself. TypeScript tries signatures with a literal first, whatever their order, and the order matters here. */
type Named<N extends HookName> = N;

/**
 * Over the text of a hook's name in a call no editor shows anything: TypeScript has no symbol for it. It shows the comment of the
 * signature that the call has chosen, over `on` and while the call is written: hence a signature for each hook.
 */
// oxfmt-ignore
export interface OnHook {
  // No call chooses this one. TypeScript looks at a handler without parameters once, for the first signature: here it expects the result
  // of the named hook. It also stands for calls that are not complete yet.
  /** Listen to a hook. Only while `register` runs. A result field that the hook does not have is a type error. */
  <N extends HookName, H extends HookHandlers[N]>(this: never, hook: N, handler: ExactHandler<N, H>, options?: HandlerOptions): void;
  /** Before an agent runs: let it pass or block it; an answer that is neither blocks. (gate) If it fails, the agent's run is blocked. */
  <H extends HookHandlers["before_agent_run"]>(hook: Named<"before_agent_run">, handler: ExactHandler<"before_agent_run", H>, options?: HandlerOptions): void;
  /** Before the model answers: give the reply yourself, or silence. (claim) If it fails, the model answers. */
  <H extends HookHandlers["before_agent_reply"]>(hook: Named<"before_agent_reply">, handler: ExactHandler<"before_agent_reply", H>, options?: HandlerOptions): void;
  /** Before a final answer is accepted: ask for one more pass (`revise`), or force the end (`finalize`). (modify) If it fails, the answer is accepted as it is. */
  <H extends HookHandlers["before_agent_finalize"]>(hook: Named<"before_agent_finalize">, handler: ExactHandler<"before_agent_finalize", H>, options?: HandlerOptions): void;
  /** After an agent's run: its messages, success and duration. (observe) */
  <H extends HookHandlers["agent_end"]>(hook: Named<"agent_end">, handler: ExactHandler<"agent_end", H>, options?: HandlerOptions): void;
  /** Before a turn is prepared: add context before or after the prompt. (modify) If it fails, the turn goes on without its context. */
  <H extends HookHandlers["agent_turn_prepare"]>(hook: Named<"agent_turn_prepare">, handler: ExactHandler<"agent_turn_prepare", H>, options?: HandlerOptions): void;
  /** Before the prompt is built: add context, replace the system prompt, narrow the tools. (modify) If it fails, the prompt is built without it. */
  <H extends HookHandlers["before_prompt_build"]>(hook: Named<"before_prompt_build">, handler: ExactHandler<"before_prompt_build", H>, options?: HandlerOptions): void;
  /** Before a turn, in one phase for prompt and model; prefer `before_model_resolve` and `before_prompt_build`. (modify) If it fails, the turn starts without it. */
  <H extends HookHandlers["before_agent_start"]>(hook: Named<"before_agent_start">, handler: ExactHandler<"before_agent_start", H>, options?: HandlerOptions): void;
  /** Before a heartbeat's prompt: add context before or after it. (modify) If it fails, the heartbeat goes on without its context. */
  <H extends HookHandlers["heartbeat_prompt_contribution"]>(hook: Named<"heartbeat_prompt_contribution">, handler: ExactHandler<"heartbeat_prompt_contribution", H>, options?: HandlerOptions): void;
  /** Before the model is chosen: override provider or model. (modify) If it fails, the gateway's own model is used. */
  <H extends HookHandlers["before_model_resolve"]>(hook: Named<"before_model_resolve">, handler: ExactHandler<"before_model_resolve", H>, options?: HandlerOptions): void;
  /** A call to a model starts: which one, for which run; no content. (observe) */
  <H extends HookHandlers["model_call_started"]>(hook: Named<"model_call_started">, handler: ExactHandler<"model_call_started", H>, options?: HandlerOptions): void;
  /** A call to a model ended: how long it took and how it went; no content. (observe) */
  <H extends HookHandlers["model_call_ended"]>(hook: Named<"model_call_ended">, handler: ExactHandler<"model_call_ended", H>, options?: HandlerOptions): void;
  /** What goes to the model: system prompt, prompt, history and tools. (observe) */
  <H extends HookHandlers["llm_input"]>(hook: Named<"llm_input">, handler: ExactHandler<"llm_input", H>, options?: HandlerOptions): void;
  /** What came back from the model: its texts and the tokens it took. (observe) */
  <H extends HookHandlers["llm_output"]>(hook: Named<"llm_output">, handler: ExactHandler<"llm_output", H>, options?: HandlerOptions): void;
  /** Before a tool runs: rewrite its parameters, block it, or ask the user first. (gate) If it fails, the tool call is blocked. */
  <H extends HookHandlers["before_tool_call"]>(hook: Named<"before_tool_call">, handler: ExactHandler<"before_tool_call", H>, options?: HandlerOptions): void;
  /** After a tool ran, or was blocked: its result or error, and how long it took. (observe) */
  <H extends HookHandlers["after_tool_call"]>(hook: Named<"after_tool_call">, handler: ExactHandler<"after_tool_call", H>, options?: HandlerOptions): void;
  /** Before a command runs: set environment variables for it; those that choose code or route traffic are dropped. (modify) If it fails, the command runs without its variables. */
  <H extends HookHandlers["resolve_exec_env"]>(hook: Named<"resolve_exec_env">, handler: ExactHandler<"resolve_exec_env", H>, options?: HandlerOptions): void;
  /** Before a tool's result message is written to the transcript: rewrite it. (sync) If it fails, the tool's result is stored as it is. */
  <H extends HookHandlers["tool_result_persist"]>(hook: Named<"tool_result_persist">, handler: ExactHandler<"tool_result_persist", H>, options?: HandlerOptions): void;
  /** Before any message is written to the transcript: rewrite it or keep it out. (sync) If it fails, the message is stored as it is. */
  <H extends HookHandlers["before_message_write"]>(hook: Named<"before_message_write">, handler: ExactHandler<"before_message_write", H>, options?: HandlerOptions): void;
  /** Before an inbound message is routed to an agent: take it, with a reply if you like; meant for the plugin the conversation is bound to. (claim) If it fails, the gateway routes the message itself. */
  <H extends HookHandlers["inbound_claim"]>(hook: Named<"inbound_claim">, handler: ExactHandler<"inbound_claim", H>, options?: HandlerOptions): void;
  /** A user asks to be paired with a channel: who, where, and the code that an operator approves. (observe) */
  <H extends HookHandlers["channel_pairing_requested"]>(hook: Named<"channel_pairing_requested">, handler: ExactHandler<"channel_pairing_requested", H>, options?: HandlerOptions): void;
  /** A message came in: its content, sender, thread and media. (observe) */
  <H extends HookHandlers["message_received"]>(hook: Named<"message_received">, handler: ExactHandler<"message_received", H>, options?: HandlerOptions): void;
  /** Before a message leaves: rewrite its content or cancel the delivery. (gate) If it fails, messages go out as they are. */
  <H extends HookHandlers["message_sending"]>(hook: Named<"message_sending">, handler: ExactHandler<"message_sending", H>, options?: HandlerOptions): void;
  /** Before a reply payload is delivered: rewrite it as a whole, text and media, or cancel it. (gate) If it fails, replies go out as they are. */
  <H extends HookHandlers["reply_payload_sending"]>(hook: Named<"reply_payload_sending">, handler: ExactHandler<"reply_payload_sending", H>, options?: HandlerOptions): void;
  /** A message left, or failed to. (observe) */
  <H extends HookHandlers["message_sent"]>(hook: Named<"message_sent">, handler: ExactHandler<"message_sent", H>, options?: HandlerOptions): void;
  /** Before an inbound message is dispatched to a model: answer it yourself, or rewrite what is dispatched. (gate) If it fails, the message is dispatched as it is. */
  <H extends HookHandlers["before_dispatch"]>(hook: Named<"before_dispatch">, handler: ExactHandler<"before_dispatch", H>, options?: HandlerOptions): void;
  /** Before a reply is produced and delivered: do both yourself, and say what was delivered. (claim) If it fails, the gateway replies itself. */
  <H extends HookHandlers["reply_dispatch"]>(hook: Named<"reply_dispatch">, handler: ExactHandler<"reply_dispatch", H>, options?: HandlerOptions): void;
  /** A session starts, new or resumed. (observe) */
  <H extends HookHandlers["session_start"]>(hook: Named<"session_start">, handler: ExactHandler<"session_start", H>, options?: HandlerOptions): void;
  /** A session ended: why, after how many messages, and which one follows it. (observe) */
  <H extends HookHandlers["session_end"]>(hook: Named<"session_end">, handler: ExactHandler<"session_end", H>, options?: HandlerOptions): void;
  /** Before a session's history is compacted. (observe) */
  <H extends HookHandlers["before_compaction"]>(hook: Named<"before_compaction">, handler: ExactHandler<"before_compaction", H>, options?: HandlerOptions): void;
  /** After a session's history was compacted. (observe) */
  <H extends HookHandlers["after_compaction"]>(hook: Named<"after_compaction">, handler: ExactHandler<"after_compaction", H>, options?: HandlerOptions): void;
  /** Before a session is reset: its messages, while they are there. (observe) */
  <H extends HookHandlers["before_reset"]>(hook: Named<"before_reset">, handler: ExactHandler<"before_reset", H>, options?: HandlerOptions): void;
  /** Before a subagent is spawned: prepare its thread and where it delivers, or refuse with an error. (modify) If it fails, the subagent is spawned without it. */
  <H extends HookHandlers["subagent_spawning"]>(hook: Named<"subagent_spawning">, handler: ExactHandler<"subagent_spawning", H>, options?: HandlerOptions): void;
  /** Before a subagent's completion is delivered: say where to. (modify) If it fails, the answer goes where the gateway sends it. */
  <H extends HookHandlers["subagent_delivery_target"]>(hook: Named<"subagent_delivery_target">, handler: ExactHandler<"subagent_delivery_target", H>, options?: HandlerOptions): void;
  /** A subagent was spawned: its session, run and model. (observe) */
  <H extends HookHandlers["subagent_spawned"]>(hook: Named<"subagent_spawned">, handler: ExactHandler<"subagent_spawned", H>, options?: HandlerOptions): void;
  /** A background subagent started or ended, for status displays. (observe) */
  <H extends HookHandlers["subagent_progress"]>(hook: Named<"subagent_progress">, handler: ExactHandler<"subagent_progress", H>, options?: HandlerOptions): void;
  /** A subagent ended: why, and how it went. (observe) */
  <H extends HookHandlers["subagent_ended"]>(hook: Named<"subagent_ended">, handler: ExactHandler<"subagent_ended", H>, options?: HandlerOptions): void;
  /** The gateway has started: the moment for a plugin's own services. (observe) */
  <H extends HookHandlers["gateway_start"]>(hook: Named<"gateway_start">, handler: ExactHandler<"gateway_start", H>, options?: HandlerOptions): void;
  /** The gateway is about to stop: the moment to clean up. (observe) */
  <H extends HookHandlers["gateway_stop"]>(hook: Named<"gateway_stop">, handler: ExactHandler<"gateway_stop", H>, options?: HandlerOptions): void;
  /** The scheduler's jobs were read anew, at start or after a reload. (observe) */
  <H extends HookHandlers["cron_reconciled"]>(hook: Named<"cron_reconciled">, handler: ExactHandler<"cron_reconciled", H>, options?: HandlerOptions): void;
  /** A scheduled job was added, changed, removed, started or finished. (observe) */
  <H extends HookHandlers["cron_changed"]>(hook: Named<"cron_changed">, handler: ExactHandler<"cron_changed", H>, options?: HandlerOptions): void;
  /** Before a skill or plugin is installed: add findings to the scan, or block the installation. (gate) If it fails, the installation is blocked. */
  <H extends HookHandlers["before_install"]>(hook: Named<"before_install">, handler: ExactHandler<"before_install", H>, options?: HandlerOptions): void;
  /** A skill is proposed: every evaluator gives its own findings and decision, side by side; the gateway weighs them. (evaluate) If it fails, its evaluation is missing. */
  <H extends HookHandlers["skill_proposal_evaluate"]>(hook: Named<"skill_proposal_evaluate">, handler: ExactHandler<"skill_proposal_evaluate", H>, options?: HandlerOptions): void;
  /** A skill's proposal moved on: created, revised, evaluated, applied, rejected. (observe) */
  <H extends HookHandlers["skill_proposal_changed"]>(hook: Named<"skill_proposal_changed">, handler: ExactHandler<"skill_proposal_changed", H>, options?: HandlerOptions): void;
  /** A live skill was created, updated or removed. (observe) */
  <H extends HookHandlers["skill_changed"]>(hook: Named<"skill_changed">, handler: ExactHandler<"skill_changed", H>, options?: HandlerOptions): void;
  /** Before an agent's turn: `{ abort: true }` skips it. (gate) If it fails, the turn goes on. */
  <H extends HookHandlers["beforeTurn"]>(hook: Named<"beforeTurn">, handler: ExactHandler<"beforeTurn", H>, options?: HandlerOptions): void;
  /** After a turn that succeeded: how long it took and what it used. (observe) */
  <H extends HookHandlers["afterTurn"]>(hook: Named<"afterTurn">, handler: ExactHandler<"afterTurn", H>, options?: HandlerOptions): void;
  /** After a turn that failed: the error as text. (observe) */
  <H extends HookHandlers["onTurnError"]>(hook: Named<"onTurnError">, handler: ExactHandler<"onTurnError", H>, options?: HandlerOptions): void;
  /** A session starts; derived from `session_start`. (observe) */
  <H extends HookHandlers["session:start"]>(hook: Named<"session:start">, handler: ExactHandler<"session:start", H>, options?: HandlerOptions): void;
  /** A session completed: why it stopped, its last message, and the metadata it was started with. (observe) */
  <H extends HookHandlers["session:end"]>(hook: Named<"session:end">, handler: ExactHandler<"session:end", H>, options?: HandlerOptions): void;
  /** After a session was patched: the updated entry, the patch as it was requested, the gateway's configuration. (observe) */
  <H extends HookHandlers["session:patch"]>(hook: Named<"session:patch">, handler: ExactHandler<"session:patch", H>, options?: HandlerOptions): void;
  /** A session was reset by the clock: daily, or for being idle. (observe) */
  <H extends HookHandlers["session:auto-reset"]>(hook: Named<"session:auto-reset">, handler: ExactHandler<"session:auto-reset", H>, options?: HandlerOptions): void;
  /** Before a session's history is compacted. (observe) */
  <H extends HookHandlers["session:compact:before"]>(hook: Named<"session:compact:before">, handler: ExactHandler<"session:compact:before", H>, options?: HandlerOptions): void;
  /** After a session's history was compacted. (observe) */
  <H extends HookHandlers["session:compact:after"]>(hook: Named<"session:compact:after">, handler: ExactHandler<"session:compact:after", H>, options?: HandlerOptions): void;
  /** A tool starts. (observe) */
  <H extends HookHandlers["tool:start"]>(hook: Named<"tool:start">, handler: ExactHandler<"tool:start", H>, options?: HandlerOptions): void;
  /** A running tool has something to show; not throttled. (observe) */
  <H extends HookHandlers["tool:update"]>(hook: Named<"tool:update">, handler: ExactHandler<"tool:update", H>, options?: HandlerOptions): void;
  /** A tool ended: its result, or its error. (observe) */
  <H extends HookHandlers["tool:result"]>(hook: Named<"tool:result">, handler: ExactHandler<"tool:result", H>, options?: HandlerOptions): void;
  /** An agent says something about its run: its text, its tools, its phases. (observe) */
  <H extends HookHandlers["agent:event"]>(hook: Named<"agent:event">, handler: ExactHandler<"agent:event", H>, options?: HandlerOptions): void;
  /** The user asked for a new session: `messages` are what the gateway answers. (modify) If it fails, the command goes on without its messages. */
  <H extends HookHandlers["command:new"]>(hook: Named<"command:new">, handler: ExactHandler<"command:new", H>, options?: HandlerOptions): void;
  /** The user reset the session: `messages` are what the gateway answers. (modify) If it fails, the command goes on without its messages. */
  <H extends HookHandlers["command:reset"]>(hook: Named<"command:reset">, handler: ExactHandler<"command:reset", H>, options?: HandlerOptions): void;
  /** The user stopped the agent. (observe) */
  <H extends HookHandlers["command:stop"]>(hook: Named<"command:stop">, handler: ExactHandler<"command:stop", H>, options?: HandlerOptions): void;
  /** A message came in, before media and links are looked at. (observe) */
  <H extends HookHandlers["message:received"]>(hook: Named<"message:received">, handler: ExactHandler<"message:received", H>, options?: HandlerOptions): void;
  /** A message's audio was transcribed. (observe) */
  <H extends HookHandlers["message:transcribed"]>(hook: Named<"message:transcribed">, handler: ExactHandler<"message:transcribed", H>, options?: HandlerOptions): void;
  /** A message is ready for the agent: media described, links read. (observe) */
  <H extends HookHandlers["message:preprocessed"]>(hook: Named<"message:preprocessed">, handler: ExactHandler<"message:preprocessed", H>, options?: HandlerOptions): void;
  /** A message left, or failed to. (observe) */
  <H extends HookHandlers["message:sent"]>(hook: Named<"message:sent">, handler: ExactHandler<"message:sent", H>, options?: HandlerOptions): void;
  /** Before the workspace's files go into the system prompt: return `{ context: { bootstrapFiles } }` to change which ones do. (modify) If it fails, the files go into the prompt as they are. */
  <H extends HookHandlers["agent:bootstrap"]>(hook: Named<"agent:bootstrap">, handler: ExactHandler<"agent:bootstrap", H>, options?: HandlerOptions): void;
  /** The gateway has started, its channels are up. (observe) */
  <H extends HookHandlers["gateway:startup"]>(hook: Named<"gateway:startup">, handler: ExactHandler<"gateway:startup", H>, options?: HandlerOptions): void;
  /** The gateway is about to stop. (observe) */
  <H extends HookHandlers["gateway:shutdown"]>(hook: Named<"gateway:shutdown">, handler: ExactHandler<"gateway:shutdown", H>, options?: HandlerOptions): void;
  /** The gateway is about to restart. (observe) */
  <H extends HookHandlers["gateway:pre-restart"]>(hook: Named<"gateway:pre-restart">, handler: ExactHandler<"gateway:pre-restart", H>, options?: HandlerOptions): void;
  // For a name that is a variable, and for errors: TypeScript says what is wrong by the last one.
  /** Listen to a hook. Only while `register` runs. A result field that the hook does not have is a type error. */
  <N extends HookName, H extends HookHandlers[N]>(hook: N, handler: ExactHandler<N, H>, options?: HandlerOptions): void;
}
