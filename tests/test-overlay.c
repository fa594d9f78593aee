/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "output/figures/overlay.h"
#include "output/formats/snapshot.h"
#include "recording-fixture.h"

/* The fixtures' blocks are of whole MiB in segments that are never split: as PyTorch's would be if
 * it rounded nothing.  What is laid over each other here is built event by event. */
static SsRealRun *
real_of (const SsRecording *recording)
{
  SsRealRun *run = ss_real_run_new ("memory snapshot");

  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);
      SsRealEvent real = { .time_us = i, .bytes = event->bytes,
                           .allocated_bytes = event->allocated_bytes,
                           .reserved_bytes = event->reserved_bytes };

      real.action = event->action == SS_EVENT_ALLOC ? SS_REAL_ALLOC
                    : event->action == SS_EVENT_FREE ? SS_REAL_FREE : SS_REAL_OOM;
      if (event->action == SS_EVENT_ALLOC || event->action == SS_EVENT_FREE
          || event->action == SS_EVENT_OOM)
        g_array_append_val (run->events, real);
    }
  return run;
}

/* The time of the first event of a phase of the recording. */
static gint64
phase_time (const SsRecording *recording, guint phase)
{
  for (guint i = 0; i < recording->memory->len; i++)
    if (g_array_index (recording->memory, SsMemoryEvent, i).phase >= phase)
      return i;
  return recording->memory->len;
}

static void
name_optimizers (const SsRecording *recording, SsRealRun *run)
{
  for (guint i = 0; i < recording->phases->len; i++)
    if (g_str_equal (g_array_index (recording->phases, SsPhaseRecord, i).name, "optimizer"))
      ss_real_run_add_span (run, "Optimizer.step#AdamW.step", phase_time (recording, i),
                            phase_time (recording, i + 1));
  ss_real_run_place_spans (run);
}

static void
expect_contains (const char *text, const char *wanted)
{
  cr_expect (ne (ptr, strstr (text, wanted), NULL), "no \"%s\" in:\n%s", wanted, text);
}

Test (overlay, a_run_over_itself_is_one)
{
  const SsFixture *fixtures[] = { &ss_fixture_fits, &ss_fixture_oom };

  for (guint i = 0; i < G_N_ELEMENTS (fixtures); i++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (fixtures[i]);
      g_autoptr (SsRealRun) run = real_of (recording);
      g_autoptr (SsOverlay) overlay = NULL;
      g_autofree char *text = NULL;

      name_optimizers (recording, run);
      overlay = ss_overlay_new (recording, run, 1);
      text = ss_overlay_table (overlay, "run.pickle", SS_MEMORY_GIB);
      expect_contains (text, "The same to the byte in every phase");
      expect_contains (text, "requests have the same size in the same order.\nAfter each");
      cr_expect (eq (uint, overlay->n_anchors, recording->is_oom ? 2 : 4));
      cr_expect (eq (uint, overlay->n_same_requests, overlay->n_real_requests));
      cr_expect (eq (uint, overlay->phases->len, recording->phases->len));
    }
}

Test (overlay, without_names_it_goes_by_sequence_and_says_so)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsRealRun) run = real_of (recording);
  g_autoptr (SsOverlay) overlay = ss_overlay_new (recording, run, 1);
  g_autofree char *how = ss_overlay_alignment (overlay);

  cr_expect (eq (uint, overlay->pieces->len, 1));
  expect_contains (how, "by sequence");
}

/* One more request and its release in the first forward, of 3 MiB when 13 are there: phases after
 * the optimizer's name are laid right again. */
