/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "output/figures/sweep-figure.h"
#include "output/tables/sweep-files.h"
#include "output/tables/sweep-report.h"
#include "output/figures/text-width.h"

#define GIB (G_GUINT64_CONSTANT (1) << 30)

/* A row of so many GiB and ms; it fits up to 79 GiB. */
static void
add_row (SsSweepTable *table, const char *const *values, double gib, gint64 ms, const char *phase)
{
  SsSweepRow *row = ss_sweep_row_new_refused (values, NULL);

  row->verdict = gib <= 79 ? SS_ROW_FITS : SS_ROW_OUT_OF_MEMORY;
  row->capacity_bytes = 79 * GIB;
  row->tokens_per_step = 8192;
  row->peak_allocated_bytes = (guint64) (gib * (double) GIB);
  row->peak_reserved_bytes = row->peak_allocated_bytes;
  row->headroom_bytes = (gint64) row->capacity_bytes
                        - (gint64) (row->context_bytes + row->peak_reserved_bytes);
  row->by_category[SS_CATEGORY_PARAMETERS] = row->peak_allocated_bytes / 2;
  row->by_category[SS_CATEGORY_ACTIVATIONS] = row->peak_allocated_bytes / 2;
  row->peak_step = 2;
  g_strlcpy (row->peak_phase, phase, sizeof row->peak_phase);
  row->step_ns = ms * 1000000;
  row->oom_step = row->verdict == SS_ROW_FITS ? 0 : 2;
  g_strlcpy (row->oom_phase, row->verdict == SS_ROW_FITS ? "" : "loss", sizeof row->oom_phase);
  g_ptr_array_add (table->rows, row);
}

