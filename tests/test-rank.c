/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "hw/op-time.h"
#include "ops/core/kind.h"
#include "ops/core/tape.h"
#include "sim/account.h"
#include "sim/run.h"

/* A kernel of the test's own: makes bytes (attribute 0) with scratch (attribute 1) in a layer. */
static void
infer (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = ss_tensor (SS_U8, 1, c->attribute);
}

static void
scratch (SsCall *c)
{
  if (c->attribute[1] > 0)
    ss_call_scratch (c, (guint64) c->attribute[1]);
}

static void
cost (const SsCall *c, SsCost *cost_out)
{
  cost_out->op_class = c->attribute[2] > 0 ? SS_OP_MATMUL : SS_OP_MEMORY;
  cost_out->flops = cost_out->model_flops = (guint64) c->attribute[2];
  for (guint i = 0; i < 4; i++)
    cost_out->shape[i] = 1024;
}

static const SsOpKind make
    = { .name = "test::make", .infer = infer, .scratch = scratch, .cost = cost };

static SsValue *
run_make (SsTape *t, gint64 bytes, gint64 scratch_bytes, gint64 flops)
{
  return ss_keep (ss_record (t, &make, SS_ATTRIBUTES (bytes, scratch_bytes, flops), 0, NULL));
}

/* Load 1000; then in each of `n_steps`: forward makes 500 (scratch 300) in layer 0 and 200 outside,
 * loss nothing, backward drops both and makes 700 that stay until zero_grad; the first optimizer
 * phase makes 400 that stay.
 *   step 1: forward 1000, peak 1800, end 1700; backward 1700, 1000, 1700; optimizer 2100; end 1400
 *   step 2: forward 1400, peak 2200, end 2100; backward 1400, 2100; optimizer 2100; end 1400 */
static SsProgram *
train (guint n_steps)
{
  SsTarget target
      = { .compute_capability = 90, .n_multiprocessors = 132, .threads_per_multiprocessor = 2048 };
  SsTape *t = ss_tape_new (&target);
  g_autoptr (SsValue) state = NULL;
  g_autoptr (SsValue) weight = NULL;
  g_autoptr (GError) error = NULL;
  SsProgram *program;

  ss_tape_begin_phase (t, SS_PHASE_LOAD, 0, 0);
  weight = ss_parameter (t, SS_U8, SS_DIMS (1000), FALSE);
  for (guint step = 1; step <= n_steps; step++)
    {
      g_autoptr (SsValue) kept = NULL;
      g_autoptr (SsValue) grad = NULL;

      ss_tape_begin_phase (t, SS_PHASE_FORWARD, step, 1);
      {
        g_autoptr (SsValue) outside = NULL;
        {
          SS_LAYER (t, "layer", 0);
          kept = run_make (t, 500, 300, 1000000);
          ss_tape_mark_forward_end (t, 0);
        }
        outside = run_make (t, 200, 0, 0);
        ss_tape_begin_phase (t, SS_PHASE_LOSS, step, 1);
        ss_tape_mark (t, SS_MARK_SAVED, 700);
        ss_tape_begin_phase (t, SS_PHASE_BACKWARD, step, 1);
        ss_drop (&kept);
      }
      grad = run_make (t, 700, 0, 2000000);
      ss_tape_begin_phase (t, SS_PHASE_OPTIMIZER, step, 0);
      if (state == NULL)
        {
          state = run_make (t, 400, 0, 0);
          ss_value_claim (state, SS_CATEGORY_OPTIMIZER_STATES);
        }
      ss_tape_begin_phase (t, SS_PHASE_ZERO_GRAD, step, 0);
      ss_drop (&grad);
    }
  ss_tape_finish (t);
  ss_drop (&state);
  ss_drop (&weight);
  program = ss_tape_seal (t, &error);
  cr_assert (ne (ptr, program, NULL), "%s", error != NULL ? error->message : "");
  return program;
}

typedef struct
{
  const SsProgram *program;
  guint64 capacity_bytes;
  const char *allocator;
} Part;

