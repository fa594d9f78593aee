/* SPDX-License-Identifier: MIT */
#include "study/step-table.h"

#include <string.h>

#include "hw/data-path.h"
#include "sim/simulate.h"
#include "study/csv-table.h"

/* ---- reading ---- */

/* "model/href=models/x.json" beside the table. (transfer full) */
static char *
resolved (const char *setting, const char *folder)
{
  const char *value = strchr (setting, '=');
  g_autofree char *path = NULL, *beside = NULL;

  if (value == NULL || g_path_is_absolute (value + 1) || strstr (setting, "/href=") == NULL)
    return g_strdup (setting);
  path = g_strndup (setting, (gsize) (value - setting));
  beside = g_build_filename (folder, value + 1, NULL);
  if (!g_file_test (beside, G_FILE_TEST_EXISTS))
    return g_strdup (setting);
  return g_strdup_printf ("%s=%s", path, beside);
}

static char **
read_settings (const char *text, const char *folder)
{
  g_auto (GStrv) settings = g_strsplit (text, ";", -1);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (char **setting = settings; *setting != NULL; setting++)
    {
      g_autofree char *whole = resolved (g_strstrip (*setting), folder);

      if (*whole != '\0')
        g_strv_builder_add (builder, whole);
    }
  return g_strv_builder_end (builder);
}

static char *
device_of (char **overrides)
{
  for (char **setting = overrides; *setting != NULL; setting++)
    if (g_str_has_prefix (*setting, "hardware/device="))
      return g_strdup (strchr (*setting, '=') + 1);
  return g_strdup ("a file of its own");
}

static gboolean
read_peak_kind (const SsCsvTable *csv, guint i, SsPeakKind *kind, GError **error)
{
  static const char *const words[] = { "", "allocated", "reserved", "smi", "unsaid", "oom" };
  const char *word = ss_csv_table_get (csv, i, "peak_kind");

  for (guint k = 0; k < G_N_ELEMENTS (words); k++)
    if (g_str_equal (words[k], word))
      {
        *kind = (SsPeakKind) k;
        return TRUE;
      }
  g_set_error (error, SS_CSV_ERROR, SS_CSV_ERROR_INPUT,
               "row %s: peak_kind \"%.40s\" is not known; known: allocated, reserved, smi, "
               "unsaid, oom", ss_csv_table_get (csv, i, "id"), word);
  return FALSE;
}

/* A: fully stated, B: a field or two inferred, C: rough, which does not count. */
static gboolean
read_confidence (const SsCsvTable *csv, guint i, char *confidence, GError **error)
{
  const char *word = ss_csv_table_get (csv, i, "confidence");

  *confidence = word[0];
  if (word[0] >= 'A' && word[0] <= 'C' && word[1] == '\0')
    return TRUE;
  g_set_error (error, SS_CSV_ERROR, SS_CSV_ERROR_INPUT,
               "row %s: confidence \"%.40s\" is not known; known: A, B, C",
               ss_csv_table_get (csv, i, "id"), word);
  return FALSE;
}

static void
row_free (gpointer data)
{
  SsStepRow *row = data;

  g_free (row->id);
  g_free (row->device);
  g_free (row->near);
  g_strfreev (row->overrides);
  g_free (row->not_expressible);
  g_free (row);
}

static gboolean
read_row (const SsCsvTable *csv, guint i, const char *folder, SsStepRow *row, GError **error)
{
  const char *reason = ss_csv_table_get (csv, i, "not_expressible");
  double bytes = 0;
  GError *problem = NULL;

  row->id = g_strdup (ss_csv_table_get (csv, i, "id"));
  row->near = g_strdup (ss_csv_table_get (csv, i, "near"));
  row->overrides = read_settings (ss_csv_table_get (csv, i, "settings"), folder);
  row->device = device_of (row->overrides);
  if (*reason != '\0')
    row->not_expressible = g_strdup (reason);
  else if (row->overrides[0] == NULL)
    row->not_expressible = g_strdup ("settings: none are stated");
  ss_csv_table_number (csv, i, "step_time_s", &row->measured_s, &problem);
  if (problem == NULL)
    ss_csv_table_number (csv, i, "tokens_per_step", &row->tokens, &problem);
  if (problem == NULL)
    ss_csv_table_number (csv, i, "peak_bytes", &bytes, &problem);
  if (problem == NULL)
    read_peak_kind (csv, i, &row->peak_kind, &problem);
  if (problem == NULL)
    read_confidence (csv, i, &row->confidence, &problem);
  row->measured_bytes = (guint64) MIN (bytes, 9e18);
  if (problem != NULL)
    g_propagate_error (error, problem);
  return problem == NULL;
}