/* The numbers of the sketch that the picture is made after. */
static SsSweepTable *
sketch (void)
{
  static const struct { const char *layers; double gib; gint64 ms; const char *phase; } rows[] = {
    { "0", 82, 984, "loss" },     { "8", 74, 1056, "loss" },       { "16", 66, 1128, "loss" },
    { "24", 58, 1200, "loss" },   { "28", 54.4, 1236, "optimizer" },
    { "32", 54.4, 1272, "optimizer" },
  };
  SsSweepTable *table = ss_sweep_table_new ();

  table->scenario_name = g_strdup ("a sketch");
  table->summary = g_strdup ("a model on a device");
  ss_sweep_table_add_path (table, "checkpointing/layers", TRUE, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    add_row (table, (const char *const[]) { rows[i].layers, NULL }, rows[i].gib, rows[i].ms,
             rows[i].phase);
  return table;
}

/* Texts that stand level, as boxes. */
static void
expect_clear (const char *name, const SsCanvas *canvas)
{
  g_autofree char *script = ss_canvas_script (canvas, SS_CANVAS_SVG);
  g_autoptr (GRegex) regex = g_regex_new (
    "^set label \\d+ '([^']*)' at ([-0-9.]+),([-0-9.]+) (left|center|right) noenhanced front"
    " textcolor rgb '[^']*' font 'DejaVu Sans( Bold)?,([0-9.]+)'$",
    G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (SsRect));

  for (g_regex_match (regex, script, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *text = g_match_info_fetch (match, 1), *x = g_match_info_fetch (match, 2);
      g_autofree char *y = g_match_info_fetch (match, 3), *align = g_match_info_fetch (match, 4);
      g_autofree char *bold = g_match_info_fetch (match, 5), *size = g_match_info_fetch (match, 6);
      double px = g_ascii_strtod (size, NULL), middle = g_ascii_strtod (y, NULL);
      double width = ss_text_width (text, px, *bold != '\0'), left = g_ascii_strtod (x, NULL);
      SsRect box;

      left -= *align == 'c' ? width / 2 : *align == 'r' ? width : 0;
      box = (SsRect) { left, middle - px / 2, left + width, middle + px / 2 };
      cr_expect (left >= 0 && box.right <= 1000, "%s: \"%s\" leaves the page", name, text);
      for (guint i = 0; i < boxes->len; i++)
        {
          const SsRect *b = &g_array_index (boxes, SsRect, i);

          cr_expect (box.right <= b->left || b->right <= box.left || box.bottom <= b->top
                       || b->bottom <= box.top, "%s: \"%s\" touches another text", name, text);
        }
      g_array_append_val (boxes, box);
    }
  cr_expect (gt (uint, boxes->len, 8), "%s: texts are found", name);
}

Test (sweep_figure, the_sketch_says_what_it_should)
{
  g_autoptr (SsSweepTable) table = sketch ();
  g_autoptr (SsCanvas) canvas = ss_sweep_figure (table, SS_MEMORY_GIB, NULL, NULL);
  g_autofree char *script = ss_canvas_script (canvas, SS_CANVAS_PNG);
  static const char *const wanted[] = {
    "layers 8: fastest that fits", "capacity 79.0", "does not fit:", "OOM in step 2,", "layers 0",
    "'16'", "'24'", "lowest 54.4 at 28", "Memory needed against layers", "step time (ms)",
    "in the optimizer",
  };

  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    cr_expect (ne (ptr, strstr (script, wanted[i]), NULL), "%s", wanted[i]);
  expect_clear ("sketch", canvas);
}

/* What does not fit is said once for all points, so only what holds for all of them is said. */
Test (sweep_figure, places_that_differ_are_not_named)
{
  g_autoptr (SsSweepTable) table = sketch ();
  g_autoptr (SsCanvas) canvas = NULL;
  g_autofree char *script = NULL;
  SsSweepRow *row;

  add_row (table, (const char *const[]) { "4", NULL }, 80, 1020, "backward");
  row = table->rows->pdata[table->rows->len - 1];
  g_strlcpy (row->oom_phase, "backward", sizeof row->oom_phase);
  canvas = ss_sweep_figure (table, SS_MEMORY_GIB, NULL, NULL);
  script = ss_canvas_script (canvas, SS_CANVAS_PNG);
  cr_expect (ne (ptr, strstr (script, "'OOM in step 2'"), NULL));
  cr_expect (eq (ptr, strstr (script, "'at the loss'"), NULL));
  expect_clear ("places", canvas);
}

/* points on one spot, on one line, in one column, far below the limit, hundreds of them */
Test (sweep_figure, no_texts_touch)
{
  for (guint shape = 0; shape < 6; shape++)
    for (guint n = 1; n <= 300; n = n * 3 + 1)
      {
        g_autoptr (SsSweepTable) table = ss_sweep_table_new ();
        g_autoptr (SsCanvas) canvas = NULL;
        g_autofree char *name = g_strdup_printf ("shape %u of %u", shape, n);

        table->scenario_name = g_strdup ("a scenario whose name is longer than most names are");
        table->summary = g_strdup ("a model on a device");
        ss_sweep_table_add_path (table, "optimizer/type", shape == 4, FALSE);
        ss_sweep_table_add_path (table, "training/sequence-length", shape != 5, TRUE);
        for (guint i = 0; i < n; i++)
          {
            g_autofree char *value = g_strdup_printf ("%u", 100 + i);
            double gib = shape == 0 ? 50 : shape == 1 ? 1 + i * 0.01 : 20 + i % 70;

            add_row (table,
                     (const char *const[]) { i % 2 ? "adamw" : "sgd-with-momentum", value, NULL },
                     gib, shape == 2 ? 100 : 100 + (gint64) (i * i % 977),
                     i % 3 ? "backward" : "optimizer");
          }
        canvas = ss_sweep_figure (table, SS_MEMORY_GB, NULL, NULL);
        expect_clear (name, canvas);
      }
}

/* names of a scenario go into a script: they stay texts */
Test (sweep_figure, hostile_names_are_drawn)
{
  g_autoptr (SsSweepTable) table = sketch ();
  g_autoptr (SsCanvas) canvas = NULL;
  g_autofree char *script = NULL;

  g_free (table->scenario_name);
  table->scenario_name = g_strdup ("`id`' \"; system('id') \xff\n\x1b[1m {/Bold}");
  g_free (ss_sweep_table_row (table, 1)->values[0]);
  ss_sweep_table_row (table, 1)->values[0] = g_strdup ("8' `id`");
  canvas = ss_sweep_figure (table, SS_MEMORY_GIB, NULL, NULL);
  script = ss_canvas_script (canvas, SS_CANVAS_PNG);
  cr_expect (eq (ptr, strstr (script, "' `id`"), NULL));
  cr_expect (eq (ptr, strchr (script, '\x1b'), NULL));
}

Test (sweep_figure, both_formats_are_drawn)
{
  g_autoptr (SsSweepTable) table = sketch ();
  g_autoptr (GArray) curve = g_array_new (FALSE, FALSE, sizeof (SsSweepCurvePoint));
  SsSweepCurvePoint ends[] = { { 50.0 * (double) GIB, 1.2e9 }, { 82.0 * (double) GIB, 0.98e9 } };
  g_autoptr (SsCanvas) canvas = NULL;
  g_autoptr (GBytes) png = NULL, svg = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  g_array_append_vals (curve, ends, 2);
  canvas = ss_sweep_figure (table, SS_MEMORY_GIB, curve, "the best");
  png = ss_canvas_draw (canvas, SS_CANVAS_PNG, &error);
  svg = ss_canvas_draw (canvas, SS_CANVAS_SVG, &error);
  cr_assert (png != NULL && svg != NULL, "%s", error != NULL ? error->message : "");
  cr_expect (eq (int, memcmp (g_bytes_get_data (png, &size), "\x89PNG", 4), 0));
  cr_expect (gt (u64, size, 20000));
}

static char *
script_of (const SsSweepTable *table)
{
  g_autoptr (SsCanvas) canvas = ss_sweep_figure (table, SS_MEMORY_GIB, NULL, NULL);

  return ss_canvas_script (canvas, SS_CANVAS_PNG);
}

/* two policies with numbers of their own: the end of each series says which it is */
Test (sweep_figure, each_series_is_named)
{
  static const struct { const char *policy, *layers; double gib; gint64 ms; } rows[] = {
    { "block", "1", 70, 1000 },    { "block", "2", 60, 1100 },      { "block", "3", 50, 1200 },
    { "segments", "1", 72, 1400 }, { "segments", "2", 62, 1500 },  { "segments", "3", 52, 1600 },
  };
  g_autoptr (SsSweepTable) table = ss_sweep_table_new ();
  g_autofree char *script = NULL;

  ss_sweep_table_add_path (table, "checkpointing/policy", TRUE, FALSE);
  ss_sweep_table_add_path (table, "checkpointing/layers", TRUE, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    add_row (table, (const char *const[]) { rows[i].policy, rows[i].layers, NULL }, rows[i].gib,
             rows[i].ms, "backward");
  script = script_of (table);
  cr_expect (ne (ptr, strstr (script, "'block, layers 1: fastest that fits'"), NULL));
  cr_expect (ne (ptr, strstr (script, "'block, layers 3'"), NULL));
  cr_expect (ne (ptr, strstr (script, "'segments, layers 3'"), NULL));
  cr_expect (ne (ptr, strstr (script, "'2'"), NULL));
  /* and there is no half a layer */
  cr_expect (eq (ptr, strstr (script, "'1.5'"), NULL));
}

/* what checkpoints buy is said where they are swept */
Test (sweep_figure, a_sweep_of_something_else_says_nothing_of_checkpoints)
{
  g_autoptr (SsSweepTable) table = ss_sweep_table_new ();
  g_autofree char *script = NULL;

  ss_sweep_table_add_path (table, "hardware/device", TRUE, FALSE);
  add_row (table, (const char *const[]) { "one", NULL }, 50, 20, "optimizer");
  add_row (table, (const char *const[]) { "two", NULL }, 55, 10, "optimizer");
  script = script_of (table);
  cr_expect (eq (ptr, strstr (script, "checkpoints"), NULL));
  cr_expect (ne (ptr, strstr (script, "'lowest peak: in the optimizer'"), NULL));
}

/* the words of the report, on the same numbers */
Test (sweep_figure, the_report_says_when_checkpoints_buy_nothing)
{
  g_autoptr (SsSweepTable) table = sketch ();
  SsReportStyle style = { .width = 80 };
  g_autofree char *report = ss_sweep_report (table, &style);
  g_autofree char *floor = ss_sweep_floor (table, SS_MEMORY_GIB);

  cr_expect (ne (ptr, strstr (report, "     8     74.0       5.0    1056  step 2, loss: "
                                      "activations  <- fastest that fits\n"), NULL), "%s", report);
  cr_expect (ne (ptr, strstr (report, "     0     82.0      -3.0       -  OUT OF MEMORY, step 2, "
                                      "loss\n"), NULL), "%s", report);
  cr_expect (eq (str, floor,
                 (char *) "Least is allocated with layers=28: at most 54.4 GiB, in the optimizer, "
                          "where no layer's activations are held. More checkpoints cannot lower "
                          "it."));
}

/* Gradients and temporaries make the peak of 60 GiB, of which 58.5 are there without checkpoints
 * too, at another moment: not the activations that happen to be held are what can be saved. */
Test (sweep_figure, the_report_says_what_checkpoints_could_still_save)
{
  g_autoptr (SsSweepTable) table = ss_sweep_table_new ();
  g_autofree char *floor = NULL;
  SsSweepRow *row;

  ss_sweep_table_add_path (table, "checkpointing/layers", TRUE, TRUE);
  add_row (table, (const char *const[]) { "16", NULL }, 70, 1000, "backward");
  add_row (table, (const char *const[]) { "32", NULL }, 60, 1100, "backward");
  row = g_ptr_array_index (table->rows, 1);
  row->by_category[SS_CATEGORY_ACTIVATIONS] = 2 * GIB;
  row->by_category[SS_CATEGORY_GRADIENTS] = 28 * GIB;
  row->floor_bytes = 117 * GIB / 2;
  floor = ss_sweep_floor (table, SS_MEMORY_GIB);
  cr_expect (eq (str, floor,
                 (char *) "Least is allocated with layers=32: at most 60.0 GiB, in the backward "
                          "pass of step 2. Other checkpoints could lower it by 1.5 GiB at most."));
  g_free (floor);
  row->floor_bytes = row->peak_allocated_bytes;
  floor = ss_sweep_floor (table, SS_MEMORY_GIB);
  cr_expect (eq (str, floor,
                 (char *) "Least is allocated with layers=32: at most 60.0 GiB, in the backward "
                          "pass of step 2. More checkpoints cannot lower it."));
}

/* of equal times the lower peak, of equal peaks the first */
Test (sweep_figure, ties_go_to_less_memory_and_then_to_the_first)
{
  g_autoptr (SsSweepTable) table = ss_sweep_table_new ();

  ss_sweep_table_add_path (table, "checkpointing/layers", TRUE, TRUE);
  add_row (table, (const char *const[]) { "1", NULL }, 80, 10, "loss");
  add_row (table, (const char *const[]) { "2", NULL }, 60, 20, "loss");
  add_row (table, (const char *const[]) { "3", NULL }, 50, 20, "loss");
  add_row (table, (const char *const[]) { "4", NULL }, 50, 20, "loss");
  cr_expect (eq (uint, ss_sweep_table_fastest (table), 2));
}

Test (sweep_figure, csv_quotes_what_needs_it)
{
  g_autoptr (SsSweepTable) table = ss_sweep_table_new ();
  g_autofree char *csv = NULL;

  ss_sweep_table_add_path (table, "allocator/alloc-conf", TRUE, FALSE);
  add_row (table, (const char *const[]) { "a:1,b:\"2\"", NULL }, 50, 20, "loss");
  csv = ss_sweep_to_csv (table);
  cr_expect (ne (ptr, strstr (csv, "\n\"a:1,b:\"\"2\"\"\",fits,"), NULL), "%s", csv);
}
