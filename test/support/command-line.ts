/** A line as a shell would take it apart: words, quotes, and an end where a pipe, a redirection or a comment begins. */
export function wordsOfLine(line: string): string[] {
  const words: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/((?:[^\s'"]*(?:'[^']*'|"[^"]*")[^\s'"]*)+)|(\S+)/g)) {
    if (plain !== undefined && /^(?:\||>{1,2}|<|&&?|;|#.*|2>.*)$/.test(plain)) break;
    words.push((quoted ?? plain!).replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"));
  }
  return words;
}
