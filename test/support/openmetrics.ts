/** The rules that promtool and the OpenMetrics specification have for a text, as a function. */
const SAMPLE = /^([a-z_:][a-z0-9_:]*)(?:\{(.*?)\})? (\S+)(?: # (\{.*\}) (\S+) (\S+))?$/i;
const LABEL = /([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/gi;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ["_total"],
  gauge: [""],
  histogram: ["_bucket", "_count", "_sum"],
  info: ["_info"],
  stateset: [""],
};

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Linted {
  readonly families: ReadonlyMap<string, readonly Sample[]>;
  /** What breaks a rule; empty: nothing does. */
  readonly complaints: readonly string[];
}

export function lint(text: string): Linted {
  const complaints: string[] = [];
  const must = (isSo: boolean, why: string): void => void (isSo || complaints.push(why));
  const lines = text.split("\n");
  must(lines.at(-2) === "# EOF" && lines.at(-1) === "", "it does not end with # EOF");
  const families = new Map<string, Sample[]>();
  const seen = new Set<string>();
  let family = "";
  let type = "";
  for (const line of lines.slice(0, -2)) {
    const [, what, name = "", rest = ""] = /^# (TYPE|UNIT|HELP) (\S+) (.+)$/.exec(line) ?? [];
    if (what === "TYPE") {
      must(!families.has(name), `twice: ${line}`);
      must(/^creel_[a-z_]+$/.test(name) && !/_(?:total|info|count|sum|bucket)$/.test(name), `a bad name: ${line}`);
      families.set(name, []);
      [family, type] = [name, rest];
    } else if (what === undefined) sample(line);
    else {
      must(name === family, `not in its family: ${line}`);
      must(what === "UNIT" ? name.endsWith(`_${rest}`) : /^[A-Z].*\.$/.test(rest), `a bad ${what}: ${line}`);
    }
  }
  for (const [name, samples] of families) for (const why of histogramFaults(name, samples)) must(false, why);
  return { families, complaints };

  function sample(line: string): void {
    const found = SAMPLE.exec(line);
    must(found !== null, `no sample: ${line}`);
    const [, sampled = "", inside = "", value = "", exemplar] = found ?? [];
    const suffix = sampled.slice(family.length);
    must(sampled.startsWith(family) && SUFFIXES[type]!.includes(suffix), `not of its family: ${line}`);
    const labels = [...inside.matchAll(LABEL)];
    must(labels.map(([all]) => all).join("") === inside, `bad labels: ${line}`);
    must(Number.isFinite(Number(value)) && Number(value) >= 0, `a bad value: ${line}`);
    must(exemplar === undefined || (suffix === "_bucket" && exemplar.length <= 128), `a bad exemplar: ${line}`);
    const key = `${sampled}{${inside}}`;
    must(!seen.has(key), `twice: ${key}`);
    seen.add(key);
    const named = Object.fromEntries(labels.map(([, label, shown]) => [label!, shown!]));
    families.get(family)?.push({ name: sampled, labels: named, value: Number(value) });
  }
}

function histogramFaults(name: string, samples: readonly Sample[]): string[] {
  const without = ({ labels }: Sample): string => JSON.stringify(Object.entries(labels).filter(([label]) => label !== "le"));
  const buckets = samples.filter((one) => one.name === `${name}_bucket`);
  return [...Map.groupBy(buckets, without)].flatMap(([labels, own]) => {
    const values = own.map(({ value }) => value);
    const isSorted = values.every((value, at) => at === 0 || value >= values[at - 1]!);
    const count = samples.find((one) => one.name === `${name}_count` && without(one) === labels);
    const isWhole = own.at(-1)!.labels.le === "+Inf" && count?.value === values.at(-1);
    return isSorted && isWhole ? [] : [`a bad histogram: ${name} ${labels}`];
  });
}
