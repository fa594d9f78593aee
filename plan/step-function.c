/* SPDX-License-Identifier: MIT */
#include "plan/step-function-private.h"

#include <string.h>

void
ss_envelope_init (SsEnvelope *self)
{
  self->steps = g_array_new (FALSE, FALSE, sizeof (SsStep));
  self->better = g_array_new (FALSE, FALSE, sizeof (SsStep));
  self->merged = g_array_new (FALSE, FALSE, sizeof (SsStep));
}

void
ss_envelope_clear (SsEnvelope *self)
{
  g_array_unref (self->steps);
  g_array_unref (self->better);
  g_array_unref (self->merged);
}

void
ss_envelope_restart (SsEnvelope *self)
{
  g_array_set_size (self->steps, 0);
}

/* The first step that begins at `bytes` or above. */
static guint
first_at_or_above (const GArray *steps, guint64 bytes)
{
  guint low = 0, high = steps->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (steps, SsStep, middle).bytes < bytes)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Puts `n` steps in the place of those from `begin` to before `end`. */
static void
splice (GArray *steps, guint begin, guint end, const SsStep *with, guint n)
{
  guint n_tail = steps->len - end;
  SsStep *data;

  g_array_set_size (steps, MAX (steps->len, begin + n + n_tail));
  data = (SsStep *) (gpointer) steps->data;
  if (begin + n != end)
    memmove (data + begin + n, data + end, n_tail * sizeof (SsStep));
  memcpy (data + begin, with, n * sizeof (SsStep));
  g_array_set_size (steps, begin + n + n_tail);
}

/* Takes `better` into the envelope.  Both lists fall in time as they rise in bytes, and each step
 * of `better` is below the envelope where it begins; an older step that a better one reaches is no
 * longer one.  Only the stretch that changes is made anew. */
static void
merge_better (SsEnvelope *self)
{
  const SsStep *new = (const SsStep *) (gpointer) self->better->data;
  const SsStep *old = (const SsStep *) (gpointer) self->steps->data;
  guint n_old = self->steps->len, n_new = self->better->len, j = 0, n = 0;
  guint begin = first_at_or_above (self->steps, new[0].bytes), i = begin;
  SsStep *out;

  g_array_set_size (self->merged, n_old - begin + n_new);
  out = (SsStep *) (gpointer) self->merged->data;
  while (j < n_new || (i < n_old && old[i].time >= out[n - 1].time))
    {
      gboolean is_old = i < n_old && (j == n_new || old[i].bytes < new[j].bytes);
      const SsStep *next = is_old ? &old[i++] : &new[j++];

      if (n == 0 || next->time < out[n - 1].time)
        out[n++] = *next;
    }
  splice (self->steps, begin, i, out, n);
  g_array_set_size (self->better, 0);
}

void
ss_envelope_add_shifted (SsEnvelope *self, const SsStepFunction *of, guint64 shift_bytes,
                         guint64 least_bytes, const SsStep *more)
{
  static const SsStep nothing[] = { { 0 } };
  static const SsStepFunction zero = { 1, (SsStep *) nothing };

  ss_envelope_add_sum (self, of, shift_bytes, &zero, least_bytes, more);
}

/* The last step of `of` from `from` on that begins at `bytes` or below it. */
static guint
step_until (const SsStepFunction *of, guint from, guint64 bytes)
{
  while (from + 1 < of->n_steps && of->steps[from + 1].bytes <= bytes)
    from++;
  return from;
}

void
ss_envelope_add_sum (SsEnvelope *self, const SsStepFunction *right, guint64 shift_bytes,
                     const SsStepFunction *left, guint64 least_bytes, const SsStep *more)
{
  const SsStep *r = right->steps, *l = left->steps;
  const SsStep *old = (const SsStep *) (gpointer) self->steps->data;
  guint n_old = self->steps->len, n_r = right->n_steps, n_l = left->n_steps, i = 0, j = 0, k = 0;
  guint64 bytes, least_time;

  if (n_r == 0 || n_l == 0)
    return;
  least_time = r[n_r - 1].time + l[n_l - 1].time + more->time;
  bytes = MAX (least_bytes, MAX (r[0].bytes + shift_bytes, l[0].bytes));
  i = step_until (right, 0, bytes - shift_bytes);
  j = step_until (left, 0, bytes);
  for (;;)
    {
      guint64 time = r[i].time + l[j].time + more->time;
      guint64 now = G_MAXUINT64, next_r, next_l;

      while (k < n_old && old[k].bytes <= bytes)
        k++;
      if (k > 0)
        now = old[k - 1].time;
      /* nothing further on is below what the envelope is here already */
      if (now <= least_time)
        break;
      if (time < now)
        {
          SsStep step = { bytes, time, r[i].n_forward + l[j].n_forward + more->n_forward,
                          more->choice };

          g_array_append_val (self->better, step);
        }
      next_r = i + 1 < n_r ? r[i + 1].bytes + shift_bytes : G_MAXUINT64;
      next_l = j + 1 < n_l ? l[j + 1].bytes : G_MAXUINT64;
      bytes = MIN (next_r, next_l);
      if (bytes == G_MAXUINT64)
        break;
      i += next_r == bytes;
      j += next_l == bytes;
    }
  if (self->better->len > 0)
    merge_better (self);
}

guint64
ss_envelope_least_time (const SsEnvelope *self)
{
  if (self->steps->len == 0)
    return G_MAXUINT64;
  return g_array_index (self->steps, SsStep, self->steps->len - 1).time;
}

SsStepFunction
ss_envelope_take (const SsEnvelope *self)
{
  return (SsStepFunction) {
    .n_steps = self->steps->len,
    .steps = g_memdup2 (self->steps->data, self->steps->len * sizeof (SsStep)),
  };
}

void
ss_step_function_clear (SsStepFunction *self)
{
  g_clear_pointer (&self->steps, g_free);
  self->n_steps = 0;
}

const SsStep *
ss_step_function_at (const SsStepFunction *self, guint64 bytes)
{
  guint low = 0, high = self->n_steps;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (self->steps[middle].bytes <= bytes)
        low = middle + 1;
      else
        high = middle;
    }
  return low > 0 ? &self->steps[low - 1] : NULL;
}
