/* SPDX-License-Identifier: MIT */
#include "sim/sweep.h"

#include "scenarios/attribute.h"
#include "sim/simulate.h"
#include "sim/sweep-search.h"
#include "sim/trace-cache.h"

/* A search goes no further than runs of so many ops: a few hundred MB, some seconds. */
#define LONG_RUN_OPS 2000000

struct _SsSweep
{
  SsScenario *base;
  GPtrArray *axes;               /* SsSweepAxis */
  guint n_points;
};

/* ---- points ---- */

static guint
n_values (const SsSweepAxis *axis)
{
  return axis->is_max ? 1 : axis->values->len;
}

static gboolean
fail (GError **error, const char *format, const char *what)
{
  g_autofree char *message = g_strdup_printf ("%s%s", format, what);

  g_set_error_literal (error, SS_SWEEP_ERROR, SS_SWEEP_ERROR_POINTS, message);
  return FALSE;
}

static gboolean
check_axes (SsSweep *self, GError **error)
{
  guint n_long = 0, n_max = 0;

  self->n_points = 1;
  for (guint i = 0; i < self->axes->len; i++)
    {
      const SsSweepAxis *axis = ss_sweep_axis (self, i);

      n_max += axis->is_max ? 1 : 0;
      n_long += axis->is_max || axis->values->len > 1 ? 1 : 0;
      for (guint j = 0; j < i; j++)
        if (g_str_equal (axis->path, ss_sweep_axis (self, j)->path))
          return fail (error, "two lists of values for ", axis->path);
      if (n_values (axis) > SS_SWEEP_MAX_POINTS / self->n_points)
        return fail (error, "more than 100000 points", "");
      self->n_points *= n_values (axis);
    }
  if (n_max > 1)
    return fail (error, "only one setting at a time can be max", "");
  if (n_long > 2)
    return fail (error, "at most two settings at a time can have several values", "");
  return TRUE;
}

SsSweep *
ss_sweep_new (const SsScenario *base, GPtrArray *axes, GError **error)
{
  g_autoptr (SsSweep) self = g_new0 (SsSweep, 1);

  g_return_val_if_fail (base != NULL && axes != NULL && axes->len > 0, NULL);
  self->base = ss_scenario_ref ((SsScenario *) base);
  self->axes = g_ptr_array_ref (axes);
  return check_axes (self, error) ? g_steal_pointer (&self) : NULL;
}

void
ss_sweep_free (SsSweep *self)
{
  if (self == NULL)
    return;
  ss_scenario_unref (self->base);
  g_ptr_array_unref (self->axes);
  g_free (self);
}

guint
ss_sweep_n_axes (const SsSweep *self)
{
  return self->axes->len;
}

const SsSweepAxis *
ss_sweep_axis (const SsSweep *self, guint i)
{
  return g_ptr_array_index (self->axes, i);
}

guint
ss_sweep_n_points (const SsSweep *self)
{
  return self->n_points;
}

const char *
ss_sweep_value (const SsSweep *self, guint index, guint axis)
{
  g_return_val_if_fail (index < self->n_points && axis < self->axes->len, NULL);
  for (guint i = self->axes->len - 1; i > axis; i--)
    index /= n_values (ss_sweep_axis (self, i));
  if (ss_sweep_axis (self, axis)->is_max)
    return NULL;
  return g_ptr_array_index (ss_sweep_axis (self, axis)->values,
                            index % n_values (ss_sweep_axis (self, axis)));
}

/* ---- one run ---- */

typedef struct
{
  SsSweep *sweep;
  const SsSweepRun *run;
  SsTraceCache *cache;
} Pool;

/* With `value` in place of what is searched for. (transfer full) */
static SsScenario *
derive (const Pool *pool, guint index, const char *value, GError **error)
{
  const SsSweep *sweep = pool->sweep;
  g_autoptr (GPtrArray) settings = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < sweep->axes->len; i++)
    {
      const char *own = ss_sweep_value (sweep, index, i);

      g_ptr_array_add (settings, g_strconcat (ss_sweep_axis (sweep, i)->path, "=",
                                              own != NULL ? own : value, NULL));
    }
  g_ptr_array_add (settings, NULL);
  return ss_scenario_derive (sweep->base, (const char *const *) settings->pdata, error);
}

static void
read_point (const Pool *pool, guint index, const char *value, const SsSweepSearch *search,
            SsSweepPoint *point)
{
  g_autofree const char **values = g_new0 (const char *, pool->sweep->axes->len + 1);

  for (guint i = 0; i < pool->sweep->axes->len; i++)
    {
      const char *own = ss_sweep_value (pool->sweep, index, i);

      values[i] = own != NULL ? own : value;
    }
  point->index = index;
  point->values = values;
  point->search = search;
  pool->run->reader (point, pool->run->user_data);
}

