/* SPDX-License-Identifier: MIT
 *
 * What the tests of chains share: chains made at random, the files of ../shared/data/remat.
 */
#pragma once

#include <glib.h>

#include "plan/chain-simulate.h"
#include "plan/policy.h"
#include "scenarios/chain-file.h"

typedef enum
{
  RANDOM_SIZES,                  /* of every tensor */
  RANDOM_UNIFORM_BOUNDARY        /* of every tensor but x_1 .. x_{n-1} */
} RandomKind;

/* All times and transients at random, the last stage's output and its gradient 0; some of the
 * chains hand on no gradient of their input. (transfer full) */
SsChain *random_chain (GRand *rand, guint n_stages, RandomKind kind);
/* A file of tests/chain, or of anywhere else; a failed load fails the test. (transfer full) */
SsChainFile *load_chain (const char *name_or_path);
/* What can be run; else the test fails. */
SsChainResult run_schedule (const SsChain *chain, const SsChainSchedule *schedule);
/* The result of a policy by its name. */
SsChainResult run_policy (const SsChain *chain, const char *name, guint param);
/* The policy "nested" with levels such as "8/2". */
SsCheckpointing nested_levels (const char *levels, gboolean skips_last);
