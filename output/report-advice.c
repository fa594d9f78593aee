/* SPDX-License-Identifier: MIT
 *
 * Why memory ran out, want or fragmentation, and the changes that were tried and fit.
 */
#include "output/report-private.h"

static void
append_cause (SsReport *report)
{
  const SsRecording *recording = report->recording;
  SsMemoryUnits units = report->style.units;
  g_autofree char *least = ss_format_bytes (recording->least_bytes, units, 1);
  g_autofree char *capacity = ss_format_bytes (recording->capacity_bytes, units, 1);
  g_autofree char *states = ss_format_bytes (recording->least_state_bytes, units, 1);
  g_autofree char *line = NULL;

  if (recording->least_bytes == 0 || recording->capacity_bytes >= G_MAXINT64)
    return;
  if (recording->least_state_bytes + recording->context_bytes > recording->capacity_bytes)
    line = g_strdup_printf ("Parameters, gradients and optimizer states alone are %s, without any "
                            "activation; there is %s. It cannot fit in any setting.",
                            states, capacity);
  else if (recording->least_bytes > recording->capacity_bytes)
    line = g_strdup_printf ("Plain want: all steps together need %s at one moment, whatever the "
                            "allocator does; there is %s.",
                            least, capacity);
  else
    line = g_strdup_printf ("Fragmentation: what is asked for at one moment is never more than "
                            "%s, and there is %s, but not in pieces that fit.",
                            least, capacity);
  g_string_append_c (report->text, '\n');
  ss_report_wrap (report, "", line);
}

void
ss_report_advice (SsReport *report)
{
  const SsRecording *recording = report->recording;

  append_cause (report);
  if (recording->advice->len == 0)
    return;
  g_string_append_printf (report->text, "\n%-49s%s\n", "To make it fit", "reserved at most");
  for (guint i = 0; i < recording->advice->len; i++)
    {
      const SsAdvice *advice = recording->advice->pdata[i];
      g_autofree char *change = g_strconcat ("--set ", advice->path, "=", advice->value, NULL);
      g_autofree char *peak
        = ss_format_bytes (advice->peak_reserved_bytes, report->style.units, 1);

      g_string_append_printf (report->text, "  %s\n    %-45s%16s\n", change, advice->what, peak);
    }
}
