# SPDX-License-Identifier: MIT
# Completion of stepsim in bash: commands, options and names are what the program's own help and
# lists say, so that this file has none of them.

# Names that a setting takes: those of models and devices, else the words that `stepsim list
# settings` has for it.
_stepsim_names ()
{
  case $2 in
    model/href) "$1" list models 2> /dev/null | sed 's,^\([^ ]*\) .*,models/\1.xml,' ;;
    hardware/device) "$1" list devices 2> /dev/null | sed 's/ .*//' ;;
    *) "$1" list settings --json 2> /dev/null \
         | grep -F "{\"name\":\"$2\"" | grep -o '"words":\[[^]]*' | cut -d [ -f 2 \
         | tr -d '"' | tr , ' ' ;;
  esac
}

# Every PATH of --set, with the = that follows.
_stepsim_paths ()
{
  "$1" list settings 2> /dev/null | sed 's/ .*/=/'
}

# The setting that a short option stands for.
_stepsim_option ()
{
  case $1 in
    --device) echo hardware/device ;;
    --precision) echo precision/recipe ;;
    --optimizer) echo optimizer/type ;;
    --checkpointing) echo checkpointing/policy ;;
    --attention) echo kernels/attention ;;
    --kernels) echo kernels/profile ;;
  esac
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
  if [[ -z $key && ${COMP_WORDS[COMP_CWORD - 1]} == --* ]]; then
    key=$(_stepsim_option "${COMP_WORDS[COMP_CWORD - 1]}")
  elif [[ -n $(_stepsim_option "$key") ]]; then
    key=$(_stepsim_option "$key")
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
  if [[ ${COMP_WORDS[COMP_CWORD - 1]} == @(-s|--set|-w|--with) || $key == @(--set|--with) ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_stepsim_paths "$1")" -- "$cur")
    compopt -o nospace 2> /dev/null
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
    words="$words $("$1" list scenarios 2> /dev/null | sed 's/ .*//')"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  fi
  compopt -o filenames 2> /dev/null
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY \
    < <(compgen -d -- "$cur"; compgen -f -X '!*.@(xml|csv|json|pickle|yml|yaml)' -- "$cur")
}

complete -F _stepsim stepsim
