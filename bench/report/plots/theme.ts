/**
 * How the drawings look: on a light ground and on a dark one, by what the reader's system prefers, each with a ground of its own, since nobody knows
 * what they are laid on. Colours are Okabe and Ito's, which people who see fewer colours can tell apart.
 */
import { wrap } from "../../../src/cli/ui/text.ts";
import { element, escaped, FONT, label } from "./svg.ts";

export const WIDTH = 820;
/** Above the drawing: title and subtitle, which has room for two lines of so many letters. */
export const TOP = 72;
const SUBTITLE = 128;

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#3b9bd6", "#7a5195", "#6b6b6b"] as const;
const DARK = ["#56b4e9", "#ff8c3a", "#2fd6a3", "#e6a3c8", "#f0c541", "#8fd0ff", "#b58ad6", "#a8a8a8"] as const;

/** Floors are grey everywhere: they are what the others are measured by. */
const GREY = LIGHT.length - 1;

const ground = (palette: readonly string[], back: string, ink: string, faint: string, rule: string): string =>
  [
    `.back{fill:${back}}`,
    `text,.ink{fill:${ink}}`,
    `.faint{fill:${faint}}`,
    `.rule{stroke:${rule}}`,
    `.axis{stroke:${faint}}`,
    `.halo{stroke:${back}}`,
    ...palette.flatMap((colour, at) => [`.f${at}{fill:${colour}}`, `.s${at}{stroke:${colour}}`]),
  ].join("");

const STYLE = [
  `text{font:${FONT}px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}`,
  ".title{font-size:16px;font-weight:600}.small{font-size:11px}.rule,.axis{stroke-width:1}.line{fill:none;stroke-width:2.2;stroke-linejoin:round}",
  ".fit{fill:none;stroke-width:1.2;stroke-dasharray:5 4;opacity:.75}.band{opacity:.18}.halo{stroke-width:1.4}",
  ground(LIGHT, "#ffffff", "#1f2328", "#59636e", "#e4e8ec"),
  `@media(prefers-color-scheme:dark){${ground(DARK, "#0d1117", "#e6edf3", "#9198a1", "#262c36")}}`,
].join("");

/** The whole file. */
export function drawing(title: string, subtitle: string, height: number, parts: readonly string[]): string {
  const head = [
    element("title", {}, escaped(title)),
    element("style", {}, escaped(STYLE).replaceAll("&quot;", '"')),
    element("rect", { class: "back", width: WIDTH, height, rx: 6 }),
    label(`${title[0]!.toUpperCase()}${title.slice(1)}`, 20, 28, { class: "title" }),
    ...wrap(subtitle, SUBTITLE).map((line, at) => label(line, 20, 46 + 14 * at, { class: "faint small" })),
  ];
  return `${element(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height.toFixed(0)}`, role: "img" },
    [...head, ...parts].join("\n"),
  )}\n`;
}

export type Role = "creel" | "floor" | "other";

export function roleOf(name: string): Role {
  return /^creel\b/i.test(name) ? "creel" : /^(floor|bare|empty|isolates|hand-written)\b/i.test(name) ? "floor" : "other";
}

/** Where names stand beside what is drawn, colours only say who is who. */
export function roleColour(name: string): number {
  const role = roleOf(name);
  return role === "floor" ? GREY : role === "other" ? 2 : /process/.test(name) ? 1 : 0;
}

/** A colour per name: Creel's two isolations have theirs in all drawings, floors are grey, the others share the rest. */
export function colours(names: readonly string[]): number[] {
  let other = 2;
  let own = 0;
  return names.map((name) => {
    const role = roleOf(name);
    if (role === "floor") return GREY;
    if (role === "creel") return /process/.test(name) ? 1 : own++ === 0 || /thread/.test(name) ? 0 : 5;
    const colour = other;
    other = other + 1 === GREY ? 2 : other + 1;
    return colour;
  });
}
