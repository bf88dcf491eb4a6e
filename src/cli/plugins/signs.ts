/** How differences are painted, wherever they are shown. */
import type { Style } from "../ui/terminal.ts";

export const SIGN: Readonly<Record<string, Style>> = { "+": "green", "-": "red", "=": "gray", "?": "yellow" };
