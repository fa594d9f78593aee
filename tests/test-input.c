/* SPDX-License-Identifier: MIT
 *
 * Batches that come from host memory: GPT-2 124M on an A100, 4 micro-batches of 8 x 1024 tokens in
 * a step, 65536 bytes of int64 each.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "scenario-fixture.h"
#include "sim/simulate.h"

#define BATCH_BYTES 65536

static SsScenario *
load (const char *first, const char *second)
{
  const char *overrides[] = { "model/layers=1", first, second, NULL };
  g_autofree char *path = fixture_source ("scenarios/gpt2-a100.xml");

  return fixture_load (path, overrides);
}

static SsRecording *
record (const char *first, const char *second)
{
  g_autoptr (SsScenario) scenario = load (first, second);
  SsRecording *recording = ss_simulate (scenario, NULL, NULL);

  cr_assert (ne (ptr, recording, NULL));
  return recording;
}

typedef struct
{
  GString *text;
  guint n_forwards;
  gboolean has_begun;            /* the first op of the model has run */
} Log;

static gboolean
log_allocate (const SsProgram *p, const SsInstruction *i, gpointer data)
{
  Log *log = data;

  if (!log->has_begun && ss_program_storage (p, i->index)->bytes == BATCH_BYTES)
    g_string_append_printf (log->text, "+%u ", i->stream);
  return TRUE;
}

static gboolean
log_release (const SsProgram *p, const SsInstruction *i, gpointer data)
{
  Log *log = data;

  if (!log->has_begun && ss_program_storage (p, i->index)->bytes == BATCH_BYTES)
    g_string_append_printf (log->text, "-%u ", i->stream);
  return TRUE;
}

static gboolean
log_run (const SsProgram *p, const SsInstruction *i, gpointer data)
{
  Log *log = data;

  if (ss_program_op (p, i->index)->op_class == SS_OP_HOST_COPY)
    g_string_append_printf (log->text, "copy%u ", i->stream);
  else
    log->has_begun = TRUE;
  return TRUE;
}

static gboolean
log_event (const SsProgram *p G_GNUC_UNUSED, const SsInstruction *i, gpointer data)
{
  static const char *const words[SS_N_INSTRUCTION_TYPES]
    = { [SS_RECORD_EVENT] = "record", [SS_WAIT_EVENT] = "wait", [SS_HOST_WAIT] = "host-wait",
        [SS_USE_ON_STREAM] = "use" };
  Log *log = data;

  if (!log->has_begun)
    g_string_append_printf (log->text, "%s%u ", words[i->type], i->stream);
  return TRUE;
}

/* From the second micro-batch's forward on. */
static gboolean
log_mark (const SsProgram *p, const SsInstruction *i, gpointer data)
{
  const SsMark *mark = ss_program_mark (p, i->index);
  Log *log = data;

  if (mark->type != SS_MARK_PHASE || mark->phase != SS_PHASE_FORWARD)
    return TRUE;
  log->has_begun = FALSE;
  g_string_truncate (log->text, 0);
  return ++log->n_forwards < 3;
}

/* What happens between the mark of micro-batch 2's forward and the model's first op. */
static char *
second_batch (const char *first, const char *second)
{
  static const SsProgramVisitor visitor
    = { .allocate = log_allocate, .release = log_release, .run = log_run, .mark = log_mark,
        .record_event = log_event, .wait_event = log_event, .host_wait = log_event,
        .use_on_stream = log_event };
  g_autoptr (SsScenario) scenario = load (first, second);
  g_autoptr (SsProgram) program = ss_scenario_trace (scenario, FALSE, NULL);
  GString *text = g_string_new (NULL);
  Log log = { text, 0, TRUE };
  guint next = 0;

  while (log.n_forwards < 2)
    {
      const SsInstruction *i = ss_program_instruction (program, next++);

      if (i->type == SS_MARK)
        log_mark (program, i, &log);
    }
  while (!log.has_begun)
    {
      const SsInstruction *i = ss_program_instruction (program, next++);

      if (visitor.by_type[i->type])
        visitor.by_type[i->type] (program, i, &log);
    }
  return g_string_free (text, FALSE);
}

/* ids = batch.to (device): the new one is there before the name lets the old one go. */
Test (input, each_batch_is_copied_where_it_is_wanted)
{
  g_autofree char *pinned = second_batch ("input/pinned=yes", NULL);
  g_autofree char *pageable = second_batch ("input/pinned=no", NULL);
  g_autofree char *none = second_batch ("training/steps=2", NULL);

  cr_assert (eq (str, pinned, "+0 copy0 -0 "));
  cr_assert (eq (str, pageable, "+0 copy0 record0 host-wait0 -0 "));
  cr_assert (eq (str, none, ""));
}

/* data_prefetcher.next: wait_stream, record_stream, preload; then the loop's name is bound anew. */
Test (input, a_prefetched_batch_is_waited_for_and_the_next_one_ordered)
{
  g_autofree char *pinned = second_batch ("input/prefetch=yes", NULL);

  cr_assert (eq (str, pinned, "record4 wait0 use0 +4 copy4 -4 "));
}

static const SsStreamRecord *
stream_at (const SsRecording *recording, guint i)
{
  return &g_array_index (recording->streams, SsStreamRecord, i);
}

/* The one brought while loading takes no time; the other 7 of 2 steps take 10 us + 65536 B / 24.8
 * GB/s = 12.643 us each, and the compute stream has no work of its own for it. */
Test (input, copies_take_the_time_of_the_host_link)
{
  g_autoptr (SsRecording) resident = record ("training/steps=2", NULL);
  g_autoptr (SsRecording) prefetched = record ("input/prefetch=yes", NULL);

  cr_assert (eq (u32, resident->streams->len, 1));
  cr_assert (eq (u32, prefetched->streams->len, 2));
  cr_assert (eq (str, (char *) stream_at (prefetched, 1)->name, "copies"));
  cr_assert (eq (u32, stream_at (prefetched, 1)->n_ops, 8));
  cr_assert (eq (i64, stream_at (prefetched, 1)->busy_ns, 7 * 12643));
  cr_assert (eq (i64, stream_at (prefetched, 0)->busy_ns, stream_at (resident, 0)->busy_ns));
}

/* 4 batches stay on the device; or 1 is there at the peak, in backward; or that and the next. */
Test (input, fewer_batches_are_on_the_device)
{
  g_autoptr (SsRecording) resident = record ("training/steps=2", NULL);
  g_autoptr (SsRecording) copied = record ("input/pinned=yes", NULL);
  g_autoptr (SsRecording) prefetched = record ("input/prefetch=yes", NULL);

  cr_assert (eq (u64, resident->peak.allocated_bytes - copied->peak.allocated_bytes,
                 3 * BATCH_BYTES));
  cr_assert (eq (u64, resident->peak.allocated_bytes - prefetched->peak.allocated_bytes,
                 2 * BATCH_BYTES));
}

Test (input, a_device_whose_link_is_not_known_is_refused)
{
  const char *overrides[] = { "hardware/device=t4", "precision/recipe=fp32", "input/pinned=yes",
                              NULL };
  g_autofree char *path = fixture_source ("scenarios/gpt2-a100.xml");
  g_autoptr (GError) error = NULL;
  SsScenario *scenario = ss_scenario_load (path, overrides, &error);

  cr_assert (eq (ptr, scenario, NULL));
  cr_assert (ne (ptr, strstr (error->message, "has no host-link"), NULL), "%s", error->message);
}
