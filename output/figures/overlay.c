/* SPDX-License-Identifier: MIT */
#include "output/figures/overlay.h"

#include <string.h>

#include "output/figures/overlay-private.h"

/* ---- events of the simulated run ---- */

static const SsMemoryEvent *
memory_event (const SsOverlay *self, guint i)
{
  return &g_array_index (self->recording->memory, SsMemoryEvent, i);
}

static const SsPhaseRecord *
phase_record (const SsOverlay *self, guint32 phase)
{
  return &g_array_index (self->recording->phases, SsPhaseRecord, phase);
}

static SsOverlayEvent *
sim_event (const SsOverlay *self, guint i)
{
  return &g_array_index (self->events, SsOverlayEvent, i);
}

static const SsRealEvent *
real_event (const SsOverlay *self, guint i)
{
  return &g_array_index (self->real->events, SsRealEvent, i);
}

/* Requests of 0 bytes are no events of the real allocator. */
static void
take_events (SsOverlay *self)
{
  for (guint i = 0; i < self->recording->memory->len; i++)
    {
      const SsMemoryEvent *event = memory_event (self, i);
      SsOverlayEvent taken = { event->bytes, event->block_bytes, event->allocated_bytes,
                               event->reserved_bytes, i, event->phase,
                               event->action == SS_EVENT_ALLOC };

      if ((event->action != SS_EVENT_ALLOC && event->action != SS_EVENT_FREE) || event->bytes == 0
          || event->phase >= self->recording->phases->len)
        continue;
      if (self->first_step <= 1 || phase_record (self, event->phase)->step >= self->first_step)
        g_array_append_val (self->events, taken);
    }
}

/* The first event of a phase or a later one. */
static guint
phase_begin (const SsOverlay *self, guint32 phase)
{
  guint low = 0, high = self->events->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (sim_event (self, middle)->phase < phase)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
find_end_of_real (SsOverlay *self)
{
  self->n_real = self->real->events->len;
  for (guint i = 0; i < self->real->events->len && !self->is_real_oom; i++)
    if (real_event (self, i)->action == SS_REAL_OOM)
      {
        self->is_real_oom = TRUE;
        self->n_real = i;
      }
}

/* ---- places that both name ---- */

typedef struct
{
  guint sim, real;
} Anchor;

static void
add_anchor (GArray *anchors, guint sim, guint real)
{
  Anchor anchor = { sim, real };

  g_array_append_val (anchors, anchor);
}

/* G_MAXUINT32: there is none. */
static guint32
find_phase (const SsOverlay *self, guint step, const char *name)
{
  for (guint32 i = 0; i < self->recording->phases->len; i++)
    if (phase_record (self, i)->step == step && g_str_equal (phase_record (self, i)->name, name))
      return i;
  return G_MAXUINT32;
}

/* Clipping belongs to the optimizer's phase and comes before the call of step: then the beginning
 * of that call is no beginning of a phase. */
static gboolean
has_clipping (const SsOverlay *self, guint32 phase)
{
  for (guint i = 0; i < self->recording->ops->len; i++)
    {
      const SsOpEvent *op = &g_array_index (self->recording->ops, SsOpEvent, i);

      if (op->phase == phase && strstr (op->name, "norm") != NULL)
        return TRUE;
    }
  return FALSE;
}

static const SsRealSpan *
next_span (const SsOverlay *self, const char *prefix, guint *at)
{
  while (*at < self->real->spans->len)
    {
      const SsRealSpan *span = &g_array_index (self->real->spans, SsRealSpan, (*at)++);

      if (g_str_has_prefix (span->name, prefix))
        return span;
    }
  return NULL;
}

/* zero_grad between this call of step and the next, at the end of a step or the start of one. */
static void
add_zero_grad (const SsOverlay *self, GArray *anchors, guint step, guint after_span)
{
  guint32 phase = find_phase (self, step, "zero_grad");
  guint at = after_span, next_at = after_span;
  const SsRealSpan *span = next_span (self, "Optimizer.zero_grad#", &at);
  const SsRealSpan *next = next_span (self, "Optimizer.step#", &next_at);

  if (phase == G_MAXUINT32 || span == NULL || span->end_us == G_MAXINT64
      || !phase_record (self, phase)->is_complete
      || (next != NULL && next->start_us < span->end_us))
    return;
  add_anchor (anchors, phase_begin (self, phase + 1), span->end_event);
}

static void
add_optimizer_anchors (const SsOverlay *self, GArray *anchors)
{
  guint at = 0, step = self->first_step;
  const SsRealSpan *span;

  for (; (span = next_span (self, "Optimizer.step#", &at)) != NULL; step++)
    {
      guint32 phase = find_phase (self, step, "optimizer");

      if (phase == G_MAXUINT32)
        return;
      if (!has_clipping (self, phase))
        add_anchor (anchors, phase_begin (self, phase), span->first_event);
      if (span->end_us == G_MAXINT64 || !phase_record (self, phase)->is_complete)
        continue;
      add_anchor (anchors, phase_begin (self, phase + 1), span->end_event);
      add_zero_grad (self, anchors, step, at);
    }
}

static void
add_step_anchors (const SsOverlay *self, GArray *anchors)
{
  guint at = 0, step = self->first_step;
  const SsRealSpan *span;

  for (; (span = next_span (self, "ProfilerStep#", &at)) != NULL; step++)
    {
      guint32 phase = find_phase (self, step, "forward");

      if (phase != G_MAXUINT32)
        add_anchor (anchors, phase_begin (self, phase), span->first_event);
    }
}

/* Phases that the file names as they are named here, `forward`, or as a snapshot of this program
 * has them, `stepsim.forward`: each name's first with the first, and so on. */
static void
add_phase_anchors (const SsOverlay *self, GArray *anchors, const char *name)
{
  g_autofree char *own = g_strconcat ("stepsim.", name, NULL);
  guint32 phase = 0;

  for (guint i = 0; i < self->real->spans->len; i++)
    {
      const SsRealSpan *span = &g_array_index (self->real->spans, SsRealSpan, i);

      if (!g_str_equal (span->name, name) && !g_str_equal (span->name, own))
        continue;
      while (phase < self->recording->phases->len
             && (phase_record (self, phase)->step < self->first_step
                 || !g_str_equal (phase_record (self, phase)->name, name)))
        phase++;
      if (phase >= self->recording->phases->len)
        return;
      add_anchor (anchors, phase_begin (self, phase), span->first_event);
      phase++;
    }
}

static gint
compare_anchors (gconstpointer a, gconstpointer b)
{
  const Anchor *p = a, *q = b;

  if (p->sim != q->sim)
    return p->sim < q->sim ? -1 : 1;
  return p->real < q->real ? -1 : p->real > q->real;
}

/* The start of both, then each place that lies after the one before it in both runs: another says
 * nothing. */
static GArray *
find_anchors (SsOverlay *self)
{
  static const char *const phases[] = { "forward", "loss", "backward" };
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (Anchor));
  GArray *anchors = g_array_new (FALSE, FALSE, sizeof (Anchor));

  add_anchor (anchors, 0, 0);
  add_optimizer_anchors (self, found);
  for (guint i = 0; i < G_N_ELEMENTS (phases); i++)
    add_phase_anchors (self, found, phases[i]);
  if (found->len == 0)
    add_step_anchors (self, found);
  g_array_sort (found, compare_anchors);
  for (guint i = 0; i < found->len; i++)
    {
      const Anchor *last = &g_array_index (anchors, Anchor, anchors->len - 1);
      const Anchor *next = &g_array_index (found, Anchor, i);

      if (next->sim <= last->sim || next->real <= last->real || next->real > self->n_real)
        continue;
      add_anchor (anchors, next->sim, next->real);
      self->n_anchors++;
    }
  return anchors;
}

