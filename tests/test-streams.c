/* SPDX-License-Identifier: MIT
 *
 * Programs over several streams, against the caching allocator and the clock.  A tensor of 16 MiB
 * has a segment of its own (PyTorch: from 10 MiB on), so that an order of events tells which block
 * a request got: S0 segment 0 is asked of the driver, A0 its block is given out, F0 given back, s0
 * the segment returned to the driver.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ops/core/kind.h"
#include "ops/core/stream.h"
#include "sim/account.h"
#include "sim/run.h"

#define TENSOR_BYTES (16 << 20)
#define LONG_BYTES G_GUINT64_CONSTANT (3000000000)   /* about a millisecond of the H100's memory */

static void
infer (SsCall *c)
{
  c->n_out = c->attribute[0] > 0;
  c->out[0] = ss_tensor (SS_U8, 1, c->attribute);
}

/* Attribute 1: bytes moved. */
static void
cost (const SsCall *c, SsCost *cost_out)
{
  cost_out->bytes = (guint64) c->attribute[1];
}

static const SsOpKind make = { .name = "test::make", .infer = infer, .cost = cost };
static const SsOpKind product
    = { .name = "test::product", .infer = infer, .cost = cost, .uses_workspace = TRUE };

static SsTape *
begin (guint64 workspace_bytes)
{
  SsTarget target = { .compute_capability = 90, .n_multiprocessors = 132,
                      .threads_per_multiprocessor = 2048, .workspace_bytes = workspace_bytes };
  SsTape *t = ss_tape_new (&target);

  ss_tape_begin_phase (t, SS_PHASE_FORWARD, 1, 1);
  return t;
}

static SsValue *
run_make (SsTape *t)
{
  return ss_keep (ss_record (t, &make, SS_ATTRIBUTES (TENSOR_BYTES, 0), 0, NULL));
}

/* An op on that stream, which makes nothing and takes about `bytes` of the memory's time. */
static void
run_on (SsTape *t, SsStreamId stream, guint64 bytes)
{
  SS_STREAM (t, stream);

  ss_discard (ss_record (t, &make, SS_ATTRIBUTES (1, (gint64) bytes), 0, NULL));
}

static SsRecording *
end (SsTape *t, guint64 capacity_bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsDevice) device = ss_device_load ("h100-sxm-80gb", &error);
  g_autoptr (SsRecording) recording = ss_recording_new ();
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRun) run = ss_run_new ();
  SsRank *rank;
  SsRankSettings config = { .device = device,
                            .allocator = ss_allocator_class_find ("caching", NULL),
                            .settings = { .capacity_bytes = capacity_bytes } };

  ss_tape_finish (t);
  config.program = program = ss_tape_seal (t, &error);
  cr_assert (ne (ptr, program, NULL), "%s", error != NULL ? error->message : "");
  rank = ss_run_add (run, &config, recording, &error);
  cr_assert (ne (ptr, rank, NULL));
  ss_run_play (run);
  ss_account (recording, program, ss_rank_marks (rank), 1);
  return g_steal_pointer (&recording);
}

/* Of the large tensors only. */
static char *
order_of (const SsRecording *recording)
{
  static const char letters[] = { 'A', 'F', 'S', 's' };
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (guint64));
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);
      guint k = 0;

      if (event->bytes != TENSOR_BYTES || event->action > SS_EVENT_SEGMENT_FREE)
        continue;
      while (k < segments->len && g_array_index (segments, guint64, k) != event->address)
        k++;
      if (k == segments->len)
        g_array_append_val (segments, event->address);
      g_string_append_printf (text, "%s%c%u", text->len > 0 ? " " : "", letters[event->action], k);
    }
  return g_string_free (text, FALSE);
}

static void
check_order (SsTape *t, guint64 capacity_bytes, const char *expected)
{
  g_autoptr (SsRecording) recording = end (t, capacity_bytes);
  g_autofree char *order = order_of (recording);

  cr_assert (eq (str, order, (char *) expected));
}

/* allocator.md, section 7: "ignored if s is the block's own stream". */
Test (streams, a_use_on_the_own_stream_delays_nothing)
{
  SsTape *t = begin (0);
  g_autoptr (SsValue) x = run_make (t);

  run_on (t, SS_STREAM_COMPUTE, LONG_BYTES);
  ss_value_use_on_stream (x, SS_STREAM_COMPUTE);
  ss_drop (&x);
  x = run_make (t);
  ss_drop (&x);
  check_order (t, G_MAXINT64, "S0 A0 F0 A0 F0");
}

/* "On free with uses non-empty: allocated_bytes falls, one event per stream is recorded, and the
 * block stays active (not reusable)", until a request after the event sees that it is done. */
Test (streams, a_block_used_elsewhere_is_held_until_that_stream_is_done)
{
  SsTape *t = begin (0);
  g_autoptr (SsValue) x = run_make (t), y = NULL;

  run_on (t, SS_STREAM_COPIES, LONG_BYTES);
  ss_value_use_on_stream (x, SS_STREAM_COPIES);
  ss_drop (&x);
  y = run_make (t);
  ss_event_synchronize (t, ss_event_record (t, SS_STREAM_COPIES));
  x = run_make (t);
  ss_drop (&y);
  ss_drop (&x);
  check_order (t, G_MAXINT64, "S0 A0 F0 S1 A1 A0 F1 F0");
}

