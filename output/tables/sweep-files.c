/* SPDX-License-Identifier: MIT */
#include "output/tables/sweep-files.h"

#include <string.h>

#include "output/formats/json-text.h"

/* ---- CSV ---- */

/* Quoted where RFC 4180 wants it. */
static void
append_field (GString *csv, const char *text)
{
  if (strpbrk (text, ",\"\r\n") == NULL)
    {
      g_string_append (csv, text);
      return;
    }
  g_string_append_c (csv, '"');
  for (; *text != '\0'; text++)
    {
      if (*text == '"')
        g_string_append_c (csv, '"');
      g_string_append_c (csv, *text);
    }
  g_string_append_c (csv, '"');
}

static void
append_ratio (GString *csv, double value, guint decimals)
{
  g_string_append_c (csv, ',');
  if (value >= 0)
    ss_append_fixed (csv, value, decimals);
}

static void
append_run (GString *csv, const SsSweepRow *row)
{
  gboolean is_oom = row->verdict == SS_ROW_OUT_OF_MEMORY;

  g_string_append_printf (csv,
                          ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                          ",%" G_GINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                          ",%u,%s,%s",
                          row->capacity_bytes, row->context_bytes, ss_sweep_row_need_bytes (row),
                          row->headroom_bytes, row->peak_allocated_bytes,
                          row->peak_reserved_bytes, row->peak_step, row->peak_phase,
                          ss_peak_part_name (ss_sweep_row_peak_part (row)));
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    g_string_append_printf (csv, ",%" G_GUINT64_FORMAT, row->by_category[i]);
  g_string_append_c (csv, ',');
  ss_recording_append_ms (csv, row->step_ns);
  append_ratio (csv, row->tokens_per_s, 3);
  append_ratio (csv, row->mfu, 6);
  append_ratio (csv, row->hfu, 6);
  if (is_oom)
    g_string_append_printf (csv, ",%u,%s,", row->oom_step, row->oom_phase);
  else
    g_string_append (csv, ",,,");
  if (is_oom && row->oom_layer >= 0)
    g_string_append_printf (csv, "%d", row->oom_layer);
  g_string_append_c (csv, ',');
}

static void
append_header (GString *csv, const SsSweepTable *table)
{
  for (guint i = 0; i < table->paths->len; i++)
    {
      append_field (csv, g_ptr_array_index (table->paths, i));
      g_string_append_c (csv, ',');
    }
  g_string_append (csv, SS_SWEEP_CSV_MARK "headroom_bytes,need_allocated_bytes,need_reserved_bytes,"
                        "need_step,need_phase,need_of");
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    g_string_append_printf (csv, ",need_%s_bytes", ss_category_name ((SsCategory) i));
  g_string_append (csv, ",step_time_ms,tokens_per_s,mfu,hfu,oom_step,oom_phase,oom_layer,"
                        "problem\n");
}

char *
ss_sweep_to_csv (const SsSweepTable *table)
{
  static const char *const verdicts[] = {
    [SS_ROW_FITS] = "fits", [SS_ROW_OUT_OF_MEMORY] = "oom", [SS_ROW_REFUSED] = "refused",
  };
  GString *csv = g_string_new (NULL);

  append_header (csv, table);
  for (guint r = 0; r < table->rows->len; r++)
    {
      const SsSweepRow *row = ss_sweep_table_row (table, r);

      for (guint i = 0; i < table->paths->len; i++)
        {
          append_field (csv, row->values[i]);
          g_string_append_c (csv, ',');
        }
      g_string_append (csv, verdicts[row->verdict]);
      if (row->verdict != SS_ROW_REFUSED)
        append_run (csv, row);
      else
        {
          /* capacity to oom_layer: 9 of the need, the categories, 4 of the step, 3 of the end */
          for (guint i = 0; i < 9 + SS_N_CATEGORIES + 4 + 3 + 1; i++)
            g_string_append_c (csv, ',');
          append_field (csv, row->problem);
        }
      g_string_append_c (csv, '\n');
    }
  return g_string_free (csv, FALSE);
}

/* ---- JSON ---- */

static void
append_set (GString *json, const SsSweepTable *table, const SsSweepRow *row)
{
  g_string_append (json, "\"set\":{");
  for (guint i = 0; i < table->paths->len; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      ss_json_append_text (json, g_ptr_array_index (table->paths, i));
      g_string_append_c (json, ':');
      if (g_str_equal (row->values[i], SS_SWEEP_LEFT_OUT))
        g_string_append (json, "null");
      else
        ss_json_append_text (json, row->values[i]);
    }
  g_string_append_c (json, '}');
}

/* What the CSV's columns need_... have: of a run that fits its own figures. */
static void
append_need (GString *json, const SsSweepRow *row)
{
  g_string_append_printf (json,
                          ",\n \"need\":{\"bytes\":%" G_GUINT64_FORMAT
                          ",\"headroom_bytes\":%" G_GINT64_FORMAT
                          ",\"allocated_bytes\":%" G_GUINT64_FORMAT
                          ",\"reserved_bytes\":%" G_GUINT64_FORMAT
                          ",\"step\":%u,\"phase\":\"%s\",\"of\":\"%s\",\"step_time_ms\":",
                          ss_sweep_row_need_bytes (row), row->headroom_bytes,
                          row->peak_allocated_bytes, row->peak_reserved_bytes, row->peak_step,
                          row->peak_phase, ss_peak_part_name (ss_sweep_row_peak_part (row)));
  ss_recording_append_ms (json, row->step_ns);
  g_string_append (json, ",\"by_category\":{");
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    g_string_append_printf (json, "%s\"%s\":%" G_GUINT64_FORMAT, i > 0 ? "," : "",
                            ss_category_name ((SsCategory) i), row->by_category[i]);
  g_string_append (json, "}}");
}

char *
ss_sweep_row_to_json (const SsSweepTable *table, const SsSweepRow *row, const char *run_json,
                      const char *search)
{
  GString *json = g_string_new ("{");

  append_set (json, table, row);
  g_string_append (json, ",\n ");
  if (row->verdict == SS_ROW_REFUSED)
    {
      g_string_append (json, "\"schema\":1,\n \"verdict\":\"refused\",\n \"problem\":");
      ss_json_append_text (json, row->problem);
    }
  else
    {
      /* the members of the run's object, without its braces */
      g_string_append_len (json, run_json + 1, (gssize) (strrchr (run_json, '}') - run_json - 1));
      append_need (json, row);
    }
  if (search != NULL)
    g_string_append_printf (json, ",\n \"search\":%s", search);
  g_string_append (json, "}");
  return g_string_free (json, FALSE);
}

char *
ss_sweep_to_json (const SsSweepTable *table)
{
  GString *json = g_string_new ("[");

  for (guint i = 0; i < table->rows->len; i++)
    g_string_append_printf (json, "%s%s", i > 0 ? ",\n" : "",
                            ss_sweep_table_row (table, i)->json);
  g_string_append (json, "]\n");
  return g_string_free (json, FALSE);
}
