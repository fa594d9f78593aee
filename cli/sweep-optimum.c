/* SPDX-License-Identifier: MIT */
#include "cli/sweep-optimum.h"

#include <string.h>

#define N_BUDGETS 12
#define POLICY "checkpointing/policy"
#define BUDGET "checkpointing/budget"

static gboolean
is_about_checkpoints (const SsSweepTable *table)
{
  for (guint i = 0; i < table->paths->len; i++)
    if (!g_str_has_prefix (g_ptr_array_index (table->paths, i), "checkpointing/"))
      return FALSE;
  return TRUE;
}

/* From the least to the most that a point of the sweep takes; FALSE: they are all alike. */
static gboolean
find_range (const SsSweepTable *table, guint64 *least, guint64 *most)
{
  *least = G_MAXUINT64;
  *most = 0;
  for (guint i = 0; i < table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (table, i);

      if (row->verdict == SS_ROW_REFUSED)
        continue;
      *least = MIN (*least, row->peak_allocated_bytes);
      *most = MAX (*most, row->peak_allocated_bytes);
    }
  return *least < *most;
}

typedef struct
{
  GMutex mutex;                  /* guards what follows */
  GArray *points;                /* SsSweepCurvePoint */
  SsProgress *progress;
  guint n_done;
} Curve;

static void
add_point (Curve *curve, const SsSweepPoint *point)
{
  SsSweepRow *row = ss_sweep_row_new (point->values, point->recording, point->unlimited);
  SsSweepCurvePoint at = { (double) ss_sweep_row_need_bytes (row), (double) row->step_ns };

  g_array_append_val (curve->points, at);
  ss_sweep_row_free (row);
}

static void
on_point (const SsSweepPoint *point, gpointer user_data)
{
  Curve *curve = user_data;

  g_mutex_lock (&curve->mutex);
  if (point->problem == NULL)
    add_point (curve, point);
  ss_progress_say (curve->progress, "finding the optimum", ++curve->n_done, N_BUDGETS);
  g_mutex_unlock (&curve->mutex);
}

static gint
by_bytes_then_cost (gconstpointer a, gconstpointer b)
{
  const SsSweepCurvePoint *x = a, *y = b;

  if (x->used_bytes < y->used_bytes || x->used_bytes > y->used_bytes)
    return x->used_bytes < y->used_bytes ? -1 : 1;
  return x->cost < y->cost ? -1 : x->cost > y->cost;
}

/* What takes no less time than one that takes no more memory is no part of the curve. */
static void
keep_front (GArray *points)
{
  guint n = 0;

  g_array_sort (points, by_bytes_then_cost);
  for (guint i = 0; i < points->len; i++)
    {
      SsSweepCurvePoint point = g_array_index (points, SsSweepCurvePoint, i);

      if (n > 0 && point.cost >= g_array_index (points, SsSweepCurvePoint, n - 1).cost)
        continue;
      g_array_index (points, SsSweepCurvePoint, n++) = point;
    }
  g_array_set_size (points, n);
}

static SsSweepAxis *
budgets (const SsScenario *base, guint64 least, guint64 most)
{
  g_autoptr (GString) text = g_string_new (BUDGET "=");

  for (guint i = 0; i < N_BUDGETS; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT " B", i > 0 ? "," : "",
                            least + (most - least) / (N_BUDGETS - 1) * i
                              + (i + 1 == N_BUDGETS ? N_BUDGETS : 0));
  return ss_sweep_axis_parse (text->str, base, NULL);
}

GArray *
ss_sweep_optimum (const SsScenario *base, const SsSweepTable *table, guint n_threads,
                  SsProgress *progress)
{
  static const char *const changes[] = { "hardware/capacity=unlimited", NULL };
  g_autoptr (SsScenario) unlimited = NULL;
  g_autoptr (GPtrArray) axes
    = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_sweep_axis_free);
  g_autoptr (SsSweep) sweep = NULL;
  Curve curve = { .progress = progress };
  SsSweepRun run = { .n_threads = n_threads, .reader = on_point, .user_data = &curve };
  guint64 least, most;

  if (!is_about_checkpoints (table) || !find_range (table, &least, &most))
    return NULL;
  unlimited = ss_scenario_derive (base, changes, NULL);
  if (unlimited == NULL)
    return NULL;
  g_ptr_array_add (axes, ss_sweep_axis_parse (POLICY "=optimal", unlimited, NULL));
  g_ptr_array_add (axes, budgets (unlimited, least, most));
  if (g_ptr_array_find (axes, NULL, NULL))
    return NULL;
  sweep = ss_sweep_new (unlimited, axes, NULL);
  if (sweep == NULL)
    return NULL;
  curve.points = g_array_new (FALSE, FALSE, sizeof (SsSweepCurvePoint));
  g_mutex_init (&curve.mutex);
  ss_sweep_run (sweep, &run);
  g_mutex_clear (&curve.mutex);
  keep_front (curve.points);
  return curve.points;
}
