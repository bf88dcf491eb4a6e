/** The page: one plugin. Its state, what it may do and does, what it costs, its limits with their origin, and switches. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { PERMISSION_TABLE } from "../../../protocol/config/permission-table.ts";
import type { PermissionAbout } from "../../../protocol/config/permission-table.ts";
import { disableKey, permissionsKey } from "../../../text/plugin-keys.ts";
import { rpc } from "../connection.ts";
import { Act, Badge, Command, Empty, Fields, Section, T, Words } from "../parts.tsx";
import { href } from "../route.ts";
import { mayAct, mayUseTools, now, plugins, stats } from "../store.ts";
import type { Report } from "../store.ts";
import { ago, bytes, count, ms, percent } from "../text.ts";
import type { PluginStats } from "../../../protocol/live-report.ts";
import type { ToolReplay } from "../../console-tools.ts";
import { Replayed, WhatIf } from "./replay.tsx";
import { pluginPlots } from "./measurements.tsx";

/** Uses of the others happen inside the sandbox, where the host does not see them. */
const COUNTED = new Set(["fetch", "connect", "kv", "schedule", "session:get", "session:patch", "fs"]);
/** All that the page's build keeps of the table: scripts/console-build/build.ts. */
const PERMISSION_WORDS: Readonly<Record<string, Pick<PermissionAbout, "lets" | "risk">>> = PERMISSION_TABLE;

