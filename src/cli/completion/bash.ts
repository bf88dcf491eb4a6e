/** For bash, 3.2 and later. */
import type { VerbWords } from "./words.ts";

export function bash(verbs: readonly VerbWords[]): string {
  return `# Completion of creel for bash: eval "$(creel completion bash)"
_creel() {
  # Bash splits words at colons, and hooks have some: the line is split here, at blanks.
  local line="\${COMP_LINE:0:COMP_POINT}" words reply=""
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  local last=$(( \${#words[@]} - 1 ))
  local cur="\${words[last]}" prev="\${words[last > 0 ? last - 1 : 0]}" verb="\${words[1]}"
  COMPREPLY=()
  if (( last == 1 )); then
    reply="${verbs.map(({ name }) => name).join(" ")} --help --version"
  else
    case "$verb $prev" in
${verbs.flatMap(valueCases).join("\n")}
    *)
      case "$verb" in
${verbs.map(verbCase).join("\n")}
      esac
      ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$reply" -- "$cur"))
  if [[ "$cur" == *:* ]]; then
    local head="\${cur%"\${cur##*:}"}" at
    for at in "\${!COMPREPLY[@]}"; do COMPREPLY[at]="\${COMPREPLY[at]#"$head"}"; done
  fi
}
complete -o default -F _creel creel
`;
}

/** Values after an option. For a free value, the shell completes file names. */
function valueCases({ name, options }: VerbWords): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map((option) => `    "${name} ${option.name}") reply="${option.isId ? IDS : option.values.join(" ")}" ;;`);
}

/** The installed plugins of the folder where the person is. */
const IDS = "$(creel list --ids 2>/dev/null)";

function verbCase({ name, options, values, idAt }: VerbWords): string {
  const flags = options.map((option) => option.name).join(" ");
  const first = values.length === 0 ? "" : ` || { (( last == 2 )) && reply="${values.join(" ")}"; }`;
  const ids = idAt === undefined ? "" : ` || { (( last == ${idAt + 2} )) && reply="${IDS}"; }`;
  return `      ${name}) [[ "$cur" == -* ]] && reply="${flags}"${first}${ids} ;;`;
}
