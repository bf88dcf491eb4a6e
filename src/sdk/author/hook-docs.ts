/**
 * The author's side, types only: what editors show about hooks and fields. Made by scripts/field-docs.ts (npm run docs) of the catalog. Do
 * not edit.
 */

/** Every hook, by name. */
export interface HookDocs {
  /** Before an agent runs: let it pass or block it; an answer that is neither blocks. (gate) If it fails, the agent's run is blocked. */ before_agent_run: unknown;
  /** Before the model answers: give the reply yourself, or silence. (claim) If it fails, the model answers. */ before_agent_reply: unknown;
  /** Before a final answer is accepted: ask for one more pass (`revise`), or force the end (`finalize`). (modify) If it fails, the answer is accepted as it is. */ before_agent_finalize: unknown;
  /** After an agent's run: its messages, success and duration. (observe) */ agent_end: unknown;
  /** Before a turn is prepared: add context before or after the prompt. (modify) If it fails, the turn goes on without its context. */ agent_turn_prepare: unknown;
  /** Before the prompt is built: add context, replace the system prompt, narrow the tools. (modify) If it fails, the prompt is built without it. */ before_prompt_build: unknown;
  /** Before a turn, in one phase for prompt and model; prefer `before_model_resolve` and `before_prompt_build`. (modify) If it fails, the turn starts without it. */ before_agent_start: unknown;
  /** Before a heartbeat's prompt: add context before or after it. (modify) If it fails, the heartbeat goes on without its context. */ heartbeat_prompt_contribution: unknown;
  /** Before the model is chosen: override provider or model. (modify) If it fails, the gateway's own model is used. */ before_model_resolve: unknown;
  /** A call to a model starts: which one, for which run; no content. (observe) */ model_call_started: unknown;
  /** A call to a model ended: how long it took and how it went; no content. (observe) */ model_call_ended: unknown;
  /** What goes to the model: system prompt, prompt, history and tools. (observe) */ llm_input: unknown;
  /** What came back from the model: its texts and the tokens it took. (observe) */ llm_output: unknown;
  /** Before a tool runs: rewrite its parameters, block it, or ask the user first. (gate) If it fails, the tool call is blocked. */ before_tool_call: unknown;
  /** After a tool ran, or was blocked: its result or error, and how long it took. (observe) */ after_tool_call: unknown;
  /** Before a command runs: set environment variables for it; those that choose code or route traffic are dropped. (modify) If it fails, the command runs without its variables. */ resolve_exec_env: unknown;
  /** Before a tool's result message is written to the transcript: rewrite it. (sync) If it fails, the tool's result is stored as it is. */ tool_result_persist: unknown;
  /** Before any message is written to the transcript: rewrite it or keep it out. (sync) If it fails, the message is stored as it is. */ before_message_write: unknown;
  /** Before an inbound message is routed to an agent: take it, with a reply if you like; meant for the plugin the conversation is bound to. (claim) If it fails, the gateway routes the message itself. */ inbound_claim: unknown;
  /** A user asks to be paired with a channel: who, where, and the code that an operator approves. (observe) */ channel_pairing_requested: unknown;
  /** A message came in: its content, sender, thread and media. (observe) */ message_received: unknown;
  /** Before a message leaves: rewrite its content or cancel the delivery. (gate) If it fails, messages go out as they are. */ message_sending: unknown;
  /** Before a reply payload is delivered: rewrite it as a whole, text and media, or cancel it. (gate) If it fails, replies go out as they are. */ reply_payload_sending: unknown;
  /** A message left, or failed to. (observe) */ message_sent: unknown;
  /** Before an inbound message is dispatched to a model: answer it yourself, or rewrite what is dispatched. (gate) If it fails, the message is dispatched as it is. */ before_dispatch: unknown;
  /** Before a reply is produced and delivered: do both yourself, and say what was delivered. (claim) If it fails, the gateway replies itself. */ reply_dispatch: unknown;
  /** A session starts, new or resumed. (observe) */ session_start: unknown;
  /** A session ended: why, after how many messages, and which one follows it. (observe) */ session_end: unknown;
  /** Before a session's history is compacted. (observe) */ before_compaction: unknown;
  /** After a session's history was compacted. (observe) */ after_compaction: unknown;
  /** Before a session is reset: its messages, while they are there. (observe) */ before_reset: unknown;
  /** Before a subagent is spawned: prepare its thread and where it delivers, or refuse with an error. (modify) If it fails, the subagent is spawned without it. */ subagent_spawning: unknown;
  /** Before a subagent's completion is delivered: say where to. (modify) If it fails, the answer goes where the gateway sends it. */ subagent_delivery_target: unknown;
  /** A subagent was spawned: its session, run and model. (observe) */ subagent_spawned: unknown;
  /** A background subagent started or ended, for status displays. (observe) */ subagent_progress: unknown;
  /** A subagent ended: why, and how it went. (observe) */ subagent_ended: unknown;
  /** The gateway has started: the moment for a plugin's own services. (observe) */ gateway_start: unknown;
  /** The gateway is about to stop: the moment to clean up. (observe) */ gateway_stop: unknown;
  /** The scheduler's jobs were read anew, at start or after a reload. (observe) */ cron_reconciled: unknown;
  /** A scheduled job was added, changed, removed, started or finished. (observe) */ cron_changed: unknown;
  /** Before a skill or plugin is installed: add findings to the scan, or block the installation. (gate) If it fails, the installation is blocked. */ before_install: unknown;
  /** A skill is proposed: every evaluator gives its own findings and decision, side by side; the gateway weighs them. (evaluate) If it fails, its evaluation is missing. */ skill_proposal_evaluate: unknown;
  /** A skill's proposal moved on: created, revised, evaluated, applied, rejected. (observe) */ skill_proposal_changed: unknown;
  /** A live skill was created, updated or removed. (observe) */ skill_changed: unknown;
  /** Before an agent's turn: `{ abort: true }` skips it. (gate) If it fails, the turn goes on. */ beforeTurn: unknown;
  /** After a turn that succeeded: how long it took and what it used. (observe) */ afterTurn: unknown;
  /** After a turn that failed: the error as text. (observe) */ onTurnError: unknown;
  /** A session starts; derived from `session_start`. (observe) */ "session:start": unknown;
  /** A session completed: why it stopped, its last message, and the metadata it was started with. (observe) */ "session:end": unknown;
  /** After a session was patched: the updated entry, the patch as it was requested, the gateway's configuration. (observe) */ "session:patch": unknown;
  /** A session was reset by the clock: daily, or for being idle. (observe) */ "session:auto-reset": unknown;
  /** Before a session's history is compacted. (observe) */ "session:compact:before": unknown;
  /** After a session's history was compacted. (observe) */ "session:compact:after": unknown;
  /** A tool starts. (observe) */ "tool:start": unknown;
  /** A running tool has something to show; not throttled. (observe) */ "tool:update": unknown;
  /** A tool ended: its result, or its error. (observe) */ "tool:result": unknown;
  /** An agent says something about its run: its text, its tools, its phases. (observe) */ "agent:event": unknown;
  /** The user asked for a new session: `messages` are what the gateway answers. (modify) If it fails, the command goes on without its messages. */ "command:new": unknown;
  /** The user reset the session: `messages` are what the gateway answers. (modify) If it fails, the command goes on without its messages. */ "command:reset": unknown;
  /** The user stopped the agent. (observe) */ "command:stop": unknown;
  /** A message came in, before media and links are looked at. (observe) */ "message:received": unknown;
  /** A message's audio was transcribed. (observe) */ "message:transcribed": unknown;
  /** A message is ready for the agent: media described, links read. (observe) */ "message:preprocessed": unknown;
  /** A message left, or failed to. (observe) */ "message:sent": unknown;
  /** Before the workspace's files go into the system prompt: return `{ context: { bootstrapFiles } }` to change which ones do. (modify) If it fails, the files go into the prompt as they are. */ "agent:bootstrap": unknown;
  /** The gateway has started, its channels are up. (observe) */ "gateway:startup": unknown;
  /** The gateway is about to stop. (observe) */ "gateway:shutdown": unknown;
  /** The gateway is about to restart. (observe) */ "gateway:pre-restart": unknown;
}