/* The recordings of a scenario, then its reader. FALSE with *error: it cannot be run. */
static gboolean
run_scenario (const Pool *pool, const SsScenario *scenario, guint index, const char *value,
              const SsSweepSearch *search, GError **error)
{
  guint64 capacity_bytes = ss_scenario_capacity_bytes (scenario);
  g_autoptr (SsProgram) program = ss_trace_cache_get (pool->cache, scenario, error);
  g_autoptr (SsRecording) recording = NULL, unlimited = NULL;
  SsSweepPoint point = { 0 };

  if (program == NULL)
    return FALSE;
  recording = pool->run->is_full
                ? ss_simulate_program (scenario, program, error)
                : ss_simulate_figures (scenario, program, capacity_bytes, error);
  if (recording == NULL)
    return FALSE;
  if (recording->is_oom)
    unlimited = ss_simulate_figures (scenario, program, G_MAXINT64, error);
  else
    unlimited = ss_recording_ref (recording);
  if (unlimited == NULL)
    return FALSE;
  point.recording = recording;
  point.unlimited = unlimited;
  read_point (pool, index, value, search, &point);
  return TRUE;
}

static void
run_value (const Pool *pool, guint index, const char *value, const SsSweepSearch *search)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsScenario) scenario = derive (pool, index, value, &error);

  if (scenario == NULL || !run_scenario (pool, scenario, index, value, search, &error))
    {
      SsSweepPoint point = { .problem = error->message };

      read_point (pool, index, value, search, &point);
    }
}

/* ---- the search for the largest ---- */

typedef struct
{
  const Pool *pool;
  guint index;
} Trials;

static SsTrial
try_value (gint64 value, char **problem, gpointer user_data)
{
  const Trials *trials = user_data;
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsScenario) scenario = derive (trials->pool, trials->index, text, &error);
  g_autoptr (SsProgram) program = NULL;
  SsMemoryVerdict verdict = { 0 };

  if (scenario != NULL)
    program = ss_trace_cache_get (trials->pool->cache, scenario, &error);
  if (program == NULL || !ss_simulate_memory (scenario, program, &verdict, &error))
    {
      *problem = g_strdup (error->message);
      return SS_TRIAL_REFUSED;
    }
  if (!verdict.fits)
    return SS_TRIAL_OUT_OF_MEMORY;
  return ss_program_n_ops (program) > LONG_RUN_OPS ? SS_TRIAL_LONG : SS_TRIAL_FITS;
}

/* What the scenario itself says, to start from. */
static gint64
value_of (const SsScenario *scenario, const char *path)
{
  g_auto (GStrv) pieces = g_strsplit (path, "/", 2);
  const SsAttribute *attribute = ss_scenario_attribute_find (pieces[0], pieces[1]);
  g_autofree char *text = attribute->kind->print (attribute, scenario);

  return text != NULL ? g_ascii_strtoll (text, NULL, 10) : 0;
}

static void
run_search (const Pool *pool, guint index, const SsSweepAxis *axis)
{
  Trials trials = { pool, index };
  SsSweepSearch search;
  g_autofree char *text = NULL;

  ss_sweep_search (axis->min, axis->max, value_of (pool->sweep->base, axis->path), try_value,
                   &trials, &search);
  text = g_strdup_printf ("%" G_GINT64_FORMAT, search.value);
  run_value (pool, index, text, &search);
  ss_sweep_search_clear (&search);
}

/* ---- the pool ---- */

static void
run_index (gpointer data, gpointer user_data)
{
  const Pool *pool = user_data;
  guint index = GPOINTER_TO_UINT (data) - 1;

  for (guint i = 0; i < pool->sweep->axes->len; i++)
    if (ss_sweep_axis (pool->sweep, i)->is_max)
      {
        run_search (pool, index, ss_sweep_axis (pool->sweep, i));
        return;
      }
  run_value (pool, index, NULL, NULL);
}

/* The n-th to be started: axes that no trace depends on change fastest, so that points which share
 * a trace come one after the other. */
static guint
index_in_order (const SsSweep *self, guint n)
{
  guint stride = 1, index = 0;

  for (guint pass = 0; pass < 2; pass++)
    {
      stride = 1;
      for (guint i = self->axes->len; i-- > 0;)
        {
          const SsSweepAxis *axis = ss_sweep_axis (self, i);

          if (axis->is_traced == (pass == 1))
            {
              index += n % n_values (axis) * stride;
              n /= n_values (axis);
            }
          stride *= n_values (axis);
        }
    }
  return index;
}

void
ss_sweep_run (SsSweep *self, const SsSweepRun *run)
{
  g_autoptr (SsTraceCache) cache = NULL;
  Pool pool = { .sweep = self, .run = run };
  GThreadPool *threads;

  g_return_if_fail (self != NULL && run != NULL && run->n_threads > 0 && run->reader != NULL);
  pool.cache = cache = ss_trace_cache_new (run->n_threads + 1);
  /* not exclusive: that could fail for want of threads */
  threads = g_thread_pool_new (run_index, &pool, (gint) MIN (run->n_threads, G_MAXINT), FALSE,
                               NULL);
  for (guint n = 0; n < self->n_points; n++)
    {
      guint index = index_in_order (self, n);

      if (run->is_done == NULL || !run->is_done[index])
        g_thread_pool_push (threads, GUINT_TO_POINTER (index + 1), NULL);
    }
  g_thread_pool_free (threads, FALSE, TRUE);
}
