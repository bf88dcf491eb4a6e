/** Reads the drawings of the walk of before_tool_call in docs/architecture.md: its steps, in order, and the helpers beside them. */

export function drawingsOf(page: string): { readonly steps: string[]; readonly helpers: string[] } {
  const section = page.slice(page.indexOf("## The walk of before_tool_call"), page.indexOf("## States"));
  const [steps = "", helpers = ""] = Array.from(section.matchAll(/```\n([\s\S]*?)```/g), ([, drawing]) => drawing!);
  return { steps: filesOf(steps), helpers: filesOf(helpers) };
}

/** A line is a folder, indented below the folder that it belongs to, and the files in it. */
function filesOf(text: string): string[] {
  const steps: string[] = [];
  let outer = "";
  for (const line of text.split("\n")) {
    const [, indent, folders, names] = line.match(/^(\s*)([\w/]+\/(?: [\w]+\/)*)\s+(.+)$/) ?? [];
    if (!folders || !names) continue;
    if (indent === "") outer = folders.split(" ")[0]!;
    const inner = indent === "" ? folders.split(" ") : folders.split(" ").map((folder) => outer + folder);
    const files = [...names.matchAll(/(?<=^|→ |, )[\w/-]+\.ts/g)].map(([file]) => file);
    for (const [at, file] of files.entries()) steps.push(`src/${inner[Math.min(at, inner.length - 1)]}${file}`);
  }
  return steps;
}
