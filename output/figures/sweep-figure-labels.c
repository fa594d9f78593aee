/* SPDX-License-Identifier: MIT
 *
 * Which points of time against memory are named, and in which words.
 */
#include <stdlib.h>
#include <string.h>

#include "output/verdict.h"
#include "output/figures/sweep-figure-private.h"
#include "output/tables/sweep-report.h"

#define MAX_LABELS 48
#define SMALL_PX 15              /* of the numbers along a line */
#define MAX_NAMES 3              /* of runs at one point that its label says */

static gboolean
has_row (const SsSweepCluster *cluster, guint index)
{
  for (guint i = 0; i < cluster->rows->len; i++)
    if (g_array_index (cluster->rows, guint, i) == index)
      return TRUE;
  return FALSE;
}

/* "layers 28 and layers 32": no name twice, and no more than a label can take. */
static char *
cluster_name (const SsSweepCost *self, const SsSweepCluster *cluster)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < cluster->rows->len; i++)
    {
      guint index = g_array_index (cluster->rows, guint, i);
      char *name = ss_sweep_figure_name (self->figure,
                                         ss_sweep_table_row (self->figure->table, index),
                                         cluster->rank == 3);

      if (g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_free (name);
      else
        g_ptr_array_add (names, name);
    }
  for (guint i = 0; i < MIN (names->len, MAX_NAMES); i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : i + 1 == names->len ? " and " : ", ",
                            (char *) g_ptr_array_index (names, i));
  if (names->len > MAX_NAMES)
    g_string_append_printf (text, " and %u more", names->len - MAX_NAMES);
  return g_string_free (text, FALSE);
}

static gint
by_rank (gconstpointer a, gconstpointer b)
{
  const SsSweepCluster *const *x = a, *const *y = b;

  if ((*x)->rank != (*y)->rank)
    return (*x)->rank < (*y)->rank ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

/* A label in the fullest words that find a place. */
static gboolean
try_words (SsSweepCost *self, const SsSweepCluster *cluster, const SsTextLook *look,
           const char *const *firsts, const char *const *seconds, guint n)
{
  for (guint i = 0; i < n; i++)
    if (ss_sweep_plot_label (&self->plot, cluster->at, firsts[i], seconds[i], look, SS_NEAR))
      return TRUE;
  return FALSE;
}

/* "micro-batch 4," in place of the whole, and the rest of it; NULL: it is one word. (transfer
 * full) */
static char *
split_name (const char *name, char **rest)
{
  const char *comma = g_strrstr (name, ", ");

  *rest = comma != NULL ? g_strdup (comma + 2) : NULL;
  return comma != NULL ? g_strndup (name, (gsize) (comma + 1 - name)) : NULL;
}

static void
label_fastest (SsSweepCost *self, const SsSweepCluster *cluster, const char *name)
{
  const SsSweepRow *row = ss_sweep_table_row (self->figure->table, self->figure->fastest);
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = SS_SWEEP_FITS, .is_bold = TRUE };
  g_autofree char *whole = g_strdup_printf ("%s: fastest that fits", name);
  g_autofree char *number = ss_sweep_figure_name (self->figure, row, TRUE);
  g_autofree char *brief = g_strdup_printf ("%s: fastest that fits", number);
  const char *firsts[] = { whole, name, brief };
  const char *seconds[] = { NULL, "fastest that fits", NULL };

  /* this one is there at any rate, if need be over a line, and then in the fewest words */
  if (!try_words (self, cluster, &look, firsts, seconds, G_N_ELEMENTS (firsts)))
    ss_sweep_plot_label (&self->plot, cluster->at, brief, NULL, &look, SS_ANYWHERE);
}

