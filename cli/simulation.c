/* SPDX-License-Identifier: MIT */
#include "cli/simulation.h"

#include "cli/console.h"
#include "study/optimal-plan.h"

SsScenario *
ss_simulation_plan (SsScenario *scenario, const char *path)
{
  g_autoptr (GError) error = NULL;
  SsScenario *planned = ss_optimal_plan (scenario, &error);

  if (planned == NULL)
    ss_console_error ("%s: %s", path, error->message);
  return planned;
}

SsRecording *
ss_simulation_run (SsScenario *scenario, const char *path, const SsSimulateSettings *settings)
{
  g_autoptr (SsScenario) planned = ss_simulation_plan (scenario, path);
  g_autoptr (GError) error = NULL;
  SsRecording *recording = planned != NULL ? ss_simulate (planned, settings, &error) : NULL;

  if (error != NULL)
    ss_console_error ("%s: %s", path, error->message);
  return recording;
}

SsProgram *
ss_simulation_trace (SsScenario *scenario, const char *path, gboolean keeps_operands)
{
  g_autoptr (SsScenario) planned = ss_simulation_plan (scenario, path);
  g_autoptr (GError) error = NULL;
  SsProgram *program
    = planned != NULL ? ss_scenario_trace (planned, keeps_operands, &error) : NULL;

  if (error != NULL)
    ss_console_error ("%s: %s", path, error->message);
  return program;
}
