/**
 * The author's side, types only: what editors show about hooks and fields. Made by scripts/field-docs.ts (npm run docs) of the catalog. Do
 * not edit.
 */
import type { HookName } from "../../protocol/catalog.ts";
import type { CheckedHandler, HandlerOptions, HookHandlers } from "./plugin.ts";

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
  <N extends HookName>(this: never, hook: N, handler: HookHandlers[N], options?: HandlerOptions): void;
  /** Before an agent runs: let it pass or block it; an answer that is neither blocks. (gate) If it fails, the agent's run is blocked. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_agent_run">, handler: CheckedHandler<"before_agent_run", F, P>, options?: HandlerOptions): void;
  /** Before the model answers: give the reply yourself, or silence. (claim) If it fails, the model answers. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_agent_reply">, handler: CheckedHandler<"before_agent_reply", F, P>, options?: HandlerOptions): void;
  /** Before a final answer is accepted: ask for one more pass (`revise`), or force the end (`finalize`). (modify) If it fails, the answer is accepted as it is. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_agent_finalize">, handler: CheckedHandler<"before_agent_finalize", F, P>, options?: HandlerOptions): void;
  /** After an agent's run: its messages, success and duration. (observe) */
  (hook: Named<"agent_end">, handler: HookHandlers["agent_end"], options?: HandlerOptions): void;
  /** Before a turn is prepared: add context before or after the prompt. (modify) If it fails, the turn goes on without its context. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"agent_turn_prepare">, handler: CheckedHandler<"agent_turn_prepare", F, P>, options?: HandlerOptions): void;
  /** Before the prompt is built: add context, replace the system prompt, narrow the tools. (modify) If it fails, the prompt is built without it. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_prompt_build">, handler: CheckedHandler<"before_prompt_build", F, P>, options?: HandlerOptions): void;
  /** Before a turn, in one phase for prompt and model; prefer `before_model_resolve` and `before_prompt_build`. (modify) If it fails, the turn starts without it. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_agent_start">, handler: CheckedHandler<"before_agent_start", F, P>, options?: HandlerOptions): void;
  /** Before a heartbeat's prompt: add context before or after it. (modify) If it fails, the heartbeat goes on without its context. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"heartbeat_prompt_contribution">, handler: CheckedHandler<"heartbeat_prompt_contribution", F, P>, options?: HandlerOptions): void;
  /** Before the model is chosen: override provider or model. (modify) If it fails, the gateway's own model is used. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_model_resolve">, handler: CheckedHandler<"before_model_resolve", F, P>, options?: HandlerOptions): void;
  /** A call to a model starts: which one, for which run; no content. (observe) */
  (hook: Named<"model_call_started">, handler: HookHandlers["model_call_started"], options?: HandlerOptions): void;
  /** A call to a model ended: how long it took and how it went; no content. (observe) */
  (hook: Named<"model_call_ended">, handler: HookHandlers["model_call_ended"], options?: HandlerOptions): void;
  /** What goes to the model: system prompt, prompt, history and tools. (observe) */
  (hook: Named<"llm_input">, handler: HookHandlers["llm_input"], options?: HandlerOptions): void;
  /** What came back from the model: its texts and the tokens it took. (observe) */
  (hook: Named<"llm_output">, handler: HookHandlers["llm_output"], options?: HandlerOptions): void;
  /** Before a tool runs: rewrite its parameters, block it, or ask the user first. (gate) If it fails, the tool call is blocked. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_tool_call">, handler: CheckedHandler<"before_tool_call", F, P>, options?: HandlerOptions): void;
  /** After a tool ran, or was blocked: its result or error, and how long it took. (observe) */
  (hook: Named<"after_tool_call">, handler: HookHandlers["after_tool_call"], options?: HandlerOptions): void;
  /** Before a command runs: set environment variables for it; those that choose code or route traffic are dropped. (modify) If it fails, the command runs without its variables. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"resolve_exec_env">, handler: CheckedHandler<"resolve_exec_env", F, P>, options?: HandlerOptions): void;
  /** Before a tool's result message is written to the transcript: rewrite it. (sync) If it fails, the tool's result is stored as it is. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"tool_result_persist">, handler: CheckedHandler<"tool_result_persist", F, P>, options?: HandlerOptions): void;
  /** Before any message is written to the transcript: rewrite it or keep it out. (sync) If it fails, the message is stored as it is. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_message_write">, handler: CheckedHandler<"before_message_write", F, P>, options?: HandlerOptions): void;
  /** Before an inbound message is routed to an agent: take it, with a reply if you like; meant for the plugin the conversation is bound to. (claim) If it fails, the gateway routes the message itself. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"inbound_claim">, handler: CheckedHandler<"inbound_claim", F, P>, options?: HandlerOptions): void;
  /** A user asks to be paired with a channel: who, where, and the code that an operator approves. (observe) */
  (hook: Named<"channel_pairing_requested">, handler: HookHandlers["channel_pairing_requested"], options?: HandlerOptions): void;
  /** A message came in: its content, sender, thread and media. (observe) */
  (hook: Named<"message_received">, handler: HookHandlers["message_received"], options?: HandlerOptions): void;
  /** Before a message leaves: rewrite its content or cancel the delivery. (gate) If it fails, messages go out as they are. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"message_sending">, handler: CheckedHandler<"message_sending", F, P>, options?: HandlerOptions): void;
  /** Before a reply payload is delivered: rewrite it as a whole, text and media, or cancel it. (gate) If it fails, replies go out as they are. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"reply_payload_sending">, handler: CheckedHandler<"reply_payload_sending", F, P>, options?: HandlerOptions): void;
  /** A message left, or failed to. (observe) */
  (hook: Named<"message_sent">, handler: HookHandlers["message_sent"], options?: HandlerOptions): void;
  /** Before an inbound message is dispatched to a model: answer it yourself, or rewrite what is dispatched. (gate) If it fails, the message is dispatched as it is. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_dispatch">, handler: CheckedHandler<"before_dispatch", F, P>, options?: HandlerOptions): void;
  /** Before a reply is produced and delivered: do both yourself, and say what was delivered. (claim) If it fails, the gateway replies itself. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"reply_dispatch">, handler: CheckedHandler<"reply_dispatch", F, P>, options?: HandlerOptions): void;
  /** A session starts, new or resumed. (observe) */
  (hook: Named<"session_start">, handler: HookHandlers["session_start"], options?: HandlerOptions): void;
  /** A session ended: why, after how many messages, and which one follows it. (observe) */
  (hook: Named<"session_end">, handler: HookHandlers["session_end"], options?: HandlerOptions): void;
  /** Before a session's history is compacted. (observe) */
  (hook: Named<"before_compaction">, handler: HookHandlers["before_compaction"], options?: HandlerOptions): void;
  /** After a session's history was compacted. (observe) */
  (hook: Named<"after_compaction">, handler: HookHandlers["after_compaction"], options?: HandlerOptions): void;
  /** Before a session is reset: its messages, while they are there. (observe) */
  (hook: Named<"before_reset">, handler: HookHandlers["before_reset"], options?: HandlerOptions): void;
  /** Before a subagent is spawned: prepare its thread and where it delivers, or refuse with an error. (modify) If it fails, the subagent is spawned without it. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"subagent_spawning">, handler: CheckedHandler<"subagent_spawning", F, P>, options?: HandlerOptions): void;
  /** Before a subagent's completion is delivered: say where to. (modify) If it fails, the answer goes where the gateway sends it. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"subagent_delivery_target">, handler: CheckedHandler<"subagent_delivery_target", F, P>, options?: HandlerOptions): void;
  /** A subagent was spawned: its session, run and model. (observe) */
  (hook: Named<"subagent_spawned">, handler: HookHandlers["subagent_spawned"], options?: HandlerOptions): void;
  /** A background subagent started or ended, for status displays. (observe) */
  (hook: Named<"subagent_progress">, handler: HookHandlers["subagent_progress"], options?: HandlerOptions): void;
  /** A subagent ended: why, and how it went. (observe) */
  (hook: Named<"subagent_ended">, handler: HookHandlers["subagent_ended"], options?: HandlerOptions): void;
  /** The gateway has started: the moment for a plugin's own services. (observe) */
  (hook: Named<"gateway_start">, handler: HookHandlers["gateway_start"], options?: HandlerOptions): void;
  /** The gateway is about to stop: the moment to clean up. (observe) */
  (hook: Named<"gateway_stop">, handler: HookHandlers["gateway_stop"], options?: HandlerOptions): void;
  /** The scheduler's jobs were read anew, at start or after a reload. (observe) */
  (hook: Named<"cron_reconciled">, handler: HookHandlers["cron_reconciled"], options?: HandlerOptions): void;
  /** A scheduled job was added, changed, removed, started or finished. (observe) */
  (hook: Named<"cron_changed">, handler: HookHandlers["cron_changed"], options?: HandlerOptions): void;
  /** Before a skill or plugin is installed: add findings to the scan, or block the installation. (gate) If it fails, the installation is blocked. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"before_install">, handler: CheckedHandler<"before_install", F, P>, options?: HandlerOptions): void;
  /** A skill is proposed: every evaluator gives its own findings and decision, side by side; the gateway weighs them. (evaluate) If it fails, its evaluation is missing. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"skill_proposal_evaluate">, handler: CheckedHandler<"skill_proposal_evaluate", F, P>, options?: HandlerOptions): void;
  /** A skill's proposal moved on: created, revised, evaluated, applied, rejected. (observe) */
  (hook: Named<"skill_proposal_changed">, handler: HookHandlers["skill_proposal_changed"], options?: HandlerOptions): void;
  /** A live skill was created, updated or removed. (observe) */
  (hook: Named<"skill_changed">, handler: HookHandlers["skill_changed"], options?: HandlerOptions): void;
  /** Before an agent's turn: `{ abort: true }` skips it. (gate) If it fails, the turn goes on. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"beforeTurn">, handler: CheckedHandler<"beforeTurn", F, P>, options?: HandlerOptions): void;
  /** After a turn that succeeded: how long it took and what it used. (observe) */
  (hook: Named<"afterTurn">, handler: HookHandlers["afterTurn"], options?: HandlerOptions): void;
  /** After a turn that failed: the error as text. (observe) */
  (hook: Named<"onTurnError">, handler: HookHandlers["onTurnError"], options?: HandlerOptions): void;
  /** A session starts; derived from `session_start`. (observe) */
  (hook: Named<"session:start">, handler: HookHandlers["session:start"], options?: HandlerOptions): void;
  /** A session completed: why it stopped, its last message, and the metadata it was started with. (observe) */
  (hook: Named<"session:end">, handler: HookHandlers["session:end"], options?: HandlerOptions): void;
  /** After a session was patched: the updated entry, the patch as it was requested, the gateway's configuration. (observe) */
  (hook: Named<"session:patch">, handler: HookHandlers["session:patch"], options?: HandlerOptions): void;
  /** A session was reset by the clock: daily, or for being idle. (observe) */
  (hook: Named<"session:auto-reset">, handler: HookHandlers["session:auto-reset"], options?: HandlerOptions): void;
  /** Before a session's history is compacted. (observe) */
  (hook: Named<"session:compact:before">, handler: HookHandlers["session:compact:before"], options?: HandlerOptions): void;
  /** After a session's history was compacted. (observe) */
  (hook: Named<"session:compact:after">, handler: HookHandlers["session:compact:after"], options?: HandlerOptions): void;
  /** A tool starts. (observe) */
  (hook: Named<"tool:start">, handler: HookHandlers["tool:start"], options?: HandlerOptions): void;
  /** A running tool has something to show; not throttled. (observe) */
  (hook: Named<"tool:update">, handler: HookHandlers["tool:update"], options?: HandlerOptions): void;
  /** A tool ended: its result, or its error. (observe) */
  (hook: Named<"tool:result">, handler: HookHandlers["tool:result"], options?: HandlerOptions): void;
  /** An agent says something about its run: its text, its tools, its phases. (observe) */
  (hook: Named<"agent:event">, handler: HookHandlers["agent:event"], options?: HandlerOptions): void;
  /** The user asked for a new session: `messages` are what the gateway answers. (modify) If it fails, the command goes on without its messages. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"command:new">, handler: CheckedHandler<"command:new", F, P>, options?: HandlerOptions): void;
  /** The user reset the session: `messages` are what the gateway answers. (modify) If it fails, the command goes on without its messages. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"command:reset">, handler: CheckedHandler<"command:reset", F, P>, options?: HandlerOptions): void;
  /** The user stopped the agent. (observe) */
  (hook: Named<"command:stop">, handler: HookHandlers["command:stop"], options?: HandlerOptions): void;
  /** A message came in, before media and links are looked at. (observe) */
  (hook: Named<"message:received">, handler: HookHandlers["message:received"], options?: HandlerOptions): void;
  /** A message's audio was transcribed. (observe) */
  (hook: Named<"message:transcribed">, handler: HookHandlers["message:transcribed"], options?: HandlerOptions): void;
  /** A message is ready for the agent: media described, links read. (observe) */
  (hook: Named<"message:preprocessed">, handler: HookHandlers["message:preprocessed"], options?: HandlerOptions): void;
  /** A message left, or failed to. (observe) */
  (hook: Named<"message:sent">, handler: HookHandlers["message:sent"], options?: HandlerOptions): void;
  /** Before the workspace's files go into the system prompt: return `{ context: { bootstrapFiles } }` to change which ones do. (modify) If it fails, the files go into the prompt as they are. */
  <F extends PropertyKey, P extends PropertyKey>(hook: Named<"agent:bootstrap">, handler: CheckedHandler<"agent:bootstrap", F, P>, options?: HandlerOptions): void;
  /** The gateway has started, its channels are up. (observe) */
  (hook: Named<"gateway:startup">, handler: HookHandlers["gateway:startup"], options?: HandlerOptions): void;
  /** The gateway is about to stop. (observe) */
  (hook: Named<"gateway:shutdown">, handler: HookHandlers["gateway:shutdown"], options?: HandlerOptions): void;
  /** The gateway is about to restart. (observe) */
  (hook: Named<"gateway:pre-restart">, handler: HookHandlers["gateway:pre-restart"], options?: HandlerOptions): void;
  // For a name that is a variable, and for errors: TypeScript says what is wrong by the last one.
  /** Listen to a hook. Only while `register` runs. A result field that the hook does not have is a type error. */
  <N extends HookName, F extends PropertyKey, P extends PropertyKey>(hook: N, handler: CheckedHandler<N, F, P>, options?: HandlerOptions): void;
}
