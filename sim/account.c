/* SPDX-License-Identifier: MIT */
#include "sim/account.h"

#include <string.h>

#include "memory/memory-curve.h"
#include "memory/stream-id.h"
#include "sim/rank.h"
#include "sim/stream-count.h"

typedef struct
{
  SsRecording *recording;
  const SsProgram *program;
  guint n_micro_batches;
  gint64 stream_ns[SS_N_STREAMS];   /* of each: its latest event, op or mark; never falls */
  SsMemoryCurve curve;
  SsMemorySpan phase_span, step_span;
  SsPhase phase;
  guint32 next_event, next_op;   /* first that have not been counted */
} Account;

static SsPhaseRecord *
phase_now (Account *account)
{
  GArray *phases = account->recording->phases;

  return &g_array_index (phases, SsPhaseRecord, phases->len - 1);
}

/* NULL while loading. */
static SsStepRecord *
step_now (Account *account)
{
  GArray *steps = account->recording->steps;

  return steps->len > 0 ? &g_array_index (steps, SsStepRecord, steps->len - 1) : NULL;
}

static SsPeakRecord
state_now (Account *account, const SsMemoryEvent *event)
{
  const SsPhaseRecord *phase = phase_now (account);
  SsPeakRecord state = {
    .allocated_bytes = account->curve.now.allocated_bytes,
    .reserved_bytes = account->curve.now.reserved_bytes,
    .step = phase->step,
    .micro_batch = phase->micro_batch,
    .phase = phase->name,
    .layer = ss_program_layer_in_phase (account->program, event->module_id, account->phase),
    .op = event->op,
    .device_ns = account->stream_ns[SS_STREAM_COMPUTE],
  };

  memcpy (state.by_category, account->curve.now.by_category, sizeof state.by_category);
  return state;
}

/* ---- steps and phases ---- */

static void
begin_step (Account *account, guint step)
{
  SsStepRecord record = {
    .step = step,
    .start_ns = account->stream_ns[SS_STREAM_COMPUTE],
    .peak_phase = account->recording->phases->len,
    .peak_op = G_MAXUINT32,
    .end_of_forward_allocated_bytes = G_MAXUINT64,
    .saved_activation_bytes = G_MAXUINT64,
    .tokens_per_s = -1,
    .mfu = -1,
    .hfu = -1,
  };

  ss_memory_span_begin (&account->step_span, &account->curve);
  g_array_append_val (account->recording->steps, record);
}

static void
begin_phase (Account *account, SsPhase phase, guint step, guint micro_batch)
{
  SsPhaseRecord record = {
    .name = ss_phase_name (phase),
    .step = step,
    .micro_batch = micro_batch,
    .start_ns = account->stream_ns[SS_STREAM_COMPUTE],
  };

  account->phase = phase;
  ss_memory_span_begin (&account->phase_span, &account->curve);
  g_array_append_val (account->recording->phases, record);
}

static void
end_phase (Account *account, gboolean is_complete)
{
  SsPhaseRecord *phase = phase_now (account);
  SsStepRecord *step = step_now (account);

  phase->end_ns = account->stream_ns[SS_STREAM_COMPUTE];
  phase->start_allocated_bytes = account->phase_span.start_allocated_bytes;
  phase->peak_allocated_bytes = account->phase_span.peak_allocated_bytes;
  phase->peak_reserved_bytes = account->phase_span.peak_reserved_bytes;
  phase->end_allocated_bytes = account->curve.now.allocated_bytes;
  phase->is_complete = is_complete;
  if (is_complete && step != NULL && account->phase == SS_PHASE_FORWARD
      && phase->micro_batch == account->n_micro_batches)
    step->end_of_forward_allocated_bytes = phase->end_allocated_bytes;
}

/* A step's flops are those of matrix products and attention, as its convention says. */
static void
end_step (Account *account, gboolean is_complete)
{
  SsStepRecord *step = step_now (account);
  const SsRecording *recording = account->recording;
  double seconds, peak_flops;

  if (step == NULL)
    return;
  step->end_ns = account->stream_ns[SS_STREAM_COMPUTE];
  step->peak_allocated_bytes = account->step_span.peak_allocated_bytes;
  step->peak_reserved_bytes = account->step_span.peak_reserved_bytes;
  step->is_complete = is_complete;
  seconds = (double) (step->end_ns - step->start_ns) * 1e-9;
  peak_flops = seconds * recording->peak_flop_per_s;
  if (is_complete && seconds > 0)
    step->tokens_per_s = (double) recording->tokens_per_step / seconds;
  if (is_complete && peak_flops > 0)
    {
      step->mfu = (double) step->model_flops / peak_flops;
      step->hfu = (double) step->hardware_flops / peak_flops;
    }
}

