/* SPDX-License-Identifier: MIT */
#include "plan/chain-exhaustive.h"

/* What is resident between two ops.  A tensor goes right after its last use, so there is no op that
 * drops one: each op has a successor with what it read or made, and one without.  A saved set is
 * made only for the backward that uses it. */
typedef struct
{
  guint x, w;                    /* bit i: x_i, what stage i saved */
  /* up to n: the furthest stage that was run; above: as many backwards more */
  guint progress;
} State;

typedef struct
{
  guint64 time, peak_bytes;
} Label;

static const Label unreached = { G_MAXUINT64, G_MAXUINT64 };

typedef struct
{
  Label label;
  guint state;
} Entry;

typedef struct
{
  const SsChain *chain;
  gboolean is_detached;
  guint64 budget_bytes;
  Label *labels;                 /* the best one known, by state */
  GArray *reached;               /* guint: states whose label is set */
  GArray *heap;                  /* Entry */
} Search;

/* x_n is never read: n - 1 bits for x_1 .. x_{n-1} do, and n for the saved sets. */
static guint
encode (guint n, const State *state)
{
  return (((state->progress << n) | state->w >> 1) << (n - 1)) | state->x >> 1;
}

static State
decode (guint n, guint code)
{
  return (State) {
    .x = (code & ((1u << (n - 1)) - 1)) << 1,
    .w = (code >> (n - 1) & ((1u << n) - 1)) << 1,
    .progress = code >> (2 * n - 1),
  };
}

static gboolean
is_before (const Label *a, const Label *b)
{
  return a->time < b->time || (a->time == b->time && a->peak_bytes < b->peak_bytes);
}

/* ---- a binary heap ---- */

static Entry *
entry (Search *self, guint i)
{
  return &g_array_index (self->heap, Entry, i);
}

static void
swap_entries (Search *self, guint i, guint j)
{
  Entry kept = *entry (self, i);

  *entry (self, i) = *entry (self, j);
  *entry (self, j) = kept;
}

static void
push (Search *self, Label label, guint state)
{
  Entry new = { label, state };
  guint i = self->heap->len;

  g_array_append_val (self->heap, new);
  for (; i > 0 && is_before (&entry (self, i)->label, &entry (self, (i - 1) / 2)->label);
       i = (i - 1) / 2)
    swap_entries (self, i, (i - 1) / 2);
}

static Entry
pop (Search *self)
{
  Entry first = *entry (self, 0);
  guint i = 0, n;

  swap_entries (self, 0, self->heap->len - 1);
  g_array_set_size (self->heap, self->heap->len - 1);
  n = self->heap->len;
  for (;;)
    {
      guint least = i;

      for (guint child = 2 * i + 1; child <= 2 * i + 2; child++)
        if (child < n && is_before (&entry (self, child)->label, &entry (self, least)->label))
          least = child;
      if (least == i)
        return first;
      swap_entries (self, i, least);
      i = least;
    }
}

/* ---- the ops ---- */

static guint
n_left (const Search *self, const State *state)
{
  guint n = self->chain->n_stages;

  return state->progress <= n ? n : 2 * n - state->progress;
}

static guint64
resident_bytes (const Search *self, const State *state)
{
  const SsChain *chain = self->chain;
  guint p = n_left (self, state);
  guint64 sum = chain->boundary_bytes[0] + chain->gradient_bytes[p];

  for (guint i = 1; i <= chain->n_stages; i++)
    {
      if (state->x & 1u << i)
        sum += chain->boundary_bytes[i];
      if (state->w & 1u << i)
        sum += chain->stages[i].saved_bytes;
    }
  return sum;
}

/* By the set that the next stage saved. */
static gboolean
is_held (const Search *self, const State *state, guint i)
{
  return !self->is_detached && (state->w & 1u << (i + 1)) != 0;
}

static void
reach (Search *self, const Label *from, guint64 bytes, guint64 time, const State *to)
{
  guint state = encode (self->chain->n_stages, to);
  Label label = { from->time + time, MAX (from->peak_bytes, bytes) };

  if (bytes > self->budget_bytes || !is_before (&label, &self->labels[state]))
    return;
  if (self->labels[state].time == unreached.time)
    g_array_append_val (self->reached, state);
  self->labels[state] = label;
  push (self, label, state);
}

/* The state that a forward of stage i leads to, with its input and, if it may go, without. */
static void
reach_with_and_without_input (Search *self, const Label *from, guint64 bytes, guint64 time,
                              State to, guint i)
{
  reach (self, from, bytes, time, &to);
  if (i == 1 || is_held (self, &to, i - 1))
    return;
  to.x &= ~(1u << (i - 1));
  reach (self, from, bytes, time, &to);
}

