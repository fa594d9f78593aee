/* SPDX-License-Identifier: MIT */
#include "output/tables/explain-text.h"

#include <string.h>

#include "output/tables/explain-text-private.h"
#include "output/verdict.h"

/* So many requests are shown; JSON has all. */
#define MAX_SHOWN 8
/* So many other tensors of the same sizes are named in the first sentence. */
#define MAX_OTHERS 3
#define TWO_MIB (2 * SS_EXPLAIN_SMALL_BYTES)
/* Columns of the text before the figures. */
#define TEXT_COLUMNS 54

/* ---- what it is ---- */

static void
append_rounding (GString *line, const SsOomMessage *message, const SsRequest *request)
{
  g_autofree char *tensor = ss_explain_as_printed (request->bytes);
  guint64 named_bytes = message->is_request ? request->bytes : request->segment_bytes;

  if (named_bytes != request->bytes && request->bytes >= SS_EXPLAIN_LARGE_BYTES)
    g_string_append_printf (line, " (%s, rounded up to 2 MiB)", tensor);
}

/* "bf16 weight of lm_head", "bf16 output of aten::silu, model.layers.*.mlp", "fp32 logits" */
static char *
what_of (const SsRequest *request)
{
  if (*request->module == '\0')
    return g_strdup (request->what);
  switch (request->kind)
    {
    case SS_TENSOR_CAST:
    case SS_TENSOR_PARAMETER:
    case SS_TENSOR_MASTER:
    case SS_TENSOR_GRADIENT:
    case SS_TENSOR_STATE:
      return g_strdup_printf ("%s of %s", request->what, request->module);
    case SS_TENSOR_ACTIVATION:
    case SS_TENSOR_FLOW:
    case SS_TENSOR_UPDATE:
    case SS_TENSOR_CLIP:
      return g_strdup_printf ("%s, %s", request->what, request->module);
    case SS_TENSOR_LOGITS:
    case SS_TENSOR_SCORES:
    case SS_TENSOR_MASK:
    case SS_TENSOR_WORKSPACE:
    case SS_N_TENSOR_KINDS:
      break;
    }
  return g_strdup (request->what);
}

/* "fp32 log-probabilities, fp32 gradient of the logits": what else has those sizes. */
static char *
others_of_these_sizes (const SsExplanation *explanation, const SsRequest *first)
{
  g_autoptr (GPtrArray) told = g_ptr_array_new ();
  GString *line = g_string_new (NULL);

  g_ptr_array_add (told, first->what);
  for (guint i = 0; i < explanation->found->len; i++)
    {
      const SsRequest *request = explanation->found->pdata[i];

      if (g_str_equal (request->factors, first->factors)
          && !g_ptr_array_find_with_equal_func (told, request->what, g_str_equal, NULL))
        g_ptr_array_add (told, request->what);
    }
  for (guint i = 1; i < MIN (told->len, MAX_OTHERS + 1); i++)
    g_string_append_printf (line, "%s%s", i > 1 ? ", " : "", (const char *) told->pdata[i]);
  if (told->len > MAX_OTHERS + 1)
    g_string_append_printf (line, " and %u more", told->len - MAX_OTHERS - 1);
  return g_string_free (line, FALSE);
}

static void
append_headline (SsExplainAnswer *answer)
{
  const SsExplanation *explanation = answer->explanation;
  const SsRequest *first = explanation->found->pdata[0];
  g_autofree char *what = what_of (first), *others = others_of_these_sizes (explanation, first);
  g_autoptr (GString) line = g_string_new (explanation->message.text);

  g_string_append_printf (line, " = %s", first->factors);
  append_rounding (line, &explanation->message, first);
  g_string_append_printf (line, ": %s, %s.", what, ss_phase_phrase (first->phase));
  if (*others != '\0')
    g_string_append_printf (line, " Also: %s.", others);
  ss_explain_paragraph (answer, line->str);
}

