/** From words to a verb: help, mistakes and exit codes. With a verb of our own, so that it holds for every verb to come. */
import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/cli.ts";
import { parse } from "../../src/cli/options.ts";
import { defineVerb } from "../../src/cli/verb.ts";
import { Interrupted } from "../../src/cli/ui/question.ts";
import type { Terminal } from "../../src/cli/ui/terminal.ts";
import { VERBS } from "../../src/cli/verbs/index.ts";
import { CreelError } from "../../src/protocol/errors.ts";
import { ANSI, creel } from "../support/creel.ts";
import { wordsOfLine } from "../support/command-line.ts";
import { creelHere } from "../support/cli-in-process.ts";

const greet = defineVerb({
  name: "greet",
  summary: "says hello",
  takes: "<name>",
  options: {
    tone: { type: "string", choices: ["warm", "cold"], help: "how" },
    twice: { type: "boolean", help: "again" },
    to: { type: "string", multiple: true, value: "name", help: "whom else" },
  },
  examples: ["creel greet world"],
  prints: "what it was given",
  async run({ values, positionals, isJson, out }) {
    if (positionals[0] === "nobody") throw new CreelError("ERR_PLUGIN_UNKNOWN", { plugin: "nobody" });
    if (positionals[0] === "bug") throw new TypeError("oops");
    if (positionals[0] === "leaver") throw new Interrupted("Nobody was greeted.");
    out.line(JSON.stringify({ ...values, positionals, isJson }));
    return 0;
  },
});

async function cli(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const page = { out: "", err: "" };
  const pen = (key: "out" | "err"): Terminal => ({
    width: 80,
    line: (text = "") => void (page[key] += `${text}\n`),
    paint: (_, text) => text,
  });
  const code = await runCli(args, [greet], { out: pen("out"), err: pen("err") });
  return { code, ...page };
}

describe("the command line", () => {
  it("lists the verbs with --help, and on stderr with exit code 2 without a verb", async () => {
    expect(await cli("--help")).toMatchObject({ code: 0, out: expect.stringContaining("greet  says hello"), err: "" });
    expect(await cli()).toMatchObject({ code: 2, out: "", err: expect.stringContaining("greet  says hello") });
  });

  it("gives a verb its options, typed, and its arguments", async () => {
    const { code, out } = await cli("greet", "world", "--tone", "warm", "--twice", "--to", "a", "--to", "b", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ tone: "warm", twice: true, to: ["a", "b"], json: true, positionals: ["world"], isJson: true });
  });

  it("explains a verb with --help or -h, anywhere after it", async () => {
    for (const flag of ["--help", "-h"]) {
      const { code, out } = await cli("greet", "world", flag);
      expect(code).toBe(0);
      expect(out).toContain("Usage: creel greet <name> [options]");
      expect(out).toContain("--tone <warm|cold>");
      expect(out).toContain("--json");
      expect(out).toContain("  creel greet world");
    }
  });

  it.each([
    [["gret"], 'there is no verb "gret"; did you mean "greet"?'],
    [["--tone", "warm"], "an option comes after a verb"],
    [["greet", "--twicce"], 'there is no option "--twicce"; did you mean "--twice"?'],
    [["greet", "--tone", "warmm"], '--tone cannot be "warmm"; did you mean "warm"?'],
    [["greet", "--tone"], "--tone"],
  ])("answers %j with exit code 2, the nearest thing there is, and what to do", async (args, message) => {
    const { code, out, err } = await cli(...args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(err).toContain("Fix:");
  });

  it("answers a failure with exit code 1 and the remedy of the error table", async () => {
    const { code, err } = await cli("greet", "nobody");
    expect(code).toBe(1);
    expect(err).toContain("Fix:");
  });

  it("answers a question that was left with exit code 130, and with --json as data on stdout, too", async () => {
    expect(await cli("greet", "leaver")).toEqual({ code: 130, out: "", err: "\nNobody was greeted.\n" });
    const { code, out, err } = await cli("greet", "leaver", "--json");
    expect([code, err]).toEqual([130, "\nNobody was greeted.\n"]);
    const fix = expect.stringContaining("run the command again") as string;
    expect(JSON.parse(out)).toEqual({ error: { code: "ERR_INTERRUPTED", message: "Nobody was greeted.", fix } });
  });

  it("shows the stack of a mistake of its own", async () => {
    const { code, err } = await cli("greet", "bug");
    expect(code).toBe(1);
    expect(err).toMatch(/oops[\s\S]+at .*cli\.test\.ts/);
  });
});

/** The last key, twice. */
const slipped = (word: string): string => `${word}${word.at(-1)}`;

describe("the real command", () => {
  it("suggests the verb that was meant and exits with 2", async () => {
    const { code, stdout, stderr } = await creel(["dmeo"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain('did you mean "demo"?');
    expect(stderr).not.toContain(ANSI);
  });

  it("refuses an argument that the demo does not take", async () => {
    expect(await creel(["demo", "please"])).toMatchObject({ code: 2, stderr: expect.stringContaining('"please"') });
  });

  it("prints the package's version", async () => {
    expect(await creel(["--version"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it.each(VERBS.map(({ name }) => name))("has an example, what --json prints, and the exit codes in the help of %s", async (name) => {
    const { code, out } = await creelHere(name, "--help");
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`Examples:\n  creel ${name}`));
    expect(out).toMatch(/\n {2}--json +\S/);
    expect(out).toMatch(/\nWith --json: \S.+\nExit codes: 0 \S.+, 1 \S.+, 2 wrong usage(?:, 130 interrupted at a question .+)?\n$/);
  });

  it("has no example that it would not take", () => {
    const examples = VERBS.flatMap((verb) => verb.examples.map((example) => ({ verb, example })));
    for (const { verb, example } of examples) {
      const [command, name, ...args] = wordsOfLine(example);
      expect([command, name]).toEqual(["creel", verb.name]);
      expect(() => parse(verb, args)).not.toThrow();
    }
  });

  it.each(VERBS.map((verb) => [verb.name, verb] as const))(
    "suggests %s, and each of its options, to who mistypes them",
    async (name, { options }) => {
      const { code, err } = await creelHere(slipped(name));
      expect([code, err]).toEqual([2, expect.stringContaining(`did you mean "${name}"?`)]);
      for (const option of ["json", ...Object.keys(options)]) {
        const mistyped = await creelHere(name, `--${slipped(option)}`);
        expect([mistyped.code, mistyped.err]).toEqual([2, expect.stringContaining(`did you mean "--${option}"?`)]);
      }
    },
  );
});
