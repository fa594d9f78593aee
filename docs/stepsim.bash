# SPDX-License-Identifier: MIT
# Completion of stepsim in bash: commands, options and names are what the program's own help and
# lists say, so that this file has none of them.

# Names that `stepsim list` has for a setting, in the form that the setting takes.
_stepsim_names ()
{
  local what
  case $2 in
    model/href) "$1" list models 2> /dev/null | sed 's,^\([^ ]*\) .*,models/\1.xml,'; return ;;
    hardware/device) what=devices ;;
    precision/recipe) what=recipes ;;
    optimizer/type) what=optimizers ;;
    checkpointing/policy) what=policies ;;
    kernels/profile) what=profiles ;;
    allocator/type) what=allocators ;;
    *) return ;;
  esac
  "$1" list "$what" 2> /dev/null | sed 's/ .*//'
}

_stepsim ()
{
  local cur=${COMP_WORDS[COMP_CWORD]} command= words key=
  COMPREPLY=()
  if ((COMP_CWORD > 1)) && "$1" "${COMP_WORDS[1]}" --help > /dev/null 2>&1; then
    command=${COMP_WORDS[1]}
  fi
  # bash splits a line at = too
  if [[ $cur == = ]]; then
    key=${COMP_WORDS[COMP_CWORD - 1]} cur=
  elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    key=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $key == --* ]]; then
    words=$("$1" ${command:---help-all} ${command:+--help} 2> /dev/null \
      | grep -o -E -- "$key=[A-Za-z]+(\|[A-Za-z]+)+" | cut -d = -f 2 | tr '|' ' ')
  elif [[ -n $key ]]; then
    words=$(_stepsim_names "$1" "$key")
  fi
  if [[ -n $key && -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    return
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
