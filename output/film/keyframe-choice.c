/* SPDX-License-Identifier: MIT */
#include "output/film/keyframe-private.h"

/* A film of this many stops is as long as anybody watches. */
#define MAX_LAYER_STOPS 100
#define MAX_CHANGES 8            /* of one stretch outside layers */
#define MAX_CLEARED 4            /* of one stretch in which gradients go */
#define MAX_SUMMARIES 60         /* phases that get one stop each */
#define FEW_LAYERS 8             /* so few are all shown */
#define FEW_PHASES 24            /* so few are all followed layer by layer */

#define FIRST_SHARE 40           /* a change of this part of the peak is one to show */
#define LEFT_OVER 8              /* what a stretch ends with counts from this part of that on */
#define FRAMES_HELD 3
#define FRAMES_AT_END 23         /* four seconds */

typedef struct
{
  const SsRecording *recording;
  GArray *marks;                 /* SsKeyframe */
  guint *end_event;              /* by phase: the first event after it */
  gboolean *is_followed;         /* by phase: layer by layer */
  guint stride;                  /* of layers */
  guint last_event;              /* nothing after it is shown */
} Choice;

static const SsPhaseRecord *
phase_at (const Choice *self, guint i)
{
  return &g_array_index (self->recording->phases, SsPhaseRecord, i);
}

static const SsMemoryEvent *
event_at (const Choice *self, guint i)
{
  return &g_array_index (self->recording->memory, SsMemoryEvent, i);
}

const SsOpEvent *
ss_keyframe_event_op (const SsRecording *recording, const SsMemoryEvent *event)
{
  return event->op < recording->ops->len ? &g_array_index (recording->ops, SsOpEvent, event->op)
                                         : NULL;
}

static SsKeyframe *
add_mark (Choice *self, guint n_events, guint phase, gint64 device_ns)
{
  SsKeyframe mark = { .n_events = MIN (n_events, self->last_event), .phase = phase, .layer = -1,
                    .n_frames = 1, .device_ns = device_ns };

  g_array_append_val (self->marks, mark);
  return &g_array_index (self->marks, SsKeyframe, self->marks->len - 1);
}

/* ---- which phases are followed ---- */

static void
find_phases (Choice *self)
{
  guint n_phases = self->recording->phases->len, event = 0;

  for (guint p = 0; p < n_phases; p++)
    {
      while (event < self->last_event && event_at (self, event)->phase <= p)
        event++;
      self->end_event[p] = event;
    }
}

static guint
last_micro_batch (const Choice *self, guint step)
{
  guint last = 0;

  for (guint p = 0; p < self->recording->phases->len; p++)
    if (phase_at (self, p)->step == step)
      last = MAX (last, phase_at (self, p)->micro_batch);
  return last;
}

/* Of a long run the first two steps and the last, and of their micro-batches the first and the
 * last. */
static void
choose_phases (Choice *self)
{
  guint n_phases = self->recording->phases->len,
        n_steps = n_phases > 0 ? phase_at (self, n_phases - 1)->step : 0, last = 0, step = 0;

  for (guint p = 0; p < n_phases; p++)
    {
      const SsPhaseRecord *phase = phase_at (self, p);

      if (phase->step != step)
        last = last_micro_batch (self, phase->step);
      step = phase->step;
      self->is_followed[p]
        = n_phases <= FEW_PHASES
          || ((step <= 2 || step == n_steps)
              && (phase->micro_batch <= 1 || phase->micro_batch == last));
    }
}

/* ---- layers ---- */

static gboolean
is_same_run (const SsOpEvent *a, const SsOpEvent *b)
{
  return a->phase == b->phase && a->layer == b->layer && a->is_backward == b->is_backward
         && a->is_recompute == b->is_recompute;
}

static gboolean
is_chosen_layer (const Choice *self, gint layer)
{
  guint n_layers = self->recording->n_layers, l = (guint) layer;

  return l == 0 || l + 1 == n_layers || l % self->stride == self->stride - 1;
}

static void
set_stride (Choice *self)
{
  guint n_passes = 0, n_layers = self->recording->n_layers;

  for (guint p = 0; p < self->recording->phases->len; p++)
    if (self->is_followed[p]
        && (g_str_equal (phase_at (self, p)->name, "forward")
            || g_str_equal (phase_at (self, p)->name, "backward")))
      n_passes++;
  self->stride = n_layers <= FEW_LAYERS ? 1 : 2;
  while (self->stride < n_layers && n_layers / self->stride * n_passes > MAX_LAYER_STOPS)
    self->stride++;
}

/* A stop where a layer's forward, recompute or backward has ended, all that it frees freed.  A run
 * of layers recomputed together ends layer by layer. */
