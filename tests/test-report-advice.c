/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "output/tables/report.h"
#include "recording-fixture.h"

static SsAdviceEntry *
add (SsAdvice *advice, const char *lever, SsAdviceChanges changes, double time_change,
     const char *setting)
{
  const char *const settings[] = { setting, NULL };
  SsAdviceEntry *entry = g_new0 (SsAdviceEntry, 1);

  entry->settings = g_strdupv ((char **) settings);
  entry->what = g_strconcat ("what ", lever, " does", NULL);
  entry->lever = g_strdup (lever);
  entry->changes = changes;
  entry->time_change = time_change;
  entry->step_ns = 12000000;
  entry->peak_reserved_bytes = 38 * SS_MIB;
  entry->peak_bytes = 40 * SS_MIB;
  g_ptr_array_add (advice->entries, entry);
  return entry;
}

static char *
text_of (const SsRecording *recording, const SsAdvice *advice)
{
  const SsReportStyle style = { .width = 80, .has_settings = TRUE };

  return ss_report_advice (recording, advice, &style);
}

Test (report_advice, a_line_has_what_it_costs_and_how_to_do_it)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsAdvice) advice = ss_advice_new ();
  g_autofree char *text = NULL;

  add (advice, "a", SS_ADVICE_CHANGES_TRAINING, -0.222, "adapter/targets=q v");
  add (advice, "b", SS_ADVICE_CHANGES_NOTHING, 0.003, "checkpointing/policy=full");
  text = text_of (recording, advice);
  cr_assert (eq (str, text, (char *)
    "step time       peak  changes   to make it fit\n"
    "    -22 %   40.0 MiB  training  what a does\n"
    "      --set 'adapter/targets=q v'\n"
    "     +0 %   40.0 MiB  nothing   what b does\n"
    "      --set checkpointing/policy=full\n"));
}

/* Six lines, of each lever the fastest; what changes the training gives way, the order is that of
 * time. */
Test (report_advice, the_mildest_are_shown_by_time)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsAdvice) advice = ss_advice_new ();
  g_autofree char *text = NULL;
  const char *place = NULL;

  add (advice, "t1", SS_ADVICE_CHANGES_TRAINING, -0.4, "x/y=1");
  add (advice, "t2", SS_ADVICE_CHANGES_TRAINING, -0.3, "x/y=2");
  add (advice, "d", SS_ADVICE_CHANGES_DEVICE, -0.2, "x/y=3");
  for (guint i = 0; i < 5; i++)
    {
      const char *const levers[] = { "n0", "n1", "n1", "n2", "n3" };

      add (advice, levers[i], SS_ADVICE_CHANGES_NOTHING, 0.1 + i, "x/y=4");
    }
  text = text_of (recording, advice);
  cr_assert (ne (ptr, strstr (text, "what t1 does"), NULL));
  cr_assert (eq (ptr, strstr (text, "what t2 does"), NULL));
  cr_assert (eq (ptr, strstr (text, "+210 %"), NULL));
  place = strstr (text, "what t1 does");
  place = strstr (place, "what d does");
  cr_assert (place != NULL);
  place = strstr (place, "what n0 does");
  cr_assert (place != NULL);
  cr_assert (ne (ptr, strstr (place, "what n3 does"), NULL));
}

/* A thing is pulled in two lines, in more only where lines are left. */
Test (report_advice, one_thing_does_not_fill_all_lines)
{
  const char *const levers[] = { "a, b", "a, c", "a, d", "b, c", "b, f", "c, g", "d, e", "a" };
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsAdvice) advice = ss_advice_new ();
  g_autofree char *text = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (levers); i++)
    add (advice, levers[i], SS_ADVICE_CHANGES_NOTHING, 0.1 * i, "x/y=1");
  text = text_of (recording, advice);
  /* a by itself, though it is the slowest, a b, b c, c g, d e; then a line is left for a c */
  cr_assert (ne (ptr, strstr (text, "what a does"), NULL));
  cr_assert (ne (ptr, strstr (text, "what d, e does"), NULL));
  cr_assert (ne (ptr, strstr (text, "what a, c does"), NULL));
  cr_assert (eq (ptr, strstr (text, "what a, d does"), NULL));
  cr_assert (eq (ptr, strstr (text, "what b, f does"), NULL));
}

Test (report_advice, where_nothing_fits_the_nearest_is_named)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsAdvice) advice = ss_advice_new ();
  g_autofree char *silent = text_of (recording, advice), *want = NULL, *pieces = NULL;

  advice->nearest = g_strdup ("this");
  advice->nearest_missing_bytes = 3 * SS_MIB;
  advice->n_untried = 7;
  want = text_of (recording, advice);
  advice->nearest_missing_bytes = 0;
  pieces = text_of (recording, advice);
  cr_assert (eq (str, silent, (char *) ""));
  cr_assert (ne (ptr, strstr (want, "nearest (this)"), NULL));
  cr_assert (ne (ptr, strstr (want, "asks for 3.0 MiB more"), NULL));
  cr_assert (ne (ptr, strstr (want, "\n7 more changes were not tried"), NULL));
  cr_assert (ne (ptr, strstr (pieces, "not in pieces"), NULL));
}

Test (report_advice, a_run_that_fits_is_told_what_is_faster)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsAdvice) advice = ss_advice_new ();
  g_autofree char *silent = text_of (recording, advice), *text = NULL;

  add (advice, "it", SS_ADVICE_CHANGES_NOTHING, -0.07, "checkpointing/policy=none");
  text = text_of (recording, advice);
  cr_assert (eq (str, silent, (char *) ""));
  cr_assert (eq (str, text, (char *)
    "\nWith what it does it fits as well: peak 40.0 MiB, 12.0 ms a step (-7 %).\n"
    "      --set checkpointing/policy=none\n"));
}