SsStepTable *
ss_step_table_read (const char *path, GError **error)
{
  static const char *const columns[]
    = { "id", "settings", "step_time_s", "tokens_per_step", "peak_bytes", "peak_kind",
        "confidence", NULL };
  g_autoptr (SsCsvTable) csv = ss_csv_table_read (path, columns, error);
  g_autoptr (SsStepTable) self = g_new0 (SsStepTable, 1);
  g_autofree char *folder = g_path_get_dirname (path);

  self->rows = g_ptr_array_new_with_free_func (row_free);
  for (guint i = 0; csv != NULL && i < ss_csv_table_n_rows (csv); i++)
    {
      SsStepRow *row = g_new0 (SsStepRow, 1);

      g_ptr_array_add (self->rows, row);
      if (!read_row (csv, i, folder, row, error))
        return NULL;
    }
  return csv != NULL ? g_steal_pointer (&self) : NULL;
}

void
ss_step_table_free (SsStepTable *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->rows);
  g_free (self);
}

/* ---- running ---- */

SsScenario *
ss_step_row_scenario (const SsStepRow *row, GError **error)
{
  g_autofree char *path = ss_data_find ("scenarios/parts/row.xml");

  if (path == NULL)
    {
      g_set_error (error, SS_SCENARIO_ERROR, SS_SCENARIO_ERROR_INPUT,
                   "scenarios/parts/row.xml is nowhere; is stepsim installed?");
      return NULL;
    }
  return ss_scenario_load (path, (const char *const *) row->overrides, error);
}

static guint64
peak_of (const SsRecording *recording, SsPeakKind kind)
{
  switch (kind)
    {
    case SS_PEAK_ALLOCATED:
      return recording->peak.allocated_bytes;
    case SS_PEAK_RESERVED:
    case SS_PEAK_UNSAID:
      return recording->peak_reserved_bytes;
    case SS_PEAK_SMI:
      return recording->peak_reserved_bytes + recording->context_bytes;
    case SS_PEAK_NONE:
    case SS_PEAK_OOM:
      return 0;
    }
  g_return_val_if_reached (0);
}

double
ss_step_last_s (const SsRecording *recording)
{
  const SsStepRecord *last;

  if (recording->steps->len == 0)
    return 0;
  last = &g_array_index (recording->steps, SsStepRecord, recording->steps->len - 1);
  return last->is_complete ? (double) (last->end_ns - last->start_ns) * 1e-9 : 0;
}

static gboolean
run_row (SsStepRow *row, GError **error)
{
  g_autoptr (SsScenario) scenario = ss_step_row_scenario (row, error);
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRecording) recording = NULL;
  SsSimulateSettings settings = { .detail = SS_SIMULATE_FIGURES, .traced = &program };

  if (scenario == NULL)
    return FALSE;
  recording = ss_simulate (scenario, &settings, error);
  if (recording == NULL)
    return FALSE;
  row->is_oom = recording->is_oom;
  if (recording->is_oom)
    {
      settings = (SsSimulateSettings) { .detail = SS_SIMULATE_FIGURES, .program = program,
                                        .capacity_bytes = G_MAXINT64 };
      ss_recording_unref (recording);
      recording = ss_simulate (scenario, &settings, error);
      if (recording == NULL)
        return FALSE;
    }
  row->simulated_s = ss_step_last_s (recording);
  row->simulated_bytes = peak_of (recording, row->peak_kind);
  return TRUE;
}

static void
on_row (gpointer data, G_GNUC_UNUSED gpointer user_data)
{
  SsStepRow *row = data;
  g_autoptr (GError) error = NULL;

  if (run_row (row, &error))
    return;
  row->is_refused = TRUE;
  row->not_expressible = g_strndup (error->message, strcspn (error->message, "\n"));
}

void
ss_step_table_run (SsStepTable *self, guint n_threads)
{
  GThreadPool *threads
    = g_thread_pool_new (on_row, NULL, (gint) CLAMP (n_threads, 1, 1024), FALSE, NULL);

  for (guint i = 0; i < self->rows->len; i++)
    {
      SsStepRow *row = self->rows->pdata[i];

      if (row->not_expressible == NULL)
        g_thread_pool_push (threads, row, NULL);
    }
  g_thread_pool_free (threads, FALSE, TRUE);
}
