/**
 * The demo's two acts. Read it as a gateway's turn: these are the calls a gateway makes, in the order it makes them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { version } from "../self.ts";
import { findPlugin } from "../../discovery/manifest.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import {
  AGENT_CONTEXT,
  CAST,
  ENDLESS_LOOP,
  MEANWHILE,
  MESSAGE_CONTEXT,
  OTHER_CHAT_CONTEXT,
  patched,
  PROMPT,
  REPLY,
  REPLY_WITHOUT_TOOL,
  reply,
  SEARCH,
  TOOL_CONTEXT,
  TOOL_RESULT,
  toolResult,
  USER,
} from "./script.ts";
import { DemoHost } from "./demo-host.ts";
import type { Act, DemoReport, StepListener } from "./step.ts";

export interface PlayOptions {
  readonly isolation: "process" | "thread";
  /** Paths of the user's own plugins, played in the first act. */
  readonly plugins: readonly string[];
}

export async function play({ isolation, plugins }: PlayOptions, listener?: StepListener): Promise<DemoReport> {
  const startedMs = performance.now();
  listener?.begin();
  // A path that does not exist is the caller's mistake, and nothing to play.
  await Promise.all(plugins.map((path) => findPlugin(path)));
  // The conversation is part of the demo, so the user's own plugin may read it.
  const own: PluginSpec[] = plugins.map((path) => ({ path, hooks: { allowConversationAccess: true, allowInstallDecisions: true } }));
  const turn = await act("turn", [...CAST, ...own], playTurn);
  const loop = await act("loop", [...CAST, ENDLESS_LOOP], playLoop);
  const report: DemoReport = {
    creel: version(),
    node: process.versions.node,
    isolation,
    turn,
    loop,
    wallMs: performance.now() - startedMs,
    isComplete: [...turn.plugins, ...loop.plugins].every(({ status }) => status === "ready"),
  };
  listener?.end(report);
  return report;

  async function act(name: "turn" | "loop", cast: readonly PluginSpec[], script: (demo: DemoHost) => Promise<void>): Promise<Act> {
    await using demo = await DemoHost.open(isolation, cast);
    listener?.opened(name, demo.act);
    demo.tell = (step) => listener?.step(step);
    await script(demo);
    return demo.act;
  }
}

/** A call reaches its handler within a few milliseconds; the loop then has about 150. */
const LOOP_FIRST_MS = 40;

async function playTurn(demo: DemoHost): Promise<void> {
  demo.say("message in", USER);
  await demo.run("before_prompt_build", PROMPT, AGENT_CONTEXT);
  const search = await demo.run("before_tool_call", SEARCH, TOOL_CONTEXT);
  if (search.decision === "pass") {
    demo.say("tool runs", TOOL_RESULT);
    await demo.runSync("tool_result_persist", toolResult(TOOL_RESULT), TOOL_CONTEXT);
  } else demo.say("no tool", "the model gets the reason");
  await demo.emit("session:patch", patched({ model: "opus", label: "Releases" }));
  await send(demo, search.decision === "pass" ? REPLY : REPLY_WITHOUT_TOOL);
}

async function playLoop(demo: DemoHost): Promise<void> {
  demo.say("message in", USER);
  let isLooping = true;
  const search = demo.run("before_tool_call", SEARCH, TOOL_CONTEXT, { note: () => void (isLooping = false) });
  // By now the loop is on, and has most of its budget left. The notes are said only where they are true.
  await sleep(LOOP_FIRST_MS);
  const meanwhile = () => (isLooping ? "a reply in another chat, answered before endless-loop was stopped" : undefined);
  await demo.run("message_sending", reply(MEANWHILE), OTHER_CHAT_CONTEXT, { note: meanwhile });
  await search;
  demo.say("no tool", "the model gets the reason, and the turn goes on");
  const after = () => (demo.isSlow("endless-loop") ? "endless-loop is in the slow lane now, where it delays no quick plugin" : undefined);
  await demo.emit("session:patch", patched({ model: "sonnet" }), { note: after });
  await send(demo, REPLY_WITHOUT_TOOL);
}

async function send(demo: DemoHost, content: string): Promise<void> {
  const sending = await demo.run("message_sending", reply(content), MESSAGE_CONTEXT);
  if (sending.decision === "cancel") demo.say("no reply", sending.reason ?? "cancelled");
  else demo.say("reply out", sending.result?.content ?? content);
}
