/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "output/figures/memory-timeline.h"
#include "output/figures/memory-figure.h"
#include "recording-fixture.h"
#include "sim/simulate.h"
#include "text-boxes.h"

Test (memory_figure, no_text_touches_another_or_leaves_the_page)
{
  SsOutputSettings gib = { SS_MEMORY_GIB }, gb = { SS_MEMORY_GB };

  for (guint i = 0; i < ss_n_fixture_gallery; i++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_gallery[i]);
      g_autoptr (SsCanvas) canvas = ss_memory_figure (recording, i % 2 ? &gb : &gib);
      g_autofree char *script = ss_canvas_script (canvas, SS_CANVAS_SVG);

      ss_expect_texts_clear (recording->scenario_name, script, 1280, 760);
    }
}

Test (memory_figure, shipped_scenarios_are_drawn_as_clearly)
{
  SsOutputSettings settings = { SS_MEMORY_GIB };
  g_autoptr (GDir) folder = g_dir_open (SS_SOURCE_DIR "/scenarios", 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *path = g_build_filename (SS_SOURCE_DIR "/scenarios", name, NULL);
      g_autofree char *script = NULL;
      g_autoptr (SsScenario) scenario = NULL;
      g_autoptr (SsRecording) recording = NULL;
      g_autoptr (SsCanvas) canvas = NULL;
      g_autoptr (GError) error = NULL;

      if (!g_str_has_suffix (name, ".xml"))
        continue;
      scenario = ss_scenario_load (path, NULL, &error);
      cr_assert (ne (ptr, scenario, NULL), "%s", error != NULL ? error->message : name);
      recording = ss_simulate (scenario, NULL, &error);
      cr_assert (ne (ptr, recording, NULL), "%s", error != NULL ? error->message : name);
      canvas = ss_memory_figure (recording, &settings);
      script = ss_canvas_script (canvas, SS_CANVAS_SVG);
      ss_expect_texts_clear (name, script, 1280, 760);
      n++;
    }
  cr_expect (gt (uint, n, 5));
}

Test (memory_figure, without_limit_it_is_drawn_too)
{
  SsOutputSettings settings = { SS_MEMORY_GIB };
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsCanvas) canvas = NULL;
  g_autofree char *script = NULL;

  recording->capacity_bytes = G_MAXINT64;
  canvas = ss_memory_figure (recording, &settings);
  script = ss_canvas_script (canvas, SS_CANVAS_SVG);
  ss_expect_texts_clear ("without limit", script, 1280, 760);
  cr_expect (eq (ptr, strstr (script, "'capacity"), NULL));
  cr_expect (ne (ptr, strstr (script, "'Without limit: peak 43.5 MiB, headroom 20.5 MiB"), NULL));
}

/* A recording nothing was written into: no event, no phase, no step. */
Test (memory_figure, an_empty_recording_is_an_empty_picture)
{
  SsOutputSettings settings = { SS_MEMORY_GIB };
  g_autoptr (SsRecording) recording = ss_recording_new ();
  g_autoptr (SsCanvas) canvas = NULL;
  g_autofree char *script = NULL;

  recording->capacity_bytes = 64 * SS_MIB;
  canvas = ss_memory_figure (recording, &settings);
  script = ss_canvas_script (canvas, SS_CANVAS_PNG);
  cr_expect (eq (ptr, strstr (script, "nan"), NULL));
  cr_expect (eq (ptr, strstr (script, "inf"), NULL));
}

Test (memory_figure, pictures_are_small_and_repeat_byte_for_byte)
{
  SsOutputSettings settings = { SS_MEMORY_GIB };
  g_autofree char *gnuplot = g_find_program_in_path ("gnuplot");

  if (gnuplot == NULL)
    cr_skip_test ("no gnuplot");
  for (guint i = 0; i < ss_n_fixture_gallery; i++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_gallery[i]);
      g_autoptr (GBytes) svg = ss_output_memory_svg.render (recording, &settings, NULL);
      g_autoptr (GBytes) again = ss_output_memory_svg.render (recording, &settings, NULL);
      g_autoptr (GBytes) png = ss_output_memory_png.render (recording, &settings, NULL);

      cr_assert (svg != NULL && again != NULL && png != NULL, "%s", recording->scenario_name);
      cr_expect (g_bytes_equal (svg, again), "%s", recording->scenario_name);
      cr_expect (lt (sz, g_bytes_get_size (svg), 300000), "%s", recording->scenario_name);
      cr_expect (eq (int, memcmp (g_bytes_get_data (png, NULL), "\x89PNG", 4), 0));
    }
}

/* A spike of 1 ns among 100,000 events in one column of 960 is the height of that column. */
Test (memory_course, a_peak_is_never_lost)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_gallery[4]);
  g_autoptr (SsMemoryTimeline) timeline = ss_memory_timeline_new (recording, 960);
  guint64 most = 0, context = recording->context_bytes;

  for (guint i = 0; i < timeline->n_columns; i++)
    {
      guint64 sum = 0;

      for (guint b = 0; b < SS_N_BANDS; b++)
        sum += timeline->columns[i].bands[b];
      cr_assert (eq (u64, sum, timeline->columns[i].total_bytes));
      cr_assert (ge (u64, timeline->columns[i].reserved_bytes, sum));
      most = MAX (most, sum);
    }
  cr_expect (eq (u64, most, recording->peak.allocated_bytes + context));
  ss_memory_timeline_coarsen (timeline, 7);
  most = 0;
  for (guint i = 0; i < timeline->n_columns; i++)
    most = MAX (most, timeline->columns[i].total_bytes);
  cr_expect (eq (u64, most, recording->peak.allocated_bytes + context));
}

/* In one column the whole run is at its peak, the loss of step 2, where no gradient is left; they
 * came to 8 MiB in between. */
Test (memory_course, the_most_of_a_band_needs_no_column_of_its_own)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsMemoryTimeline) timeline = ss_memory_timeline_new (recording, 1);

  cr_expect (eq (u64, timeline->columns[0].bands[SS_BAND_GRADIENTS], 0));
  cr_expect (eq (u64, timeline->most_bytes[SS_BAND_GRADIENTS], 8 * 1024 * 1024));
}

/* 3 ms are 30 ops of 0.1 ms: in six bins of 0.5 ms the first has ops 1, 3 and 5 of layer forwards
 * at 0.8. */
Test (memory_course, utilization_is_shared_among_bins)
{
  SsFixture fixture = ss_fixture_fits;
  g_autoptr (SsRecording) recording = NULL;
  double matmul[6], bandwidth[6];

  fixture.n_steps = 1;
  recording = ss_fixture_record (&fixture);
  cr_assert (eq (i64, ss_recording_end_ns (recording), 3000000));
  ss_utilization (recording, 3000000, 6, matmul, bandwidth);
  cr_expect (ieee_ulp_eq (dbl, matmul[0], 3 * 0.2 * (double) 0.8f, 8));
  cr_expect (ieee_ulp_eq (dbl, bandwidth[0], 0.2 * (3 * (double) 0.3f + 2 * (double) 0.9f), 8));
}
