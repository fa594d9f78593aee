/* SPDX-License-Identifier: MIT
 *
 * The values of <input>: that it stands there says that batches come from the host.
 */
#include "scenarios/attribute-value.h"
#include "scenarios/scenario-private.h"

static char **
input_words (const SsAttribute *attribute)
{
  return ss_value_yes_no.words (attribute);
}

static gboolean
input_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  scenario->config.input.is_from_host = TRUE;
  return ss_value_yes_no.read (attribute, scenario, text, problem);
}

static char *
input_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  return scenario->config.input.is_from_host ? ss_value_yes_no.print (attribute, scenario) : NULL;
}

const SsValueKind ss_value_input = { input_words, input_read, input_print };
