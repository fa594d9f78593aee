/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "scenario-fixture.h"
#include "study/sweep-search.h"
#include "study/trace-cache.h"

static SsScenario *
teaching (const char *const *overrides)
{
  g_autofree char *path = fixture_source ("scenarios/teaching-4layer.xml");

  return fixture_load (path, overrides);
}

/* ---- lists of values ---- */

static char *
values_of (const char *text, GError **error)
{
  g_autoptr (SsScenario) base = teaching (NULL);
  g_autoptr (SsSweepAxis) axis = ss_sweep_axis_parse (text, base, error);

  if (axis == NULL)
    return NULL;
  if (axis->is_max)
    return g_strdup_printf ("max of %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, axis->min,
                            axis->max);
  g_ptr_array_add (axis->values, NULL);
  return g_strjoinv ("|", (char **) axis->values->pdata);
}

Test (sweep, lists_and_ranges_are_what_they_say)
{
  static const struct { const char *text, *values; } rows[] = {
    { "training/steps=3", "3" },
    { "training/steps=1,3,2", "1|3|2" },
    { "training/steps=1..4", "1|2|3|4" },
    { "training/steps=1..10..4", "1|5|9" },
    { "training/steps=1,4..6,9", "1|4|5|6|9" },
    { "training/steps=1..3,2", "1|2|3" },
    { "training/steps=7..7", "7" },
    { "training/dropout=0..0.3..0.1", "0|0.1|0.2|0.3" },
    { "training/dropout=0.25..0.5..0.125", "0.25|0.375|0.5" },
    { "hardware/capacity=8..24 GiB..8 GiB", "8 GiB|16 GiB|24 GiB" },
    { "hardware/capacity=1.5GiB..2.5GiB..0.5", "1.5 GiB|2 GiB|2.5 GiB" },
    { "hardware/capacity=unlimited,80 GiB", "unlimited|80 GiB" },
    { "checkpointing/policy=none,full", "none|full" },
    { "checkpointing/drop=norms mlp,activations", "norms mlp|activations" },
    { "model/href=../a.xml,b..c.xml", "../a.xml|b..c.xml" },
    { "allocator/alloc-conf=expandable_segments:True\\,max_split_size_mb:256,",
      "expandable_segments:True,max_split_size_mb:256|" },
    { "training/steps=max", "max of 1 to 1000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *values = values_of (rows[i].text, &error);

      cr_assert (ne (ptr, values, NULL), "%s: %s", rows[i].text, error->message);
      cr_expect (eq (str, values, (char *) rows[i].values), "%s", rows[i].text);
    }
}

Test (sweep, what_can_never_be_is_refused_with_what_is_known)
{
  static const struct { const char *text, *said; } rows[] = {
    { "training/stpes=1..3", "near: training/steps" },
    { "steps=1", "near: training/steps" },
    { "nonsense", "has no =" },
    { "=1", "no attribute" },
    { "training/steps=", "\"\"" },
    { "training/steps=0..3", "\"0\"" },
    { "training/steps=5..1", "nothing lies between" },
    { "training/steps=1..9..0", "never reaches 9" },
    { "training/steps=1..9..1..1", "from..to" },
    { "training/steps=a..b", "from..to" },
    { "training/steps=-1..3", "from..to" },
    { "training/steps=1..999999999999", "more than 100000" },
    { "training/steps=1..99999999999999999999", "from..to" },
    { "training/micro-batch=1.5", "whole number" },
    { "hardware/capacity=1 GiB..2 MiB", "one unit" },
    { "hardware/capacity=1..2", "unit" },
    { "hardware/capacity=max", "known: model/layers, training/steps" },
    { "checkpointing/policy=none,ful", "\"ful\" is not known; near: full" },
    { "hardware/device=h100-96gb", "near: gh200-96gb" },
    { "training/steps=\xff", "UTF-8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *values = values_of (rows[i].text, &error);

      cr_assert (eq (ptr, values, NULL), "%s", rows[i].text);
      cr_expect (g_error_matches (error, SS_SWEEP_ERROR, SS_SWEEP_ERROR_AXIS));
      cr_expect (ne (ptr, strstr (error->message, rows[i].said), NULL), "%s", error->message);
    }
}

static char *
grid_problem (const char *const *texts)
{
  g_autoptr (SsScenario) base = teaching (NULL);
  g_autoptr (GPtrArray) axes
    = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_sweep_axis_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsSweep) sweep = NULL;

  for (; *texts != NULL; texts++)
    g_ptr_array_add (axes, ss_sweep_axis_parse (*texts, base, NULL));
  sweep = ss_sweep_new (base, axes, &error);
  return sweep == NULL ? g_strdup (error->message) : NULL;
}

Test (sweep, grids_have_two_sides_at_most)
{
  g_autofree char *twice = grid_problem ((const char *const[]) {
    "training/steps=1,2", "training/steps=3", NULL });
  g_autofree char *three = grid_problem ((const char *const[]) {
    "training/steps=1,2", "training/micro-batch=1,2", "model/layers=1,2", NULL });
  g_autofree char *maxes = grid_problem ((const char *const[]) {
    "training/steps=max", "training/micro-batch=max", NULL });
  g_autofree char *many = grid_problem ((const char *const[]) {
    "training/sequence-length=1..1000", "training/micro-batch=1..101", NULL });
  g_autofree char *good = grid_problem ((const char *const[]) {
    "training/steps=1,2", "training/micro-batch=2", "model/layers=max", NULL });

  cr_expect (eq (str, twice, (char *) "two lists of values for training/steps"));
  cr_expect (eq (str, three, (char *) "at most two settings at a time can have several values"));
  cr_expect (eq (str, maxes, (char *) "only one setting at a time can be max"));
  cr_expect (eq (str, many, (char *) "more than 100000 points"));
  cr_expect (eq (ptr, good, NULL));
}

/* a policy that has no use for a setting is one point, without it */
Test (sweep, settings_of_other_policies_are_left_out)
{
  g_autoptr (SsScenario) base = teaching (NULL);
  g_autoptr (GPtrArray) axes
    = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_sweep_axis_free);
  g_autoptr (SsSweep) sweep = NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  g_ptr_array_add (axes, ss_sweep_axis_parse ("checkpointing/policy=none,every,full", base, NULL));
  g_ptr_array_add (axes, ss_sweep_axis_parse ("checkpointing/every=1,2", base, NULL));
  sweep = ss_sweep_new (base, axes, NULL);
  cr_assert (ne (ptr, sweep, NULL));
  for (guint i = 0; i < ss_sweep_n_points (sweep); i++)
    g_string_append_printf (text, "%s %s|", ss_sweep_value (sweep, i, 0),
                            ss_sweep_value (sweep, i, 1));
  cr_expect (eq (str, text->str, (char *) "none -|every 1|every 2|full -|"));
}