static void
add_layers (Choice *self)
{
  GArray *ops = self->recording->ops;
  guint event = 0;

  for (guint i = 0; i < ops->len; i++)
    {
      const SsOpEvent *op = &g_array_index (ops, SsOpEvent, i);
      const SsOpEvent *next = i + 1 < ops->len ? op + 1 : NULL;
      SsKeyframe *mark;

      if (op->layer < 0 || (next != NULL && is_same_run (op, next))
          || (next == NULL && self->recording->is_oom) || op->phase >= self->recording->phases->len
          || !self->is_followed[op->phase] || !is_chosen_layer (self, op->layer))
        continue;
      while (event < self->end_event[op->phase]
             && (event_at (self, event)->op == G_MAXUINT32 || event_at (self, event)->op <= i))
        event++;
      mark = add_mark (self, event, op->phase, op->end_ns);
      mark->layer = op->layer;
      mark->is_backward = op->is_backward;
      mark->is_recompute = op->is_recompute;
    }
}

/* ---- outside layers ---- */

static guint64
largest_change (const SsTimelineState *a, const SsTimelineState *b)
{
  guint64 most = 0;

  for (guint i = 0; i < SS_N_BANDS; i++)
    most = MAX (most, a->bands[i] > b->bands[i] ? a->bands[i] - b->bands[i]
                                                : b->bands[i] - a->bands[i]);
  return most;
}

/* Events of [first, end) after which memory has changed by `threshold_bytes` since the last such
 * one. (transfer full) */
static GArray *
changes_of (const Choice *self, const SsTimelineState *start, guint first, guint end,
            guint64 threshold_bytes)
{
  GArray *changes = g_array_new (FALSE, FALSE, sizeof (guint));
  SsTimelineState last = *start, now = *start;

  for (guint i = first; i < end; i++)
    {
      ss_timeline_state_apply (&now, self->recording, event_at (self, i));
      if (largest_change (&now, &last) < threshold_bytes)
        continue;
      last = now;
      g_array_append_val (changes, i);
    }
  /* what is left of it at the end is of this stretch, not of the next */
  if (end > first && largest_change (&now, &last) >= MAX (threshold_bytes / LEFT_OVER, 1))
    {
      guint i = end - 1;

      g_array_append_val (changes, i);
    }
  return changes;
}

static void
add_stretch (Choice *self, const SsTimelineState *start, guint first, guint end)
{
  gboolean is_clear
    = g_str_equal (phase_at (self, event_at (self, first)->phase)->name, "zero_grad");
  guint64 threshold_bytes = MAX (self->recording->peak.allocated_bytes / FIRST_SHARE, 1);
  g_autoptr (GArray) changes = changes_of (self, start, first, end, threshold_bytes);

  while (changes->len > (is_clear ? MAX_CLEARED : MAX_CHANGES))
    {
      threshold_bytes += MAX (threshold_bytes / 4, 1);
      g_array_unref (changes);
      changes = changes_of (self, start, first, end, threshold_bytes);
    }
  for (guint i = 0; i < changes->len; i++)
    {
      guint event = g_array_index (changes, guint, i);

      add_mark (self, event + 1, event_at (self, event)->phase, event_at (self, event)->device_ns)
        ->n_frames = is_clear ? 1 : FRAMES_HELD;
    }
}

static gboolean
is_outside_layers (const Choice *self, guint event)
{
  const SsOpEvent *op = ss_keyframe_event_op (self->recording, event_at (self, event));

  return op == NULL || op->layer < 0;
}

/* Of load only what a run that dies there needs. */
static void
add_changes (Choice *self)
{
  SsTimelineState state = { 0 };
  guint i = 0;

  while (i < self->last_event)
    {
      guint first = i, phase = event_at (self, i)->phase;
      gboolean is_outside = is_outside_layers (self, i);
      SsTimelineState start = state;

      while (i < self->last_event && event_at (self, i)->phase == phase
             && is_outside_layers (self, i) == is_outside)
        ss_timeline_state_apply (&state, self->recording, event_at (self, i++));
      if (is_outside && phase < self->recording->phases->len && self->is_followed[phase]
          && (phase_at (self, phase)->step > 0 || !phase_at (self, phase)->is_complete))
        add_stretch (self, &start, first, i);
    }
}

static gboolean
has_mark (const Choice *self, guint phase)
{
  for (guint i = 0; i < self->marks->len; i++)
    if (g_array_index (self->marks, SsKeyframe, i).phase == phase)
      return TRUE;
  return FALSE;
}

