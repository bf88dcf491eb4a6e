/** Text in columns: wrapped at words, and two ends of a line held apart. Plain text only; paint it afterwards. */

/** Lines of at most `width` characters. A word that is longer than a line is cut. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (let word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = "";
      }
      while (word.length > width) {
        lines.push(word.slice(0, width));
        word = word.slice(width);
      }
      line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

/** The spaces between what stands at the left and what ends at the right edge; at least two. */
export function gap(left: string, right: string, width: number): string {
  return " ".repeat(Math.max(2, width - left.length - right.length));
}
