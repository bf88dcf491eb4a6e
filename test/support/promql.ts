/** What is wrong with a Prometheus query about series that are known, by the grammar that Prometheus' own editor uses. */
import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

export interface Series {
  readonly kind: string;
  readonly labels: ReadonlySet<string>;
}

export interface Query {
  readonly expr: string;
  /** As Grafana shows a line: `{{label}}`. */
  readonly legendFormat: string;
}

/** Functions whose argument only grows. */
const OF_COUNTERS: ReadonlySet<string> = new Set(["rate", "increase"]);

export function promqlComplaints({ expr, legendFormat }: Query, series: ReadonlyMap<string, Series>): string[] {
  const text = expr.replaceAll("$__rate_interval", "5m");
  const tree = parser.parse(text);
  const textOf = ({ from, to }: { readonly from: number; readonly to: number }): string => text.slice(from, to);
  const complaints: string[] = [];
  const asked: Series[] = [];
  /** Labels that are left of what was asked. */
  let left: ReadonlySet<string> | undefined;
  tree.iterate({
    enter({ type, node }) {
      if (type.isError) complaints.push(`not a query at ${node.from}`);
      if (type.name !== "VectorSelector") return;
      const name = textOf(node.getChild("Identifier") ?? { from: 0, to: 0 });
      const found = series.get(name);
      if (!found) {
        complaints.push(`no series ${name}`);
        return;
      }
      asked.push(found);
      for (const label of without(within(node, "LabelName").map(textOf), found.labels)) complaints.push(`${name} has no label ${label}`);
      const grows = found.kind === "counter" || found.kind === "histogram";
      const isRated = above(node).some((one) => one.type.name === "FunctionCall" && OF_COUNTERS.has(textOf(one.firstChild!)));
      if (grows !== isRated) complaints.push(`${name} is a ${found.kind}`);
    },
  });
  if (asked.length === 0) complaints.push("it asks for nothing");
  const all = new Set(asked.flatMap(({ labels }) => [...labels]));
  const [grouping] = within(tree.topNode, "GroupingLabels");
  if (grouping) {
    const labels = within(grouping, "LabelName").map(textOf);
    complaints.push(...without(labels, all).map((label) => `no label ${label} to group by`));
    left = new Set(labels);
  }
  if (text.includes("histogram_quantile(") && !left?.has("le")) complaints.push("a quantile without its buckets");
  const shown = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label]) => label!);
  complaints.push(...without(shown, left ?? all).map((label) => `the legend has ${label}, the line has not`));
  return complaints;
}

function without(labels: readonly string[], known: ReadonlySet<string>): string[] {
  return labels.filter((label) => !known.has(label));
}

function within(node: SyntaxNode, name: string): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  node.cursor().iterate((one) => {
    if (one.name === name) found.push(one.node);
  });
  return found;
}

function above(node: SyntaxNode): SyntaxNode[] {
  return node.parent ? [node.parent, ...above(node.parent)] : [];
}