/* ---- pieces ---- */

static gboolean
is_alike (const SsOverlay *self, guint sim, guint real)
{
  const SsOverlayEvent *a = sim_event (self, sim);
  const SsRealEvent *b = real_event (self, real);

  return a->is_alloc == (b->action == SS_REAL_ALLOC)
         && (self->real->counts_blocks ? a->block_bytes : a->bytes) == b->bytes;
}

static void
match_ends (const SsOverlay *self, SsOverlayPiece *piece)
{
  guint n = MIN (piece->sim_end - piece->sim_first, piece->real_end - piece->real_first);

  while (piece->n_head < n
         && is_alike (self, piece->sim_first + piece->n_head, piece->real_first + piece->n_head))
    piece->n_head++;
  while (piece->n_head + piece->n_tail < n
         && is_alike (self, piece->sim_end - 1 - piece->n_tail,
                      piece->real_end - 1 - piece->n_tail))
    piece->n_tail++;
}

/* After the last place that both name, events go one by one, as far as both go. */
static void
set_pieces (SsOverlay *self, const GArray *anchors)
{
  for (guint i = 0; i < anchors->len; i++)
    {
      const Anchor *first = &g_array_index (anchors, Anchor, i);
      SsOverlayPiece piece = { first->sim, self->events->len, first->real, self->n_real, 0, 0 };
      guint n = MIN (piece.sim_end - piece.sim_first, piece.real_end - piece.real_first);

      if (i + 1 < anchors->len)
        {
          piece.sim_end = first[1].sim;
          piece.real_end = first[1].real;
          match_ends (self, &piece);
        }
      else
        {
          piece.sim_end = piece.sim_first + n;
          piece.real_end = piece.real_first + n;
        }
      g_array_append_val (self->pieces, piece);
    }
}

