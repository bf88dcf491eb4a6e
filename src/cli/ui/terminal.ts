/**
 * A stream that a person may read: its width and colours. `styleText` decides about colours: none without a terminal or
 * with NO_COLOR; FORCE_COLOR overrides both.
 */
import { styleText } from "node:util";

export type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  readonly width: number;
  /** Lines of the screen. Unset: it is no terminal, or does not say. */
  readonly rows?: number;
  readonly line: (text?: string) => void;
  /**
   * Replaces the text of the previous `rewrite`; the next line replaces it, too. Unset: the stream is not a terminal.
   */
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
    ...(stream.isTTY && stream.rows > 0 && { rows: stream.rows }),
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
