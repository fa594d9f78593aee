/* SPDX-License-Identifier: MIT */
#include "cli/bench-trace.h"

#include <string.h>
#include <sys/resource.h>

#include "cli/median.h"
#include "hw/data-path.h"
#include "output/formats/run-json.h"
#include "sim/simulate.h"
#include "study/optimal-plan.h"

#define SCENARIO "scenarios/llama8b-h100.xml"
#define N_REPEATS 7

typedef enum
{
  STAGE_LOAD,
  STAGE_TRACE,
  STAGE_REPLAY,
  STAGE_JSON,
  N_STAGES
} Stage;

typedef struct
{
  double ms[N_STAGES][N_REPEATS];
  guint n_ops, n_events;
  gsize n_json_bytes;
} Times;

static double
ms_since (gint64 *start_us)
{
  gint64 now_us = g_get_monotonic_time ();
  double ms = (double) (now_us - *start_us) / 1000;

  *start_us = now_us;
  return ms;
}

static gboolean
run_once (const char *path, guint repeat, Times *times, GError **error)
{
  gint64 start_us = g_get_monotonic_time ();
  g_autoptr (SsScenario) scenario = ss_scenario_load (path, NULL, error), planned = NULL;
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRecording) recording = NULL;
  g_autofree char *json = NULL;
  SsSimulateSettings settings = { .detail = SS_SIMULATE_WHOLE };

  if (scenario == NULL)
    return FALSE;
  times->ms[STAGE_LOAD][repeat] = ms_since (&start_us);
  planned = ss_optimal_plan (scenario, error);
  settings.program = program
    = planned != NULL ? ss_scenario_trace (planned, FALSE, error) : NULL;
  if (program == NULL)
    return FALSE;
  times->ms[STAGE_TRACE][repeat] = ms_since (&start_us);
  recording = ss_simulate (planned, &settings, error);
  if (recording == NULL)
    return FALSE;
  times->ms[STAGE_REPLAY][repeat] = ms_since (&start_us);
  json = ss_run_to_json (recording, NULL);
  times->ms[STAGE_JSON][repeat] = ms_since (&start_us);
  times->n_ops = recording->ops->len;
  times->n_events = recording->memory->len;
  times->n_json_bytes = strlen (json);
  return TRUE;
}

gboolean
ss_bench_trace (GString *out, GError **error)
{
  static const char *const names[N_STAGES] = { "load", "trace", "replay", "json" };
  g_autofree char *path = ss_data_find (SCENARIO);
  Times times = { 0 };
  struct rusage usage;
  double sum_ms = 0;

  for (guint i = 0; i < N_REPEATS; i++)
    if (!run_once (path != NULL ? path : SCENARIO, i, &times, error))
      return FALSE;
  g_string_append_printf (out,
                          "%s, %u ops, %u memory events, %" G_GSIZE_FORMAT
                          " bytes of JSON, median of %d repeats\n",
                          SCENARIO, times.n_ops, times.n_events, times.n_json_bytes, N_REPEATS);
  for (guint i = 0; i < N_STAGES; i++)
    {
      double ms = ss_median (times.ms[i], N_REPEATS);

      sum_ms += ms;
      g_string_append_printf (out, "%-8s %8.2f ms\n", names[i], ms);
    }
  getrusage (RUSAGE_SELF, &usage);
  g_string_append_printf (out, "%-8s %8.2f ms\n%-8s %8.1f MiB\n", "sum", sum_ms, "max rss",
                          (double) usage.ru_maxrss / 1024);
  return TRUE;
}
