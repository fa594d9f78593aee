# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What tools/run and tools/test share: packages, configuring and building.  Sourced with `root` set
# to the source folder.  Says what it does on stderr only: stdout belongs to the program.

build=${root:?}/build
# the root that the build folder was configured for, then the options given to it, one a line
stamp=$build/.stepsim-options

say () { printf '%s\n' "$*" >&2; }
have () { command -v "$1" >/dev/null 2>&1; }

# quietly WHAT COMMAND...: the command's output is shown only if it fails, and then status 3 ends all
quietly ()
{
  quiet_what=$1; shift
  log=$(mktemp "${TMPDIR:-/tmp}/stepsim-log.XXXXXX") || exit 3
  if "$@" >"$log" 2>&1 </dev/null; then
    rm -f "$log"
  else
    cat "$log" >&2
    rm -f "$log"
    say "stepsim: $quiet_what failed"
    exit 3
  fi
}

# Names what is missing out of what building and running needs, and with "tests" the suite too.
missing ()
{
  have "${CC:-cc}" || have gcc || have clang || printf 'a C compiler, '
  for tool in meson ninja gnuplot; do
    have "$tool" || printf '%s, ' "$tool"
  done
  if ! have pkg-config; then
    printf 'pkg-config, '
  elif ! pkg-config --exists glib-2.0 gio-2.0 libxml-2.0 json-glib-1.0 yaml-0.1 gsl; then
    printf 'the headers of GLib, libxml2, json-glib, libyaml and GSL, '
  fi
  if [ "$1" = tests ]; then
    have python3 || printf 'python3, '
    { have pkg-config && pkg-config --exists criterion; } || printf 'Criterion, '
  fi
}

as_root ()
{
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

apt_install ()
{
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 \
      install -y --no-install-recommends "$@"
}

# need run | need tests: installs what is missing, or names it and ends with status 2
need ()
{
  lacks=$(missing "$1")
  [ -n "$lacks" ] || return 0
  lacks=${lacks%, }

  apt='gcc libc6-dev meson ninja-build pkg-config libglib2.0-dev libxml2-dev libjson-glib-dev libyaml-dev libgsl-dev gnuplot-nox fonts-dejavu-core'
  dnf='gcc meson ninja-build pkgconf-pkg-config glib2-devel libxml2-devel json-glib-devel libyaml-devel gsl-devel gnuplot dejavu-sans-fonts'
  pacman='gcc meson ninja pkgconf glib2-devel libxml2 json-glib libyaml gsl gnuplot ttf-dejavu'
  brew='meson ninja pkgconf glib libxml2 json-glib libyaml gsl gnuplot'
  if [ "$1" = tests ]; then
    apt="$apt libcriterion-dev python3"
    dnf="$dnf criterion-devel python3"
    pacman="$pacman criterion python"
    brew="$brew criterion python"
  fi

  if have apt-get && { [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null; }; }; then
    say "stepsim: installing packages with apt-get (missing: $lacks)"
    # shellcheck disable=SC2086 # a list of words
    quietly 'apt-get install' apt_install $apt
    lacks=$(missing "$1")
    [ -n "$lacks" ] || return 0
    lacks=${lacks%, }
  fi

  say "stepsim: missing: $lacks. Packages:"
  say "  Debian, Ubuntu  apt-get install $apt"
  say "  Fedora          dnf install $dnf"
  say "  Arch            pacman -S $pacman"
  say "  macOS           brew install $brew"
  exit 2
}

# configured OPTION...: whether the build folder is set up, for this place and with these options
configured ()
{
  [ -f "$build/build.ninja" ] && [ -f "$stamp" ] || return 1
  had='
'
  while IFS= read -r line; do
    had="$had$line
"
  done <"$stamp"
  for option in "$root" "$@"; do
    case $had in
      *"
$option
"*) ;;
      *) return 1 ;;
    esac
  done
}

# configure OPTION...: sets up build/, once; later calls change the options that differ
configure ()
{
  [ -z "${CI:-}" ] || set -- -Dwerror=true "$@"
  ! configured "$@" || return 0

  at=''
  if [ -f "$stamp" ]; then IFS= read -r at <"$stamp" || :; fi
  if [ -n "$at" ] && [ "$at" != "$root" ]; then
    # the source folder was moved or copied: what is built names files of the old place
    rm -rf "$build"
  fi
  if [ -f "$build/build.ninja" ]; then
    quietly 'meson setup' meson setup --reconfigure "$@" "$build" "$root"
  else
    say 'stepsim: building, the first time takes a while'
    quietly 'meson setup' meson setup "$@" "$build" "$root"
  fi
  { printf '%s\n' "$root"; [ $# = 0 ] || printf '%s\n' "$@"; } >"$stamp"
}

# build_with "TARGET..." OPTION...: configures, and brings the targets up to date ("" is all of
# them).  Two runs at once wait for each other, where there is flock.
build_with ()
{
  targets=$1; shift
  if have flock; then exec 9<"$root"; flock 9; fi
  configure "$@"
  # shellcheck disable=SC2086 # a list of words
  quietly 'the build' ninja -C "$build" $targets
  if have flock; then exec 9<&-; fi
}