/* ---- the search ---- */

typedef struct
{
  gint64 border, refused, hole_from, hole_to;   /* all up to border fit, but the hole */
  gint64 island;                                /* and this one above, 0: none */
  gint64 long_from;                             /* runs get long here; 0: never */
  guint n_trials;
} World;

static SsTrial
trial (gint64 value, char **problem, gpointer user_data)
{
  World *world = user_data;

  world->n_trials++;
  if (value >= world->refused)
    {
      *problem = g_strdup_printf ("%d is too much", (int) value);
      return SS_TRIAL_REFUSED;
    }
  if ((value <= world->border && !(value >= world->hole_from && value <= world->hole_to))
      || value == world->island)
    return world->long_from > 0 && value >= world->long_from ? SS_TRIAL_LONG : SS_TRIAL_FITS;
  return SS_TRIAL_OUT_OF_MEMORY;
}

/* every border against the plain answer, from every kind of start */
Test (sweep, the_border_is_found_from_anywhere)
{
  for (gint64 border = 1; border <= 70; border++)
    for (gint64 start = 0; start <= 80; start += 8)
      {
        World world = { .border = border, .refused = G_MAXINT64, .hole_from = 1 };
        SsSweepSearch found;

        ss_sweep_search (1, 64, start, trial, &world, &found);
        cr_assert (found.has_fit);
        cr_assert (eq (i64, found.value, MIN (border, 64)), "%d from %d", (int) border,
                   (int) start);
        cr_assert (eq (int, found.is_limit, border >= 64));
        cr_assert (eq (uint, found.n_runs, world.n_trials));
        cr_assert (le (uint, found.n_runs, 30));
        ss_sweep_search_clear (&found);
      }
}

Test (sweep, counts_from_zero_are_searched_too)
{
  World world = { .border = 5, .refused = G_MAXINT64, .hole_from = 1 };
  SsSweepSearch found;

  ss_sweep_search (0, 100, 0, trial, &world, &found);
  cr_expect (eq (i64, found.value, 5));
  ss_sweep_search_clear (&found);
}

Test (sweep, nothing_that_fits_is_said)
{
  World world = { .border = 0, .refused = G_MAXINT64 };
  SsSweepSearch found;

  ss_sweep_search (1, 1000, 8, trial, &world, &found);
  cr_expect (not (found.has_fit));
  cr_expect (eq (i64, found.value, 1));
  cr_expect (eq (uint, found.n_runs, 4));
  ss_sweep_search_clear (&found);
}

Test (sweep, a_refused_value_ends_the_search_with_its_reason)
{
  World world = { .border = 5000, .refused = 1025, .hole_from = 1 };
  SsSweepSearch found;

  ss_sweep_search (1, 1 << 20, 512, trial, &world, &found);
  cr_expect (eq (i64, found.value, 1024));
  cr_expect (found.next_is_refused);
  cr_expect (eq (str, found.next_problem, (char *) "1025 is too much"));
  ss_sweep_search_clear (&found);
}

/* 1000 fits, 1001 does not, but 1008 (a multiple of 16) does: bisection alone would miss it */
Test (sweep, a_larger_value_that_fits_after_all_is_taken)
{
  World world = { .border = 1000, .refused = G_MAXINT64, .hole_from = 1, .island = 1008 };
  SsSweepSearch found;

  ss_sweep_search (1, 1 << 20, 100, trial, &world, &found);
  cr_expect (eq (i64, found.value, 1008));
  cr_expect (gt (uint, found.n_holes, 0));
  cr_expect (lt (i64, found.hole, 1008));
  cr_expect (gt (i64, found.hole, 1000));
  ss_sweep_search_clear (&found);
}

