/** For zsh. */
import type { OptionWords, VerbWords } from "./words.ts";

export function zsh(verbs: readonly VerbWords[]): string {
  return `#compdef creel
# Completion of creel for zsh: eval "$(creel completion zsh)", or as a file _creel in $fpath.
_creel() {
  local -a verbs
  verbs=(
${verbs.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  local verb="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$verb" in
${verbs.map(verbCase).join("\n")}
  esac
}
compdef _creel creel
`;
}

function verbCase({ name, options, values, idAt }: VerbWords): string {
  const first = values.length > 0 ? [`1:value:(${values.map(escaped).join(" ")})`] : [];
  const ids = idAt === undefined ? [] : [`${idAt + 1}:plugin:{compadd -- $(creel list --ids 2>/dev/null)}`];
  return `    ${name}) _arguments ${[...options.map(optionSpec), ...first, ...ids, "*:file:_files"].map(quoted).join(" ")} ;;`;
}

function optionSpec({ name, help, takesValue, values, isId }: OptionWords): string {
  const head = `${takesValue ? "*" : ""}${name}[${escaped(help)}]`;
  if (!takesValue) return head;
  if (isId) return `${head}:plugin:{compadd -- $(creel list --ids 2>/dev/null)}`;
  return `${head}:value:${values.length > 0 ? `(${values.map(escaped).join(" ")})` : "_files"}`;
}

const escaped = (text: string): string => text.replaceAll(/[\\:[\]]/g, String.raw`\$&`);
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