Test (overlay, what_one_has_more_moves_nothing_behind_the_next_name)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsRealRun) run = real_of (recording);
  g_autoptr (SsOverlay) overlay = NULL;
  SsRealEvent extra[2] = { 0 };
  const SsRealEvent *before;
  g_autofree char *text = NULL;

  before = &g_array_index (run->events, SsRealEvent, 9);
  extra[0] = extra[1] = *before;
  extra[0].action = SS_REAL_ALLOC;
  extra[1].action = SS_REAL_FREE;
  extra[0].bytes = extra[1].bytes = 3 * SS_MIB + 7;
  extra[0].allocated_bytes += 3 * SS_MIB + 512;
  g_array_insert_vals (run->events, 10, extra, 2);
  name_optimizers (recording, run);
  overlay = ss_overlay_new (recording, run, 1);
  text = ss_overlay_table (overlay, "run.pickle", SS_MEMORY_GIB);
  cr_expect (eq (uint, overlay->n_real_requests, overlay->n_sim_requests + 1));
  cr_expect (eq (uint, overlay->n_same_requests, overlay->n_sim_requests));
  cr_assert (ne (uint, overlay->first_real, SS_OVERLAY_NONE));
  cr_expect (eq (uint, overlay->first_real, 10));
  expect_contains (text, "The first that differs: the real run asks for 3145735 bytes");
  for (guint i = 4; i < overlay->phases->len; i++)
    {
      const SsOverlayPhase *phase = &g_array_index (overlay->phases, SsOverlayPhase, i);

      cr_expect (eq (u64, phase->sim_peak_bytes, phase->real_peak_bytes), "phase %u", i);
      cr_expect (eq (u64, phase->sim_end_bytes, phase->real_end_bytes), "phase %u", i);
    }
}

/* The real run dies in step 2; the simulated one has room to the end. */
Test (overlay, a_real_run_that_died_is_compared_up_to_there)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsRecording) dead = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsRealRun) run = real_of (dead);
  g_autoptr (SsOverlay) overlay = NULL;
  g_autofree char *text = NULL;

  name_optimizers (dead, run);
  overlay = ss_overlay_new (recording, run, 1);
  text = ss_overlay_table (overlay, "run.pickle", SS_MEMORY_GB);
  cr_expect (overlay->is_real_oom);
  expect_contains (text, "until it ran out of memory");
  expect_contains (text, "< the real run ends in this phase");
  expect_contains (text, "the real run has nothing of it");
}

Test (overlay, a_file_that_begins_with_step_2_is_laid_over_step_2)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsRealRun) run = real_of (recording);
  g_autoptr (SsOverlay) overlay = NULL;
  guint first = 0;

  while (g_array_index (run->events, SsRealEvent, first).time_us < phase_time (recording, 6))
    first++;
  run->start_allocated_bytes = g_array_index (run->events, SsRealEvent, first - 1).allocated_bytes;
  run->start_reserved_bytes = g_array_index (run->events, SsRealEvent, first - 1).reserved_bytes;
  g_array_remove_range (run->events, 0, first);
  overlay = ss_overlay_new (recording, run, 2);
  cr_assert (eq (uint, overlay->phases->len, 5));
  for (guint i = 0; i < overlay->phases->len; i++)
    {
      const SsOverlayPhase *phase = &g_array_index (overlay->phases, SsOverlayPhase, i);

      cr_expect (phase->has_real);
      cr_expect (eq (u64, phase->sim_peak_bytes, phase->real_peak_bytes), "phase %u", i);
      cr_expect (eq (u64, phase->sim_end_bytes, phase->real_end_bytes), "phase %u", i);
    }
}

/* Runs of all shapes over each other: figures or none, and a picture that gnuplot can draw. */
Test (overlay, anything_can_be_laid_over_anything)
{
  for (guint i = 0; i < ss_n_fixture_gallery; i++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_gallery[i]);
      g_autoptr (SsRecording) other
        = ss_fixture_record (&ss_fixture_gallery[(i + 5) % ss_n_fixture_gallery]);
      g_autoptr (SsRealRun) run = real_of (other);
      g_autoptr (SsOverlay) overlay = NULL;
      g_autoptr (SsCanvas) canvas = NULL;
      g_autofree char *text = NULL, *script = NULL;

      if (i % 2 == 0)
        name_optimizers (other, run);
      overlay = ss_overlay_new (recording, run, 1 + i % 3);
      text = ss_overlay_table (overlay, "a\nb", SS_MEMORY_GIB);
      canvas = ss_overlay_figure (overlay, "a\nb", SS_MEMORY_GIB);
      script = ss_canvas_script (canvas, SS_CANVAS_SVG);
      cr_expect (eq (ptr, strstr (script, "nan"), NULL));
      cr_expect (eq (ptr, strstr (script, "inf"), NULL));
    }
}
