/* SPDX-License-Identifier: MIT */
#include "output/figures/sweep-figure.h"

#include <string.h>

#include "output/figures/sweep-figure-private.h"
#include "output/figures/text-width.h"

/* ---- names ---- */

/* "every 4", "full", "40 GiB"; "" for a value that the run does without. */
static char *
value_name (const SsSweepFigure *self, const SsSweepRow *row, guint path)
{
  const char *label = ss_sweep_table_label (self->table, path);
  g_autofree char *value = ss_clean_text (row->values[path]);

  if (g_str_equal (value, SS_SWEEP_LEFT_OUT))
    return g_strdup ("");
  if (g_str_equal (label, "policy") && g_str_equal (value, "none"))
    return g_strdup ("no checkpoints");
  if (g_ascii_isdigit (value[0]) && strchr (value, ' ') == NULL)
    return g_strdup_printf ("%s %s", label, value);
  return g_strdup (value);
}

/* A word that the next path's label says again ("every" of "every 4") is not said. */
static gboolean
is_said_again (const SsSweepFigure *self, const SsSweepRow *row, guint path)
{
  for (guint i = 0; i < self->table->paths->len; i++)
    if (i != path && g_str_equal (ss_sweep_table_label (self->table, i), row->values[path])
        && !g_str_equal (row->values[i], SS_SWEEP_LEFT_OUT))
      return TRUE;
  return FALSE;
}

static char *
name_without (const SsSweepFigure *self, const SsSweepRow *row, gint left_out)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->table->paths->len; i++)
    {
      g_autofree char *name = NULL;

      if ((gint) i == left_out || !g_array_index (self->table->is_varied, gboolean, i))
        continue;
      if (left_out < 0 && is_said_again (self, row, i))
        continue;
      name = value_name (self, row, i);
      if (*name != '\0')
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", name);
    }
  return g_string_free (text, FALSE);
}

char *
ss_sweep_figure_name (const SsSweepFigure *self, const SsSweepRow *row, gboolean is_short)
{
  char *name;

  if (is_short && self->along >= 0 && !g_str_equal (row->values[self->along], SS_SWEEP_LEFT_OUT))
    return g_strdup (row->values[self->along]);
  name = name_without (self, row, -1);

  if (*name != '\0')
    return name;
  g_free (name);
  return value_name (self, row, self->table->paths->len - 1);
}

char *
ss_sweep_figure_series (const SsSweepFigure *self, const SsSweepRow *row)
{
  return name_without (self, row, self->along);
}

char *
ss_sweep_figure_number (const SsSweepFigure *self, double bytes)
{
  GString *text = g_string_new (NULL);

  ss_append_fixed (text, bytes / self->scale.bytes, 1);
  return g_string_free (text, FALSE);
}

/* ---- what is drawn ---- */

static guint
n_different (const SsSweepTable *table, guint path)
{
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < table->rows->len; i++)
    g_hash_table_add (values, ss_sweep_table_row (table, i)->values[path]);
  return g_hash_table_size (values);
}

/* Of the paths with numbers the one with most. */
static gint
path_along (const SsSweepTable *table)
{
  gint best = -1;
  guint most = 1;

  for (guint i = 0; i < table->paths->len; i++)
    {
      guint n = n_different (table, i);

      if (!g_array_index (table->is_varied, gboolean, i)
          || !g_array_index (table->is_numeric, gboolean, i) || n <= most)
        continue;
      best = (gint) i;
      most = n;
    }
  return best;
}

static gboolean
sweeps_checkpointing (const SsSweepTable *table)
{
  guint n = 0;

  for (guint i = 0; i < table->paths->len; i++)
    if (!g_array_index (table->is_varied, gboolean, i))
      continue;
    else if (!g_str_has_prefix (g_ptr_array_index (table->paths, i), "checkpointing/"))
      return FALSE;
    else
      n++;
  return n > 0;
}

