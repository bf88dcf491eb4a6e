/** For fish. */
import type { VerbWords } from "./words.ts";

export function fish(verbs: readonly VerbWords[]): string {
  return `# Completion of creel for fish: creel completion fish | source
${verbs.map(({ name, summary }) => `complete -c creel -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`).join("\n")}
${verbs.flatMap(verbLines).join("\n")}
`;
}

function verbLines({ name, options, values, idAt }: VerbWords): string[] {
  const when = `complete -c creel -n '__fish_seen_subcommand_from ${name}'`;
  return [
    ...(values.length > 0 ? [`${when.slice(0, -1)}; and test (count (commandline -opc)) -eq 2' -f -a ${quoted(values.join(" "))}`] : []),
    ...(idAt === undefined
      ? []
      : [`${when.slice(0, -1)}; and test (count (commandline -opc)) -eq ${idAt + 2}' -f -a '(creel list --ids 2>/dev/null)'`]),
    ...options.map((option) => {
      const value = !option.takesValue
        ? ""
        : option.isId
          ? " -x -a '(creel list --ids 2>/dev/null)'"
          : option.values.length > 0
            ? ` -x -a ${quoted(option.values.join(" "))}`
            : " -r -F";
      return `${when} -l ${option.name.slice(2)}${value} -d ${quoted(option.help)}`;
    }),
  ];
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