/* Every phase that is followed has a stop, and of the others as many as can be. */
static void
add_phases (Choice *self)
{
  guint n_phases = self->recording->phases->len, n_left = 0, n_seen = 0, every;

  for (guint p = 0; p < n_phases; p++)
    n_left += !self->is_followed[p];
  every = n_left / MAX_SUMMARIES + 1;
  for (guint p = 0; p < n_phases; p++)
    {
      const SsPhaseRecord *phase = phase_at (self, p);
      gboolean is_wanted = self->is_followed[p] ? !has_mark (self, p) : n_seen++ % every == 0;

      if (is_wanted && phase->is_complete)
        add_mark (self, self->end_event[p], p, phase->end_ns)->n_frames
          = self->is_followed[p] ? FRAMES_HELD : 1;
    }
}

static void
add_peak (Choice *self)
{
  for (guint i = 0; i < self->last_event; i++)
    {
      const SsMemoryEvent *event = event_at (self, i);
      const SsOpEvent *op = ss_keyframe_event_op (self->recording, event);
      SsKeyframe *mark;

      if (event->allocated_bytes != self->recording->peak.allocated_bytes
          || event->action != SS_EVENT_ALLOC)
        continue;
      mark = add_mark (self, i + 1, event->phase, event->device_ns);
      mark->layer = self->recording->peak.layer;
      mark->is_backward = op != NULL && op->is_backward;
      mark->is_recompute = op != NULL && op->is_recompute;
      mark->is_peak = TRUE;
      mark->n_frames = FRAMES_HELD;
      return;
    }
}

static gint
compare_marks (gconstpointer a, gconstpointer b)
{
  const SsKeyframe *left = a, *right = b;

  if (left->n_events != right->n_events)
    return left->n_events < right->n_events ? -1 : 1;
  return left->device_ns < right->device_ns ? -1 : left->device_ns > right->device_ns;
}

/* Of two with the same memory that follow each other without a change of phase, the one of a layer
 * stays: it says more. */
static void
sort_marks (Choice *self)
{
  GArray *marks = self->marks;

  g_array_sort (marks, compare_marks);
  for (guint i = 1; i < marks->len;)
    {
      SsKeyframe *a = &g_array_index (marks, SsKeyframe, i - 1), *b = a + 1;
      gboolean are_one = a->n_events == b->n_events && a->phase == b->phase
                         && (a->layer == b->layer || a->layer < 0 || b->layer < 0);

      b->device_ns = MAX (a->device_ns, b->device_ns);
      if (!are_one)
        {
          i++;
          continue;
        }
      if (b->layer < 0)
        {
          b->layer = a->layer;
          b->is_backward = a->is_backward;
          b->is_recompute = a->is_recompute;
        }
      b->is_peak |= a->is_peak;
      b->n_frames = MAX (a->n_frames, b->n_frames);
      g_array_remove_index (marks, i - 1);
    }
}

static void
add_end (Choice *self)
{
  const SsRecording *recording = self->recording;
  guint n_phases = recording->phases->len, phase = n_phases > 0 ? n_phases - 1 : 0;
  SsKeyframe *mark;

  if (!recording->is_oom)
    {
      if (self->marks->len == 0)
        add_mark (self, self->last_event, phase, 0);
      g_array_index (self->marks, SsKeyframe, self->marks->len - 1).n_frames = FRAMES_AT_END;
      return;
    }
  mark = add_mark (self, self->last_event, phase, recording->oom.at.device_ns);
  mark->layer = recording->oom.at.layer;
  mark->is_oom = TRUE;
  mark->n_frames = FRAMES_AT_END;
  if (self->marks->len > 1)
    mark->device_ns = MAX (mark->device_ns, (mark - 1)->device_ns);
}

/* What comes after the failure is the exception on its way up, no part of the lesson. */
static guint
find_last_event (const SsRecording *recording)
{
  for (guint i = 0; i < recording->memory->len; i++)
    if (g_array_index (recording->memory, SsMemoryEvent, i).action == SS_EVENT_OOM)
      return i + 1;
  return recording->memory->len;
}

GArray *
ss_keyframes_choose (const SsRecording *recording)
{
  guint n_phases = recording->phases->len;
  g_autofree guint *end = g_new0 (guint, n_phases + 1);
  g_autofree gboolean *is_followed = g_new0 (gboolean, n_phases + 1);
  Choice self = {
    .recording = recording, .marks = g_array_new (FALSE, TRUE, sizeof (SsKeyframe)),
    .end_event = end, .is_followed = is_followed,
    .last_event = find_last_event (recording),
  };

  find_phases (&self);
  choose_phases (&self);
  set_stride (&self);
  add_layers (&self);
  add_changes (&self);
  add_peak (&self);
  add_phases (&self);
  sort_marks (&self);
  add_end (&self);
  return self.marks;
}