guint
ss_overlay_real_of (const SsOverlayPiece *piece, guint event)
{
  guint n_sim = piece->sim_end - piece->sim_first, n_real = piece->real_end - piece->real_first;
  guint at = event - piece->sim_first, head = piece->n_head, tail = piece->n_tail;

  if (n_sim == n_real || at < head)
    return piece->real_first + at;
  if (at >= n_sim - tail)
    return piece->real_end - (n_sim - at);
  return piece->real_first + head
         + (guint) ((guint64) (at - head) * (n_real - head - tail) / (n_sim - head - tail));
}

/* ---- phases ---- */

/* The event of the real run at which that of the simulated one lies. FALSE: there is none. */
static gboolean
locate (const SsOverlay *self, guint event, guint *real, gboolean *is_stretched)
{
  for (guint i = 0; i < self->pieces->len; i++)
    {
      const SsOverlayPiece *piece = &g_array_index (self->pieces, SsOverlayPiece, i);

      if (event < piece->sim_first || event > piece->sim_end
          || (event == piece->sim_end && i + 1 < self->pieces->len))
        continue;
      *real = ss_overlay_real_of (piece, event);
      *is_stretched |= piece->sim_end - piece->sim_first != piece->real_end - piece->real_first
                       && event != piece->sim_first && event != piece->sim_end;
      return TRUE;
    }
  return FALSE;
}

static void
measure_sim (const SsOverlay *self, guint first, guint end, SsOverlayPhase *phase)
{
  guint64 allocated = 0, reserved = 0;

  if (first > 0)
    {
      allocated = sim_event (self, first - 1)->allocated_bytes;
      reserved = sim_event (self, first - 1)->reserved_bytes;
    }
  phase->sim_peak_bytes = phase->sim_end_bytes = allocated;
  phase->sim_reserved_bytes = reserved;
  for (guint i = first; i < end; i++)
    {
      const SsOverlayEvent *event = sim_event (self, i);

      phase->sim_peak_bytes = MAX (phase->sim_peak_bytes, event->allocated_bytes);
      phase->sim_reserved_bytes = MAX (phase->sim_reserved_bytes, event->reserved_bytes);
      phase->sim_end_bytes = event->allocated_bytes;
    }
}

static void
measure_real (const SsOverlay *self, guint first, guint end, SsOverlayPhase *phase)
{
  guint64 allocated = self->real->start_allocated_bytes;
  guint64 reserved = self->real->start_reserved_bytes;

  if (first > 0)
    {
      allocated = real_event (self, first - 1)->allocated_bytes;
      reserved = real_event (self, first - 1)->reserved_bytes;
    }
  phase->real_peak_bytes = phase->real_end_bytes = allocated;
  phase->real_reserved_bytes = reserved;
  for (guint i = first; i < end; i++)
    {
      const SsRealEvent *event = real_event (self, i);

      phase->real_peak_bytes = MAX (phase->real_peak_bytes, event->allocated_bytes);
      phase->real_reserved_bytes = MAX (phase->real_reserved_bytes, event->reserved_bytes);
      phase->real_end_bytes = event->allocated_bytes;
    }
}

static void
set_phases (SsOverlay *self)
{
  guint common_end
    = g_array_index (self->pieces, SsOverlayPiece, self->pieces->len - 1).sim_end;

  for (guint32 i = 0; i < self->recording->phases->len; i++)
    {
      SsOverlayPhase phase = { .phase = i };
      guint first = phase_begin (self, i), end = phase_begin (self, i + 1), real_first, real_end;

      if (self->first_step > 1 && phase_record (self, i)->step < self->first_step)
        continue;
      if (end > common_end && first < common_end)
        {
          phase.is_cut = TRUE;
          end = common_end;
        }
      measure_sim (self, first, end, &phase);
      phase.has_real = locate (self, first, &real_first, &phase.is_stretched)
                       && locate (self, end, &real_end, &phase.is_stretched);
      if (phase.has_real)
        measure_real (self, real_first, real_end, &phase);
      g_array_append_val (self->phases, phase);
    }
}

SsOverlay *
ss_overlay_new (const SsRecording *recording, const SsRealRun *real, guint first_step)
{
  SsOverlay *self = g_new0 (SsOverlay, 1);
  g_autoptr (GArray) anchors = NULL;

  self->recording = recording;
  self->real = real;
  self->first_step = MAX (first_step, 1);
  self->events = g_array_new (FALSE, FALSE, sizeof (SsOverlayEvent));
  self->pieces = g_array_new (FALSE, FALSE, sizeof (SsOverlayPiece));
  self->phases = g_array_new (FALSE, FALSE, sizeof (SsOverlayPhase));
  self->first_sim = self->first_real = self->largest_sim = SS_OVERLAY_NONE;
  take_events (self);
  find_end_of_real (self);
  anchors = find_anchors (self);
  set_pieces (self, anchors);
  set_phases (self);
  ss_overlay_compare_requests (self);
  return self;
}

void
ss_overlay_free (SsOverlay *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->events);
  g_array_unref (self->pieces);
  g_array_unref (self->phases);
  g_free (self);
}
