/**
 * The page: approvals that wait, to be answered here. A button answers the approval that is shown on its card and no other: the request
 * names its id and the digest of the parameters. All buttons are armed half a second after anything moved them, so that a click meant for
 * something else, or for a card that has just slid away, decides nothing.
 */
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ApprovalReceipt, LedgerEntry, PendingApproval } from "../../../protocol/live-report.ts";
import { rpc } from "../connection.ts";
import { Act, Badge, Command, Empty, Json, PluginLink, RunLink, Section, T } from "../parts.tsx";
import { approvals, away, connection, dropped, incidents, mayAct, missed, now } from "../store.ts";
import { ago, ms } from "../text.ts";

const ARMED_AFTER_MS = 500;
type Decision = PendingApproval["allowed"][number];

const NAMES: Readonly<Record<Decision, string>> = { "allow-once": "Allow once", "allow-always": "Allow always", deny: "Deny" };

interface Remembered {
  readonly pluginId: string;
  readonly toolName: string;
  readonly agentId?: string;
  readonly title: string;
}

/** What became of the latest answers, for a person who looks at the place where the card was. */
const receipts = signal<readonly { readonly id: string; readonly text: string; readonly isGood: boolean }[]>([]);

/** Nothing has moved the cards for half a second. SECURITY: test/console/page/approvals.test.ts */
function useArmed(): boolean {
  // What is above a card moves it: other cards, receipts, a banner.
  const arrangement = JSON.stringify([
    approvals.value.map(({ id, digest }) => [id, digest]),
    receipts.value.map(({ id }) => id),
    [connection.value, away.value, missed.value > 0, dropped.value > 0],
  ]);
  const armed = useSignal("");
  useEffect(() => {
    const timer = setTimeout(() => (armed.value = arrangement), ARMED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [armed, arrangement]);
  return armed.value === arrangement;
}

export function Approvals() {
  const isArmed = useArmed();
  const always = useSignal<readonly Remembered[]>([]);
  const ledger = useSignal<readonly LedgerEntry[]>([]);
  const load = async (): Promise<void> => {
    const found = await rpc<{ always: Remembered[]; ledger: LedgerEntry[] }>("approvals");
    always.value = found.always;
    ledger.value = found.ledger;
  };
  const decided = incidents.value.findLast(({ kind }) => kind === "approval")?.number;
  useEffect(() => void load().catch(() => undefined), [decided]);
  return (
    <div class="view">
      <div aria-live="polite">
        {receipts.value.map(({ id, text, isGood }) => (
          <p key={id} class={`receipt ${isGood ? "good" : "warn"}`}>
            <T text={text} />
          </p>
        ))}
      </div>
      {approvals.value.length === 0 ? (
        <Empty title="No approval waits.">When a plugin asks for one, the tool call waits, and you can answer here.</Empty>
      ) : (
        <div class="cards">
          {approvals.value.map((pending) => (
            <Card key={`${pending.id}${pending.digest}`} pending={pending} isArmed={isArmed} />
          ))}
        </div>
      )}
      {always.value.length > 0 && (
        <Section title="Allowed always">
          <table>
            <tbody>
              {always.value.map((one) => (
                <tr key={JSON.stringify(one)}>
                  <td>
                    <T text={one.toolName} max={80} />
                    {one.agentId !== undefined && (
                      <span class="quiet">
                        {" "}
                        for agent <T text={one.agentId} max={80} />
                      </span>
                    )}
                  </td>
                  <td>
                    <T text={one.title} max={120} />
                  </td>
                  <td>
                    <PluginLink id={one.pluginId} />
                  </td>
                  <td class="num">{mayAct.value && <Act text="Ask again" ask="Really?" work={() => rpc("revoke", one).then(load)} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
      )}
      {ledger.value.length > 0 && (
        <Section title="Decided">
          <table>
            <tbody>
              {ledger.value.map((entry) => (
                <tr key={entry.id}>
                  <td class="quiet">{ago(entry.at, now.value)}</td>
                  <td>
                    <Badge word={entry.resolution} tone={entry.resolution.startsWith("allow") ? "good" : "bad"} />
                  </td>
                  <td>
                    <T text={entry.titles.join("; ")} max={240} />
                  </td>
                  <td class="mono">
                    <T text={entry.toolName} max={60} />
                  </td>
                  <td class="quiet">
                    <T text={entry.by ?? (entry.from === "none" ? "nobody" : entry.from)} max={60} />, after {ms(entry.waitedMs)}
                  </td>
                  <td>
                    <RunLink id={entry.runId}>run</RunLink>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
      )}
    </div>
  );
}

function Card({ pending, isArmed }: { readonly pending: PendingApproval; readonly isArmed: boolean }) {
  const { id, runId, toolName, agentId, params, requests, changes, allowed, askedAt, expiresAt, isCut } = pending;
  const left = expiresAt - now.value;
  return (
    <article class="card" data-approval={id}>
      {requests.map(({ pluginId, title, description, severity }, at) => (
        <header key={at}>
          <h3>
            <T text={title} max={200} /> {severity !== undefined && <Badge word={severity} />}
          </h3>
          {description !== undefined && (
            <p>
              <T text={description} max={1_000} />
            </p>
          )}
          <p class="quiet">
            asked by <PluginLink id={pluginId} />
          </p>
        </header>
      ))}
      <p>
        tool <code class="tool">{<T text={toolName} max={120} />}</code>
        {agentId !== undefined && (
          <span class="quiet">
            {" "}
            for agent <T text={agentId} max={80} />
          </span>
        )}{" "}
        · <RunLink id={runId}>its run</RunLink>
      </p>
      {isCut ? (
        <p class="problem">The parameters are too large to be shown, so the call can only be denied.</p>
      ) : (
        // SECURITY: what can be allowed is shown as a whole. test/console/page/page.test.ts
        <Json label="parameters, as they would run" value={params} isWhole />
      )}
      {changes?.map(({ pluginId, params: names }) => (
        <p key={pluginId} class="problem">
          <T text={`${pluginId} changed ${names.join(", ")} after it was asked`} />
        </p>
      ))}
      <footer>
        <span class="quiet">
          asked {ago(askedAt, now.value)}, {left > 0 ? `expires in ${ms(left)}` : "expired"}
        </span>
        {allowed.length === 0 && <span class="quiet">The gateway of this run answers it by itself.</span>}
        {mayAct.value &&
          allowed.map((decision) => (
            <Act
              key={decision}
              text={NAMES[decision]}
              tone={decision === "deny" ? "danger" : decision === "allow-once" ? "primary" : ""}
              disabled={!isArmed}
              work={() => answer(pending, decision)}
            />
          ))}
        {!mayAct.value && allowed.length > 0 && <Command text={`creel approvals allow ${id}`} />}
      </footer>
    </article>
  );
}

async function answer({ id, digest, toolName }: PendingApproval, decision: Decision): Promise<void> {
  const { status, resolution, by } = await rpc<ApprovalReceipt>("answer", { id, digest, decision });
  const text =
    status === "accepted"
      ? `${toolName}: ${NAMES[decision]}. Your answer decided.`
      : status === "settled"
        ? `${toolName}: it was already decided: ${resolution ?? "ended"}${by === undefined ? "" : ` by ${by}`}. Your answer did nothing.`
        : status === "changed"
          ? `${toolName}: its parameters are not the ones you saw. Your answer did nothing.`
          : `${toolName}: ${status === "unknown" ? "there is no such approval" : "this answer is not allowed"}. It did nothing.`;
  receipts.value = [{ id: `${id}${decision}`, text, isGood: status === "accepted" }, ...receipts.value.slice(0, 2)];
}