static void
run_forward (Search *self, const Label *from, const State *state, guint i)
{
  const SsChain *chain = self->chain;
  const SsChainStage *stage = &chain->stages[i];
  guint n = chain->n_stages, p = n_left (self, state);
  gboolean has_x = (state->x & 1u << i) != 0;
  gboolean is_first = state->progress < n && i > state->progress;
  guint64 time = is_first ? stage->forward_time : stage->recompute_time;
  guint64 bytes = resident_bytes (self, state) + stage->forward_bytes;
  State to = *state;

  if (is_first)
    to.progress = i;
  if (i < p && !has_x)
    {
      to.x |= 1u << i;
      reach_with_and_without_input (self, from, bytes + chain->boundary_bytes[i], time, to, i);
    }
  if (state->w & 1u << i)
    return;
  /* an x_i that a saved set holds stays beside the new one */
  if (!has_x || is_held (self, state, i))
    bytes += chain->boundary_bytes[i];
  bytes += stage->saved_bytes;
  to.w |= 1u << i;
  if (i < p)
    {
      to.x |= 1u << i;
      reach_with_and_without_input (self, from, bytes, time, to, i);
    }
  if (!has_x)
    {
      to.x &= ~(1u << i);
      reach_with_and_without_input (self, from, bytes, time, to, i);
    }
}

static void
run_backward (Search *self, const Label *from, const State *state)
{
  const SsChain *chain = self->chain;
  guint n = chain->n_stages, p = n_left (self, state);
  State to = *state;

  if (!(state->w & 1u << p) || state->progress < n)
    return;
  to.progress++;
  to.w &= ~(1u << p);
  /* the input, and an output that the backward before did not take */
  to.x &= (1u << (p - 1)) - 1;
  reach (self, from,
         resident_bytes (self, state) + chain->gradient_bytes[p - 1]
           + chain->stages[p].backward_bytes,
         chain->stages[p].backward_time, &to);
}

static void
run_all (Search *self, const Entry *at)
{
  State state = decode (self->chain->n_stages, at->state);
  guint p = n_left (self, &state);

  for (guint i = 1; i <= p; i++)
    if (i == 1 || state.x & 1u << (i - 1))
      run_forward (self, &at->label, &state, i);
  if (p == 1 || state.x & 1u << (p - 1))
    run_backward (self, &at->label, &state);
}

/* Least time, then least peak, within the budget (Dijkstra). FALSE: nothing fits. */
static gboolean
search (Search *self, Label *found)
{
  State start = { 0 };

  for (guint i = 0; i < self->reached->len; i++)
    self->labels[g_array_index (self->reached, guint, i)] = unreached;
  g_array_set_size (self->reached, 0);
  g_array_set_size (self->heap, 0);
  reach (self, &(Label) { 0, 0 }, 0, 0, &start);
  while (self->heap->len > 0)
    {
      Entry at = pop (self);

      if (is_before (&self->labels[at.state], &at.label))
        continue;
      *found = at.label;
      if (decode (self->chain->n_stages, at.state).progress == 2 * self->chain->n_stages)
        return TRUE;
      run_all (self, &at);
    }
  return FALSE;
}

GArray *
ss_chain_exhaustive_curve (const SsChain *chain, SsChainRules rules)
{
  guint n = chain->n_stages, n_states;
  Search self = {
    .chain = chain,
    .is_detached = (rules & SS_CHAIN_RULES_DETACHED) != 0,
    .budget_bytes = G_MAXUINT64,
  };
  GArray *curve;
  Label found;

  g_return_val_if_fail (n <= SS_CHAIN_EXHAUSTIVE_MAX_STAGES, NULL);
  curve = g_array_new (FALSE, FALSE, sizeof (SsChainTrade));
  n_states = (2 * n + 1) << (2 * n - 1);
  self.labels = g_new (Label, n_states);
  for (guint i = 0; i < n_states; i++)
    self.labels[i] = unreached;
  self.reached = g_array_new (FALSE, FALSE, sizeof (guint));
  self.heap = g_array_new (FALSE, FALSE, sizeof (Entry));
  while (search (&self, &found))
    {
      SsChainTrade trade = { found.peak_bytes, found.time };

      g_array_prepend_val (curve, trade);
      if (found.peak_bytes == 0)
        break;
      self.budget_bytes = found.peak_bytes - 1;
    }
  g_array_unref (self.heap);
  g_array_unref (self.reached);
  g_free (self.labels);
  return curve;
}
