/**
 * Where each agent keeps its hooks, and what Creel writes there, by their documentation. An agent either has a JSON file
 * that it shares with other hooks, or files that are Creel's alone.
 */
import { join } from "node:path";
import type { AgentFormat } from "../../serve/agents/format.ts";
import { quoted } from "../self.ts";

/** An agent's own limit for a hook, in seconds: longer than Creel takes to answer. */
const AGENT_SECONDS = 30;

export interface Place {
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** In a file that has other hooks, too: `hooks.<event>` is a list of entries. */
export interface SharedFile {
  readonly kind: "shared";
  readonly user: (place: Place) => string;
  readonly ofProject: (place: Place) => string;
  entry(command: string): object;
}

/** Files that belong to Creel, by path below the folder. */
export interface OwnFiles {
  readonly kind: "own";
  readonly user: (place: Place) => string;
  readonly ofProject: (place: Place) => string;
  readonly isExecutable: boolean;
  files(commands: ReadonlyMap<string, string>): Record<string, string>;
}

export interface AgentSettings {
  readonly where: SharedFile | OwnFiles;
  /** What is left to do for the person. */
  readonly next: string;
}

const group = (hook: object) => ({ hooks: [hook] });
const page = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

export const SETTINGS: Readonly<Record<string, AgentSettings>> = {
  "claude-code": {
    where: {
      kind: "shared",
      user: ({ home, env }) => join(env.CLAUDE_CONFIG_DIR ?? join(home, ".claude"), "settings.json"),
      ofProject: ({ project }) => join(project, ".claude", "settings.json"),
      entry: (command) => group({ type: "command", command, timeout: AGENT_SECONDS }),
    },
    next: "type /hooks in Claude Code to see them",
  },
  codex: {
    where: {
      kind: "shared",
      user: ({ home, env }) => join(env.CODEX_HOME ?? join(home, ".codex"), "hooks.json"),
      ofProject: ({ project }) => join(project, ".codex", "hooks.json"),
      entry: (command) => group({ type: "command", command, timeout: AGENT_SECONDS }),
    },
    next: "type /hooks in Codex and trust them: until then Codex skips them",
  },
  "gemini-cli": {
    where: {
      kind: "shared",
      user: ({ home }) => join(home, ".gemini", "settings.json"),
      ofProject: ({ project }) => join(project, ".gemini", "settings.json"),
      entry: (command) => group({ name: "creel", type: "command", command, timeout: AGENT_SECONDS * 1_000 }),
    },
    next: "type /hooks in Gemini CLI to see them",
  },
  cline: {
    where: {
      kind: "own",
      user: ({ home }) => join(home, "Documents", "Cline", "Hooks"),
      ofProject: ({ project }) => join(project, ".clinerules", "hooks"),
      isExecutable: true,
      files: (commands) => Object.fromEntries([...commands].map(([event, command]) => [event, `#!/bin/sh\n${command}\n`])),
    },
    next: "enable hooks in Cline's settings, and each of them in its Hooks tab",
  },
  goose: {
    where: {
      kind: "own",
      user: ({ home }) => join(home, ".agents", "plugins", "creel"),
      ofProject: ({ project }) => join(project, ".agents", "plugins", "creel"),
      isExecutable: false,
      files: (commands) => ({
        [join("hooks", "hooks.json")]: page({
          hooks: mapped(commands, (command, event) =>
            group({
              type: "command",
              command,
              timeout: AGENT_SECONDS,
              // Without it, a hook that is killed lets the tool run.
              ...(event === "PreToolUse" && { on_failure: "block" }),
            }),
          ),
        }),
        "plugin.json": page({ name: "creel", version: "1.0.0", description: "Asks creel serve before a tool runs" }),
      }),
    },
    next: "start a new goose session",
  },
  "copilot-cli": {
    where: {
      kind: "own",
      user: ({ home, env }) => join(env.COPILOT_HOME ?? join(home, ".copilot"), "hooks"),
      ofProject: ({ project }) => join(project, ".github", "hooks"),
      isExecutable: false,
      files: (commands) => ({
        "creel.json": page({
          version: 1,
          hooks: mapped(commands, (command) => ({ type: "command", bash: command, timeoutSec: AGENT_SECONDS })),
        }),
      }),
    },
    next: "start a new session of Copilot CLI",
  },
};

function mapped(commands: ReadonlyMap<string, string>, entry: (command: string, event: string) => object): Record<string, object[]> {
  return Object.fromEntries([...commands].map(([event, command]) => [event, [entry(command, event)]]));
}

/** The part of a command by which it is found again. */
export function markOf(format: AgentFormat, event: string): string {
  return ` hook --for ${format.name} --event ${event}`;
}

export interface CommandOptions {
  /** How this Creel is started: node, its options, and the script. */
  readonly start: readonly string[];
  readonly socket: string | undefined;
}

/**
 * For a shell, by event. SECURITY: if Node or Creel is gone the shell itself answers with a denial, since agents let a
 * tool run when its hook fails. test/cli/hook/install.test.ts
 */
export function commandsFor(format: AgentFormat, { start, socket }: CommandOptions): Map<string, string> {
  const reason = `Creel could not be started, so this was not checked and is denied. Install Creel again, or run: creel hook uninstall --for ${format.name}`;
  return new Map(
    Object.entries(format.events).map(([event, moment]) => {
      const where = socket === undefined ? "" : ` --socket ${quoted(socket)}`;
      const call = `${start.map(quoted).join(" ")}${markOf(format, event)}${where}`;
      const isGate = moment === "before-tool" || (moment === "prompt" && format.obeys.promptBlock);
      const denial = isGate ? format.answer(moment, event, { kind: "deny", reason }) : undefined;
      return [event, `${call} || ${denial ? `printf %s ${quoted(JSON.stringify(denial))}` : "true"}`];
    }),
  );
}
