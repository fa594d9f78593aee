/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <glib/gstdio.h>
#include <string.h>

#include "scenarios/chain-table.h"
#include "tests/chain-fixture.h"

#define SMALL "\"a\": [8, 4, 0], \"w\": [1, 2],\n \"f\": [1, 1], \"b\": [2, 2]"

/* What loading that text says. (transfer full) */
static char *
message_of (const char *text)
{
  g_autofree char *folder = g_dir_make_tmp ("stepsim-test-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "c.json", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsChainFile) file = NULL;
  GString *message = g_string_new (NULL);

  cr_assert (g_file_set_contents (path, text, -1, NULL));
  file = ss_chain_file_load (path, &error);
  g_unlink (path);
  g_rmdir (folder);
  if (file == NULL)
    {
      cr_assert (g_error_matches (error, SS_HW_ERROR, SS_HW_ERROR_INPUT));
      g_string_assign (message, error->message);
      g_string_replace (message, path, "c.json", 0);
    }
  return g_string_free (message, FALSE);
}

static const struct
{
  const char *text, *message;
} files[] = {
  { "{" SMALL "}", "" },
  { "{" SMALL ", \"fr\": [0, 1], \"sqrt\": \"what it likes\"}", "" },
  { "{" SMALL ",\n \"tf\": [1],\n \"tb\": [1, -1]}",
    "c.json:3: tf: has 1 elements; 2 are wanted\n"
    "c.json:4: tb: element 1 is not a whole number of 0 or more" },
  { "{" SMALL ", \"tf\": [1, 1.5]}",
    "c.json:2: tf: element 1 is not a whole number of 0 or more" },
  { "{" SMALL ", \"tf\": 3}", "c.json:2: tf: is not a list" },
  { "{\"f\": [1], \"b\": [1], \"w\": [1]}", "c.json: a: is missing" },
  { "{\"a\": [1]}", "c.json: f: is missing" },
  { "{\"f\": []}", "c.json:1: f: has 0 elements; a chain has 1 to 4096 stages" },
  { "{" SMALL ", \"n_stages\": 3}",
    "c.json:2: n_stages: is not the number of elements of f, 2" },
  { "{" SMALL ", \"layers\": [2, 3]}", "c.json:2: layers: is not a range of stages 1 to 2" },
  { "{" SMALL ", \"layers\": [2, 1]}", "c.json:2: layers: is not a range of stages 1 to 2" },
  { "{" SMALL ", \"name\": 1}", "c.json:2: name: is not text" },
  { "{" SMALL ", \"meta\": []}", "c.json:2: meta: is not an object" },
  { "{" SMALL ", \"d\": [8, 4, 1]}",
    "c.json: the gradient of the last stage's output has a size; backward begins with that stage, "
    "so it must be 0" },
  { "{\"a\": [4611686018427387904, 0], \"w\": [1], \"f\": [1], \"b\": [2]}",
    "c.json: the sizes are so large that a sum of them may not fit into 63 bits" },
  { "{\"a\": [1, 0], \"w\": [1], \"f\": [9223372036854775807], \"b\": [2]}",
    "c.json: the times are so large that a sum of them may not fit into 63 bits" },
  { "{" SMALL ", \"schedules\": 1}", "c.json:2: schedules: is not a list" },
  { "{" SMALL ", \"schedules\": [{\"name\": \"x\"}]}",
    "c.json:2: schedules: element 0 has no name or no ops" },
  { "{" SMALL ", \"schedules\": [{\"name\": \"x\", \"ops\": \"F1 Q\"}]}",
    "c.json:2: schedules: x: op 1, \"Q\", is not F, S or B with the number of a stage" },
  { "[]", "c.json:1: is not a JSON object" },
};

Test (chain_file, all_that_is_wrong_is_said_with_its_line)
{
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *message = message_of (files[i].text);

      cr_expect (eq (str, message, (char *) files[i].message), "%s", files[i].text);
    }
}

Test (chain_file, what_is_not_given_has_its_default)
{
  g_autoptr (SsChainFile) file = load_chain ("three-stages.chain.json");

  cr_assert (eq (str, file->unit, "B"));
  cr_assert (eq (u64, file->chain->gradient_bytes[0], 10));
  cr_assert (eq (u64, file->chain->gradient_bytes[3], 0));
  cr_assert (eq (u64, file->chain->stages[2].recompute_time, 3));
  cr_assert (eq (uint, file->schedules->len, 2));
}

/* The sums are those of tests/test-chain-simulate.c.  Budgets: 42 keeps all; what else there is was
 * found by the search, which knows no recurrence: the two lists must agree. */
Test (chain_file, the_chain_is_printed_with_its_summary)
{
  g_autoptr (SsChainFile) file = load_chain ("three-stages.chain.json");
  g_autoptr (GString) out = g_string_new (NULL);

  cr_assert (ss_chain_append_json (file, out, NULL));
  cr_assert (g_str_has_prefix (
    out->str, "{\"name\":\"three-stages\",\"n_stages\":3,\"layers\":[1,2],\"unit\":\"B\","
              "\"time_unit\":\"unit\",\"a\":[10,4,6,0],\"d\":[10,4,6,0],\"w\":[7,5,3],"
              "\"f\":[2,3,1],\"b\":[4,6,2],\"tf\":[1,0,2],\"tb\":[0,3,1],"
              "\"sqrt\":{\"k_floor\":1,\"k_round\":1,\"k_ceil\":2,\"every_k_all\":{\"1\":32,"));
  cr_assert (ne (ptr, strstr (out->str, "\"none\":{\"peak\":42,\"time\":18},"), NULL));
  cr_assert (ne (ptr, strstr (out->str, "\"max_useful_budget\":42,"), NULL));
  cr_assert (ne (ptr, strstr (out->str, "{\"name\":\"every_1\",\"ops\":\"F1 F2 S3 B3 S2 B2 S1 B1\","
                                        "\"resident_during_op\":[15,20,25,30,31,32,26,31],"
                                        "\"peak\":32,\"time\":23,\"recompute_time\":5,"
                                        "\"recompute_stages\":2}"), NULL));
}

Test (chain_file, a_schedule_that_cannot_be_run_is_said_by_its_name)
{
  g_autoptr (SsChainFile) file = load_chain ("three-stages.chain.json");
  g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_parse ("S2", NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  cr_assert (not (ss_chain_append_schedule (file->chain, "mine", schedule, out, &error)));
  cr_assert (eq (str, error->message, "mine: op 0: nothing has made x1"));
}

Test (chain_file, names_are_fields_of_csv)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("a, \"b\"", 4, 1, 1);
  g_autoptr (GString) out = g_string_new (NULL);
  SsCheckpointing nested = nested_levels ("2/1", TRUE);

  ss_chain_append_nested (chain, &nested, out);
  /* the peak is in the second of: F1-4 S5 B5, F3 S4 B4: x_0 x_2 x_3 x_4 w g_4; recomputed: F3 F1,
   * S4 S3 S2 S1 */
  cr_assert (eq (str, out->str,
                 "chain,ks,skip_last_inner_forward,peak,time,recompute_time,recompute_stages\n"
                 "\"a, \"\"b\"\"\",2/1,1,6,18,6,6\n"));
}
