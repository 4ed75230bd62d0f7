export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * The script that each shell evaluates. It asks `hookmill __complete -- <words>` for the candidates, one per line, each
 * with its description after a tab. The lines `:files` and `:directories` ask the shell to complete paths.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of hookmill for bash: eval "$(hookmill completion bash)"
_hookmill() {
  local words=() word value prefix last=-1 i joined=
  # Bash splits --option=value.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == = && $last -ge 0 ]]; then words[last]+='='; joined=1
    elif [[ $joined ]]; then words[last]+=$word; joined=
    else words[++last]=$word; fi
  done
  prefix=
  if [[ \${words[last]} == --*=* ]]; then prefix=\${words[last]%%=*}=; fi
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    case $value in
      :files) compopt -o default ;;
      :directories) compopt -o dirnames ;;
      *) COMPREPLY+=("$(printf %q "\${value#"$prefix"}")") ;;
    esac
  done < <("$1" __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _hookmill hookmill
`,
  zsh: `#compdef hookmill
# Completion of hookmill for zsh: source <(hookmill completion zsh), after compinit; or a file _hookmill in $fpath.
_hookmill() {
  local -a candidates
  local value description answered=1
  while IFS=$'\\t' read -r value description; do
    case $value in
      :files) _files && answered=0 ;;
      :directories) _files -/ && answered=0 ;;
      *) candidates+=("\${value//:/\\\\:}:$description") ;;
    esac
  done < <("$words[1]" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  _describe hookmill candidates && answered=0
  return answered
}
if [[ $funcstack[1] == _hookmill ]]; then _hookmill "$@"; else compdef _hookmill hookmill; fi
`,
  fish: `# Completion of hookmill for fish: hookmill completion fish | source
function __hookmill_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :directories
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c hookmill -f -a '(__hookmill_complete)'
`,
};