static void
choose (SsSweepFigure *self)
{
  guint64 largest = 0;
  gboolean is_first = TRUE;

  self->along = path_along (self->table);
  self->is_checkpointing = sweeps_checkpointing (self->table);
  self->fastest = ss_sweep_table_fastest (self->table);
  self->lowest = G_MAXUINT;
  for (guint i = 0; i < self->table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (self->table, i);

      if (row->verdict == SS_ROW_REFUSED)
        continue;
      largest = MAX (largest, ss_sweep_row_need_bytes (row));
      if (self->lowest == G_MAXUINT
          || ss_sweep_row_need_bytes (row)
               < ss_sweep_row_need_bytes (ss_sweep_table_row (self->table, self->lowest)))
        self->lowest = i;
      if (is_first)
        self->capacity_bytes = row->capacity_bytes < G_MAXINT64 ? row->capacity_bytes : 0;
      else if (row->capacity_bytes != self->capacity_bytes)
        self->capacity_bytes = 0;
      is_first = FALSE;
    }
  self->scale = ss_byte_scale (self->units, MAX (largest, 1));
}

static const char *
how_to_read (const SsSweepFigure *self)
{
  if (self->capacity_bytes == 0)
    return "Filled points fit; lower is faster. Take the lowest filled point.";
  return "Left of the line fits; lower is faster. Take the lowest filled point.";
}

static void
draw_words (const SsSweepFigure *self, double page_height)
{
  const SsSweepTable *table = self->table;
  double width = SS_SWEEP_WIDTH - SS_SWEEP_LEFT - 10;
  SsTextLook head_look = { .size_px = 24, .colour = SS_SWEEP_INK, .is_bold = TRUE };
  SsTextLook sub_look = { .size_px = SS_SWEEP_TEXT_PX, .colour = SS_SWEEP_SOFT };
  SsTextLook foot_look = { .size_px = 14, .colour = SS_SWEEP_FOOT, .align = SS_ALIGN_RIGHT };
  GString *head = g_string_new (NULL);
  g_autofree char *foot = g_strdup_printf ("%s: %s", table->scenario_name, table->summary);
  g_autofree char *clean = ss_clean_text (foot);
  g_autofree char *fitted_foot = ss_text_fit (clean, 14, FALSE, width), *fitted = NULL;

  for (guint i = 0; i < table->paths->len; i++)
    if (g_array_index (table->is_varied, gboolean, i))
      g_string_append_printf (head, "%s%s", head->len > 0 ? " and " : "",
                              ss_sweep_table_label (table, i));
  if (self->is_checkpointing)
    g_string_assign (head, "Checkpointing");
  else if (head->len == 0)
    g_string_assign (head, "Runs");
  g_string_append (head, ": time against memory");
  fitted = ss_text_fit (head->str, 24, TRUE, width);
  g_string_free (head, TRUE);
  ss_canvas_text (self->canvas, (SsPoint) { SS_SWEEP_LEFT, 32 }, &head_look, fitted);
  ss_canvas_text (self->canvas, (SsPoint) { SS_SWEEP_LEFT, 64 }, &sub_look,
                  how_to_read (self));
  ss_canvas_text (self->canvas, (SsPoint) { SS_SWEEP_WIDTH - 14, page_height - 14 }, &foot_look,
                  fitted_foot);
}

SsCanvas *
ss_sweep_figure (const SsSweepTable *table, SsMemoryUnits units, const GArray *curve,
                 const char *curve_name)
{
  SsSweepFigure figure = { .table = table, .units = units, .curve = curve,
                           .curve_name = curve_name };
  guint height;

  g_return_val_if_fail (table != NULL, NULL);
  choose (&figure);
  height = SS_SWEEP_HEIGHT + (figure.along >= 0 ? SS_SWEEP_DOWN : 0);
  figure.canvas = ss_canvas_new (SS_SWEEP_WIDTH, height);
  draw_words (&figure, height);
  if (figure.lowest != G_MAXUINT)
    ss_sweep_figure_draw_cost (&figure);
  if (figure.lowest != G_MAXUINT && figure.along >= 0)
    ss_sweep_figure_draw_values (&figure);
  return figure.canvas;
}
