/** For `npm run compat`: the page that its results make. */

/** The best first. */
export const STATUSES = ["full", "reduced", "refused"] as const;

export interface Result {
  readonly version: string;
  readonly status: (typeof STATUSES)[number];
  readonly why?: string;
}

export type Results = Readonly<Record<"plugins" | "packages", Readonly<Record<string, Result>>>>;

export function compatPage({ plugins, packages }: Results): string {
  return `# Compatibility, measured

Made by \`npm run compat -- --update\` from \`scripts/compat/list.json\`: public plugins and packages at pinned versions, downloaded from the registry, unmodified. A plugin is installed with every permission that it requests, and each of its hooks gets an event. A package is
bundled into a plugin of a few lines that does something real with it; clients of services talk to a server on loopback, with a grant. Regressions fail the command.

- **full**: it answers as it should, and nothing of it is missing.
- **reduced**: it answers as it should; what uses the named modules throws a sentence that says so.
- **refused**: it does not load, or does not answer as it should.

## Plugins

${table(plugins)}

## Packages

${table(packages)}
`;
}

function table(results: Readonly<Record<string, Result>>): string {
  const all = Object.entries(results).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const count = (status: string): number => all.filter(([, one]) => one.status === status).length;
  const rows = all.map(
    ([name, { version, status, why = "" }]) => `| \`${name}\` | ${version} | ${status} | ${why.replaceAll("|", "\\|")} |`,
  );
  return [
    `${all.length} tried: ${STATUSES.map((status) => `${count(status)} ${status}`).join(", ")}.`,
    "",
    "| name | version |  | why |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