static void
append_catch_all (SsExplainAnswer *answer)
{
  const SsRequest *first = answer->explanation->found->pdata[0];
  gboolean is_small = first->segment_bytes < SS_EXPLAIN_LARGE_BYTES;
  g_autofree char *line
    = g_strdup_printf ("%s is what PyTorch asks the driver for whenever a tensor %s finds no "
                       "free block: the number names no tensor. What counts is how full the "
                       "memory is; `stepsim FILE` shows with what.",
                       answer->explanation->message.text,
                       is_small ? "up to 1 MiB" : "between 1 and 10 MiB");

  ss_explain_paragraph (answer, line);
}

/* ---- the requests ---- */

static char *
where_of (const SsRequest *request)
{
  GString *line = g_string_new (NULL);

  if (request->op_name != NULL && strstr (request->what, request->op_name) == NULL)
    g_string_append_printf (line, "%s, ", request->op_name);
  if (*request->module != '\0')
    g_string_append_printf (line, "%s, ", request->module);
  if (request->n_layers == 1)
    g_string_append_printf (line, "in layer %d, ", request->first_layer);
  else if (request->n_layers > 1)
    g_string_append_printf (line, "in each of %u layers, ", request->n_layers);
  if (request->first_step != request->last_step)
    g_string_append_printf (line, "steps %u to %u, ", request->first_step, request->last_step);
  else if (request->first_step > 0)
    g_string_append_printf (line, "step %u, ", request->first_step);
  if (request->is_fatal)
    g_string_append (line, "the scenario dies here, ");
  if (line->len > 0)
    g_string_truncate (line, line->len - 2);
  return g_string_free (line, FALSE);
}

/* A text that is too long for its columns has the figures on a line of their own. */
static void
append_in_columns (SsExplainAnswer *answer, const char *text)
{
  GString *out = answer->report.text;
  glong n = g_utf8_strlen (text, -1) + 2;

  if (n < TEXT_COLUMNS)
    g_string_append_printf (out, "  %s", text);
  else
    {
      ss_report_wrap (&answer->report, "  ", text);
      n = 0;
    }
  g_string_append_printf (out, "%*s", TEXT_COLUMNS - (int) n, "");
}

static void
append_request (SsExplainAnswer *answer, const SsRequest *request)
{
  g_autofree char *in_use = ss_format_scaled (request->allocated_bytes, answer->scale, 2);
  g_autofree char *where = where_of (request);
  g_autofree char *what = g_strdup_printf ("%s, %s%s", request->what,
                                           ss_phase_phrase (request->phase),
                                           request->is_recompute ? ", computed again" : "");

  append_in_columns (answer, what);
  g_string_append_printf (answer->report.text, "%6u%8u%10s\n", request->n_requests,
                          request->n_from_driver, in_use);
  if (*where != '\0')
    ss_report_wrap (&answer->report, "    ", where);
}

static void
append_requests (SsExplainAnswer *answer)
{
  const GPtrArray *found = answer->explanation->found;
  const char *factors = "";

  g_string_append_printf (answer->report.text, "\n%-*s%6s%8s%10s\n", TEXT_COLUMNS,
                          "Where it is asked for", "times", "driver", "in use");
  for (guint i = 0; i < MIN (found->len, MAX_SHOWN); i++)
    {
      const SsRequest *request = found->pdata[i];

      if (!g_str_equal (request->factors, factors))
        g_string_append_printf (answer->report.text, " %s\n", request->factors);
      factors = request->factors;
      append_request (answer, request);
    }
  if (found->len > MAX_SHOWN)
    g_string_append_printf (answer->report.text, "  and %u more\n", found->len - MAX_SHOWN);
  g_string_append_printf (answer->report.text, "%*s\n", TEXT_COLUMNS + 24, answer->scale.name);
  ss_report_wrap (&answer->report, "",
                  "driver: how often no free block serves it in the simulation, so that it can "
                  "fail; in use: the most that is allocated just before that, or before any where "
                  "it is never so.");
}

