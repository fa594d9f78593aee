/* SPDX-License-Identifier: MIT */
#include "cli/validate-table.h"

#include "cli/console.h"
#include "cli/error-groups.h"
#include "output/formats/json-text.h"
#include "study/kernel-table.h"

/* Errors of one class of kernel. */
typedef struct
{
  SsErrorGroups *all, *by_device, *by_source, *by_kernel;
} Class;

typedef struct
{
  Class classes[SS_TIME_HOST];   /* gemm, attention, memory */
  GHashTable *devices;           /* name: SsDevice; NULL: unknown */
  double *simulated_s;           /* by row; 0: none */
  guint n_not_expressible;
} Tally;

static void
tally_init (Tally *tally, guint n_rows)
{
  tally->simulated_s = g_new0 (double, n_rows);
  tally->devices = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                          (GDestroyNotify) ss_device_unref);
  for (guint i = 0; i < G_N_ELEMENTS (tally->classes); i++)
    tally->classes[i] = (Class) { ss_error_groups_new (), ss_error_groups_new (),
                                  ss_error_groups_new (), ss_error_groups_new () };
}

static void
tally_clear (Tally *tally)
{
  g_free (tally->simulated_s);
  g_hash_table_unref (tally->devices);
  for (guint i = 0; i < G_N_ELEMENTS (tally->classes); i++)
    {
      ss_error_groups_free (tally->classes[i].all);
      ss_error_groups_free (tally->classes[i].by_device);
      ss_error_groups_free (tally->classes[i].by_source);
      ss_error_groups_free (tally->classes[i].by_kernel);
    }
}

static const SsDevice *
device_of (Tally *tally, const char *name)
{
  SsDevice *device = NULL;

  if (!g_hash_table_lookup_extended (tally->devices, name, NULL, (gpointer *) &device))
    {
      device = ss_device_load (name, NULL);
      g_hash_table_insert (tally->devices, (gpointer) name, device);
    }
  return device;
}

static void
count_row (Tally *tally, SsKernelRow *row, double *simulated_s)
{
  const SsDevice *device = device_of (tally, row->device);
  const Class *class;
  double error;

  if (row->not_expressible == NULL && device == NULL)
    row->not_expressible = g_strdup_printf ("device: %s is not known", row->device);
  if (row->not_expressible == NULL)
    {
      *simulated_s = ss_kernel_row_time_s (row, device);
      if (*simulated_s <= 0)
        row->not_expressible
          = g_strdup_printf ("kernel: %s has no times of %s", row->device, row->kernel);
    }
  if (row->not_expressible != NULL)
    {
      tally->n_not_expressible++;
      return;
    }
  class = &tally->classes[row->time_class];
  error = ss_relative_error (row->measured_s, *simulated_s);
  ss_error_groups_add (class->all, "all", error);
  ss_error_groups_add (class->by_device, row->device, error);
  ss_error_groups_add (class->by_source, row->source, error);
  ss_error_groups_add (class->by_kernel, row->kernel, error);
}

/* ---- text ---- */

/* Thousands of rows are summed up; --json has them all. */
static char *
to_text (const SsKernelTable *table, const Tally *tally)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (tally->classes); i++)
    {
      const Class *class = &tally->classes[i];

      g_string_append_printf (text, "%s%-30s", i > 0 ? "\n" : "",
                              ss_time_class_name ((SsTimeClass) i));
      ss_error_summary_append_text (ss_error_groups_summary (class->all, "all"), text);
      ss_error_groups_append_text (class->by_device, text);
      g_string_append (text, " by source\n");
      ss_error_groups_append_text (class->by_source, text);
      g_string_append (text, " by kernel\n");
      ss_error_groups_append_text (class->by_kernel, text);
    }
  g_string_append_printf (text, "\nnot expressible: %u rows\n", tally->n_not_expressible);
  for (guint i = 0; i < table->rows->len; i++)
    {
      const SsKernelRow *row = table->rows->pdata[i];

      if (row->not_expressible != NULL)
        g_string_append_printf (text, "  %-7s %s\n", row->id, row->not_expressible);
    }
  return g_string_free (text, FALSE);
}

/* ---- JSON ---- */

static void
append_row_json (GString *json, const SsKernelRow *row, double simulated_s)
{
  g_string_append (json, "{\"id\":");
  ss_json_append_text (json, row->id);
  if (row->not_expressible != NULL)
    {
      g_string_append (json, ",\"not_expressible\":");
      ss_json_append_text (json, row->not_expressible);
      g_string_append_c (json, '}');
      return;
    }
  g_string_append_printf (json, ",\"class\":\"%s\",\"device\":",
                          ss_time_class_name (row->time_class));
  ss_json_append_text (json, row->device);
  g_string_append (json, ",\"kernel\":");
  ss_json_append_text (json, row->kernel);
  g_string_append (json, ",\"source\":");
  ss_json_append_text (json, row->source);
  g_string_append (json, ",\"measured\":");
  ss_append_number (json, "%.9g", row->measured_s);
  g_string_append (json, ",\"simulated\":");
  ss_append_number (json, "%.9g", simulated_s);
  g_string_append (json, ",\"error\":");
  ss_append_number (json, "%.4f", ss_relative_error (row->measured_s, simulated_s));
  g_string_append (json, ",\"near\":\"\"}");
}

static char *
to_json (const SsKernelTable *table, const Tally *tally)
{
  GString *json = g_string_new ("{\"rows\":[\n");

  for (guint i = 0; i < table->rows->len; i++)
    {
      g_string_append (json, i > 0 ? ",\n" : "");
      append_row_json (json, table->rows->pdata[i], tally->simulated_s[i]);
    }
  g_string_append (json, "\n],\"summary\":{\n");
  for (guint i = 0; i < G_N_ELEMENTS (tally->classes); i++)
    {
      const Class *class = &tally->classes[i];

      g_string_append_printf (json, "\"%s\":{", ss_time_class_name ((SsTimeClass) i));
      ss_error_summary_append_json (ss_error_groups_summary (class->all, "all"), json);
      g_string_append (json, ",\"by_device\":");
      ss_error_groups_append_json (class->by_device, json);
      g_string_append (json, ",\"by_source\":");
      ss_error_groups_append_json (class->by_source, json);
      g_string_append (json, ",\"by_kernel\":");
      ss_error_groups_append_json (class->by_kernel, json);
      g_string_append (json, "},\n");
    }
  g_string_append_printf (json, "\"not_expressible\":%u}}\n", tally->n_not_expressible);
  return g_string_free (json, FALSE);
}

SsExit
ss_validate_kernels (const char *path, const SsValidateOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsKernelTable) table = ss_kernel_table_read (path, &error);
  g_autofree char *text = NULL;
  double worst = 0;
  gboolean is_printed;
  Tally tally = { .n_not_expressible = 0 };

  if (table == NULL)
    {
      ss_console_error ("%s", error->message);
      return SS_EXIT_INPUT;
    }
  tally_init (&tally, table->rows->len);
  for (guint i = 0; i < table->rows->len; i++)
    count_row (&tally, table->rows->pdata[i], &tally.simulated_s[i]);
  for (guint i = 0; i < G_N_ELEMENTS (tally.classes); i++)
    worst = MAX (worst, ss_error_groups_summary (tally.classes[i].all, "all").median_abs);
  text = options->is_json ? to_json (table, &tally) : to_text (table, &tally);
  is_printed = ss_console_print (text);
  tally_clear (&tally);
  return is_printed ? ss_validate_exit (options, worst) : SS_EXIT_OUTPUT;
}
