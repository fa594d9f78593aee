/* SPDX-License-Identifier: MIT
 *
 * Every sentence of report and film is true of the recording: on each shipped scenario and on a
 * hundred mixtures of settings, what is claimed is looked for among the events.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "output/film/keyframe.h"
#include "output/tables/report.h"
#include "scenario-fixture.h"
#include "sim/simulate.h"

#define N_MIXTURES 100
#define MAX_ROWS 24              /* with what follows the last newline: one more piece */

/* ---- the film ---- */

static const SsMemoryEvent *
event_at (const SsRecording *recording, guint i)
{
  return &g_array_index (recording->memory, SsMemoryEvent, i);
}

static gboolean
is_gradient (const SsMemoryEvent *event)
{
  return event->category == SS_CATEGORY_GRADIENTS
         || event->category == SS_CATEGORY_GRADIENT_ACCUMULATION;
}

/* Events of the moment's phase between two places that `action` and are of gradients. */
static guint
count_gradients (const SsRecording *recording, const SsKeyframe *keyframe, guint first, guint end,
                 SsMemoryAction action)
{
  guint n = 0;

  for (guint i = first; i < end; i++)
    if (event_at (recording, i)->phase == keyframe->phase && is_gradient (event_at (recording, i))
        && event_at (recording, i)->action == action)
      n++;
  return n;
}

static guint
count_layer_ops (const SsRecording *recording, const SsKeyframe *keyframe, guint first, guint end)
{
  guint n = 0;

  for (guint i = first; i < end; i++)
    {
      const SsMemoryEvent *event = event_at (recording, i);

      /* what is released after the last op of a layer is that op's */
      if (event->phase == keyframe->phase && event->action == SS_EVENT_ALLOC
          && event->op < recording->ops->len
          && g_array_index (recording->ops, SsOpEvent, event->op).layer >= 0
          && g_array_index (recording->ops, SsOpEvent, event->op).phase == event->phase)
        n++;
    }
  return n;
}

/* Bytes that are alive of gradients after so many events. */
static guint64
gradient_bytes (const SsRecording *recording, guint end)
{
  guint64 bytes = 0;

  for (guint i = 0; i < end; i++)
    {
      const SsMemoryEvent *event = event_at (recording, i);

      if (is_gradient (event) && event->action == SS_EVENT_ALLOC)
        bytes += event->block_bytes;
      else if (is_gradient (event) && event->action == SS_EVENT_FREE)
        bytes -= event->block_bytes;
    }
  return bytes;
}

/* "mm takes 1.96 GiB more for logits": no other op has allocated so much of anything since. */
static gboolean
is_of_one_op (const SsRecording *recording, const SsKeyframe *keyframe, const SsKeyframe *before,
              const char *sentence)
{
  for (guint i = before->n_events; i < keyframe->n_events; i++)
    {
      const SsMemoryEvent *event = event_at (recording, i);
      const char *name = event->op < recording->ops->len
                           ? g_array_index (recording->ops, SsOpEvent, event->op).name
                           : "";
      g_autofree char *claim = g_strdup_printf (": %s takes ", strchr (name, ':') != NULL
                                                                 ? strrchr (name, ':') + 1 : name);

      if (event->action == SS_EVENT_ALLOC && strstr (sentence, claim) != NULL)
        return TRUE;
    }
  return FALSE;
}

