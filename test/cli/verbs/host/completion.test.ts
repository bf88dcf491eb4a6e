/** `creel completion`: the scripts know what the table of verbs knows. Bash's is asked, as bash asks it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { wordsOf } from "../../../../src/cli/completion/words.ts";
import { VERBS } from "../../../../src/cli/verbs/index.ts";
import { folder } from "../../../support/files.ts";
import { creelHere } from "../../../support/cli-in-process.ts";

const run = promisify(execFile);
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Presses Tab behind a line. */
const ask = (line: string) => `COMP_LINE=${quoted(line)} COMP_POINT=${line.length}; _creel; echo "\${COMPREPLY[*]}"`;

describe("completion in bash", () => {
  let script: string;
  beforeAll(async () => {
    const { out } = await creelHere("completion", "bash");
    script = `${folder({ "creel.sh": out })}/creel.sh`;
  });

  /** What Tab would offer behind each line. */
  async function offered(...lines: string[]): Promise<string[][]> {
    const { stdout } = await run("bash", ["--norc", "-c", `source ${script}\n${lines.map(ask).join("\n")}`]);
    return stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split(" ").filter(Boolean));
  }

  it("the script parses", async () => {
    await expect(run("bash", ["-n", script])).resolves.toMatchObject({ stderr: "" });
  });

  it("offers verbs, a verb's options, the values of an option, and the names of hooks", async () => {
    const [verbs, some, options, values, hooks, shells, actions, nothing] = await offered(
      "creel ",
      "creel d",
      "creel call before_tool_call --e",
      "creel call x --isolation ",
      "creel call before_t",
      "creel completion ",
      "creel permissions gr",
      "creel call before_tool_call ",
    );
    expect(verbs).toEqual([...VERBS.map(({ name }) => name), "--help", "--version"]);
    expect(some).toEqual(VERBS.map(({ name }) => name).filter((name) => name.startsWith("d")));
    expect(options).toEqual(["--event", "--example"]);
    expect(values).toEqual(["process", "thread"]);
    expect(hooks).toEqual(["before_tool_call"]);
    expect(shells).toEqual(["bash", "zsh", "fish"]);
    expect(actions).toEqual(["grant"]);
    // One hook is enough; what comes then is the shell's.
    expect(nothing).toEqual([]);
  });

  it("goes on behind the colon of a hook, where bash begins a new word", async () => {
    expect(await offered("creel call session:pa", "creel init x --hook session:")).toEqual([
      ["patch"],
      expect.arrayContaining(["start", "patch"]),
    ]);
  });

  it("offers the ids of installed plugins where an id belongs", async () => {
    // As the shell finds the command; it is asked in the folder where the person is.
    const creel = `creel() { [[ "$*" == "list --ids" ]] && printf 'guard\\ngreeter\\nweather\\n'; }`;
    const lines = ["creel inspect g", "creel permissions show w", "creel explain --plugin gu", "creel tail --plugin ", "creel update x w"];
    const { stdout } = await run("bash", ["--norc", "-c", [`source ${script}`, creel, ...lines.map(ask)].join("\n")]);
    expect(stdout.split("\n")).toEqual(["guard greeter", "weather", "guard", "guard greeter weather", "", ""]);
  });

  it("leaves files to the shell", async () => {
    expect(await offered("creel check ./", "creel call x --plugin ")).toEqual([[], []]);
  });
});

describe("completion elsewhere", () => {
  it.each(["zsh", "fish"])("%s is told every verb and every option, and no quote is left open", async (shell) => {
    const { code, out } = await creelHere("completion", shell);
    expect(code).toBe(0);
    // By each shell's own rules for a quote inside of quotes: what is left has none.
    const whole = shell === "zsh" ? /'(?:[^']|'\\'')*'/g : /'(?:[^'\\]|\\.)*'/g;
    expect(out.replaceAll(/^#.*$/gm, "").replaceAll(whole, "")).not.toContain("'");
    for (const { name, options } of VERBS) {
      expect(out).toMatch(new RegExp(`\\b${name}\\b`));
      for (const option of Object.keys(options)) expect(out).toMatch(new RegExp(shell === "fish" ? `-l ${option} ` : `--${option}\\[`));
    }
  });

  it.each(["zsh", "fish"])("%s asks creel for the ids of installed plugins wherever an id belongs, and nowhere else", async (shell) => {
    const { out } = await creelHere("completion", shell);
    const lines = out.split("\n").filter((line) => line.includes("creel list --ids"));
    const asked = lines.flatMap((line) => {
      const verb = (shell === "fish" ? /__fish_seen_subcommand_from ([\w-]+)/ : /^ +([\w-]+)\) _arguments /).exec(line)![1]!;
      if (shell === "fish") return `${verb} ${/ -l ([\w-]+)/.exec(line)?.[1] ?? /-eq (\d) *'/.exec(line)?.[1] ?? "?"}`;
      return Array.from(line.matchAll(/ '((?:[^']|'\\'')*?):plugin:\{compadd -- \$\(creel list --ids 2>\/dev\/null\)\}'/g), ([, spec]) => {
        const option = /^\*?--([\w-]+)/.exec(spec!)?.[1];
        // The words of a command line are counted from the command itself in fish.
        return `${verb} ${option ?? Number(spec) + 1}`;
      });
    });
    const belongs = wordsOf(VERBS).flatMap(({ name, options, idAt }) => [
      ...(idAt === undefined ? [] : [`${name} ${idAt + 2}`]),
      ...options.filter(({ isId }) => isId).map((option) => `${name} ${option.name.slice(2)}`),
    ]);
    expect(belongs).toEqual(expect.arrayContaining(["inspect 2", "permissions 3", "explain plugin"]));
    expect(asked.toSorted()).toEqual(belongs.toSorted());
  });

  it("another shell is refused with those there are, and --json has the script as data", async () => {
    const { code, err } = await creelHere("completion", "fis");
    expect([code, err]).toEqual([2, expect.stringContaining('did you mean "fish"?')]);
    const { out } = await creelHere("completion", "bash", "--json");
    expect(JSON.parse(out)).toMatchObject({ shell: "bash", script: expect.stringContaining("complete -o default -F _creel creel") });
  });
});