/* ---- memory ---- */

/* The curve moves by one event; returns whether it reached a new peak of the run. */
static gboolean
move_curve (SsMemoryCurve *curve, const SsMemoryEvent *event)
{
  switch ((SsMemoryAction) event->action)
    {
    case SS_EVENT_ALLOC:
      return ss_memory_curve_allocate (curve, (SsCategory) event->category, event->block_bytes,
                                       event->reserved_bytes);
    case SS_EVENT_FREE:
      ss_memory_curve_release (curve, (SsCategory) event->category, event->block_bytes,
                               event->reserved_bytes);
      return FALSE;
    case SS_EVENT_SEGMENT_ALLOC:
    case SS_EVENT_SEGMENT_FREE:
    case SS_EVENT_SEGMENT_MAP:
    case SS_EVENT_SEGMENT_UNMAP:
    case SS_EVENT_OOM:
      ss_memory_curve_reserve (curve, event->reserved_bytes);
      return FALSE;
    }
  g_return_val_if_reached (FALSE);
}

/* Activations as the account knows them are all that checkpoints can do away with: logits and
 * temporaries are there with any of them. */
static void
count_floor (Account *account, const SsMemoryEvent *event)
{
  SsPeakRecord *floor = &account->recording->floor;
  const SsMemoryPoint *now = &account->curve.now;
  guint64 bytes = now->allocated_bytes - now->by_category[SS_CATEGORY_ACTIVATIONS];

  if (bytes <= floor->allocated_bytes)
    return;
  *floor = state_now (account, event);
  floor->allocated_bytes = bytes;
  floor->by_category[SS_CATEGORY_ACTIVATIONS] = 0;
}

static void
count_memory (Account *account, const SsMemoryEvent *event)
{
  SsRecording *recording = account->recording;
  SsStepRecord *step = step_now (account);

  if (move_curve (&account->curve, event))
    recording->peak = state_now (account, event);
  count_floor (account, event);
  ss_memory_span_update (&account->phase_span, &account->curve);
  if (step != NULL && ss_memory_span_update (&account->step_span, &account->curve))
    {
      step->peak_phase = recording->phases->len - 1;
      step->peak_op = event->op;
    }
}

static void
count_out_of_memory (Account *account, const SsMemoryEvent *event)
{
  SsOomRecord *oom = &account->recording->oom;
  const SsStorageInfo *storage = ss_program_storage (account->program, event->storage_id);

  oom->at = state_now (account, event);
  /* what the loader makes by itself belongs to no op */
  if (account->phase != SS_PHASE_LOAD && storage->op_id < ss_program_n_ops (account->program))
    oom->op_name = ss_op_name (ss_program_op (account->program, storage->op_id));
  oom->tensor = ss_program_module_path (account->program, storage->module_id);
}

static gint64
move_clock (Account *account, guint8 stream, gint64 ns)
{
  gint64 *clock_ns = &account->stream_ns[stream];

  *clock_ns = MAX (*clock_ns, ns);
  return *clock_ns;
}

static void
count_op (Account *account, guint32 index)
{
  SsOpEvent *op = &g_array_index (account->recording->ops, SsOpEvent, index);
  SsStepRecord *step = step_now (account);

  op->phase = account->recording->phases->len - 1;
  move_clock (account, op->stream, op->end_ns);
  if (step != NULL && (op->op_class == SS_OP_MATMUL || op->op_class == SS_OP_ATTENTION))
    {
      step->model_flops += op->model_flops;
      step->hardware_flops += op->flops;
    }
}

static void
count_ops_until (Account *account, guint32 n_ops)
{
  while (account->next_op < n_ops)
    count_op (account, account->next_op++);
}

/* Loading takes no time.  An allocation happens where its op starts, a release where the op
 * issued before it ends, each on the event's own stream; what the host did earlier is never
 * later. */
static gint64
stream_time (Account *account, SsMemoryEvent *event)
{
  const GArray *ops = account->recording->ops;
  const SsOpEvent *op;

  /* the op that was to come next when memory ran out */
  if (event->op >= ops->len)
    event->op = G_MAXUINT32;
  if (event->op == G_MAXUINT32 || account->phase == SS_PHASE_LOAD)
    return move_clock (account, event->stream, 0);
  op = &g_array_index (ops, SsOpEvent, event->op);
  /* storage of one stream for an op of another */
  if (op->stream != event->stream)
    return move_clock (account, event->stream, 0);
  return move_clock (account, event->stream,
                     event->action == SS_EVENT_ALLOC ? op->start_ns : op->end_ns);
}

