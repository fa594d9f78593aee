/* SPDX-License-Identifier: MIT */
#include "study/calibrate.h"

#include "study/csv-table.h"

/* A step tells of the host if it would be so much shorter under one that costs nothing. */
#define MIN_SHARE 0.1

/* A step that was traced once, to be timed under any host. */
typedef struct
{
  SsStepRow *row;
  SsScenario *scenario;
  SsProgram *program;
} Step;

typedef struct
{
  GPtrArray *steps;              /* Step */
  SsHostCosts costs;
} Fit;

static void
step_free (gpointer data)
{
  Step *step = data;

  ss_scenario_unref (step->scenario);
  ss_program_unref (step->program);
  g_free (step);
}

static double
time_under (const Step *step, const SsHostCosts *costs)
{
  g_autoptr (SsDevice) device
    = ss_device_with_host (ss_scenario_device (step->scenario), costs);
  SsSimulateSettings settings = { .detail = SS_SIMULATE_FIGURES, .capacity_bytes = G_MAXINT64,
                                  .program = step->program, .device = device };
  g_autoptr (SsRecording) recording = ss_simulate (step->scenario, &settings, NULL);

  return recording != NULL ? ss_step_last_s (recording) : 0;
}

static SsHostCosts
with_training (const SsHostCosts *costs, double training_us)
{
  SsHostCosts other = *costs;

  other.forward_s = other.backward_s = training_us * 1e-6;
  return other;
}

static double
time_of_row (const double *values, guint i, gpointer user_data)
{
  const Fit *fit = user_data;
  SsHostCosts costs = with_training (&fit->costs, values[0]);

  return time_under (fit->steps->pdata[i], &costs);
}

static gboolean
depends_on_host (const Step *step, const SsHostCosts *costs)
{
  SsHostCosts free_host = { .queue_depth = costs->queue_depth };

  return time_under (step, &free_host) < (1 - MIN_SHARE) * time_under (step, costs);
}

/* The step, or NULL: it is of another host, or does not tell of it. */
static Step *
take_step (SsStepRow *row, const char *host, const SsHostCosts *costs)
{
  g_autoptr (SsScenario) scenario = NULL;
  g_autoptr (SsProgram) program = NULL;
  Step *step;

  if (row->not_expressible != NULL || row->measured_s <= 0
      || (row->confidence != 'A' && row->confidence != 'B'))
    return NULL;
  scenario = ss_step_row_scenario (row, NULL);
  if (scenario == NULL
      || g_strcmp0 (ss_device_host_name (ss_scenario_device (scenario)), host) != 0)
    return NULL;
  program = ss_scenario_trace (scenario, FALSE, NULL);
  if (program == NULL)
    return NULL;
  step = g_new (Step, 1);
  *step = (Step) { row, g_steal_pointer (&scenario), g_steal_pointer (&program) };
  if (depends_on_host (step, costs))
    return step;
  step_free (step);
  return NULL;
}

static void
run_fit (Fit *fit, SsCalibration *c)
{
  guint n = fit->steps->len;
  g_autofree double *measured = g_new (double, n);
  g_autofree char **group = g_new (char *, n);
  GString *sources = g_string_new (NULL);
  /* times in whole ns need a step that shows in them */
  SsFitProblem problem = {
    .parameters = c->parameters, .n_parameters = 1, .n_rows = n, .measured_s = measured,
    .group = group, .step = 0.02, .model = time_of_row, .user_data = fit,
  };

  for (guint i = 0; i < n; i++)
    {
      const Step *step = fit->steps->pdata[i];

      measured[i] = step->row->measured_s;
      group[i] = step->row->id;
      g_string_append_printf (sources, "%s%s", i > 0 ? ", " : "", step->row->id);
    }
  c->sources = g_string_free (sources, FALSE);
  c->n_rows = n;
  ss_fit (&problem, &c->result);
}

GPtrArray *
ss_calibrate_host (const char *path, const SsStepTable *table, GError **error)
{
  g_autofree char *host = g_path_get_basename (path);
  g_autoptr (GPtrArray) steps = g_ptr_array_new_with_free_func (step_free);
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (ss_calibration_free);
  SsCalibration *c = g_new0 (SsCalibration, 1);
  Fit fit = { .steps = steps };

  g_ptr_array_add (list, c);
  c->time_class = SS_TIME_HOST;
  c->title = g_strdup ("host");
  if (!ss_host_costs_load (path, &fit.costs, error))
    return NULL;
  if (g_str_has_suffix (host, ".xml"))
    *g_strrstr (host, ".xml") = '\0';
  for (guint i = 0; i < table->rows->len; i++)
    {
      Step *step = take_step (table->rows->pdata[i], host, &fit.costs);

      if (step != NULL)
        g_ptr_array_add (steps, step);
    }
  if (steps->len == 0)
    {
      g_set_error (error, SS_CSV_ERROR, SS_CSV_ERROR_INPUT,
                   "no step of the table waits for the host %s", host);
      return NULL;
    }
  c->n_parameters = 1;
  c->before[0] = fit.costs.forward_s * 1e6;
  c->parameters[0] = (SsFitParameter) { .name = "forward, backward", .value = c->before[0],
                                        .min = 1, .max = 200 };
  run_fit (&fit, c);
  c->model.host = with_training (&fit.costs, c->parameters[0].value);
  return g_steal_pointer (&list);
}
