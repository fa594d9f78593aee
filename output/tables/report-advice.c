/* SPDX-License-Identifier: MIT
 *
 * Why memory ran out, want or fragmentation, and the changes that were tried and fit.
 */
#include <string.h>

#include "output/tables/report-private.h"
#include "output/verdict.h"

#define MAX_LINES 6

char *
ss_report_cause (const SsRecording *recording, SsMemoryUnits units)
{
  g_autofree char *least = ss_format_bytes (recording->least_bytes, units, 1);
  g_autofree char *states = ss_format_bytes (recording->least_state_bytes, units, 1);

  if (recording->least_bytes == 0 || recording->capacity_bytes >= G_MAXINT64)
    return NULL;
  if (recording->least_state_bytes + recording->context_bytes > recording->usable_bytes)
    return g_strdup_printf ("States alone (parameters, gradients, optimizer) take %s: no batch "
                            "fits.", states);
  if (ss_verdict_is_in_pieces (recording))
    return g_strdup_printf ("Fragmentation: it wants %s at most, but what is free is in pieces.",
                            least);
  return NULL;
}

/* ---- what was tried ---- */

char *
ss_advice_options (const SsAdviceEntry *advice)
{
  GString *words = g_string_new (NULL);

  for (char **setting = advice->settings; *setting != NULL; setting++)
    {
      g_autofree char *word = ss_shell_word (*setting);

      g_string_append_printf (words, "%s--set %s", words->len > 0 ? " " : "", word);
    }
  return g_string_free (words, FALSE);
}

/* "+7 %"; "+0 %" for less than a half either way. */
static char *
percent (double change)
{
  gint64 percent = (gint64) (change * 100 + (change < 0 ? -0.5 : 0.5));

  return g_strdup_printf ("%+" G_GINT64_FORMAT " %%", percent);
}

static gboolean
is_pair (const SsAdviceEntry *advice)
{
  return strstr (advice->lever, ", ") != NULL;
}

/* What changes least, and of that one thing before two. */
static gint
compare_changes (gconstpointer a, gconstpointer b)
{
  const SsAdviceEntry *x = *(SsAdviceEntry *const *) a, *y = *(SsAdviceEntry *const *) b;

  if (x->changes != y->changes)
    return (gint) x->changes - (gint) y->changes;
  return is_pair (x) - is_pair (y);
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const SsAdviceEntry *x = *(SsAdviceEntry *const *) a, *y = *(SsAdviceEntry *const *) b;

  if (x->time_change < y->time_change || x->time_change > y->time_change)
    return x->time_change < y->time_change ? -1 : 1;
  return compare_changes (a, b);
}

/* How often each of the things that it pulls has been shown already. */
static guint
n_shown (GHashTable *shown, const SsAdviceEntry *advice)
{
  g_auto (GStrv) levers = g_strsplit (advice->lever, ", ", -1);
  guint n = 0;

  for (char **lever = levers; *lever != NULL; lever++)
    n = MAX (n, GPOINTER_TO_UINT (g_hash_table_lookup (shown, *lever)));
  return n;
}

static void
count_shown (GHashTable *shown, const SsAdviceEntry *advice)
{
  g_auto (GStrv) levers = g_strsplit (advice->lever, ", ", -1);

  for (char **lever = levers; *lever != NULL; lever++)
    {
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (shown, *lever));

      g_hash_table_insert (shown, g_strdup (*lever), GUINT_TO_POINTER (n + 1));
    }
}

/* Of what each change pulls the fastest; of those first what changes least, one thing in two of
 * them at most while there are others. */
static GPtrArray *
choose (const GPtrArray *advice)
{
  g_autoptr (GHashTable) levers = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) shown = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) fastest = g_ptr_array_new ();
  GPtrArray *chosen = g_ptr_array_new ();

  for (guint i = 0; i < advice->len; i++)
    if (g_hash_table_add (levers, ((SsAdviceEntry *) g_ptr_array_index (advice, i))->lever))
      g_ptr_array_add (fastest, g_ptr_array_index (advice, i));
  g_ptr_array_sort (fastest, compare_changes);
  for (guint max_shown = 2; max_shown <= MAX_LINES; max_shown += MAX_LINES - 2)
    for (guint i = 0; i < fastest->len && chosen->len < MAX_LINES; i++)
      if (!g_ptr_array_find (chosen, g_ptr_array_index (fastest, i), NULL)
          && n_shown (shown, g_ptr_array_index (fastest, i)) < max_shown)
        {
          g_ptr_array_add (chosen, g_ptr_array_index (fastest, i));
          count_shown (shown, g_ptr_array_index (fastest, i));
        }
  g_ptr_array_sort (chosen, compare_times);
  return chosen;
}

