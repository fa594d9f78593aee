/* SPDX-License-Identifier: MIT
 *
 * The values of a scenario that say how the device runs, not what it is: they change times only.
 */
#include "scenarios/attribute-value.h"

#include <string.h>

#include "hw/data-path.h"
#include "hw/units.h"
#include "scenarios/scenario-private.h"

/* "is not known; known: a, b" (takes `words`) */
static gboolean
refuse (const char *text, char **words, char **problem)
{
  g_auto (GStrv) known = words;
  g_autofree char *near = ss_problems_suggest (text, (const char *const *) known);

  *problem = g_strdup_printf ("\"%s\" is not known; %s", text, near);
  return FALSE;
}

/* ---- hardware/clock ---- */

static gboolean
clock_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario, const char *text,
            char **problem)
{
  return ss_units_hertz (text, &scenario->running.clock_hz, problem);
}

static char *
clock_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (scenario->running.clock_hz <= 0)
    return NULL;
  g_ascii_formatd (number, sizeof number, "%.15g", scenario->running.clock_hz / 1e6);
  return g_strdup_printf ("%s MHz", number);
}

/* ---- hardware/host ---- */

static char **
host_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  return ss_data_list ("hw/hosts");
}

static gboolean
host_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  g_auto (GStrv) words = host_words (attribute);

  if (!g_strv_contains ((const char *const *) words, text))
    return refuse (text, g_steal_pointer (&words), problem);
  g_free (scenario->host);
  scenario->host = g_strdup (text);
  return TRUE;
}

static char *
host_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup (scenario->host);
}

/* ---- precision/float32-matmul ---- */

static char **
float32_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  return g_strsplit ("highest high", " ", -1);
}

static gboolean
float32_read (const SsAttribute *attribute, SsScenario *scenario, const char *text,
              char **problem)
{
  g_auto (GStrv) words = float32_words (attribute);

  if (!g_strv_contains ((const char *const *) words, text))
    return refuse (text, g_steal_pointer (&words), problem);
  scenario->running.has_tf32 = g_str_equal (text, words[1]);
  return TRUE;
}

static char *
float32_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  g_auto (GStrv) words = float32_words (attribute);

  return g_strdup (words[scenario->running.has_tf32 ? 1 : 0]);
}

/* ---- kernels/host ---- */

static char **
mode_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  return g_strdupv ((char **) ss_host_mode_names ());
}

static gboolean
mode_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  const char *const *names = ss_host_mode_names ();

  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_equal (names[i], text))
      {
        scenario->running.host_mode = (SsHostMode) i;
        scenario->has_host_mode = TRUE;
        return TRUE;
      }
  return refuse (text, mode_words (attribute), problem);
}

static char *
mode_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup (ss_host_mode_names ()[scenario->running.host_mode]);
}

const SsValueKind ss_value_clock = { NULL, clock_read, clock_print };
const SsValueKind ss_value_host = { host_words, host_read, host_print };
const SsValueKind ss_value_float32_matmul = { float32_words, float32_read, float32_print };
const SsValueKind ss_value_host_mode = { mode_words, mode_read, mode_print };
