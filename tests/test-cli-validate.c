/* SPDX-License-Identifier: MIT
 *
 * `stepsim validate TABLE.csv`: measured steps beside simulated ones, on a table of our own.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "cli-fixture.h"

TestSuite (cli_validate, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

#define MODEL "model/href=models/llama3.2-1b.xml;hardware/device=h100-sxm-80gb"
#define HEAD                                                                                       \
  "id,settings,step_time_s,tokens_per_step,peak_bytes,peak_kind,confidence,near,not_expressible\n"

/* Two that count, one of confidence C, one that no scenario says, one that is refused. */
static const char table[] = HEAD
  "A1," MODEL ";training/sequence-length=1024,0.05,1024,,,A,,\n"
  "B1," MODEL ";training/sequence-length=512,1,512,,,B,a guess,\n"
  "C1," MODEL ",0.05,,,,C,,\n"
  "N1,,,,,,A,,model: family santacoder\n"
  "R1,nonsense/a=1,0.05,,,,A,,\n";

static JsonObject *
parse (JsonParser *parser, const SsCliResult *result)
{
  cr_assert (json_parser_load_from_data (parser, result->out, -1, NULL), "%s%s", result->out,
             result->err);
  return json_node_get_object (json_parser_get_root (parser));
}

static JsonObject *
row (JsonObject *root, guint i)
{
  return json_array_get_object_element (json_object_get_array_member (root, "rows"), i);
}

Test (cli_validate, lays_each_row_beside_its_own_run)
{
  g_autofree char *path = ss_cli_write ("t.csv", table, -1);
  g_autoptr (JsonParser) parser = json_parser_new (), alone = json_parser_new ();
  g_auto (SsCliResult) result = RUN ("validate", "--json", path);
  g_auto (SsCliResult) run = RUN ("llama3.2-1b", "--device=h100-sxm-80gb", "--seq=1024", "--json",
                                  "--no-files", "--no-advice");
  JsonObject *first = row (parse (parser, &result), 0), *step;
  double simulated = json_object_get_double_member (first, "simulated");

  cr_assert (eq (int, result.status, 0));
  step = json_array_get_object_element (
    json_object_get_array_member (parse (alone, &run), "steps"), 1);
  cr_expect (fabs (1024 / json_object_get_double_member (step, "tokens_per_s") - simulated)
             < 1e-5 * simulated);
  cr_expect (fabs (json_object_get_double_member (first, "error")
                   - 100 * (simulated - 0.05) / 0.05) < 1e-3);
  cr_expect (eq (str, (char *) json_object_get_string_member (row (parse (parser, &result), 1),
                                                              "near"),
                 "a guess"));
}

Test (cli_validate, counts_what_counts_and_says_what_does_not)
{
  g_autofree char *path = ss_cli_write ("t.csv", table, -1);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_auto (SsCliResult) result = RUN ("validate", "--json", path);
  JsonObject *root = parse (parser, &result);
  JsonObject *summary = json_object_get_object_member (root, "summary");
  JsonObject *time = json_object_get_object_member (summary, "time");

  cr_expect (eq (uint, json_array_get_length (json_object_get_array_member (root, "rows")), 5));
  cr_expect (eq (int, (int) json_object_get_int_member (time, "rows"), 2));
  cr_expect (eq (int, (int) json_object_get_int_member (summary, "not_expressible"), 2));
  cr_expect (not (json_object_get_boolean_member (row (root, 3), "refused")));
  cr_expect (json_object_get_boolean_member (row (root, 4), "refused"));
}

/* B1's second for a step of some 30 ms is 97 % off: of two rows p90 is the larger, the median lies
 * between them, above 40 %. */
Test (cli_validate, a_limit_on_the_median_is_an_exit_status)
{
  g_autofree char *path = ss_cli_write ("t.csv", table, -1);
  g_auto (SsCliResult) strict = RUN ("validate", "--at-most=5", path);
  g_auto (SsCliResult) generous = RUN ("validate", "--at-most=200", path);

  cr_expect (eq (int, strict.status, 1));
  cr_expect (eq (int, generous.status, 0));
  cr_expect (ne (ptr, strstr (strict.out, "N1      model: family santacoder"), NULL), "%s",
             strict.out);
}

Test (cli_validate, a_broken_table_is_refused_with_its_line)
{
  static const char *const rows[] = {
    HEAD "A1," MODEL ",abc,,,,A,,\n",
    HEAD "A1," MODEL ",0.05,,,,Q,,\n",
    HEAD "A1,\"unfinished\n",
    "id,nothing\nA1,1\n",
    "",
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = ss_cli_write ("t.csv", rows[i], -1);
      g_auto (SsCliResult) result = RUN ("validate", "--json", path);

      cr_expect (eq (int, result.status, 2), "row %u: %s", i, result.out);
      cr_expect (eq (str, result.out, (char *) ""), "row %u", i);
      cr_expect (ss_cli_lines_are_ours (result.err), "%s", result.err);
    }
}
