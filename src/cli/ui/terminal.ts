/**
 * A stream that a person may be reading: how wide it is, and whether it has colours. `styleText` decides about colours: none
 * without a terminal or with NO_COLOR, and FORCE_COLOR overrides both.
 */
import { styleText } from "node:util";

export type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  readonly width: number;
  readonly line: (text?: string) => void;
  /** Puts a text where the last one that it put stands; the next line takes its place. Unset: what was written stays. */
  readonly rewrite?: (text: string) => void;
  readonly paint: (style: Style, text: string) => string;
}

/** A file or a pipe has no width; so have some pseudo-terminals, which say 0. */
const UNKNOWN_WIDTH = 100;
const MIN_WIDTH = 60;
/** Costs stand at the right edge: further away, the eye loses the line. */
const MAX_WIDTH = 100;

const CLEAR = "\r\u001b[K";

export function terminal(stream: NodeJS.WriteStream): Terminal {
  const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, stream.columns || UNKNOWN_WIDTH));
  let isRewriting = false;
  const put = (text: string): void => {
    stream.write(`${isRewriting ? CLEAR : ""}${text}`);
    isRewriting = false;
  };
  return {
    width,
    line: (text = "") => put(`${text}\n`),
    ...(stream.isTTY && {
      rewrite: (text: string) => {
        // A text that wraps could not be taken back.
        put(text.slice(0, width - 1));
        isRewriting = true;
      },
    }),
    paint: (style, text) => styleText(style, text, { stream }),
  };
}
