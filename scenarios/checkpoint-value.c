/* SPDX-License-Identifier: MIT
 *
 * The kinds of values that the settings of checkpoint policies have. Each is printed only where the
 * policy in force reads it.
 */
#include "hw/problems.h"
#include "hw/units.h"
#include "scenarios/attribute-value.h"
#include "scenarios/scenario-private.h"

#include <string.h>

#define FIELD(type, attribute, scenario) (*(type *) ((char *) (scenario) + (attribute)->offset))
#define FIELD_OF(type, attribute, scenario)                                                        \
  (*(const type *) ((const char *) (scenario) + (attribute)->offset))

static gboolean
is_read (const SsAttribute *attribute, const SsScenario *scenario)
{
  return ss_checkpoint_policy_reads (scenario->config.checkpointing.policy, attribute->name);
}

static gboolean
refuse_word (const char *text, const char *const *words, char **problem)
{
  g_autofree char *known = ss_problems_suggest (text, words);

  *problem = g_strdup_printf ("\"%s\" is not known; %s", text, known);
  return FALSE;
}

/* Words between spaces, empty ones left out. (transfer full) */
static char **
words_of (const char *text)
{
  g_auto (GStrv) pieces = g_strsplit (text, " ", -1);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (char **piece = pieces; *piece; piece++)
    if (**piece != '\0')
      g_strv_builder_add (builder, *piece);
  return g_strv_builder_end (builder);
}

/* ---- bytes ---- */

static gboolean
budget_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  if (!ss_units_bytes (text, &FIELD (guint64, attribute, scenario), problem))
    return FALSE;
  if (FIELD_OF (guint64, attribute, scenario) > 0)
    return TRUE;
  *problem = g_strdup ("0 bytes; wanted a size above 0");
  return FALSE;
}

static char *
budget_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  guint64 bytes = FIELD_OF (guint64, attribute, scenario);

  if (!is_read (attribute, scenario) || bytes == 0)
    return NULL;
  return g_strdup_printf ("%" G_GUINT64_FORMAT " B", bytes);
}

/* ---- counts and flags ---- */

static gboolean
count_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  gint64 count;

  if (!ss_units_count (text, attribute->min, attribute->max, &count, problem))
    return FALSE;
  FIELD (guint, attribute, scenario) = (guint) count;
  return TRUE;
}

static char *
count_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  if (!is_read (attribute, scenario))
    return NULL;
  return g_strdup_printf ("%u", FIELD_OF (guint, attribute, scenario));
}

static char **
convention_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  return words_of ("all lastfree");
}

static char **
end_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  return words_of ("first last");
}

static char **
no_yes_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  return words_of ("no yes");
}

/* The second word of the two stands for TRUE. */
static gboolean
flag_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  g_auto (GStrv) words = attribute->kind->words (attribute);

  if (!g_strv_contains ((const char *const *) words, text))
    return refuse_word (text, (const char *const *) words, problem);
  FIELD (gboolean, attribute, scenario) = g_str_equal (text, words[1]);
  return TRUE;
}

static char *
flag_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  g_auto (GStrv) words = attribute->kind->words (attribute);

  if (!is_read (attribute, scenario))
    return NULL;
  return g_strdup (words[FIELD_OF (gboolean, attribute, scenario) ? 1 : 0]);
}

/* ---- segments: a number of them, or which they are ---- */

static gboolean
segments_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario, const char *text,
               G_GNUC_UNUSED char **problem)
{
  /* what it says depends on the policy: ss_scenario_read_segments */
  g_free (scenario->segments);
  scenario->segments = g_strdup (text);
  return TRUE;
}

static char *
segments_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  return is_read (attribute, scenario) ? g_strdup (scenario->segments) : NULL;
}

/* "4", "0-3" or "save:8-31" */
static gboolean
range_read (const char *word, SsLayerRange *range, char **problem)
{
  gboolean is_saved = g_str_has_prefix (word, "save:");
  const char *numbers = is_saved ? word + strlen ("save:") : word, *dash = strchr (numbers, '-');
  g_autofree char *first = g_strndup (numbers, dash ? (gsize) (dash - numbers) : strlen (numbers));
  g_autofree char *problem_of_number = NULL;
  gint64 a = 0, b = 0;

  if (!ss_units_count (first, 0, G_MAXINT16, &a, &problem_of_number)
      || !ss_units_count (dash ? dash + 1 : first, a, G_MAXINT16, &b, &problem_of_number))
    {
      *problem = g_strdup_printf ("\"%s\" is no segment; wanted layers as 0-3, 4 or save:8-31",
                                  word);
      return FALSE;
    }
  *range = (SsLayerRange) { (guint) a, (guint) b, !is_saved, 0 };
  return TRUE;
}

