/* SPDX-License-Identifier: MIT
 *
 * SsStepFunction: the least time as a function of the bytes available: infinite below the first
 * point, then constant from each point to the next and smaller at each.
 * It knows no chain.  The program of the optimum owns them.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 bytes;                 /* from here on */
  guint64 time;
  guint32 n_forward;             /* forwards run, of the solution found */
  guint32 choice;                /* how it begins: the caller's own number */
} SsStep;

typedef struct
{
  guint n_steps;
  SsStep *steps;
} SsStepFunction;

/* The function that is being made, as the lower envelope of the candidates so far, and room for the
 * next one. */
typedef struct
{
  GArray *steps;                 /* SsStep */
  GArray *better;                /* SsStep: what a candidate improves */
  GArray *merged;                /* SsStep */
} SsEnvelope;

void ss_envelope_init (SsEnvelope *self);
void ss_envelope_clear (SsEnvelope *self);
void ss_envelope_restart (SsEnvelope *self);

/* Candidate: `of` with its bytes shifted up by `shift_bytes`, infinite below `least_bytes`, and
 * `time` and `n_forward` more. */
void ss_envelope_add_shifted (SsEnvelope *self, const SsStepFunction *of, guint64 shift_bytes,
                              guint64 least_bytes, const SsStep *more);
/* Candidate: the sum of `right`, shifted, and `left`, likewise. */
void ss_envelope_add_sum (SsEnvelope *self, const SsStepFunction *right, guint64 shift_bytes,
                          const SsStepFunction *left, guint64 least_bytes, const SsStep *more);
/* The last time of the envelope; G_MAXUINT64 while it is infinite everywhere. */
guint64 ss_envelope_least_time (const SsEnvelope *self);
/* (transfer full): ss_step_function_clear. */
SsStepFunction ss_envelope_take (const SsEnvelope *self);
void ss_step_function_clear (SsStepFunction *self);
/* The step at which `bytes` are, or NULL where it is infinite. */
const SsStep *ss_step_function_at (const SsStepFunction *self, guint64 bytes);

G_END_DECLS
