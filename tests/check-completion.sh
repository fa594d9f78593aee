#!/bin/bash
# SPDX-License-Identifier: MIT
# What bash offers after a few beginnings of a line.  usage: check-completion.sh SOURCE_ROOT STEPSIM
shopt -s extglob
. "$1/docs/stepsim.bash"
status=0

# offers WANTED WORD...: the last word is the one under way
offers ()
{
  local wanted=$1
  shift
  COMP_WORDS=("$stepsim" "$@")
  COMP_CWORD=$#
  _stepsim "$stepsim"
  if [[ " ${COMPREPLY[*]} " != *" $wanted "* ]]; then
    echo "stepsim $*: no $wanted among: ${COMPREPLY[*]}"
    status=1
  fi
}

stepsim=$(realpath "$2")
cd "$1" || exit 1
offers animate an
offers compare com
offers dump-events dump
offers --no-files --no
offers --capacity animate --cap
offers --with compare scenarios/teaching-4layer.xml --w
offers devices list dev
offers scenarios/teaching-4layer.xml scenarios/teach
offers scenarios/teaching-4layer.xml animate scenarios/teach
offers always --color = al
offers GB --units =
offers GiB ledger --units = Gi
offers h100-sxm-80gb -s hardware/device = h100
offers rtx-4090 sweep scenarios/teaching-4layer.xml hardware/device =
offers models/llama3-8b.xml --set = model/href = models/llama3-8
offers training/micro-batch= x.xml -s training/mic
offers training/micro-batch= x.xml --set = training/mic
offers settings list set
offers sdpa-math x.xml -s kernels/attention = sdpa
offers h100-sxm-80gb x.json --device h100-s
offers bf16-amp x.json --precision = bf16-a
offers llama8b-h100 llama8b-h1
offers sqrt sweep scenarios/teaching-4layer.xml checkpointing/policy = sq
offers scenarios/teaching-4layer.xml trace scenarios/llama8b-h100.xml --output = scenarios/teach
exit $status