static void
count_event (Account *account, guint32 index)
{
  SsRecording *recording = account->recording;
  SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, index);

  /* the flush before the second try has waited for the device */
  if (event->action == SS_EVENT_OOM)
    count_ops_until (account, recording->ops->len);
  event->stream_ns = stream_time (account, event);
  event->device_ns = account->stream_ns[SS_STREAM_COMPUTE];
  event->phase = recording->phases->len - 1;
  count_memory (account, event);
  if (event->action == SS_EVENT_ALLOC && event->category == SS_CATEGORY_OPTIMIZER_STATES
      && account->phase == SS_PHASE_OPTIMIZER && phase_now (account)->step == 1)
    recording->state_bytes_new += event->block_bytes;
  if (event->action == SS_EVENT_OOM)
    count_out_of_memory (account, event);
}

/* Everything that had been recorded when the host was there.  The ops move the clock after the
 * events: an event knows its own op, and a later one may have ended by then. */
static void
count_until (Account *account, guint32 n_events, guint32 n_ops)
{
  while (account->next_event < n_events)
    count_event (account, account->next_event++);
  count_ops_until (account, n_ops);
}

/* ---- marks ---- */

static void
meet_phase (Account *account, const SsMark *mark)
{
  const SsPhaseRecord *now = phase_now (account);

  /* load begins by itself */
  if (mark->phase == SS_PHASE_LOAD && now->step == 0)
    return;
  end_phase (account, TRUE);
  if (mark->step != now->step)
    {
      end_step (account, TRUE);
      begin_step (account, mark->step);
    }
  begin_phase (account, (SsPhase) mark->phase, mark->step, mark->micro_batch);
}

static void
meet_layer (Account *account, const SsMark *mark)
{
  SsLayerRecord record = {
    .step = mark->step,
    .micro_batch = mark->micro_batch,
    .is_backward = mark->type == SS_MARK_BACKWARD_BEGIN,
    .layer = mark->layer,
    .allocated_bytes = account->curve.now.allocated_bytes,
    .device_ns = account->stream_ns[SS_STREAM_COMPUTE],
  };

  g_array_append_val (account->recording->layers, record);
}

static void
meet_mark (Account *account, const SsMark *mark)
{
  SsStepRecord *step = step_now (account);

  switch ((SsMarkType) mark->type)
    {
    case SS_MARK_PHASE:
      meet_phase (account, mark);
      break;
    case SS_MARK_FORWARD_END:
    case SS_MARK_BACKWARD_BEGIN:
      meet_layer (account, mark);
      break;
    case SS_MARK_SAVED:
      if (step != NULL && mark->micro_batch == account->n_micro_batches)
        step->saved_activation_bytes = mark->bytes;
      break;
    case SS_MARK_END:
      break;
    }
}

void
ss_account (SsRecording     *recording,
            const SsProgram *program,
            const GArray    *marks,
            guint            n_micro_batches)
{
  Account account
      = { .recording = recording, .program = program, .n_micro_batches = n_micro_batches };

  ss_memory_curve_init (&account.curve);
  begin_phase (&account, SS_PHASE_LOAD, 0, 0);
  recording->peak
      = (SsPeakRecord) { .phase = phase_now (&account)->name, .layer = -1, .op = G_MAXUINT32 };
  for (guint i = 0; i < marks->len; i++)
    {
      const SsRankMark *met = &g_array_index (marks, SsRankMark, i);

      count_until (&account, met->n_events, met->n_ops);
      meet_mark (&account, ss_program_mark (program, met->mark_id));
    }
  count_until (&account, recording->memory->len, recording->ops->len);
  end_phase (&account, !recording->is_oom);
  end_step (&account, !recording->is_oom);
  recording->peak_reserved_bytes = account.curve.peak_reserved_bytes;
  ss_count_streams (recording);
}

void
ss_account_unwind (SsRecording *recording, const GArray *unwound)
{
  GArray *phases = recording->phases;
  SsPhaseRecord *phase = &g_array_index (phases, SsPhaseRecord, phases->len - 1);
  SsPeakRecord *after = &recording->oom.after;
  g_autoptr (GHashTable) ids = g_hash_table_new (NULL, NULL);

  *after = recording->oom.at;
  for (guint i = 0; i < unwound->len; i++)
    g_hash_table_add (ids, GUINT_TO_POINTER (g_array_index (unwound, guint32, i)));
  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      if (event->action != SS_EVENT_ALLOC
          || !g_hash_table_contains (ids, GUINT_TO_POINTER (event->storage_id)))
        continue;
      after->allocated_bytes -= event->block_bytes;
      after->by_category[event->category] -= event->block_bytes;
    }
  phase->end_allocated_bytes = after->allocated_bytes;
}
