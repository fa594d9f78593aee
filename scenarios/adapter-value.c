/* SPDX-License-Identifier: MIT
 *
 * The kinds of values that an adapter has.
 */
#include "hw/problems.h"
#include "scenarios/attribute-value.h"
#include "scenarios/scenario-private.h"

static char **
adapter_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  return g_strsplit ("none lora qlora", " ", -1);
}

static gboolean
adapter_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  g_auto (GStrv) words = attribute->kind->words (attribute);

  if (!g_strv_contains ((const char *const *) words, text))
    {
      g_autofree char *known = ss_problems_suggest (text, (const char *const *) words);

      *problem = g_strdup_printf ("\"%s\" is not known; %s", text, known);
      return FALSE;
    }
  g_clear_pointer (&scenario->config.adapter.type, g_free);
  if (!g_str_equal (text, "none"))
    scenario->config.adapter.type = g_strdup (text);
  scenario->config.adapter.is_quantised = g_str_equal (text, "qlora");
  return TRUE;
}

static char *
adapter_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup (scenario->config.adapter.type);
}

/* Which names there are is the family's to say: checked when the model is known. */
static gboolean
targets_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario, const char *text,
              char **problem)
{
  g_auto (GStrv) pieces = g_strsplit (text, " ", -1);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) targets = NULL;

  for (char **piece = pieces; *piece; piece++)
    if (**piece != '\0')
      g_strv_builder_add (builder, *piece);
  targets = g_strv_builder_end (builder);
  if (!targets[0])
    {
      *problem = g_strdup ("is empty; wanted names of linears, as \"q v\"");
      return FALSE;
    }
  g_strfreev (scenario->config.adapter.targets);
  scenario->config.adapter.targets = g_steal_pointer (&targets);
  return TRUE;
}

static char *
targets_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strjoinv (" ", scenario->config.adapter.targets);
}

static gboolean
adapter_dropout_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario,
                      const char *text, char **problem)
{
  return ss_probability_read (text, 0, &scenario->config.adapter.dropout, problem);
}

static char *
adapter_dropout_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return ss_number_print (scenario->config.adapter.dropout);
}

const SsValueKind ss_value_adapter = { adapter_words, adapter_read, adapter_print };
const SsValueKind ss_value_targets = { NULL, targets_read, targets_print };
const SsValueKind ss_value_adapter_dropout
  = { NULL, adapter_dropout_read, adapter_dropout_print };
