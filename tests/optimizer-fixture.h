/* SPDX-License-Identifier: MIT
 *
 * Parameters with gradients on a tape of their own, without a model, and what a step asks for.
 */
#pragma once

#include "ops/optim/optimizer.h"

typedef struct
{
  SsTape *tape;
  GPtrArray *parameters;
  SsOptimizerSettings settings;
  SsOptimizerRun run;
  guint step;
} OptimizerFixture;

/* A matrix (64, 32) and a vector (100) in fp32: 8,192 and 400 bytes; both have a gradient. */
OptimizerFixture optimizer_fixture (const char *optimizer, SsImplementation implementation);
/* Another parameter, before begin. */
void fixture_add (OptimizerFixture *f, guint n_dims, const gint64 *size, gboolean has_gradient);
/* The optimizer's constructor, in phase load. */
void fixture_begin (OptimizerFixture *f, const char *optimizer, SsImplementation implementation);
/* Phase optimizer of the next step. */
void fixture_next_step (OptimizerFixture *f);
/* (transfer full) */
SsProgram *fixture_seal (OptimizerFixture *f);

/* Requests of a phase of a step, as "+8192 +400 -8192": releases between the same two
 * allocations with the largest first. (transfer full) */
char *requests_of (const SsProgram *program, SsPhase phase, guint step);
/* What its ops read and write, in bytes. */
guint64 bytes_moved_of (const SsProgram *program, SsPhase phase, guint step);
/* Ops of a phase of a step, as "aten::add_ aten::mul". (transfer full) */
char *ops_of (const SsProgram *program, SsPhase phase, guint step);
