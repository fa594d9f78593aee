/* SPDX-License-Identifier: MIT */
#include "study/sweep.h"

#include <string.h>

#include "ops/optim/optimizer.h"
#include "plan/policy.h"
#include "scenarios/attribute.h"
#include "sim/simulate.h"
#include "study/sweep-search.h"
#include "study/trace-cache.h"

/* A search goes no further than runs of so many ops: a few hundred MB, some seconds. */
#define LONG_RUN_OPS 2000000
#define CHECKPOINTING "checkpointing/"

static const char no_value[] = SS_SWEEP_NO_VALUE;

struct _SsSweep
{
  SsScenario *base;
  GPtrArray *axes;               /* SsSweepAxis */
  guint n_cells;                 /* of the whole grid, the last axis fastest */
  GArray *cells;                 /* guint by point: its cell */
  guint *points;                 /* by cell: its point, or G_MAXUINT */
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

/* A setting that some policies of checkpointing read and others do not. */
static gboolean
is_of_policies (const char *path)
{
  const char *setting = path + strlen (CHECKPOINTING);

  if (!g_str_has_prefix (path, CHECKPOINTING))
    return FALSE;
  for (const SsCheckpointPolicy *const *p = ss_checkpoint_policies (); *p != NULL; p++)
    if (ss_checkpoint_policy_reads (*p, setting))
      return TRUE;
  return FALSE;
}

static gboolean
check_axes (SsSweep *self, GError **error)
{
  guint n_long = 0, n_max = 0, n_settings = 0;
  gboolean has_policies = FALSE, is_long;

  self->n_cells = 1;
  for (guint i = 0; i < self->axes->len; i++)
    {
      const SsSweepAxis *axis = ss_sweep_axis (self, i);

      n_max += axis->is_max ? 1 : 0;
      is_long = axis->is_max || axis->values->len > 1;
      has_policies = has_policies || (is_long && g_str_equal (axis->path, CHECKPOINTING "policy"));
      if (is_long && is_of_policies (axis->path))
        n_settings++;
      else
        n_long += is_long ? 1 : 0;
      for (guint j = 0; j < i; j++)
        if (g_str_equal (axis->path, ss_sweep_axis (self, j)->path))
          return fail (error, "two lists of values for ", axis->path);
      if (n_values (axis) > SS_SWEEP_MAX_POINTS / self->n_cells)
        return fail (error, "more than 100000 points", "");
      self->n_cells *= n_values (axis);
    }
  if (n_max > 1)
    return fail (error, "only one setting at a time can be max", "");
  /* each policy reads settings of its own: beside several they are one side of the grid */
  if (n_long + (has_policies ? MIN (n_settings, 1) : n_settings) > 2)
    return fail (error, "at most two settings at a time can have several values", "");
  return TRUE;
}

/* Which of the axis' values the cell has. */
static guint
digit (const SsSweep *self, guint cell, guint axis)
{
  for (guint i = self->axes->len - 1; i > axis; i--)
    cell /= n_values (ss_sweep_axis (self, i));
  return cell % n_values (ss_sweep_axis (self, axis));
}

/* The value that a cell has of a path; NULL: it is not swept, or searched for. */
static const char *
value_in (const SsSweep *self, guint cell, const char *path)
{
  for (guint i = 0; i < self->axes->len; i++)
    {
      const SsSweepAxis *axis = ss_sweep_axis (self, i);

      if (g_str_equal (axis->path, path) && !axis->is_max)
        return g_ptr_array_index (axis->values, digit (self, cell, i));
    }
  return NULL;
}

/* The optimizer is coded in none of the ways that are swept: it has its own. */
static gboolean
is_without_implementation (const SsSweepAxis *axis, const char *type)
{
  const SsOptimizer *optimizer = type != NULL ? ss_optimizer_find (type) : NULL;
  guint implementations = optimizer != NULL ? ss_optimizer_implementations (optimizer) : 0;

  for (guint i = 0; i < axis->values->len; i++)
    for (guint k = 0; k < SS_N_IMPLEMENTATIONS; k++)
      if ((implementations & 1u << k)
          && g_str_equal (g_ptr_array_index (axis->values, i),
                          ss_implementation_name ((SsImplementation) k)))
        return FALSE;
  return optimizer != NULL;
}

/* A setting of some choices only, and the cell's choice, swept too, is another. */
static gboolean
is_without (const SsSweep *self, guint cell, guint axis)
{
  const char *path = ss_sweep_axis (self, axis)->path, *setting = path + strlen (CHECKPOINTING);
  const char *name = NULL;
  const SsCheckpointPolicy *policy;

  if (g_str_equal (path, "optimizer/implementation"))
    return is_without_implementation (ss_sweep_axis (self, axis),
                                      value_in (self, cell, "optimizer/type"));
  if (!is_of_policies (path))
    return FALSE;
  name = value_in (self, cell, CHECKPOINTING "policy");
  policy = name != NULL ? ss_checkpoint_policy_find (name) : NULL;
  return policy != NULL && !ss_checkpoint_policy_reads (policy, setting);
}

static void
number_points (SsSweep *self)
{
  self->cells = g_array_new (FALSE, FALSE, sizeof (guint));
  self->points = g_new (guint, self->n_cells);
  for (guint cell = 0; cell < self->n_cells; cell++)
    {
      gboolean is_repeated = FALSE;

      for (guint i = 0; i < self->axes->len; i++)
        is_repeated = is_repeated || (digit (self, cell, i) > 0 && is_without (self, cell, i));
      self->points[cell] = is_repeated ? G_MAXUINT : self->cells->len;
      if (!is_repeated)
        g_array_append_val (self->cells, cell);
    }
}

SsSweep *
ss_sweep_new (const SsScenario *base, GPtrArray *axes, GError **error)
{
  g_autoptr (SsSweep) self = g_new0 (SsSweep, 1);

  g_return_val_if_fail (base != NULL && axes != NULL && axes->len > 0, NULL);
  self->base = ss_scenario_ref ((SsScenario *) base);
  self->axes = g_ptr_array_ref (axes);
  if (!check_axes (self, error))
    return NULL;
  number_points (self);
  return g_steal_pointer (&self);
}

void
ss_sweep_free (SsSweep *self)
{
  if (self == NULL)
    return;
  ss_scenario_unref (self->base);
  g_ptr_array_unref (self->axes);
  g_clear_pointer (&self->cells, g_array_unref);
  g_free (self->points);
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
  return self->cells->len;
}

const char *
ss_sweep_value (const SsSweep *self, guint index, guint axis)
{
  guint cell;

  g_return_val_if_fail (index < self->cells->len && axis < self->axes->len, NULL);
  cell = g_array_index (self->cells, guint, index);
  if (is_without (self, cell, axis))
    return no_value;
  if (ss_sweep_axis (self, axis)->is_max)
    return NULL;
  return g_ptr_array_index (ss_sweep_axis (self, axis)->values, digit (self, cell, axis));
}

/* ---- one run ---- */

typedef struct
{
  SsSweep *sweep;
  const SsSweepRun *run;
  SsTraceCache *cache;
} Pool;

/* What stands for a setting that a point does without: an optimizer's own implementation, since the
 * file may name another; NULL: what the file says counts for nothing anyway. */
static const char *
default_of (const SsSweep *self, guint index, guint axis)
{
  guint cell = g_array_index (self->cells, guint, index);
  const char *type = value_in (self, cell, "optimizer/type");

  if (!g_str_equal (ss_sweep_axis (self, axis)->path, "optimizer/implementation"))
    return NULL;
  return ss_implementation_name (ss_optimizer_find (type)->by_default);
}

/* With `value` in place of what is searched for. (transfer full) */
static SsScenario *
derive (const Pool *pool, guint index, const char *value, GError **error)
{
  const SsSweep *sweep = pool->sweep;
  g_autoptr (GPtrArray) settings = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < sweep->axes->len; i++)
    {
      const char *own = ss_sweep_value (sweep, index, i);

      /* not by the text: another setting's value may be one dash */
      if (own == no_value)
        own = default_of (sweep, index, i);
      else if (own == NULL)
        own = value;
      if (own != NULL)
        g_ptr_array_add (settings, g_strconcat (ss_sweep_axis (sweep, i)->path, "=", own, NULL));
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

/* The recordings of a scenario, then its reader; *scenario: with its plan, if it needs one. FALSE
 * with *error: it cannot be run. */
static gboolean
run_scenario (const Pool *pool, SsScenario **scenario, guint index, const char *value,
              const SsSweepSearch *search, GError **error)
{
  g_autoptr (SsProgram) program = ss_trace_cache_get (pool->cache, scenario, error);
  g_autoptr (SsRecording) recording = NULL, unlimited = NULL;
  const SsSimulateSettings as_is = {
    .detail = pool->run->is_full ? SS_SIMULATE_WHOLE : SS_SIMULATE_OUTCOME, .program = program,
  };
  const SsSimulateSettings without_limit = {
    .detail = SS_SIMULATE_FIGURES, .capacity_bytes = G_MAXINT64, .program = program,
  };
  SsSweepPoint point = { 0 };

  if (program == NULL)
    return FALSE;
  recording = ss_simulate (*scenario, &as_is, error);
  if (recording == NULL)
    return FALSE;
  if (recording->is_oom)
    unlimited = ss_simulate (*scenario, &without_limit, error);
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

  if (scenario == NULL || !run_scenario (pool, &scenario, index, value, search, &error))
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
run_trial (gint64 value, char **problem, const Trials *trials)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsScenario) scenario = derive (trials->pool, trials->index, text, &error);
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRecording) verdict = NULL;
  SsSimulateSettings settings = { .detail = SS_SIMULATE_VERDICT };