/** Fields of results, by hook. */
export interface ResultDocs {
  before_agent_run: {
    /** How it ended, or what the plugin decides. Of several handlers: the highest wins. */ outcome?: unknown;
    /** Why. Of several handlers: the first handler that sets it wins. */ reason?: unknown;
    /** The message, as the transcript has it or will have it. Of several handlers: the first handler that sets it wins. */ message?: unknown;
    /** The kind of matter that is blocked, for reports. Of several handlers: the first handler that sets it wins. */ category?: unknown;
    /** More about it, from the gateway or the channel. Of several handlers: the first handler that sets it wins. */ metadata?: unknown;
  };
  before_agent_reply: {
    /** True: the plugin has taken it, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ handled?: unknown;
    /** The answer that is given instead of the model's. Of several handlers: the first handler that sets it wins. */ reply?: unknown;
    /** Why. Of several handlers: the first handler that sets it wins. */ reason?: unknown;
  };
  before_agent_finalize: {
    /** What happened, or what to do: the second word of an internal event, or the plugin's answer. Of several handlers: the highest wins. */ action?: unknown;
    /** Why. Of several handlers: texts are joined by a blank line. */ reason?: unknown;
    /** How often and why one more pass is asked for. Of several handlers: the first handler that sets it wins. */ retry?: {
      /** What the agent is told to do instead. */ instruction?: unknown;
      /** Retries with the same key count as one. */ idempotencyKey?: unknown;
      /** How often it may be tried again. */ maxAttempts?: unknown;
    };
  };
  agent_turn_prepare: {
    /** Text that is added before the user's prompt. Of several handlers: texts are joined by a blank line. */ prependContext?: unknown;
    /** Text that is added after the user's prompt. Of several handlers: texts are joined by a blank line. */ appendContext?: unknown;
  };
  before_prompt_build: {
    /** The system prompt. Of several handlers: the first handler that sets it wins. */ systemPrompt?: unknown;
    /** Text that is added before the system prompt. Of several handlers: texts are joined by a blank line. */ prependSystemContext?: unknown;
    /** Text that is added after the system prompt. Of several handlers: texts are joined by a blank line. */ appendSystemContext?: unknown;
    /** Text that is added before the user's prompt. Of several handlers: texts are joined by a blank line. */ prependContext?: unknown;
    /** Text that is added after the user's prompt. Of several handlers: texts are joined by a blank line. */ appendContext?: unknown;
    /** The only tools that may be used. Of several handlers: only what is in every handler's list remains. */ toolsAllow?: unknown;
  };
  before_agent_start: {
    /** The system prompt. Of several handlers: the first handler that sets it wins. */ systemPrompt?: unknown;
    /** Text that is added before the system prompt. Of several handlers: texts are joined by a blank line. */ prependSystemContext?: unknown;
    /** Text that is added after the system prompt. Of several handlers: texts are joined by a blank line. */ appendSystemContext?: unknown;
    /** Text that is added before the user's prompt. Of several handlers: texts are joined by a blank line. */ prependContext?: unknown;
    /** The model to use instead. Of several handlers: the first handler that sets it wins. */ modelOverride?: unknown;
    /** The provider to use instead. Of several handlers: the first handler that sets it wins. */ providerOverride?: unknown;
  };
  heartbeat_prompt_contribution: {
    /** Text that is added before the user's prompt. Of several handlers: texts are joined by a blank line. */ prependContext?: unknown;
    /** Text that is added after the user's prompt. Of several handlers: texts are joined by a blank line. */ appendContext?: unknown;
  };
  before_model_resolve: {
    /** The model to use instead. Of several handlers: the first handler that sets it wins. */ modelOverride?: unknown;
    /** The provider to use instead. Of several handlers: the first handler that sets it wins. */ providerOverride?: unknown;
  };
  before_tool_call: {
    /** The parameters of the tool call. Of several handlers: laid over what stands, key by key. */ params?: unknown;
    /** True: it is stopped, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ block?: unknown;
    /** Why it is blocked. The agent and the user see it. Of several handlers: the last handler that sets it wins. */ blockReason?: unknown;
    /** Asks the user before it goes on: `title`, `description`, and how long to wait. Of several handlers: the user is asked about every handler's request, and all must be allowed; it is in outcome.approval and not in the result. */ requireApproval?: {
      /** The question, in a line. */ title?: unknown;
      /** What the user is asked to allow, in a few sentences. */ description?: unknown;
      /** What `allow-always` is remembered for, beside plugin, tool, agent and title. */ scope?: unknown;
      /** How the question is shown. */ severity?: unknown;
      /** How long the user has to answer, within the operator's limit. */ timeoutMs?: unknown;
      /** What happens without an answer: `deny` if unset. */ timeoutBehavior?: unknown;
      /** What the agent is told when there was no answer. */ timeoutReason?: unknown;
      /** The answers that the user may choose from; all if unset. */ allowedDecisions?: unknown;
      /** The plugin that asks. The host sets it. */ pluginId?: unknown;
      /** Called with the answer, in the sandbox, also when there was none in time. */ onResolution?: unknown;
    };
  };
  tool_result_persist: {
    /** The message, as the transcript has it or will have it. Of several handlers: the last handler that sets it wins. */ message?: unknown;
  };
  before_message_write: {
    /** True: it is stopped, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ block?: unknown;
    /** The message, as the transcript has it or will have it. Of several handlers: the last handler that sets it wins. */ message?: unknown;
  };
  inbound_claim: {
    /** True: the plugin has taken it, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ handled?: unknown;
    /** The answer that is given instead of the model's. Of several handlers: the first handler that sets it wins. */ reply?: unknown;
  };
  message_sending: {
    /** The text of the message. Of several handlers: the last handler that sets it wins. */ content?: unknown;
    /** True: it is not sent, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ cancel?: unknown;
    /** Why it is not sent. Of several handlers: the last handler that sets it wins. */ cancelReason?: unknown;
    /** More about it, from the gateway or the channel. Of several handlers: the last handler that sets it wins. */ metadata?: unknown;
  };
  reply_payload_sending: {
    /** What the channel will send: text, media and more. Of several handlers: the last handler that sets it wins. */ payload?: unknown;
    /** True: it is not sent, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ cancel?: unknown;
    /** Why. Of several handlers: the last handler that sets it wins. */ reason?: unknown;
  };
  before_dispatch: {
    /** True: the plugin has taken it, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ handled?: unknown;
    /** The text that is answered or dispatched instead. Of several handlers: the first handler that sets it wins. */ text?: unknown;
    /** The text of the message. Of several handlers: the last handler that sets it wins. */ content?: unknown;
  };
  reply_dispatch: {
    /** True: the plugin has taken it, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ handled?: unknown;
    /** Was a final reply queued? Of several handlers: the first handler that sets it wins. */ queuedFinal?: unknown;
    /** How many replies were delivered, by kind. Of several handlers: the first handler that sets it wins. */ counts?: {
      /** How many results of tools were sent. */ tool?: unknown;
      /** How many parts of a reply were sent. */ block?: unknown;
      /** How many final replies were sent. */ final?: unknown;
    };
  };
  subagent_spawning: {
    /** How it ended. Of several handlers: the highest wins. */ status?: unknown;
    /** Is the thread of the subagent ready? Of several handlers: true once any handler says so; false is no decision. */ threadBindingReady?: unknown;
    /** Where the subagent delivers: channel, account, recipient and thread. Of several handlers: the first handler that sets it wins. */ deliveryOrigin?: {
      /** The kind of channel, such as `telegram`. */ channel?: unknown;
      /** The account of the channel, where it has several. */ accountId?: unknown;
      /** The recipient. */ to?: unknown;
      /** The thread in the conversation. */ threadId?: unknown;
    };
    /** What went wrong. Of several handlers: the first handler that sets it wins. */ error?: unknown;
  };
  subagent_delivery_target: {
    /** Where to deliver: channel, account, recipient and thread. Of several handlers: the first handler that sets it wins. */ origin?: {
      /** The kind of channel, such as `telegram`. */ channel?: unknown;
      /** The account of the channel, where it has several. */ accountId?: unknown;
      /** The recipient. */ to?: unknown;
      /** The thread in the conversation. */ threadId?: unknown;
    };
  };
  before_install: {
    /** What was found; a critical one stops the installation. Of several handlers: lists are appended. */ findings?: unknown;
    /** True: it is stopped, and no later handler is asked. Of several handlers: true once any handler says so; false is no decision. */ block?: unknown;
    /** Why it is blocked. The agent and the user see it. Of several handlers: the last handler that sets it wins. */ blockReason?: unknown;
  };
  skill_proposal_evaluate: {
    /** What came of it, for people. */ summary?: unknown;
    /** What was found; a critical one stops the installation. */ findings?: unknown;
    /** What was measured. */ metrics?: unknown;
    /** The version of the evaluator. */ evaluatorVersion?: unknown;
    /** How the subagent runs: once, or as a session. */ mode?: unknown;
    /** What was decided. */ decision?: unknown;
    /** Why. */ decisionReason?: unknown;
  };
  beforeTurn: {
    /** Ends the turn; `reason` says why. Of several handlers: true once any handler says so; false is no decision. */ abort?: unknown;
    /** Why. Of several handlers: the last handler that sets it wins. */ reason?: unknown;
  };
  "command:new": {
    /** The conversation. The fields of a message are the gateway's. Of several handlers: lists are appended. */ messages?: unknown;
  };
  "command:reset": {
    /** The conversation. The fields of a message are the gateway's. Of several handlers: lists are appended. */ messages?: unknown;
  };
  "agent:bootstrap": {
    /** What the event is about; its fields depend on the event. Of several handlers: laid over what stands, key by key. */ context?: {
      /** The files that the agent is given at its start. */ bootstrapFiles?: unknown;
    };
  };
}