/* "pending = number of streams": the gather is over, the copy is not. */
Test (streams, a_block_used_on_two_streams_waits_for_both)
{
  SsTape *t = begin (0);
  g_autoptr (SsValue) x = run_make (t), y = NULL;

  run_on (t, SS_STREAM_GATHER, 1);
  run_on (t, SS_STREAM_COPIES, LONG_BYTES);
  ss_value_use_on_stream (x, SS_STREAM_GATHER);
  ss_value_use_on_stream (x, SS_STREAM_COPIES);
  ss_drop (&x);
  ss_event_synchronize (t, ss_event_record (t, SS_STREAM_GATHER));
  y = run_make (t);
  ss_drop (&y);
  ss_event_synchronize (t, ss_event_record (t, SS_STREAM_COPIES));
  x = run_make (t);
  y = run_make (t);
  ss_drop (&y);
  ss_drop (&x);
  /* 0 is held at first; then both are free, and the lower of equal blocks is taken first */
  check_order (t, G_MAXINT64, "S0 A0 F0 S1 A1 F1 A0 A1 F1 F0");
}

/* "A flush waits for all": 16 MiB are held, and there is room for one segment only (and for the
 * small pool's 2 MiB). */
Test (streams, a_request_that_finds_no_room_waits_for_every_stream)
{
  SsTape *t = begin (0);
  g_autoptr (SsValue) x = run_make (t);

  run_on (t, SS_STREAM_COMPUTE, LONG_BYTES);
  run_on (t, SS_STREAM_COPIES, LONG_BYTES);
  ss_value_use_on_stream (x, SS_STREAM_COPIES);
  ss_drop (&x);
  x = run_make (t);
  ss_drop (&x);
  check_order (t, TENSOR_BYTES + (8 << 20), "S0 A0 F0 s0 S1 A1 F1");
}

Test (streams, a_block_serves_requests_of_its_own_stream_only)
{
  SsTape *t = begin (0);
  g_autoptr (SsValue) x = run_make (t);

  ss_drop (&x);
  {
    SS_STREAM (t, SS_STREAM_GATHER);
    x = run_make (t);
    ss_drop (&x);
  }
  x = run_make (t);
  ss_drop (&x);
  check_order (t, G_MAXINT64, "S0 A0 F0 S1 A1 F1 A0 F0");
}

Test (streams, each_thread_and_stream_has_a_workspace_of_its_own)
{
  static const SsStreamId streams[] = { SS_STREAM_COMPUTE, SS_STREAM_GATHER, SS_STREAM_COMPUTE };
  SsTape *t = begin (TENSOR_BYTES);

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    {
      SS_STREAM (t, streams[i]);

      ss_discard (ss_record (t, &product, SS_ATTRIBUTES (1, 0), 0, NULL));
    }
  check_order (t, G_MAXINT64, "S0 A0 S1 A1");
}

static const SsOpEvent *
op_at (const SsRecording *recording, guint i)
{
  return &g_array_index (recording->ops, SsOpEvent, i);
}

/* Two long ops on two streams run beside each other; the third waits for the first. */
Test (streams, work_waits_for_the_event_it_is_told_of_and_for_no_other)
{
  SsTape *t = begin (0);
  g_autoptr (SsRecording) recording = NULL;

  run_on (t, SS_STREAM_COMPUTE, LONG_BYTES);
  run_on (t, SS_STREAM_GATHER, 2 * LONG_BYTES);
  ss_stream_wait_stream (t, SS_STREAM_COPIES, SS_STREAM_COMPUTE);
  run_on (t, SS_STREAM_COPIES, 1);
  recording = end (t, G_MAXINT64);

  cr_assert (lt (i64, op_at (recording, 1)->start_ns, op_at (recording, 0)->end_ns));
  cr_assert (eq (i64, op_at (recording, 2)->start_ns, op_at (recording, 0)->end_ns));
  cr_assert (lt (i64, op_at (recording, 2)->start_ns, op_at (recording, 1)->end_ns));
}

/* The host reads nothing of compute, but waits for the copy before it issues the third. */
Test (streams, the_host_waits_for_one_stream)
{
  SsTape *t = begin (0);
  g_autoptr (SsRecording) recording = NULL;

  run_on (t, SS_STREAM_COMPUTE, 2 * LONG_BYTES);
  run_on (t, SS_STREAM_COPIES, LONG_BYTES);
  ss_event_synchronize (t, ss_event_record (t, SS_STREAM_COPIES));
  run_on (t, SS_STREAM_GATHER, 1);
  recording = end (t, G_MAXINT64);

  cr_assert (eq (i64, op_at (recording, 2)->issue_ns, op_at (recording, 1)->end_ns));
  cr_assert (lt (i64, op_at (recording, 2)->end_ns, op_at (recording, 0)->end_ns));
}

/* Memory follows the host: what the copies hold is told at the compute stream's time, and beside it
 * when its own stream was there. */
Test (streams, every_stream_has_a_clock_of_its_own)
{
  SsTape *t = begin (0);
  g_autoptr (SsValue) x = NULL;
  g_autoptr (SsRecording) recording = NULL;
  const SsMemoryEvent *last;

  run_on (t, SS_STREAM_COMPUTE, 2 * LONG_BYTES);
  {
    SS_STREAM (t, SS_STREAM_COPIES);
    x = ss_keep (ss_record (t, &make, SS_ATTRIBUTES (TENSOR_BYTES, LONG_BYTES), 0, NULL));
    ss_drop (&x);
  }
  recording = end (t, G_MAXINT64);
  last = &g_array_index (recording->memory, SsMemoryEvent, recording->memory->len - 1);

  cr_assert (eq (u8, last->action, SS_EVENT_FREE));
  cr_assert (eq (i64, last->stream_ns, op_at (recording, 1)->end_ns));
  cr_assert (eq (i64, last->device_ns, op_at (recording, 0)->end_ns));
}