  if (scenario != NULL)
    settings.program = program = ss_trace_cache_get (trials->pool->cache, &scenario, &error);
  if (program != NULL)
    verdict = ss_simulate (scenario, &settings, &error);
  if (verdict == NULL)
    {
      *problem = g_strdup (error->message);
      return SS_TRIAL_REFUSED;
    }
  if (verdict->is_oom)
    return SS_TRIAL_OUT_OF_MEMORY;
  return ss_program_n_ops (program) > LONG_RUN_OPS ? SS_TRIAL_LONG : SS_TRIAL_FITS;
}

static SsTrial
try_value (gint64 value, char **problem, gpointer user_data)
{
  const Trials *trials = user_data;
  const SsSweepRun *run = trials->pool->run;
  SsTrial trial = run_trial (value, problem, trials);

  if (run->on_trial != NULL)
    run->on_trial (run->user_data);
  return trial;
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
    if (ss_sweep_value (pool->sweep, index, i) == NULL)
      {
        run_search (pool, index, ss_sweep_axis (pool->sweep, i));
        return;
      }
  run_value (pool, index, NULL, NULL);
}

/* The cell of the n-th to be started: axes that no trace depends on change fastest, so that points
 * which share a trace come one after the other. */
static guint
cell_in_order (const SsSweep *self, guint n)
{
  guint stride = 1, cell = 0;

  for (guint pass = 0; pass < 2; pass++)
    {
      stride = 1;
      for (guint i = self->axes->len; i-- > 0;)
        {
          const SsSweepAxis *axis = ss_sweep_axis (self, i);

          if (axis->is_traced == (pass == 1))
            {
              cell += n % n_values (axis) * stride;
              n /= n_values (axis);
            }
          stride *= n_values (axis);
        }
    }
  return cell;
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
  for (guint n = 0; n < self->n_cells; n++)
    {
      guint index = self->points[cell_in_order (self, n)];

      if (index != G_MAXUINT && (run->is_done == NULL || !run->is_done[index]))
        g_thread_pool_push (threads, GUINT_TO_POINTER (index + 1), NULL);
    }
  g_thread_pool_free (threads, FALSE, TRUE);
}
