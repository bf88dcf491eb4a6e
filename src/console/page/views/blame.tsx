/**
 * The page: where a call went that ran out of CPU time or memory, by the lines of its author. If nobody has made that yet, the page asks for
 * it: the run is made once more in a sandbox of its own.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { RunDetail } from "../../../protocol/live-report.ts";
import { ranOutOfCpu } from "../../../protocol/outcome.ts";
import type { ToolBlame } from "../../console-tools.ts";
import { rpc } from "../connection.ts";
import { Command, PluginLink, Section, T } from "../parts.tsx";
import { mayUseTools } from "../store.ts";
import { bytes, ms, percent } from "../text.ts";

const SLOW_LINES = 5;

/** `kept`: what was made before. */
export function Blame({ run: { runId, calls }, kept }: { readonly run: RunDetail; readonly kept: ToolBlame }) {
  const made = useSignal<ToolBlame | undefined>(undefined);
  const isFull = calls.some(({ error }) => error?.code === "ERR_CALL_MEMORY");
  const isMissing = (calls.some(ranOutOfCpu) && !kept.profile) || (isFull && !kept.memory);
  const mayMake = mayUseTools.value;
  useEffect(() => {
    made.value = undefined;
    if (!isMissing || !mayMake) return undefined;
    let isOver = false;
    const take = (blame: ToolBlame): void => {
      if (!isOver) made.value = blame;
    };
    rpc<ToolBlame>("blame", { runId }).then(take, (error: unknown) => take({ unknown: (error as Error).message }));
    return () => {
      isOver = true;
    };
  }, [runId, isMissing, mayMake]);
  const { profile = kept.profile, memory = kept.memory, unknown } = made.value ?? {};
  return (
    <>
      {profile && <Slow profile={profile} />}
      {memory && <Grown memory={memory} />}
      {isMissing && (made.value === undefined || unknown !== undefined) && (
        <Section title="Where it went">
          <p class="quiet" role="status">
            {!mayMake ? (
              <>
                <Command text={`creel explain ${runId}`} /> finds the lines: it makes the run once more, without consequences.
              </>
            ) : unknown === undefined ? (
              "The run is made once more, in a sandbox of its own and without consequences, to find the lines. That takes some seconds."
            ) : (
              <>
                The lines could not be found: <T text={unknown} max={400} />
              </>
            )}
          </p>
        </Section>
      )}
    </>
  );
}

function Slow({ profile: { plugin, totalMs, lines } }: { readonly profile: NonNullable<ToolBlame["profile"]> }) {
  return (
    <Section title="Where the CPU time went" aside={ms(totalMs)}>
      <PluginLink id={plugin} />
      <table class="slow-lines">
        <tbody>
          {lines.slice(0, SLOW_LINES).map(({ url, line, ms: spent, share, code = "" }) => (
            <tr key={`${url}${line}`}>
              <td class="num">{percent(share)}</td>
              <td class="num">{ms(spent)}</td>
              <td class="mono">
                <T text={`${url}:${line}`} max={120} />
              </td>
              <td class="mono">
                <T text={code} max={160} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length === 0 && <p class="quiet">No sample is in the plugin's code: it took too little time when it was run again.</p>}
    </Section>
  );
}

function Grown({ memory: { plugin, beforeBytes, afterBytes, grew, stack } }: { readonly memory: NonNullable<ToolBlame["memory"]> }) {
  const [at] = stack;
  return (
    <Section title="What the memory is full of" aside={`${bytes(beforeBytes)} → ${bytes(afterBytes)}`}>
      <PluginLink id={plugin} />
      <table class="slow-lines">
        <tbody>
          {grew.slice(0, SLOW_LINES).map(({ name, count: more, bytes: size }) => (
            <tr key={name}>
              <td class="num">+{bytes(size)}</td>
              <td class="num">+{more}</td>
              <td class="mono">
                <T text={name} max={120} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {at && (
        <p class="mono">
          in <T text={`${at.url}:${at.line}`} max={120} /> <T text={at.code ?? ""} max={160} />
        </p>
      )}
    </Section>
  );
}