export function Plugin({ id }: { readonly id: string }) {
  const report = plugins.value.find((plugin) => plugin.id === id);
  if (!report) return <Empty title="This host has no such plugin." />;
  const measured = stats.value?.plugins.find(({ plugin }) => plugin === id);
  const { name, version, status, error, circuit, diagnostics, bundle, kv, volume, lane, lanePlacement, slowWhy, loadMs, replacements } =
    report;
  return (
    <div class="view">
      <header class="run-head">
        <h1>
          <T text={name} max={120} /> <Badge word={status} />{" "}
          {circuit.state !== "closed" && <Badge word={`breaker ${circuit.state}`} tone="warn" />}
        </h1>
        <p class="quiet">
          <span class="mono">
            <T text={id} max={120} />
          </span>
          {version !== undefined && (
            <>
              {" "}
              · version <T text={version} max={40} />
            </>
          )}
          {bundle && ` · ${bytes(bundle.bytes)} of code, ${bundle.digest.slice(0, 19)}`} ·{" "}
          <a href={href("runs", "", { plugin: id })}>its runs</a>
        </p>
        {error && (
          <blockquote class="bad">
            <T text={error.message} />
          </blockquote>
        )}
        <Switches report={report} />
      </header>
      {diagnostics.length > 0 && (
        <Section title="Has no effect">
          <ul>
            {diagnostics.map((text) => (
              <li key={text}>
                <T text={text} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Permissions
        report={report}
        uses={measured?.permissions ?? []}
        refused={measured?.refusals ?? {}}
        fetched={measured?.fetches ?? {}}
      />
      <WhatIf plugin={id} isInstalled={report.isInstalled} />
      <Section title="State">
        <Fields
          rows={[
            [
              "breaker",
              <T
                key="b"
                text={`${circuit.state}${circuit.why === undefined ? "" : `: ${circuit.why}`}; opened ${circuit.opens} times, ${circuit.kills} crashes, ${circuit.points} points`}
              />,
            ],
            circuit.until !== undefined && ["until", new Date(circuit.until).toLocaleTimeString("en-GB")],
            ["lane", <T key="l" text={`${lane}: ${slowWhy ?? lanePlacement}`} />],
            ["loaded in", ms(loadMs)],
            ["cells replaced", String(replacements)],
            ["CPU", percent(measured?.cpuRatio)],
            [
              "heap",
              `${bytes(measured?.heapBytes)}${measured?.heapLimitBytes === undefined ? "" : ` of ${bytes(measured.heapLimitBytes)}`}`,
            ],
            kv && ["store", `${bytes(kv.bytes)} of ${bytes(kv.maxBytes)}, ${count(kv.keys ?? 0, "key")}`],
            volume && ["files", `${bytes(volume.bytes)} of ${bytes(volume.maxBytes)}, ${count(volume.files ?? 0, "file")}`],
          ].map((row) => (row === false ? undefined : row) as never)}
        />
      </Section>
      <Section title="Over time">{pluginPlots(id)}</Section>
      <Hooks report={report} />
      <Section title="Limits">
        <table>
          <tbody>
            {Object.entries(report.budget).map(([limit, { value, origin }]) => (
              <tr key={limit}>
                <td>{limit}</td>
                <td class="num">{limited(limit, value)}</td>
                <td class="quiet">{origin}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
    </div>
  );
}

/** The names of limits end with their unit. */
function limited(name: string, value: unknown): string {
  if (typeof value !== "number") return String(value);
  if (name.endsWith("Mb")) return `${value} MB`;
  if (name.endsWith("Ms")) return ms(value);
  return /bytes/i.test(name) ? bytes(value) : value.toLocaleString("en");
}

/** What the commands do for installed plugins, creel.json does for the others. */
function InConfig({ name }: { readonly name: string }) {
  return (
    <span class="quiet">
      <code>
        <T text={name} max={200} />
      </code>{" "}
      in creel.json
    </span>
  );
}

function Switches({ report: { id, status, circuit, isInstalled } }: { readonly report: Report }) {
  if (!mayAct.value) return <p class="quiet">This console may look, not act.</p>;
  const isHeld = status === "quarantined" || circuit.state !== "closed";
  return (
    <p class="switches">
      {status === "disabled" ? (
        <Act text="Enable" tone="primary" work={() => rpc("enable", { plugin: id })} />
      ) : (
        <Act text="Disable" tone="danger" ask="Disable it now?" work={() => rpc("disable", { plugin: id })} />
      )}
      {status !== "disabled" && <Act text="Reload" work={() => rpc("reload", { plugin: id })} />}
      {isHeld && <Act text="Release" work={() => rpc("release", { plugin: id })} />}
      <span class="quiet">until the host restarts; for good:</span>
      {isInstalled ? (
        <>
          <Command text={`creel ${status === "disabled" ? "enable" : "disable"} ${id}`} />
          <Command text={`creel update ${id}`} />
        </>
      ) : (
        <InConfig name={disableKey(id)} />
      )}
    </p>
  );
}

type Counts = Readonly<Record<string, number>>;

function Permissions({
  report,
  uses,
  refused,
  fetched,
}: {
  readonly report: Report;
  readonly uses: PluginStats["permissions"];
  readonly refused: Counts;
  readonly fetched: Counts;
}) {
  /** What recorded runs would be without one of its permissions. */
  const whatIf = useSignal<{ readonly key: string; readonly report: ToolReplay } | undefined>(undefined);
  /** What it asked for and was not granted; null: it is not installed, or the console cannot know. */
  const refusable = useSignal<readonly { readonly key: string; readonly words: string }[] | null>(null);
  const load = async (): Promise<void> => {
    refusable.value = await rpc("refused", { plugin: report.id });
  };
  const change = (method: string, key: string): Promise<void> => rpc(method, { plugin: report.id, key }).then(load);
  useEffect(() => void load().catch(() => undefined), [report.id, report.permissions.length]);
  const granted = report.permissions;
  const missing = refusable.value ?? [];
  return (
    <Section title="Permissions" aside={count(granted.length, "permission")}>
      {granted.length === 0 && <p class="quiet">It has none: it can only answer hooks.</p>}
      <table>
        <tbody>
          {granted.map(({ key, kind }) => {
            const used = uses.find((one) => one.key === key);
            return (
              <tr key={key}>
                <td class="mono">
                  <T text={key} max={120} />
                </td>
                <td>
                  <Words text={PERMISSION_WORDS[kind]?.lets ?? ""} />
                </td>
                <td>
                  <Badge
                    word={`${PERMISSION_WORDS[kind]?.risk ?? "low"} risk`}
                    tone={PERMISSION_WORDS[kind]?.risk === "high" ? "warn" : "quiet"}
                  />
                </td>
                <td class="num">
                  {used
                    ? `${count(used.uses, "use")}, ${ago(used.lastUsedAt, now.value)}`
                    : COUNTED.has(kind)
                      ? "not used since the host was opened"
                      : "not counted"}
                </td>
                <td class="num">
                  {!report.isInstalled ? (
                    <InConfig name={permissionsKey(report.id)} />
                  ) : refusable.value === null || !mayUseTools.value ? (
                    <Command text={`creel permissions revoke ${report.id} ${key}`} />
                  ) : (
                    <>
                      <Act
                        text="What if not?"
                        work={async () => {
                          const found = await rpc<ToolReplay>("whatIf", { plugin: report.id, withoutPermission: key });
                          whatIf.value = { key, report: found };
                        }}
                      />{" "}
                      <Act text="Revoke" tone="danger" ask="Revoke it now?" work={() => change("revokePermission", key)} />
                    </>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
        {missing.length > 0 && (
          <tbody class="refused">
            {missing.map(({ key, words }) => (
              <tr key={key}>
                <td class="mono">
                  <T text={key} max={120} />
                </td>
                <td>
                  <Words text={words} />
                </td>
                <td>
                  <Badge word="not granted" />
                </td>
                <td class="num quiet">asked for</td>
                <td class="num">
                  {mayUseTools.value && <Act text="Grant" ask="Grant it now?" work={() => change("grantPermission", key)} />}
                </td>
              </tr>
            ))}
          </tbody>
        )}
      </table>
      {whatIf.value && (
        <>
          <p>
            Recorded runs without <T text={whatIf.value.key} max={120} />:
          </p>
          <Replayed report={whatIf.value.report} />
        </>
      )}
      {hasAny(fetched) && (
        <p>
          Requests: <T text={listed(fetched)} max={600} />
        </p>
      )}
      {hasAny(refused) && (
        <p class="problem">
          Refused: <T text={listed(refused)} max={600} />. To grant:{" "}
          {report.isInstalled ? (
            <Command text={`creel permissions grant ${report.id} <key>`} />
          ) : (
            <InConfig name={permissionsKey(report.id)} />
          )}
        </p>
      )}
      {report.isInstalled && (
        <p class="quiet">
          The narrowest set it needs: <Command text={`creel permissions suggest ${report.id}`} />
        </p>
      )}
    </Section>
  );
}

function hasAny(counts: Counts): boolean {
  return Object.values(counts).some((times) => times > 0);
}

function listed(counts: Counts): string {
  return Object.entries(counts)
    .filter(([, times]) => times > 0)
    .map(([what, times]) => `${what} (${times})`)
    .join(", ");
}

function Hooks({ report }: { readonly report: Report }) {
  return (
    <Section title="Hooks" aside={count(report.hooks.length, "handler")}>
      <table>
        <thead>
          <tr>
            <th>hook</th>
            <th class="num">priority</th>
            <th>time</th>
            <th>CPU time</th>
            <th>if it fails</th>
          </tr>
        </thead>
        <tbody>
          {report.hooks.map(({ hook, priority, budget, ifItFails }, at) => (
            <tr key={`${hook}${at}`}>
              <td>
                <a href={href("runs", "", { hook, plugin: report.id })}>
                  <T text={hook} max={80} />
                </a>
              </td>
              <td class="num">{priority}</td>
              <td>
                {ms(budget.wallMs.value)} <span class="quiet">{budget.wallMs.origin}</span>
              </td>
              <td>
                {ms(budget.cpuMs.value)} <span class="quiet">{budget.cpuMs.origin}</span>
              </td>
              <td class="quiet">{ifItFails}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