static void
check_moment (const SsRecording *recording, const SsKeyframe *keyframe, const SsKeyframe *before,
              const char *name)
{
  const char *sentence = keyframe->sentence;
  guint at = keyframe->n_events, end = recording->memory->len;

  if (strstr (sentence, "the layers are done") != NULL)
    cr_expect (count_layer_ops (recording, keyframe, at, end) == 0
                 && count_layer_ops (recording, keyframe, 0, at) > 0, "%s: %s", name, sentence);
  if (strstr (sentence, "it has not come to the layers yet") != NULL)
    cr_expect (eq (u32, count_layer_ops (recording, keyframe, 0, at), 0), "%s: %s", name, sentence);
  if (strstr (sentence, "all gradients are there") != NULL)
    cr_expect (count_gradients (recording, keyframe, at, end, SS_EVENT_ALLOC) == 0
                 && gradient_bytes (recording, at) > 0, "%s: %s", name, sentence);
  if (strstr (sentence, "the gradients stay") != NULL)
    cr_expect (count_gradients (recording, keyframe, 0, end, SS_EVENT_FREE) == 0
                 && gradient_bytes (recording, at) > 0, "%s: %s", name, sentence);
  if (strstr (sentence, "the gradients are dropped") != NULL)
    cr_expect (gt (u32, count_gradients (recording, keyframe, 0, end, SS_EVENT_FREE), 0), "%s: %s",
               name, sentence);
  if (strstr (sentence, " takes ") != NULL && before != NULL)
    cr_expect (is_of_one_op (recording, keyframe, before, sentence), "%s: %s", name, sentence);
  if (strstr (sentence, "the first update makes") != NULL)
    cr_expect (eq (u32, ss_keyframe_step (recording, keyframe), 1), "%s: %s", name, sentence);
  if (strstr (sentence, "OUT OF MEMORY") != NULL)
    cr_expect (recording->is_oom && keyframe->is_oom, "%s: %s", name, sentence);
}

static void
check_film (const SsRecording *recording, const char *name)
{
  g_autoptr (SsKeyframes) keyframes = ss_keyframes_new (recording, SS_MEMORY_GIB);

  for (guint i = 0; i < keyframes->items->len; i++)
    check_moment (recording, &g_array_index (keyframes->items, SsKeyframe, i),
                  i > 0 ? &g_array_index (keyframes->items, SsKeyframe, i - 1) : NULL, name);
}

/* ---- the report ---- */

/* The number after `words`; 0 and said if it is not there. */
static double
number_after (const char *text, const char *words, const char *name)
{
  const char *place = strstr (text, words);

  cr_expect (place != NULL, "%s: no \"%s\" in\n%s", name, words, text);
  return place != NULL ? g_ascii_strtod (place + strlen (words), NULL) : 0;
}

static void
expect_near (double a, double b, double tolerance, const char *text, const char *name)
{
  cr_expect (a - b < tolerance && b - a < tolerance, "%s: %f is not %f in\n%s", name, a, b, text);
}

/* Rows of the breakdown add up to its last one, as they are printed. */
static void
check_rows (const char *text, const char *sum_label, const char *name)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gboolean is_inside = FALSE;
  double sum = 0;

  for (char **line = lines; *line != NULL; line++)
    {
      g_auto (GStrv) halves = g_strsplit (*line, sum_label, 2);

      if (g_str_has_prefix (*line, "At its fullest") || g_str_has_prefix (*line, "In use when"))
        is_inside = TRUE;
      else if (is_inside && halves[1] != NULL)
        {
          expect_near (g_ascii_strtod (halves[1], NULL), sum, 0.001, text, name);
          return;
        }
      else if (is_inside)
        {
          const char *number = *line + strlen (*line);
          const char *columns = strrchr (*line, '#');

          if (columns != NULL)
            number = columns + 1;
          sum += g_ascii_strtod (number, NULL);
        }
    }
  cr_fail ("%s: no sum in\n%s", name, text);
}

/* What is printed in whatever unit: the number of a byte count's own text. */
static double
printed (guint64 bytes)
{
  g_autofree char *text = ss_format_bytes (bytes, SS_MEMORY_GIB, 1);

  return g_ascii_strtod (text, NULL);
}

static void
check_failure (const SsRecording *recording, const char *text, const char *name)
{
  g_autofree char *where = g_strdup_printf ("in step %u", recording->oom.at.step);

  cr_expect (g_str_has_prefix (text, "OUT OF MEMORY "), "%s", text);
  if (recording->oom.at.step > 0)
    cr_expect (strstr (text, where) != NULL, "%s: %s", name, text);
  expect_near (number_after (text, "it needs ", name), printed (recording->need_bytes), 0.01, text,
               name);
  cr_expect (lt (i64, ss_recording_headroom_bytes (recording), 0), "%s", name);
  if (strstr (text, "Fragmentation: ") != NULL)
    cr_expect (le (u64, recording->least_bytes, recording->usable_bytes), "%s", name);
  if (strstr (text, "optimizer states stay") != NULL)
    cr_expect (recording->oom.at.by_category[SS_CATEGORY_OPTIMIZER_STATES] > 0
                 && recording->oom.at.step > 1, "%s", name);
  check_rows (text, "     in use", name);
}