/* ---- the scenario ---- */

static gboolean
is_fatal (const SsExplanation *explanation)
{
  for (guint i = 0; i < explanation->found->len; i++)
    if (((const SsRequest *) explanation->found->pdata[i])->is_fatal)
      return TRUE;
  return FALSE;
}

static void
append_verdict (SsExplainAnswer *answer)
{
  const SsExplanation *explanation = answer->explanation;
  g_autofree char *peak = ss_explain_in_units (answer, explanation->peak_allocated_bytes);
  g_autofree char *fatal = ss_explain_as_printed (explanation->fatal_bytes), *line = NULL;
  g_autofree char *allocated = ss_explain_in_units (answer, explanation->fatal_allocated_bytes);

  if (explanation->fits)
    line = g_strdup_printf ("The scenario itself fits, with a peak of %s.", peak);
  else if (is_fatal (explanation))
    line = g_strdup_printf ("The scenario runs out of memory at such a request, in step %u, with "
                            "%s allocated.",
                            explanation->fatal_step, allocated);
  else
    line = g_strdup_printf ("The scenario itself runs out of memory at another request, of %s, in "
                            "step %u, with %s allocated.",
                            fatal, explanation->fatal_step, allocated);
  ss_explain_paragraph (answer, line);
}

/* ---- changes ---- */

static char *
set_options (char *const *settings)
{
  g_autofree char *joined = g_strjoinv (" --set ", (char **) settings);

  return g_strconcat ("--set ", joined, NULL);
}

static void
append_change_row (SsExplainAnswer *answer, const char *text, guint64 segment_bytes,
                   guint64 allocated_bytes, guint64 peak_bytes)
{
  g_autofree char *request = segment_bytes > 0 ? ss_explain_as_printed (segment_bytes)
                                               : g_strdup ("gone");
  g_autofree char *in_use = segment_bytes > 0
                              ? ss_format_scaled (allocated_bytes, answer->scale, 2)
                              : g_strdup ("-");
  g_autofree char *peak = ss_format_scaled (peak_bytes, answer->scale, 2);
  int n = (int) strlen (text);

  g_string_append (answer->report.text, text);
  if (n > 46)
    g_string_append_c (answer->report.text, '\n');
  g_string_append_printf (answer->report.text, "%*s%12s%9s%9s", n > 46 ? 46 : 46 - n, "",
                          request, in_use, peak);
}

static void
append_change (SsExplainAnswer *answer, const SsExplainedChange *change)
{
  g_autofree char *options = set_options (change->settings);
  g_autofree char *text = g_strconcat ("  ", options, NULL);

  append_change_row (answer, text, change->segment_bytes, change->allocated_bytes,
                     change->peak_allocated_bytes);
  if (!answer->explanation->fits && change->fits)
    g_string_append (answer->report.text, "  *");
  g_string_append_printf (answer->report.text, "\n    %s\n", change->why);
}

static void
append_changes (SsExplainAnswer *answer)
{
  const SsExplanation *explanation = answer->explanation;
  const SsRequest *first = explanation->found->pdata[0];
  gboolean some_fit = FALSE;

  if (ss_explanation_names_no_tensor (explanation))
    return;
  if (explanation->changes->len == 0)
    {
      ss_explain_paragraph (answer,
                            "Nothing that was tried does away with it or makes it smaller.");
      return;
    }
  g_string_append_printf (answer->report.text, "\n%-46s%12s%9s%9s\n",
                          "What changes it, each simulated", "request", "in use", "peak");
  append_change_row (answer, "  as it is", first->segment_bytes, first->allocated_bytes,
                     explanation->peak_allocated_bytes);
  g_string_append_c (answer->report.text, '\n');
  for (guint i = 0; i < explanation->changes->len; i++)
    {
      const SsExplainedChange *change = explanation->changes->pdata[i];

      append_change (answer, change);
      some_fit |= !explanation->fits && change->fits;
    }
  g_string_append_printf (answer->report.text, "%*s%9s\n", 67, answer->scale.name,
                          answer->scale.name);
  if (some_fit)
    g_string_append (answer->report.text, "* the scenario then fits\n");
}