#define MAX_PARTS 2

/* Each part a rank of one run. */
static void
play (const Part *parts, guint n, SsRecording **recordings)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsDevice) device = ss_device_load ("h100-sxm-80gb", &error);
  g_autoptr (SsRun) run = ss_run_new ();
  const SsRank *ranks[MAX_PARTS];

  cr_assert (ne (ptr, device, NULL), "%s", error != NULL ? error->message : "");
  for (guint i = 0; i < n; i++)
    {
      SsRankSettings settings = {
        .program = parts[i].program,
        .device = device,
        .allocator = ss_allocator_class_find (parts[i].allocator, NULL),
        .settings = { .capacity_bytes = parts[i].capacity_bytes },
      };

      recordings[i] = ss_recording_new ();
      recordings[i]->tokens_per_step = 100;
      recordings[i]->peak_flop_per_s = 1e12;
      ranks[i] = ss_run_add (run, &settings, recordings[i], &error);
      cr_assert (ne (ptr, (void *) ranks[i], NULL), "%s", error != NULL ? error->message : "");
    }
  ss_run_play (run);
  for (guint i = 0; i < n; i++)
    ss_account (recordings[i], parts[i].program, ss_rank_marks (ranks[i]), 1);
}

static SsRecording *
replay (const SsProgram *program, guint64 capacity_bytes, const char *allocator)
{
  Part part = { program, capacity_bytes, allocator };
  SsRecording *recording;

  play (&part, 1, &recording);
  return recording;
}

static const SsPhaseRecord *
phase_at (const SsRecording *recording, guint i)
{
  cr_assert (lt (uint, i, recording->phases->len));
  return &g_array_index (recording->phases, SsPhaseRecord, i);
}

static const SsStepRecord *
step_at (const SsRecording *recording, guint i)
{
  cr_assert (lt (uint, i, recording->steps->len));
  return &g_array_index (recording->steps, SsStepRecord, i);
}

Test (rank, phases_hold_what_the_program_holds)
{
  static const struct
  {
    const char *name;
    guint step, micro_batch;
    guint64 start, peak, end;
  } rows[] = {
    { "load", 0, 0, 0, 1000, 1000 },
    { "forward", 1, 1, 1000, 1800, 1700 },
    { "loss", 1, 1, 1700, 1700, 1700 },
    { "backward", 1, 1, 1700, 1700, 1700 },
    { "optimizer", 1, 0, 1700, 2100, 2100 },
    { "zero_grad", 1, 0, 2100, 2100, 1400 },
    { "forward", 2, 1, 1400, 2200, 2100 },
    { "loss", 2, 1, 2100, 2100, 2100 },
    { "backward", 2, 1, 2100, 2100, 2100 },
    { "optimizer", 2, 0, 2100, 2100, 2100 },
    { "zero_grad", 2, 0, 2100, 2100, 1400 },
  };
  g_autoptr (SsProgram) program = train (2);
  g_autoptr (SsRecording) recording = replay (program, G_MAXINT64, "exact");

  cr_assert (eq (uint, recording->phases->len, G_N_ELEMENTS (rows)));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const SsPhaseRecord *phase = phase_at (recording, i);

      cr_expect (eq (str, (char *) phase->name, (char *) rows[i].name), "row %u", i);
      cr_expect (eq (uint, phase->step, rows[i].step), "row %u", i);
      cr_expect (eq (uint, phase->micro_batch, rows[i].micro_batch), "row %u", i);
      cr_expect (eq (u64, phase->start_allocated_bytes, rows[i].start), "row %u", i);
      cr_expect (eq (u64, phase->peak_allocated_bytes, rows[i].peak), "row %u", i);
      cr_expect (eq (u64, phase->end_allocated_bytes, rows[i].end), "row %u", i);
      cr_expect (phase->is_complete, "row %u", i);
      if (i > 0)
        cr_expect (eq (i64, phase->start_ns, phase_at (recording, i - 1)->end_ns), "row %u", i);
    }
}

