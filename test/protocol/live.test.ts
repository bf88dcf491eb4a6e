/** What OpenClaw puts into events, contexts and results as live functions and services: which hooks have it, and that each says what becomes of it. */
import { expect, it } from "vitest";
import { CATALOG } from "../../src/protocol/catalog.ts";
import type { AnyHook } from "../../src/protocol/catalog.ts";
import { agentContext } from "../../src/protocol/hooks/contexts.ts";
import { INVOCATION_HOOK } from "../../src/sandbox/guest/turn/invocation.ts";
import { hooksPage } from "../../scripts/docs.ts";

const hooks: AnyHook[] = Object.values(CATALOG);
const words = (text: string) => text.trim().split(/\s+/);

const GATEWAY = words("getCron abortSignal");
const TOOL = words("abortSignal getSessionExtension");
/** From hooks.md 1.1 to 1.3 and section 2; every hook with the agent context has that context's two besides. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  before_tool_call: [...TOOL, "requireApproval.onResolution"],
  after_tool_call: TOOL,
  llm_input: ["tools.execute"],
  reply_dispatch: words(`dispatcher abortSignal onReplyStart onAgentRunStart userTurnTranscriptRecorder
    prepareAssistantTranscriptMessage recordProcessed markIdle`),
  gateway_start: GATEWAY,
  gateway_stop: GATEWAY,
  cron_reconciled: GATEWAY,
  cron_changed: GATEWAY,
  "gateway:startup": ["context.deps"],
};
const AGENT = words("hookInvocation toolAuthority");

const hasAgentContext = ({ context }: AnyHook) => Object.keys(agentContext.shape).every((field) => field in shapeOf(context));
const shapeOf = (context: AnyHook["context"]) => (context as typeof agentContext).shape;

it("every hook says what becomes of the live things it has in OpenClaw, and no other hook claims any", () => {
  const said = hooks.map((hook) => [hook.name, Object.keys(hook.live ?? {}).toSorted()]);
  const expected = hooks.map((hook) => [hook.name, [...(OWN[hook.name] ?? []), ...(hasAgentContext(hook) ? AGENT : [])].toSorted()]);
  expect(said).toEqual(expected);
  expect(hooks.filter(hasAgentContext)).toHaveLength(17);
});

it("two of them work inside the cell, all others are absent", () => {
  const given = hooks.flatMap(({ name, live = {} }) =>
    Object.entries(live).flatMap(([field, sentence]) => (sentence.startsWith("given: ") ? [`${name} ${field}`] : [])),
  );
  expect(given).toEqual([`${INVOCATION_HOOK} hookInvocation`, "before_tool_call requireApproval.onResolution"]);
});

it("docs/reference/hooks.md says it, hook by hook", () => {
  const sections = new Map(
    hooksPage()
      .split("\n### ")
      .map((section) => [section.slice(0, section.indexOf("\n")), section]),
  );
  const unsaid = hooks.flatMap(({ name, live = {} }) =>
    Object.entries(live).filter(
      ([field, sentence]) => !sections.get(`\`${name}\``)?.includes(`**Live in OpenClaw** \`${field}\` is ${sentence}.`),
    ),
  );
  expect(unsaid).toEqual([]);
});
