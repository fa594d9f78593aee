/* SPDX-License-Identifier: MIT
 *
 * A model named in place of a scenario: the scenario around it is that which a person would write.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <glib/gstdio.h>
#include <string.h>

#include "scenario-fixture.h"
#include "scenarios/attribute.h"
#include "scenarios/scenario-source.h"

#define GPT2                                                                                       \
  "\"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4, \"vocab_size\": 100, \"n_positions\": 32"

static const char *const settings[] = {
  "hardware/device=h100-sxm-80gb", "training/sequence-length=16", "training/micro-batch=2",
  "optimizer/type=sgd", "name=one", NULL,
};

/* The same settings in a file that names the model. */
static char *
xml_around (const char *href)
{
  return g_markup_printf_escaped ("<scenario name='one'><model href='%s'/>"
                                  "<hardware device='h100-sxm-80gb'/>"
                                  "<training sequence-length='16' micro-batch='2'/>"
                                  "<optimizer type='sgd'/></scenario>", href);
}

static void
assert_alike (const char *config, const char *folder)
{
  g_autofree char *whole = g_canonicalize_filename (config, NULL), *text = xml_around (whole);
  g_autofree char *path = fixture_write (folder, "written.xml", text, -1);
  g_autoptr (SsScenario) written = fixture_load (path, NULL);
  g_autoptr (SsScenario) named = fixture_load (config, settings);
  g_autofree char *by_xml = ss_scenario_to_xml (written), *by_name = ss_scenario_to_xml (named);

  cr_assert (eq (str, by_name, by_xml), "%s", config);
}

Test (scenario_source, a_config_and_its_folder_are_the_scenario_that_names_them)
{
  char *folder = fixture_folder ();
  g_autofree char *config
    = fixture_write (folder, "config.json", "{\"model_type\": \"gpt2\", " GPT2 "}", -1);

  assert_alike (config, folder);
  {
    g_autoptr (SsScenario) by_file = fixture_load (config, settings),
                           by_folder = fixture_load (folder, settings);
    g_autofree char *a = ss_scenario_to_xml (by_file), *b = ss_scenario_to_xml (by_folder);

    cr_assert (eq (str, a, b));
    cr_assert (eq (str, (char *) ss_scenario_path (by_folder), folder));
    cr_assert (eq (str, (char *) ss_scenario_file (by_folder), config));
  }
  fixture_discard (folder);
}

/* Every collected config that loads at all. */
Test (scenario_source, collected_configs_load_as_scenarios_that_name_them)
{
  g_autofree char *collected = fixture_source ("../shared/data/hf_configs");
  g_autoptr (GDir) dir = g_dir_open (collected, 0, NULL);
  char *folder;
  const char *entry;
  guint n_loaded = 0;

  if (!dir)
    cr_skip_test ("no collected configs here");
  folder = fixture_folder ();
  while ((entry = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (collected, entry, NULL);
      g_autoptr (SsScenario) scenario
        = g_str_has_suffix (entry, ".json") ? ss_scenario_load (path, settings, NULL) : NULL;

      if (scenario)
        {
          assert_alike (path, folder);
          n_loaded++;
        }
    }
  fixture_discard (folder);
  cr_assert (ge (uint, n_loaded, 17));
}

Test (scenario_source, shipped_ones_are_found_by_name)
{
  g_autoptr (SsScenario) model = fixture_load ("llama3-8b", settings),
                         scenario = fixture_load ("teaching-4layer", NULL);
  g_autofree char *path = fixture_source ("scenarios/teaching-4layer.xml"),
                  *by_name = ss_scenario_to_xml (scenario), *by_path = NULL,
                  *xml = ss_scenario_to_xml (model);
  g_autoptr (SsScenario) file = fixture_load (path, NULL);

  by_path = ss_scenario_to_xml (file);
  cr_assert (eq (str, by_name, by_path));
  cr_assert (ne (ptr, strstr (xml, "<model href=\"models/llama3-8b.xml\""), NULL), "%s", xml);
  cr_assert (eq (str, (char *) ss_scenario_model_name (model), "Llama 3 8B"));
  cr_assert (ss_scenario_source_is_shipped ("llama3-8b"));
  cr_assert (ss_scenario_source_is_shipped ("teaching-4layer"));
  cr_assert (not (ss_scenario_source_is_shipped ("models/llama3-8b")));
  cr_assert (not (ss_scenario_source_is_shipped ("")));
}

static void
assert_refused (const char *path, const char *const *overrides, const char *said)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsScenario) scenario = ss_scenario_load (path, overrides, &error);

  cr_assert (eq (ptr, scenario, NULL));
  cr_assert (g_str_has_suffix (error->message, said), "%s", error->message);
}

Test (scenario_source, what_is_missing_is_asked_for)
{
  char *folder = fixture_folder ();
  g_autofree char *config
    = fixture_write (folder, "a.json", "{\"model_type\": \"gpt2\", " GPT2 "}", -1);
  g_autofree char *untyped = fixture_write (folder, "b.json", "{" GPT2 "}", -1);
  g_autofree char *device = fixture_write (folder, "d.xml", "<device/>", -1);

  assert_refused (config, NULL,
                  "a.json: no device is given; wanted --device=NAME (stepsim list devices)");
  assert_refused (untyped, settings,
                  "b.json: model_type is missing; add the line \"model_type\": \"gpt2\",");
  assert_refused (folder, settings, "is a folder without a config.json; wanted a scenario, a "
                                    "model's config.json or the folder it lies in");
  assert_refused (device, NULL,
                  "the root element is <device>; expected <scenario>");
  fixture_discard (folder);
}

/* The written file says all, and reads back as what it was written of. */
Test (scenario_source, the_commented_file_loads_to_an_equal_scenario)
{
  static const char *const lora[]
    = { "hardware/device=a100-sxm-80gb", "adapter/targets=q_proj v_proj", NULL };
  char *folder = fixture_folder ();
  g_autoptr (SsScenario) first = fixture_load ("llama3-8b", lora), second = NULL;
  g_autofree char *text = ss_scenario_to_commented_xml (first),
                  *path = fixture_write (folder, "mine.xml", text, -1),
                  *before = ss_scenario_to_xml (first), *after = NULL;
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  second = fixture_load (path, NULL);
  after = ss_scenario_to_xml (second);
  fixture_discard (folder);
  cr_assert (eq (str, after, before));
  for (guint i = 0; i < n; i++)
    {
      int indent = g_str_equal (attributes[i].element, "scenario") ? 5 : 7;
      g_autofree char *row = g_strdup_printf ("\n%*s%s: ", indent, "", attributes[i].name);

      cr_expect (ne (ptr, strstr (text, row), NULL), "%s", row);
    }
}