/* 2200 bytes: the scratch of step 2's first op */
Test (rank, peak_is_the_first_highest_moment_of_the_run)
{
  g_autoptr (SsProgram) program = train (3);
  g_autoptr (SsRecording) recording = replay (program, G_MAXINT64, "exact");
  guint64 sum = 0;

  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    sum += recording->peak.by_category[i];
  cr_expect (eq (u64, recording->peak.allocated_bytes, 2200));
  cr_expect (eq (u64, sum, 2200));
  cr_expect (eq (u64, recording->peak.by_category[SS_CATEGORY_PARAMETERS], 1000));
  cr_expect (eq (u64, recording->peak.by_category[SS_CATEGORY_OPTIMIZER_STATES], 400));
  cr_expect (eq (uint, recording->peak.step, 2));
  cr_expect (eq (int, recording->peak.layer, 0));
  cr_expect (eq (str, (char *) recording->peak.phase, "forward"));
  cr_expect (eq (u32, recording->peak.op, 4));
  cr_expect (eq (u64, recording->state_bytes_new, 400));
}

/* blocks of 512 bytes: 1000 -> 1024, 500 -> 512, 300 -> 512, 400 -> 512, in one segment of 2 MiB */
Test (rank, an_allocators_blocks_and_segments_are_what_counts)
{
  g_autoptr (SsProgram) program = train (2);
  g_autoptr (SsRecording) recording = replay (program, G_MAXINT64, "caching");
  const SsMemoryEvent *first = &g_array_index (recording->memory, SsMemoryEvent, 0),
                      *second = first + 1;

  cr_expect (eq (u64, recording->peak.allocated_bytes, 1024 + 3 * 512));
  cr_expect (eq (u64, recording->peak_reserved_bytes, 2097152));
  cr_expect (eq (int, first->action, SS_EVENT_SEGMENT_ALLOC));
  cr_expect (eq (u64, first->bytes, 2097152));
  cr_expect (eq (u64, first->allocated_bytes, 0));
  cr_expect (eq (u64, first->reserved_bytes, 2097152));
  cr_expect (eq (int, second->action, SS_EVENT_ALLOC));
  cr_expect (eq (u64, second->bytes, 1000));
  cr_expect (eq (u64, second->block_bytes, 1024));
}

/* two ops in forward: the first starts when it has been issued and launched; the second when it
 * has been issued, or when the first has ended, whichever is later */
Test (rank, an_op_starts_after_its_launch_and_the_op_before)
{
  g_autoptr (SsDevice) device = ss_device_load ("h100-sxm-80gb", NULL);
  g_autoptr (SsProgram) program = train (1);
  g_autoptr (SsRecording) recording = replay (program, G_MAXINT64, "exact");
  const SsOpEvent *a = &g_array_index (recording->ops, SsOpEvent, 0), *b = a + 1;
  gint64 issue_a = (gint64) (ss_op_issue_s (ss_program_op (program, 0), device) * 1e9 + 0.5);
  gint64 issue_b = (gint64) (ss_op_issue_s (ss_program_op (program, 1), device) * 1e9 + 0.5);
  gint64 launch = (gint64) (ss_device_host (device)->launch_latency_s * 1e9 + 0.5);
  gint64 length_a = (gint64) (ss_op_time_s (ss_program_op (program, 0), device) * 1e9 + 0.5);

  cr_expect (eq (i64, a->issue_ns, 0));
  cr_expect (eq (i64, a->start_ns, issue_a + launch));
  cr_expect (eq (i64, a->end_ns, a->start_ns + length_a));
  cr_expect (eq (i64, b->issue_ns, issue_a));
  cr_expect (eq (i64, b->start_ns, MAX (issue_a + issue_b + launch, a->end_ns)));
  cr_expect (eq (int, a->layer, 0));
  cr_expect (eq (int, b->layer, -1));
}