static void
label_lowest (SsSweepCost *self, const SsSweepCluster *cluster, const char *name,
              const SsTextLook *look)
{
  const SsSweepRow *row = ss_sweep_table_row (self->figure->table, self->figure->lowest);
  SsPeakPart part = ss_sweep_row_peak_part (row);
  g_autofree char *where = g_strdup_printf ("lowest peak: %s, %s", ss_peak_part_name (part),
                                            ss_phase_phrase (row->peak_phase));
  g_autofree char *what = g_strdup_printf ("lowest peak: %s", ss_peak_part_name (part));
  g_autofree char *rest = NULL, *half = split_name (name, &rest);
  g_autofree char *number = ss_sweep_figure_name (self->figure, row, TRUE);
  const char *firsts[] = { name, name, name, name, half != NULL ? half : number, number };
  const char *seconds[] = { where, what, "lowest peak", NULL, rest, NULL };

  if (part == SS_PEAK_OPTIMIZER)
    seconds[0] = seconds[1]
      = self->figure->is_checkpointing
          ? "the peak is in the optimizer, more checkpoints buy nothing"
          : "lowest peak: in the optimizer";
  try_words (self, cluster, look, firsts, seconds, G_N_ELEMENTS (firsts));
}

/* What ends a series says its name, if only on two lines; at least its number. */
static void
label_end (SsSweepCost *self, const SsSweepCluster *cluster, const char *name,
           const SsTextLook *look)
{
  const SsSweepRow *row = ss_sweep_table_row (self->figure->table,
                                              g_array_index (cluster->rows, guint, 0));
  g_autofree char *number = ss_sweep_figure_name (self->figure, row, TRUE);
  g_autofree char *rest = NULL, *half = split_name (name, &rest);
  const char *firsts[] = { name, half != NULL ? half : number, number };
  const char *seconds[] = { NULL, rest, NULL };

  try_words (self, cluster, look, firsts, seconds, G_N_ELEMENTS (firsts));
}

static void
label_cluster (SsSweepCost *self, const SsSweepCluster *cluster)
{
  g_autofree char *name = cluster_name (self, cluster);
  SsTextLook look = { .size_px = cluster->rank == 3 ? SMALL_PX : SS_SWEEP_TEXT_PX,
                      .colour = cluster->fits ? SS_SWEEP_INK : SS_SWEEP_LIMIT };

  if (has_row (cluster, self->figure->fastest))
    label_fastest (self, cluster, name);
  else if (has_row (cluster, self->figure->lowest))
    label_lowest (self, cluster, name, &look);
  else if (cluster->rank < 3)
    label_end (self, cluster, name, &look);
  else
    ss_sweep_plot_label (&self->plot, cluster->at, name, NULL, &look, SS_BESIDE);
}

/* By row: whether it ends a series, or is of none. (transfer full) */
static gboolean *
find_ends (const SsSweepFigure *figure)
{
  const SsSweepTable *table = figure->table;
  gboolean *is_end = g_new0 (gboolean, table->rows->len);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = table->rows->len; i-- > 0;)
    {
      const SsSweepRow *row = ss_sweep_table_row (table, i);

      if (row->verdict == SS_ROW_REFUSED)
        continue;
      is_end[i] = figure->along < 0
                  || g_str_equal (row->values[figure->along], SS_SWEEP_LEFT_OUT)
                  || g_hash_table_add (seen, ss_sweep_figure_series (figure, row));
    }
  return is_end;
}

/* The fastest first, then the lowest, then what ends a series or stands alone. */
static void
rank_clusters (SsSweepCost *self)
{
  g_autofree gboolean *is_end = find_ends (self->figure);

  for (guint i = 0; i < self->clusters->len; i++)
    {
      SsSweepCluster *cluster = &g_array_index (self->clusters, SsSweepCluster, i);

      if (has_row (cluster, self->figure->fastest))
        cluster->rank = 0;
      else if (has_row (cluster, self->figure->lowest))
        cluster->rank = 1;
      else if (i == 0)
        cluster->rank = 2;
      for (guint r = 0; r < cluster->rows->len; r++)
        if (cluster->rank == 3 && is_end[g_array_index (cluster->rows, guint, r)])
          cluster->rank = 2;
    }
}

void
ss_sweep_cost_draw_labels (SsSweepCost *self)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();

  rank_clusters (self);
  for (guint i = 0; i < self->clusters->len; i++)
    g_ptr_array_add (order, &g_array_index (self->clusters, SsSweepCluster, i));
  qsort (order->pdata, order->len, sizeof *order->pdata, by_rank);
  for (guint i = 0; i < MIN (order->len, MAX_LABELS); i++)
    label_cluster (self, g_ptr_array_index (order, i));
}
