/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "cli/bench-engine.h"

/* The figures are the machine's; the table's form is ours. */
Test (bench_engine, has_a_row_for_each_number_of_pending_events)
{
  static const char *n_pending[] = { "16", "1024", "65536" };
  g_autoptr (GString) out = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;

  ss_bench_engine (out);
  lines = g_strsplit (out->str, "\n", -1);
  cr_assert (eq (uint, g_strv_length (lines), 6));
  cr_assert (eq (str, lines[0], "hold model, 400000 events, median of 7 repeats"));
  cr_assert (eq (str, lines[1],
                 "pending_events  engine_events/s  bare_heap_events/s  ratio"));
  cr_assert (eq (str, lines[5], ""));
  for (guint i = 0; i < G_N_ELEMENTS (n_pending); i++)
    {
      g_auto (GStrv) words = g_regex_split_simple (" +", g_strstrip (lines[2 + i]), 0, 0);

      cr_assert (eq (uint, g_strv_length (words), 4));
      cr_assert (eq (str, words[0], (char *) n_pending[i]));
      for (guint column = 1; column < 4; column++)
        cr_assert (gt (dbl, g_ascii_strtod (words[column], NULL), 0));
    }
}