gboolean
ss_scenario_read_segments (SsScenario *self, char **problem)
{
  SsCheckpointing *c = &self->config.checkpointing;
  g_auto (GStrv) words = words_of (self->segments);
  gint64 count;

  if (!g_str_equal (c->policy->name, "custom"))
    {
      if (!ss_units_count (self->segments, 1, G_MAXINT16, &count, problem))
        return FALSE;
      c->n_segments = (guint) count;
      return TRUE;
    }
  g_free (self->ranges);
  self->ranges = g_new0 (SsLayerRange, g_strv_length (words) + 1);
  c->ranges = self->ranges;
  for (c->n_ranges = 0; words[c->n_ranges]; c->n_ranges++)
    if (!range_read (words[c->n_ranges], &self->ranges[c->n_ranges], problem))
      return FALSE;
  return TRUE;
}

/* ---- what is kept and what is dropped ---- */

static char **
keep_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (const SsKeptOps *const *ops = ss_kept_ops (); *ops; ops++)
    g_strv_builder_add (builder, (*ops)->name);
  return g_strv_builder_end (builder);
}

static gboolean
keep_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  g_auto (GStrv) words = keep_words (attribute);

  for (const SsKeptOps *const *ops = ss_kept_ops (); *ops; ops++)
    if (g_str_equal ((*ops)->name, text))
      {
        scenario->config.checkpointing.keep = *ops;
        return TRUE;
      }
  return refuse_word (text, (const char *const *) words, problem);
}

static char *
keep_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  const SsKeptOps *keep = scenario->config.checkpointing.keep;

  return keep && is_read (attribute, scenario) ? g_strdup (keep->name) : NULL;
}

static gboolean
drop_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario, const char *text,
           char **problem)
{
  g_auto (GStrv) words = words_of (text);
  const char *known[SS_N_DROPS + 1] = { NULL };
  guint drop = 0;

  for (guint i = 0; i < SS_N_DROPS; i++)
    known[i] = ss_drop_name (i);
  for (char **word = words; *word; word++)
    {
      guint i = 0;

      while (i < SS_N_DROPS && !g_str_equal (known[i], *word))
        i++;
      if (i == SS_N_DROPS)
        return refuse_word (*word, known, problem);
      if (drop & 1u << i)
        {
          *problem = g_strdup_printf ("\"%s\" stands there twice", *word);
          return FALSE;
        }
      drop |= 1u << i;
    }
  if (drop == 0)
    {
      *problem = g_strdup ("is empty; wanted parts of a layer, as \"norms activations\"");
      return FALSE;
    }
  scenario->config.checkpointing.drop = drop;
  return TRUE;
}

static char *
drop_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  const SsCheckpointing *c = &scenario->config.checkpointing;
  GString *text;

  if (!is_read (attribute, scenario) || c->keep)
    return NULL;
  text = g_string_new (NULL);
  for (guint i = 0; i < SS_N_DROPS; i++)
    if (c->drop & 1u << i)
      g_string_append_printf (text, "%s%s", text->len ? " " : "", ss_drop_name (i));
  return g_string_free (text, FALSE);
}

/* ---- levels ---- */

static gboolean
levels_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  SsCheckpointing *c = &scenario->config.checkpointing;
  g_auto (GStrv) words = words_of (text);
  guint n = g_strv_length (words);

  if (n == 0 || n > SS_MAX_LEVELS)
    {
      *problem = g_strdup_printf ("%u levels; wanted 1 to %u, as \"8 2\"", n, SS_MAX_LEVELS);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      gint64 count;

      if (!ss_units_count (words[i], attribute->min, attribute->max, &count, problem))
        return FALSE;
      c->levels[i] = (guint) count;
    }
  c->n_levels = n;
  return TRUE;
}

static char *
levels_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  const SsCheckpointing *c = &scenario->config.checkpointing;
  GString *text;

  if (!is_read (attribute, scenario))
    return NULL;
  text = g_string_new (NULL);
  for (guint i = 0; i < c->n_levels; i++)
    g_string_append_printf (text, "%s%u", i > 0 ? " " : "", c->levels[i]);
  return g_string_free (text, FALSE);
}

const SsValueKind ss_value_budget = { NULL, budget_read, budget_print, SS_BYTES_PATTERN };
const SsValueKind ss_value_policy_count = { NULL, count_read, count_print };
const SsValueKind ss_value_convention = { convention_words, flag_read, flag_print };
const SsValueKind ss_value_end = { end_words, flag_read, flag_print };
const SsValueKind ss_value_policy_flag = { no_yes_words, flag_read, flag_print };
const SsValueKind ss_value_segments = { NULL, segments_read, segments_print };
const SsValueKind ss_value_keep = { keep_words, keep_read, keep_print };
const SsValueKind ss_value_drop = { NULL, drop_read, drop_print };
const SsValueKind ss_value_levels = { NULL, levels_read, levels_print };