/* 3 * 1000 / 4 = 750 is among the smaller values that are tried */
Test (sweep, a_hole_below_is_said)
{
  World world = { .border = 1000, .refused = G_MAXINT64, .hole_from = 740, .hole_to = 760 };
  SsSweepSearch found;

  ss_sweep_search (1, 1 << 20, 900, trial, &world, &found);
  cr_expect (eq (i64, found.value, 1000));
  cr_expect (eq (uint, found.n_holes, 1));
  cr_expect (eq (i64, found.hole, 750));
  ss_sweep_search_clear (&found);
}

Test (sweep, runs_that_get_long_end_the_search)
{
  World world = { .border = 1 << 20, .refused = G_MAXINT64, .hole_from = 1, .long_from = 300 };
  SsSweepSearch found;

  ss_sweep_search (1, 1 << 20, 2, trial, &world, &found);
  cr_expect (found.is_long);
  cr_expect (ge (i64, found.value, 300));
  cr_expect (le (i64, found.value, 512));
  ss_sweep_search_clear (&found);
}

typedef struct
{
  guint n_trials, n_runs;
} Counts;

static void
count_trial (gpointer user_data)
{
  ((Counts *) user_data)->n_trials++;
}

static void
take_runs (const SsSweepPoint *point, gpointer user_data)
{
  cr_assert (point->search != NULL && point->search->next_problem == NULL);
  ((Counts *) user_data)->n_runs = point->search->n_runs;
}

/* one thread; no value of these is refused, so that each trial is a run */
Test (sweep, each_trial_of_a_search_is_told)
{
  g_autoptr (SsScenario) base = teaching (NULL);
  g_autoptr (GPtrArray) axes
    = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_sweep_axis_free);
  g_autoptr (SsSweep) sweep = NULL;
  Counts counts = { 0 };
  SsSweepRun run = { .n_threads = 1, .reader = take_runs, .on_trial = count_trial,
                     .user_data = &counts };

  g_ptr_array_add (axes, ss_sweep_axis_parse ("training/micro-batch=max", base, NULL));
  sweep = ss_sweep_new (base, axes, NULL);
  cr_assert (ne (ptr, sweep, NULL));
  ss_sweep_run (sweep, &run);
  cr_expect (gt (uint, counts.n_trials, 1));
  cr_expect (eq (uint, counts.n_trials, counts.n_runs));
}

/* ---- programs that are shared ---- */

static char *
key_of (const char *const *overrides)
{
  g_autoptr (SsScenario) scenario = teaching (overrides);

  return ss_trace_key (scenario);
}

Test (sweep, one_trace_serves_what_only_the_replay_sees)
{
  static const struct { const char *override; gboolean is_same; } rows[] = {
    { "hardware/capacity=20 GiB", TRUE },
    { "hardware/context=1 MiB", TRUE },
    { "allocator/type=exact", TRUE },
    { "allocator/alloc-conf=expandable_segments:True", TRUE },
    { "name=other", TRUE },
    { "hardware/device=a100-sxm-80gb", FALSE },
    { "training/steps=3", FALSE },
    { "training/micro-batch=3", FALSE },
    { "model/layers=2", FALSE },
    { "checkpointing/policy=full", FALSE },
    { "optimizer/implementation=foreach", FALSE },
    { "kernels/loss=direct", FALSE },
  };
  g_autofree char *base = key_of (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *key = key_of ((const char *const[]) { rows[i].override, NULL });

      cr_expect (eq (int, g_str_equal (key, base), rows[i].is_same), "%s", rows[i].override);
    }
}

/* how an optimum looks depends on the device and what is free on it */
Test (sweep, an_optimal_plan_has_a_trace_of_its_own)
{
  g_autofree char *one
    = key_of ((const char *const[]) { "checkpointing/policy=optimal", NULL });
  g_autofree char *other = key_of ((const char *const[]) { "checkpointing/policy=optimal",
                                                          "hardware/capacity=20 GiB", NULL });

  cr_expect (ne (str, one, other));
}

Test (sweep, the_cache_forgets_the_longest_unused)
{
  g_autoptr (SsTraceCache) cache = ss_trace_cache_new (2);
  static const char *const steps[] = { "1", "2", "1", "3", "1", "2" };
  /* 1 and 2 are made, 1 is there, 3 takes the place of 2, 1 is there, 2 is made again */
  static const guint n_traces[] = { 1, 2, 2, 3, 3, 4 };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *setting = g_strconcat ("training/steps=", steps[i], NULL);
      g_autoptr (SsScenario) scenario = teaching ((const char *const[]) { setting, NULL });
      g_autoptr (SsProgram) program = ss_trace_cache_get (cache, &scenario, NULL);

      cr_assert (ne (ptr, program, NULL));
      cr_expect (eq (uint, ss_trace_cache_n_traces (cache), n_traces[i]), "%u", i);
    }
}