char *
ss_advice_words (const SsAdviceEntry *advice, SsMemoryUnits units)
{
  g_autofree char *time = percent (advice->time_change);
  g_autofree char *peak = ss_format_bytes (advice->peak_bytes, units, 1);

  return g_strdup_printf ("%s (step time %s, peak %s, changes %s)", advice->what, time, peak,
                          ss_advice_changes_name (advice->changes));
}

static void
append_entry (SsReport *report, const SsAdviceEntry *advice)
{
  g_autofree char *peak = ss_format_bytes (advice->peak_bytes, report->style.units, 1);
  g_autofree char *time = percent (advice->time_change), *command = ss_advice_options (advice);
  g_autofree char *first
    = g_strdup_printf ("%9s%11s  %-8s  ", time, peak,
                       ss_advice_changes_name (advice->changes));

  ss_report_wrap (report, first, advice->what);
  if (report->style.has_settings)
    g_string_append_printf (report->text, "      %s\n", command);
}

/* One row each, and below it what makes it if that is asked for. */
static void
append_table (SsReport *report)
{
  g_autoptr (GPtrArray) chosen = choose (report->advice->entries);

  g_string_append_printf (report->text, "%9s%11s  %-8s  %s\n", "step time", "peak", "changes",
                          "to make it fit");
  for (guint i = 0; i < chosen->len; i++)
    append_entry (report, g_ptr_array_index (chosen, i));
}

static void
append_nearest (SsReport *report)
{
  const SsAdvice *advice = report->advice;
  g_autofree char *missing
    = ss_format_bytes (advice->nearest_missing_bytes, report->style.units, 1);
  g_autofree char *line = NULL;

  if (advice->nearest_missing_bytes > 0)
    line = g_strdup_printf ("No change that was tried makes it fit, and no two at once. The "
                            "nearest (%s) still asks for %s more at one moment than there is.",
                            advice->nearest, missing);
  else
    line = g_strdup_printf ("No change that was tried makes it fit, and no two at once. The "
                            "nearest (%s) leaves enough, but not in pieces that fit.",
                            advice->nearest);
  g_string_append_c (report->text, '\n');
  ss_report_wrap (report, "", line);
}

/* Of a run that fits: what would be faster. */
static void
append_faster (SsReport *report)
{
  const SsAdviceEntry *advice = g_ptr_array_index (report->advice->entries, 0);
  g_autofree char *peak = ss_format_bytes (advice->peak_bytes, report->style.units, 1);
  g_autofree char *time = ss_format_time (advice->step_ns);
  g_autofree char *change = percent (advice->time_change), *command = ss_advice_options (advice);
  g_autofree char *line = g_strdup_printf ("With %s it fits as well: peak %s, %s a step (%s).",
                                           advice->what, peak, time, change);

  g_string_append_c (report->text, '\n');
  ss_report_wrap (report, "", line);
  if (report->style.has_settings)
    g_string_append_printf (report->text, "      %s\n", command);
}

char *
ss_report_advice (const SsRecording *recording, const SsAdvice *advice, const SsReportStyle *style)
{
  SsReport report = {
    .recording = recording, .advice = advice, .style = *style, .text = g_string_new (NULL),
  };

  report.style.width = MAX (style->width, SS_REPORT_MIN_WIDTH);
  if (recording->is_oom && ss_advice_n_entries (advice) > 0)
    append_table (&report);
  else if (recording->is_oom && advice->nearest != NULL)
    append_nearest (&report);
  else if (ss_advice_n_entries (advice) > 0)
    append_faster (&report);
  if (advice->n_untried > 0)
    g_string_append_printf (report.text,
                            "%u more changes were not tried: they would take too long.\n",
                            advice->n_untried);
  return g_string_free (report.text, FALSE);
}