Test (rank, device_time_never_falls_and_follows_the_ops)
{
  g_autoptr (SsProgram) program = train (3);
  g_autoptr (SsRecording) recording = replay (program, G_MAXINT64, "exact");
  gint64 device_ns = 0, host_ns = 0;

  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      cr_expect (ge (i64, event->device_ns, device_ns));
      cr_expect (ge (i64, event->host_ns, host_ns));
      if (event->action == SS_EVENT_ALLOC && event->op != G_MAXUINT32 && event->phase > 0)
        cr_expect (ge (i64, event->device_ns,
                       g_array_index (recording->ops, SsOpEvent, event->op).start_ns));
      device_ns = event->device_ns;
      host_ns = event->host_ns;
    }
  cr_expect (eq (i64, phase_at (recording, 0)->end_ns, 0));
  cr_expect (eq (i64, phase_at (recording, recording->phases->len - 1)->end_ns,
                 g_array_index (recording->ops, SsOpEvent, recording->ops->len - 1).end_ns));
}

/* 3,000,000 flops in a step: 1,000,000 forward and 2,000,000 backward */
Test (rank, a_step_knows_its_flops_and_what_is_saved)
{
  g_autoptr (SsProgram) program = train (2);
  g_autoptr (SsRecording) recording = replay (program, G_MAXINT64, "exact");
  const SsStepRecord *first = step_at (recording, 0), *second = step_at (recording, 1);
  double seconds = (double) (second->end_ns - second->start_ns) * 1e-9;

  cr_assert (eq (uint, recording->steps->len, 2));
  cr_expect (eq (u64, first->model_flops, 3000000));
  cr_expect (eq (u64, first->hardware_flops, 3000000));
  cr_expect (eq (u64, first->saved_activation_bytes, 700));
  cr_expect (eq (u64, first->end_of_forward_allocated_bytes, 1700));
  cr_expect (eq (u64, first->peak_allocated_bytes, 2100));
  cr_expect (eq (str, (char *) phase_at (recording, first->peak_phase)->name, "optimizer"));
  cr_expect (eq (i64, second->start_ns, first->end_ns));
  cr_expect (epsilon_eq (dbl, second->mfu, 3e6 / (seconds * 1e12), 1e-12));
  cr_expect (epsilon_eq (dbl, second->tokens_per_s, 100 / seconds, 1e-6));
  cr_expect (eq (uint, recording->layers->len, 2));
  cr_expect (eq (u64, g_array_index (recording->layers, SsLayerRecord, 1).allocated_bytes, 1900));
}

/* 2150 bytes: step 1 needs 2100; in step 2 forward stands at 1900 and wants 300 of scratch */
Test (rank, out_of_memory_ends_the_run_where_it_happens)
{
  g_autoptr (SsProgram) program = train (3);
  g_autoptr (SsRecording) recording = replay (program, 2150, "exact");
  const SsPhaseRecord *last = phase_at (recording, recording->phases->len - 1);
  const SsStepRecord *step = step_at (recording, recording->steps->len - 1);
  guint64 sum = 0;

  cr_assert (recording->is_oom);
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    sum += recording->oom.at.by_category[i];
  cr_expect (eq (uint, recording->oom.at.step, 2));
  cr_expect (eq (uint, recording->oom.at.micro_batch, 1));
  cr_expect (eq (str, (char *) recording->oom.at.phase, "forward"));
  cr_expect (eq (int, recording->oom.at.layer, 0));
  cr_expect (eq (str, (char *) recording->oom.op_name, "test::make"));
  cr_expect (eq (str, recording->oom.tensor, "layer.0"));
  cr_expect (eq (u64, recording->oom.tensor_bytes, 300));
  cr_expect (eq (u64, recording->oom.at.allocated_bytes, 1900));
  cr_expect (eq (u64, sum, 1900));
  cr_expect (eq (u64, recording->oom.free_bytes, 250));
  cr_expect (eq (u64, recording->peak.allocated_bytes, 2100));
  cr_expect (eq (uint, recording->peak.step, 1));
  cr_expect (eq (str, (char *) last->name, "forward"));
  cr_expect (not (last->is_complete));
  cr_expect (eq (u64, last->end_allocated_bytes, 1900));
  cr_expect (not (step->is_complete));
  cr_expect (eq (u64, step->end_of_forward_allocated_bytes, G_MAXUINT64));
  cr_expect (eq (u64, step->saved_activation_bytes, G_MAXUINT64));
  cr_expect (lt (dbl, step->mfu, 0));
  cr_expect (eq (uint, recording->steps->len, 2));
}

