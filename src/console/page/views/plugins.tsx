/** The page: all plugins, with what they cost and how they are. */
import { Badge, Empty, PluginLink, T } from "../parts.tsx";
import { plugins, samples, stats } from "../store.ts";
import { bytes, ms, percent, rate } from "../text.ts";

export function Plugins() {
  if (plugins.value.length === 0)
    return <Empty title="This host has no plugins.">Install one with "creel install", or list it in creel.json.</Empty>;
  const last = samples.value.at(-1);
  const measured = new Map(stats.value?.plugins.map((plugin) => [plugin.plugin, plugin]));
  return (
    <div class="view">
      <table class="wide">
        <thead>
          <tr>
            <th>plugin</th>
            <th>state</th>
            <th>breaker</th>
            <th class="num">calls/s</th>
            <th class="num">p50</th>
            <th class="num">p99</th>
            <th class="num">CPU</th>
            <th class="num">heap</th>
            <th class="num">stored</th>
            <th>version</th>
          </tr>
        </thead>
        <tbody>
          {plugins.value.map(({ id, status, circuit, version, kv, volume, isSlow }) => {
            const sample = last?.plugins[id];
            const numbers = measured.get(id);
            const stored = (kv?.bytes ?? 0) + (volume?.bytes ?? 0);
            return (
              <tr key={id}>
                <td>
                  <PluginLink id={id} />
                </td>
                <td>
                  <Badge word={status} /> {isSlow && <Badge word="slow lane" tone="warn" />}
                </td>
                <td>
                  <Badge word={circuit.state} tone={circuit.state === "closed" ? "quiet" : "warn"} />
                </td>
                <td class="num">{rate(sample?.calls)}</td>
                <td class="num">{ms(sample?.p50)}</td>
                <td class="num">{ms(sample?.p99)}</td>
                <td class="num">{percent(numbers?.cpuRatio)}</td>
                <td class="num">
                  {bytes(numbers?.heapBytes)}
                  {numbers?.heapBytes !== undefined && numbers.heapLimitBytes !== undefined && (
                    <meter min={0} max={numbers.heapLimitBytes} high={numbers.heapLimitBytes * 0.8} value={numbers.heapBytes} />
                  )}
                </td>
                <td class="num">{stored > 0 ? bytes(stored) : "–"}</td>
                <td>{version === undefined ? "–" : <T text={version} max={40} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