/* ---- nothing found ---- */

static void
append_nearest (SsExplainAnswer *answer, const char *place, const SsRequest *request)
{
  g_autofree char *size = NULL, *line = NULL;

  if (request == NULL)
    return;
  size = ss_explain_as_printed (answer->explanation->message.is_request ? request->bytes
                                                             : request->segment_bytes);
  line = g_strdup_printf ("%s = %s: %s, %s%s%s", size, request->factors, request->what,
                          ss_phase_phrase (request->phase), *request->module != '\0' ? ", " : "",
                          request->module);
  ss_report_wrap (&answer->report, place, line);
}

static void
append_vocabulary (SsExplainAnswer *answer)
{
  guint64 low = answer->explanation->vocabulary_low;
  guint64 high = answer->explanation->vocabulary_high;
  guint64 padded = (low + 63) / 64 * 64;
  g_autoptr (GString) line = g_string_new (NULL);

  if (low == 0)
    return;
  if (low == high)
    g_string_printf (line, "The logits would be of that size with %" G_GUINT64_FORMAT " words",
                     low);
  else
    g_string_printf (line, "The logits would be of that size with %" G_GUINT64_FORMAT " to %"
                           G_GUINT64_FORMAT " words", low, high);
  if (padded > low && padded <= high)
    g_string_append_printf (line, " (padded to a multiple of 64: %" G_GUINT64_FORMAT ")", padded);
  g_string_append_c (line, '.');
  ss_explain_paragraph (answer, line->str);
}

/* Between two multiples of 2 MiB. */
static gboolean
is_no_segment (const SsOomMessage *message)
{
  return !message->is_request && message->high_bytes >= SS_EXPLAIN_LARGE_BYTES
         && message->low_bytes / TWO_MIB == message->high_bytes / TWO_MIB
         && message->low_bytes % TWO_MIB != 0;
}

static void
append_not_found (SsExplainAnswer *answer)
{
  const SsExplanation *explanation = answer->explanation;
  g_autofree char *line
    = g_strdup_printf ("No request of this run prints as %s.%s", explanation->message.text,
                       is_no_segment (&explanation->message)
                         ? " None of any run does: the driver is asked for multiples of 2 MiB."
                         : "");

  ss_explain_paragraph (answer, line);
  append_nearest (answer, "  below: ", explanation->below);
  append_nearest (answer, "  above: ", explanation->above);
  if (explanation->near->len > 0)
    g_string_append (answer->report.text, "\nIt would be there with\n");
  for (guint i = 0; i < explanation->near->len; i++)
    {
      const SsNearScenario *near = explanation->near->pdata[i];
      g_autofree char *options = set_options (near->settings);
      g_autofree char *what = g_strdup_printf ("%s: %s", near->factors, near->what);

      ss_report_wrap (&answer->report, "  ", options);
      ss_report_wrap (&answer->report, "    ", what);
    }
  append_vocabulary (answer);
}

char *
ss_explain_text (const SsExplanation *explanation, const SsReportStyle *style)
{
  SsExplainAnswer answer = {
    .explanation = explanation,
    .report = { .style = *style, .text = g_string_new (NULL) },
    .scale = ss_byte_scale (style->units, explanation->peak_allocated_bytes),
  };

  answer.report.style.width = MAX (style->width, 72);
  if (explanation->found->len == 0)
    append_not_found (&answer);
  else if (ss_explanation_names_no_tensor (explanation))
    append_catch_all (&answer);
  else
    append_headline (&answer);
  if (explanation->found->len > 0)
    append_requests (&answer);
  ss_explain_message (&answer);
  append_verdict (&answer);
  if (explanation->found->len > 0)
    append_changes (&answer);
  return g_string_free (answer.report.text, FALSE);
}
