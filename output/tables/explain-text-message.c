/* SPDX-License-Identifier: MIT
 *
 * What a message tells besides the size, beside the simulation.
 */
#include "output/tables/explain-text-private.h"

void
ss_explain_paragraph (SsExplainAnswer *answer, const char *text)
{
  if (answer->report.text->len > 0)
    g_string_append_c (answer->report.text, '\n');
  ss_report_wrap (&answer->report, "", text);
}

char *
ss_explain_as_printed (guint64 bytes)
{
  return ss_format_bytes (bytes, SS_MEMORY_GIB, 2);
}

char *
ss_explain_in_units (const SsExplainAnswer *answer, guint64 bytes)
{
  return ss_format_bytes (bytes, answer->report.style.units, 2);
}

static void
append_told (GString *line, const SsExplainAnswer *answer, const char *before, guint64 bytes,
             const char *after)
{
  g_autofree char *text = ss_explain_in_units (answer, bytes);

  if (bytes != SS_OOM_NOT_SAID)
    g_string_append_printf (line, "%s%s%s", before, text, after);
}

/* One piece would not have carried the run far. */
#define WANTS_MORE \
  " It would not have lasted: the whole run, as simulated, needs more than the device has."

static gboolean
wants_more (const SsExplanation *explanation)
{
  guint64 capacity_bytes = explanation->message.capacity_bytes != SS_OOM_NOT_SAID
                             ? explanation->message.capacity_bytes : explanation->capacity_bytes;

  return explanation->found->len > 0
         && explanation->peak_allocated_bytes + explanation->context_bytes > capacity_bytes;
}

/* Free memory is in pages of 2 MiB, which are one piece to a process. */
static gboolean
has_free (const SsOomMessage *message)
{
  return message->limit_bytes == SS_OOM_NOT_SAID && message->free_bytes >= message->high_bytes;
}

static void
append_cause (SsExplainAnswer *answer)
{
  const SsOomMessage *message = &answer->explanation->message;
  guint64 unused_bytes = ss_oom_message_unused_bytes (message);
  g_autofree char *unused = ss_explain_in_units (answer, unused_bytes);
  g_autofree char *missing = NULL, *line = NULL;

  if (unused_bytes == SS_OOM_NOT_SAID)
    return;
  if (has_free (message))
    line = g_strdup ("The driver had that much free and refused: it was another process's by then, "
                     "or this one has a limit.");
  else if (unused_bytes >= message->high_bytes)
    line = g_strdup_printf ("Fragmentation: %s was free or reserved and unused, more than was "
                            "asked for, but not in one piece.%s",
                            unused, wants_more (answer->explanation) ? WANTS_MORE : "");
  else
    {
      missing = ss_explain_in_units (answer, message->high_bytes - unused_bytes);
      line = g_strdup_printf ("Not enough: all that was unused, %s, is %s less than was asked "
                              "for, even in one piece.",
                              unused, missing);
    }
  ss_report_wrap (&answer->report, "", line);
}

/* What neither PyTorch nor the driver's free memory accounts for. */
static void
append_outside (SsExplainAnswer *answer)
{
  const SsExplanation *explanation = answer->explanation;
  const SsOomMessage *m = &explanation->message;
  guint64 known_bytes;
  g_autofree char *outside = NULL, *context = NULL, *line = NULL;

  if (m->capacity_bytes == SS_OOM_NOT_SAID || m->allocated_bytes == SS_OOM_NOT_SAID
      || m->unallocated_bytes == SS_OOM_NOT_SAID || m->free_bytes == SS_OOM_NOT_SAID)
    return;
  known_bytes = m->allocated_bytes + m->unallocated_bytes + m->free_bytes;
  if (known_bytes >= m->capacity_bytes)
    return;
  outside = ss_explain_in_units (answer, m->capacity_bytes - known_bytes);
  context = ss_explain_in_units (answer, explanation->context_bytes);
  line = g_strdup_printf ("Outside PyTorch (context, libraries, other processes) were %s; the "
                          "scenario has %s.",
                          outside, context);
  ss_report_wrap (&answer->report, "", line);
}

/* Printed with two decimals, so within one in the last. */
static gboolean
is_same_capacity (guint64 printed_bytes, guint64 bytes)
{
  guint64 apart = printed_bytes > bytes ? printed_bytes - bytes : bytes - printed_bytes;

  return apart <= printed_bytes / 1000;
}

static void
append_capacity (SsExplainAnswer *answer)
{
  const SsExplanation *explanation = answer->explanation;
  guint64 told_bytes = explanation->message.capacity_bytes;
  g_autofree char *told = ss_explain_as_printed (told_bytes);
  g_autofree char *here = ss_explain_as_printed (explanation->capacity_bytes);
  g_autofree char *line = NULL;

  if (told_bytes == SS_OOM_NOT_SAID || explanation->capacity_bytes >= G_MAXINT64
      || is_same_capacity (told_bytes, explanation->capacity_bytes))
    return;
  line = g_strdup_printf ("The message is of a device of %s, the scenario's has %s: "
                          "--capacity='%s' makes it the same.",
                          told, here, told);
  ss_report_wrap (&answer->report, "", line);
}

static void
append_simulated (const SsExplainAnswer *answer, GString *line, const SsRequest *request)
{
  g_autofree char *least = ss_explain_in_units (answer, request->least_allocated_bytes);
  g_autofree char *most = ss_explain_in_units (answer, request->allocated_bytes);

  if (g_str_equal (least, most))
    g_string_append_printf (line, " In the simulation %s is allocated by then.", most);
  else
    g_string_append_printf (line, " In the simulation %s to %s is allocated by then.", least, most);
}

void
ss_explain_message (SsExplainAnswer *answer)
{
  const SsExplanation *explanation = answer->explanation;
  const SsOomMessage *message = &explanation->message;
  g_autoptr (GString) line = g_string_new (NULL);

  if (message->allocated_bytes == SS_OOM_NOT_SAID && message->capacity_bytes == SS_OOM_NOT_SAID)
    return;
  append_told (line, answer, ", ", message->allocated_bytes, " allocated");
  append_told (line, answer, ", ", message->unallocated_bytes, " reserved but not allocated");
  append_told (line, answer, ", ", message->free_bytes, " free");
  append_told (line, answer, ", ", message->capacity_bytes, " in all");
  g_string_erase (line, 0, 2);
  g_string_prepend (line, "The message: ");
  g_string_append_c (line, '.');
  if (explanation->found->len > 0 && message->allocated_bytes != SS_OOM_NOT_SAID)
    append_simulated (answer, line, explanation->found->pdata[0]);
  ss_explain_paragraph (answer, line->str);
  append_cause (answer);
  append_outside (answer);
  append_capacity (answer);
}