/* 900 bytes cannot even hold the parameter */
Test (rank, out_of_memory_while_loading_is_in_step_0)
{
  g_autoptr (SsProgram) program = train (1);
  g_autoptr (SsRecording) recording = replay (program, 900, "exact");

  cr_assert (recording->is_oom);
  cr_expect (eq (uint, recording->oom.at.step, 0));
  cr_expect (eq (str, (char *) recording->oom.at.phase, "load"));
  cr_expect (eq (u64, recording->oom.tensor_bytes, 1000));
  cr_expect (eq (uint, recording->steps->len, 0));
  cr_expect (eq (u64, recording->peak.allocated_bytes, 0));
}

/* ---- two ranks ---- */

static void
expect_same_memory (const GArray *a, const GArray *b)
{
  cr_assert (eq (uint, a->len, b->len));
  for (guint i = 0; i < a->len; i++)
    {
      const SsMemoryEvent *x = &g_array_index (a, SsMemoryEvent, i);
      const SsMemoryEvent *y = &g_array_index (b, SsMemoryEvent, i);

      cr_expect (eq (i64, x->host_ns, y->host_ns), "event %u", i);
      cr_expect (eq (i64, x->stream_ns, y->stream_ns), "event %u", i);
      cr_expect (eq (i64, x->device_ns, y->device_ns), "event %u", i);
      cr_expect (eq (uint, x->action, y->action), "event %u", i);
      cr_expect (eq (u64, x->address, y->address), "event %u", i);
      cr_expect (eq (u64, x->block_bytes, y->block_bytes), "event %u", i);
      cr_expect (eq (u64, x->allocated_bytes, y->allocated_bytes), "event %u", i);
      cr_expect (eq (u64, x->reserved_bytes, y->reserved_bytes), "event %u", i);
      cr_expect (eq (u32, x->op, y->op), "event %u", i);
    }
}

static void
expect_same (const SsRecording *a, const SsRecording *b)
{
  expect_same_memory (a->memory, b->memory);
  cr_assert (eq (uint, a->ops->len, b->ops->len));
  for (guint i = 0; i < a->ops->len; i++)
    {
      const SsOpEvent *x = &g_array_index (a->ops, SsOpEvent, i);
      const SsOpEvent *y = &g_array_index (b->ops, SsOpEvent, i);

      cr_expect (eq (i64, x->issue_ns, y->issue_ns), "op %u", i);
      cr_expect (eq (i64, x->start_ns, y->start_ns), "op %u", i);
      cr_expect (eq (i64, x->end_ns, y->end_ns), "op %u", i);
    }
  cr_expect (eq (uint, a->phases->len, b->phases->len));
  cr_expect (eq (uint, a->steps->len, b->steps->len));
  cr_expect (eq (int, a->is_oom, b->is_oom));
  cr_expect (eq (u64, a->peak.allocated_bytes, b->peak.allocated_bytes));
}

/* The second runs out of memory in its step 2, while the first goes on. */
Test (rank, two_on_one_clock_record_what_each_does_alone)
{
  g_autoptr (SsProgram) two_steps = train (2);
  g_autoptr (SsProgram) three_steps = train (3);
  Part parts[] = { { two_steps, 1 << 30, "caching" }, { three_steps, 2150, "exact" } };
  SsRecording *together[G_N_ELEMENTS (parts)];

  play (parts, G_N_ELEMENTS (parts), together);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autoptr (SsRecording) alone = NULL;

      play (&parts[i], 1, &alone);
      cr_expect (eq (int, alone->is_oom, i == 1));
      cr_expect (gt (uint, alone->ops->len, 0));
      expect_same (alone, together[i]);
      ss_recording_unref (together[i]);
    }
}