static void
check_success (const SsRecording *recording, const char *text, const char *name)
{
  double peak = number_after (text, "FITS. Peak ", name);

  expect_near (peak, printed (ss_recording_peak_bytes (recording)), 0.01, text, name);
  cr_expect (eq (i64, (gint64) ss_recording_peak_bytes (recording)
                        + ss_recording_headroom_bytes (recording),
                 (gint64) recording->capacity_bytes), "%s", name);
  expect_near (number_after (text, " headroom ", name),
               printed ((guint64) ss_recording_headroom_bytes (recording)), 0.11, text, name);
  check_rows (text, "      peak", name);
}

static void
check_report (const SsRecording *recording, const char *name)
{
  SsReportStyle style = { .width = 80 };
  g_autofree char *text = ss_report (recording, &style);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  if (recording->is_oom)
    check_failure (recording, text, name);
  else
    check_success (recording, text, name);
  cr_expect (le (u32, g_strv_length (lines), MAX_ROWS + 1), "%s:\n%s", name, text);
}

/* ---- what is walked ---- */

static void
check (const char *path, const char *const *overrides, const char *name)
{
  g_autoptr (SsScenario) scenario = fixture_load (path, overrides);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsRecording) recording = ss_simulate (scenario, NULL, &error);

  cr_assert (recording != NULL, "%s: %s", name, error != NULL ? error->message : "no error");
  check_report (recording, name);
  check_film (recording, name);
}

Test (sentences, are_true_of_every_shipped_scenario)
{
  g_auto (GStrv) names = fixture_list ("scenarios");

  for (char **name = names; *name != NULL; name++)
    {
      g_autofree char *file = g_strdup_printf ("scenarios/%s.xml", *name);
      g_autofree char *path = fixture_source (file);

      check (path, NULL, *name);
    }
}

/* The same hundred every time: each setting turns with a period of its own. */
Test (sentences, are_true_of_a_hundred_mixtures)
{
  static const char *const policies[] = { "none", "full", "sqrt" };
  static const char *const optimizers[] = { "adamw", "sgd", "adafactor", "adagrad", "momentum" };
  static const char *const recipes[] = { "bf16", "bf16-amp", "bf16-mixed", "fp32" };
  static const char *const capacities[] = { "24 GiB", "18 GiB", "12 GiB", "8 GiB", "5 GiB",
                                            "3 GiB", "30 GiB" };
  g_autofree char *path = fixture_source ("scenarios/teaching-4layer.xml");

  for (guint i = 0; i < N_MIXTURES; i++)
    {
      g_autofree char *policy = g_strconcat ("checkpointing/policy=", policies[i % 3], NULL);
      g_autofree char *optimizer = g_strconcat ("optimizer/type=", optimizers[i % 5], NULL);
      g_autofree char *recipe = g_strconcat ("precision/recipe=", recipes[i / 2 % 4], NULL);
      g_autofree char *capacity = g_strconcat ("hardware/capacity=", capacities[i % 7], NULL);
      g_autofree char *zero = g_strconcat ("training/zero-grad=", i % 4 == 3 ? "zero" : "none",
                                           NULL);
      g_autofree char *parts = g_strdup_printf ("training/gradient-accumulation=%u", 1 + i % 2);
      g_autofree char *name = g_strjoin (" ", policy, optimizer, recipe, capacity, zero, parts,
                                         NULL);
      const char *const overrides[] = { policy, optimizer, "optimizer/implementation=foreach",
                                        recipe, capacity, zero, parts, NULL };

      check (path, overrides, name);
    }
}
