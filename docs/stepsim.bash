# SPDX-License-Identifier: MIT
# Completion of stepsim in bash: commands and options are what the program's own help says, so that
# this file names none of them.

_stepsim ()
{
  local cur=${COMP_WORDS[COMP_CWORD]} command= words
  COMPREPLY=()
  if ((COMP_CWORD > 1)) && "$1" "${COMP_WORDS[1]}" --help > /dev/null 2>&1; then
    command=${COMP_WORDS[1]}
  fi
  if [[ $cur == -* ]]; then
    words=$("$1" ${command:---help-all} ${command:+--help} 2> /dev/null \
      | grep -o -E -- '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    return
  fi
  if [[ $command == list ]]; then
    words=$("$1" list --help 2> /dev/null | grep -m 1 -o '\[[a-z|]*\]' | tr -d '[]' | tr '|' ' ')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    return
  fi
  if ((COMP_CWORD == 1)); then
    words=$("$1" --help 2> /dev/null \
      | sed -n '/^Commands/,/^$/ { s/^  for checking: //; s/^  \([a-z-]*\)  .*/\1/; s/,//g; p }' \
      | grep -v '^Commands')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  fi
  compopt -o filenames 2> /dev/null
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY \
    < <(compgen -d -- "$cur"; compgen -f -X '!*.@(xml|csv|json|pickle)' -- "$cur")
}

complete -F _stepsim stepsim
