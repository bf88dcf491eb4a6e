/** For `npm run compat`: the page that its results make. */
import { causeOf, sharesOf } from "./classify.ts";

/** The best first. */
export const STATUSES = ["full", "reduced", "refused"] as const;

export interface Result {
  readonly version: string;
  readonly status: (typeof STATUSES)[number];
  readonly why?: string;
  /** Of what it declares and answers: how much is as its own source says, where Node runs it. */
  readonly answers?: { readonly same: number; readonly of: number };
  /** The day on which it was tried. Absent: with commit 79d46c2 or soon after, before it was noted. */
  readonly at?: string;
}

export type Results = Readonly<Record<"plugins" | "repositories" | "packages", Readonly<Record<string, Result>>>>;

export function compatPage({ plugins, repositories, packages }: Results): string {
  return `# Compatibility, measured

Made by \`npm run compat -- --update\` from \`scripts/compat/list.json\`: public plugins and packages at pinned versions, downloaded from the registry, unmodified. A plugin is installed with every permission that it requests, and each of its hooks gets events. A package is
bundled into a plugin of a few lines that uses it: it computes something, or talks to a server on loopback with a grant. Clients of databases and brokers connect to nothing here: \`pg\`, \`mysql2\`, \`ioredis\`, \`nats\` and \`ws\` are tried with real servers in \`test/packages/servers.test.ts\`; of \`redis\`, \`mongodb\`, \`amqplib\`, \`mqtt\` and \`neo4j-driver\` only what
they do without a server is known. Regressions fail the command, and CI runs it (\`test/compat/registry.test.ts\`), without the checkouts.

- **full**: it answers as it should, and nothing of it is missing.
- **reduced**: it answers as it should; what uses the named modules throws a sentence that says so.
- **refused**: it does not load, or does not answer as it should: because of the **sandbox**, of something **elsewhere** (the checkout, the registry), or it is **ours**.

The column **as its source says** compares a plugin with itself: the same code has run in Node, without Creel, with an \`api\` of the documented members and the SDK of OpenClaw 2026.9.6 (\`scripts/compat/record.ts\`, in namespaces without network), and \`scripts/compat/expected.json\` keeps what it declared there
(tools, commands, gateway methods, services, hooks) and what its handlers returned or threw for each event: decision, reason and fields. In Creel, the same must come out. Times and random names are left out; long texts are compared by their digest. No server was there, on either side, so plugins that ask one answer what they answer when it is away. Tools are compared by name, and not called.
A comparison that was right and is wrong now fails the command.

## Plugins

${table(plugins)}

## Plugins in public repositories

Checkouts of public repositories with an \`openclaw.plugin.json\` at their root, at the commit in the table, as they are: not built, and without configuration. They were drawn from two lists of a code index: the first hundred repositories with that file in the order of their names, and those with \`openclaw-plugin\` in their name, mostly one per owner,
as far as a copy could be had. \`npm run compat -- --checkouts <folder>\` tries them again; the folder has each as \`owner+name\`. A hook counts as answered if it did not fail on its events, or failed as it does in Node. One that does not load without configuration was tried with sample values from its configSchema.
Images, fonts and machine code that the store of checkouts lacks are missing from six of them (\`42U/kongbrain\`, \`Atlas-Graph-Academy/EchoMemory-Cloud-OpenClaw-Plugin\`, \`houstongolden/openclaw-plugin-myo\`, \`kellyvv/openher-openclaw-plugin\`, \`opsvr-ai/edong-openclaw-plugin\`, \`useorgx/openclaw-plugin\`). The machine had much other work. ${freshness(repositories)}

${summary({ ...plugins, ...repositories })}

${table(repositories)}

## Packages

${table(packages)}
`;
}

function freshness(results: Readonly<Record<string, Result>>): string {
  const groups = Map.groupBy(Object.values(results), ({ at }) => (at === undefined ? "with commit 79d46c2 or soon after" : `on ${at}`));
  const all = Array.from(groups, ([at, rows]) => `${rows.length} ${at}`);
  return `Rows were measured: ${all.toSorted().join(", ")}.`;
}

function share([count, of]: readonly [number, number]): string {
  return `${count} of ${of}, ${((100 * count) / of).toFixed(0)} %`;
}

function summary(results: Readonly<Record<string, Result>>): string {
  const all = Object.values(results);
  const { counts, answering, installing } = sharesOf(all);
  return `Of these and the plugins above, ${all.length} together:

| | before | now |
| --- | --- | --- |
| install | 65 of 181, 36 % | ${share([all.filter(({ status }) => status !== "refused").length, all.length])} |
| refused: what they need is native code, or a process, at once | not counted so | ${counts.sandbox} |
| refused: the checkout is not built or not valid, or the registry lacks a package: they load nowhere | not counted so | ${counts.elsewhere} |
| refused: Creel's doing | not counted so | ${counts.ours} |
| of those that load somewhere and need neither native code nor processes to load: load, and no hook fails on its events, unless it fails in Node, too | not counted so | ${share(answering)} |
| of those whose code could run in Node, too: everything that they declare and answer is as there | not counted so | ${share(asTheirSource(all))} |
| of those that load somewhere: install, or are refused because of the sandbox | not counted so | ${share(installing)} |

"Before" is another set of 181 plugins, most of them built, tried with an early version (commit 0a11354); nobody tried these with it. It is no comparison plugin by plugin. Whose a refusal is, is decided by its sentence, in \`scripts/compat/classify.ts\`.`;
}

function asTheirSource(all: readonly Result[]): readonly [count: number, of: number] {
  const compared = all.flatMap(({ answers }) => answers ?? []);
  return [compared.filter(({ same, of }) => same === of).length, compared.length];
}

function table(results: Readonly<Record<string, Result>>): string {
  const all = Object.entries(results).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const count = (status: string): number => all.filter(([, one]) => one.status === status).length;
  const isCompared = all.some(([, { answers }]) => answers !== undefined);
  const compared = ({ answers }: Result): string => (isCompared ? `${answers ? `${answers.same} of ${answers.of}` : ""} | ` : "");
  const rows = all.map(
    ([name, one]) =>
      `| \`${name}\` | ${one.version} | ${[one.status, causeOf(one)].filter(Boolean).join(": ")} | ${compared(one)}${(one.why ?? "").replaceAll("|", "\\|")} |`,
  );
  return [
    `${all.length} tried: ${STATUSES.map((status) => `${count(status)} ${status}`).join(", ")}.`,
    "",
    `| name | version |  | ${isCompared ? "as its source says | " : ""}why |`,
    `| --- | --- | --- | ${isCompared ? "--- | " : ""}--- |`,
    ...rows,
  ].join("\n");
}
