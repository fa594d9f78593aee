/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/error-groups.h"
#include "output/file-writer.h"
#include "study/device-text.h"

static void
append_errors (GString *text, const char *what, SsErrorSummary errors)
{
  g_string_append_printf (text, "  %-10s", what);
  ss_error_summary_append_text (errors, text);
}

/* "+- 2 %", of what the value is */
static void
append_parameter (GString *text, const SsCalibration *c, guint i)
{
  const SsFitParameter *p = &c->parameters[i];
  double share = p->value > 0 ? p->sigma / p->value * 100 : 0;

  g_string_append_printf (text, "  %-18s", p->name);
  ss_append_number (text, "%10.4g", c->before[i]);
  ss_append_number (text, "%10.4g", p->value);
  g_string_append (text, "  +- ");
  ss_append_number (text, "%.2g", share);
  g_string_append (text, share > 25 ? " %: hardly determined; the prior holds it\n" : " %\n");
}

static char *
to_text (const GPtrArray *calibrations)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < calibrations->len; i++)
    {
      const SsCalibration *c = calibrations->pdata[i];

      g_string_append_printf (text, "%s%s: %u rows (%s)\n  %-18s%10s%10s\n", i > 0 ? "\n" : "",
                              c->title, c->n_rows, c->sources, "parameter", "before", "after");
      for (guint k = 0; k < c->n_parameters; k++)
        append_parameter (text, c, k);
      append_errors (text, "before", c->result.before);
      append_errors (text, "fitted", c->result.fitted);
      append_errors (text, "left out", c->result.left_out);
    }
  return g_string_free (text, FALSE);
}

/* The classes that --class names, as bits; 0 and said if there is no such class. */
static guint
classes_of (const char *word)
{
  if (word == NULL)
    return 1u << SS_TIME_GEMM | 1u << SS_TIME_ATTENTION | 1u << SS_TIME_MEMORY;
  for (guint i = 0; i < SS_N_TIME_CLASSES; i++)
    if (g_str_equal (ss_time_class_name ((SsTimeClass) i), word))
      return 1u << i;
  ss_console_error ("--class: \"%s\" is not known; known: gemm, attention, memory, host", word);
  return 0;
}

/* Moves what is in `from` behind what is in `to`. */
static void
take_all (GPtrArray *to, GPtrArray *from)
{
  while (from->len > 0)
    g_ptr_array_add (to, g_ptr_array_steal_index (from, 0));
}

static GPtrArray *
fit_device (const char *path, const char *table_path, guint classes, const char *source,
            const char *prior_path, GError **error)
{
  g_autoptr (SsDevice) device = ss_device_load_file (path, error);
  g_autoptr (SsDevice) prior
    = device != NULL ? ss_device_load_file (prior_path != NULL ? prior_path : path, error) : NULL;
  g_autoptr (SsKernelTable) table
    = prior != NULL ? ss_kernel_table_read (table_path, error) : NULL;
  GPtrArray *all;

  if (table == NULL)
    return NULL;
  all = g_ptr_array_new_with_free_func (ss_calibration_free);
  for (guint i = 0; i < SS_TIME_HOST; i++)
    if (classes & 1u << i)
      {
        g_autoptr (GPtrArray) some
          = ss_calibrate_kernels (device, prior, table, (SsTimeClass) i, source);

        take_all (all, some);
      }
  return all;
}

static GPtrArray *
fit_host (const char *path, const char *table_path, GError **error)
{
  g_autoptr (SsStepTable) table = ss_step_table_read (table_path, error);

  return table != NULL ? ss_calibrate_host (path, table, error) : NULL;
}

/* What was written must be readable again. */
static gboolean
is_readable (const char *path, gboolean is_host, GError **error)
{
  SsHostCosts costs;
  g_autoptr (SsDevice) device = NULL;

  if (is_host)
    return ss_host_costs_load (path, &costs, error);
  device = ss_device_load_file (path, error);
  return device != NULL;
}

static SsExit
write_file (const char *from, const char *to, const GPtrArray *calibrations, const char *table,
            gboolean is_host)
{
  g_autofree char *before = NULL, *after = NULL, *name = g_path_get_basename (table);
  g_autoptr (GError) error = NULL;

  if (!g_file_get_contents (from, &before, NULL, &error))
    {
      ss_console_error ("%s", error->message);
      return SS_EXIT_INPUT;
    }
  after = ss_device_text_with (before, calibrations, name);
  if (!g_file_set_contents (to, after, -1, &error) || !is_readable (to, is_host, &error))
    {
      ss_console_error ("%s", error->message);
      return SS_EXIT_OUTPUT;
    }
  return SS_EXIT_FITS;
}

static SsExit
run (int argc, char **argv)
{
  g_autofree char *word = NULL, *out = NULL, *source = NULL, *prior = NULL, *text = NULL;
  const GOptionEntry entries[] = {
    { "class", 0, 0, G_OPTION_ARG_STRING, &word,
      "gemm, attention, memory (all three if not given), or host", "CLASS" },
    { "source", 0, 0, G_OPTION_ARG_STRING, &source, "Rows of this source alone", "NAME" },
    { "prior", 0, 0, G_OPTION_ARG_FILENAME, &prior,
      "Begin with this device's times and hold to them what no row determines", "PRIOR.xml" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "Write the file with what was fitted",
      "OUT.xml" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GPtrArray) calibrations = NULL;
  g_autoptr (GError) error = NULL;
  gboolean is_host;
  guint classes;
  SsExit status;

  if (!ss_command_parse (&ss_command_calibrate, entries, &argc, &argv, &status))
    return status;
  classes = classes_of (word);
  if (classes == 0 || !ss_command_check_arguments (&ss_command_calibrate, argc, argv, 2, 2))
    return SS_EXIT_INPUT;
  is_host = classes == 1u << SS_TIME_HOST;
  calibrations = is_host ? fit_host (argv[1], argv[2], &error)
                         : fit_device (argv[1], argv[2], classes, source, prior, &error);
  if (calibrations == NULL || calibrations->len == 0)
    {
      if (error != NULL)
        ss_console_error ("%s", error->message);
      else
        ss_console_error ("%s: has no rows, or too few, of the device of %s", argv[2], argv[1]);
      return SS_EXIT_INPUT;
    }
  text = to_text (calibrations);
  if (!ss_console_print (text))
    return SS_EXIT_OUTPUT;
  return out != NULL ? write_file (argv[1], out, calibrations, argv[2], is_host) : SS_EXIT_FITS;
}

const SsCommand ss_command_calibrate = {
  .name = "calibrate",
  .arguments = "DEVICE.xml TABLE.csv",
  .summary = "fit a device's times to measured kernels, or a host's (--class=host HOST.xml) to "
             "measured steps",
  .is_for_checking = TRUE,
  .run = run,
};
