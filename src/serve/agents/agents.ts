/** Trusted side: the agents whose hooks Creel speaks. */
import { CLAUDE_CODE, CODEX } from "./claude-format.ts";
import type { AgentFormat } from "./format.ts";
import { CLINE, COPILOT_CLI, GEMINI_CLI, GOOSE } from "./other-formats.ts";

export const AGENTS: readonly AgentFormat[] = [CLAUDE_CODE, CODEX, GEMINI_CLI, CLINE, GOOSE, COPILOT_CLI];

export function agentOf(name: string | undefined): AgentFormat | undefined {
  return AGENTS.find((agent) => agent.name === name);
}
