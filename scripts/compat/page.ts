/** For `npm run compat`: the page that its results make. */

/** The best first. */
export const STATUSES = ["full", "reduced", "refused"] as const;

export interface Result {
  readonly version: string;
  readonly status: (typeof STATUSES)[number];
  readonly why?: string;
}

export type Results = Readonly<Record<"plugins" | "repositories" | "packages", Readonly<Record<string, Result>>>>;

export function compatPage({ plugins, repositories, packages }: Results): string {
  return `# Compatibility, measured

Made by \`npm run compat -- --update\` from \`scripts/compat/list.json\`: public plugins and packages at pinned versions, downloaded from the registry, unmodified. A plugin is installed with every permission that it requests, and each of its hooks gets an event. A package is
bundled into a plugin of a few lines that does something real with it; clients of services talk to a server on loopback, with a grant. Regressions fail the command.

- **full**: it answers as it should, and nothing of it is missing.
- **reduced**: it answers as it should; what uses the named modules throws a sentence that says so.
- **refused**: it does not load, or does not answer as it should.

## Plugins

${table(plugins)}

## Plugins in public repositories

Checkouts of public repositories with an \`openclaw.plugin.json\` at their root, at the commit in the table, as they are: not built, and without configuration. They were drawn from two lists of a code index: the first hundred repositories with that file in the order of their names, and those with \`openclaw-plugin\` in their name, mostly one per owner,
as far as a copy could be had. \`npm run compat -- --checkouts <folder>\` tries them again; the folder has each as \`owner+name\`. A hook counts as answered if it did not fail on a sample event: nobody compared its answer with the plugin's source. "Refused" has reasons of the sandbox (native code), of the checkout (not built, an invalid manifest), of the registry
(a package that it does not have), and of Creel; the reason is in the row.
Measured once, on a busy machine. 86 rows are of commit 79d46c2, before \`registerHttpRoute\`, \`registerCli\` and agent events worked; the other 8 were tried again after that. There is no measurement of an earlier version with the same plugins, so this is no comparison with one.

${table(repositories)}

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
