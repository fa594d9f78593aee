/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <json-glib/json-glib.h>
#include <string.h>

#include "cli-fixture.h"

#define FEW "training/micro-batch=1..4"
#define MIXED SS_SOURCE_DIR "/scenarios/gpt2-a100.xml"

TestSuite (cli_sweep, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

static JsonArray *
parse_array (const char *text)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  cr_assert (json_parser_load_from_data (parser, text, -1, &error), "%s",
             error != NULL ? error->message : "");
  return json_array_ref (json_node_get_array (json_parser_get_root (parser)));
}

/* Field `column` of each line after the first, joined by spaces; no field of these is quoted. */
static char *
csv_column (const char *csv, const char *column)
{
  g_auto (GStrv) lines = g_strsplit (csv, "\n", -1), names = g_strsplit (lines[0], ",", -1);
  g_autoptr (GString) text = g_string_new (NULL);
  guint at = 0;

  while (names[at] != NULL && !g_str_equal (names[at], column))
    at++;
  cr_assert (ne (ptr, names[at], NULL), "%s", column);
  for (char **line = lines + 1; *line != NULL && **line != '\0'; line++)
    {
      g_auto (GStrv) fields = g_strsplit (*line, ",", -1);

      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", fields[at]);
    }
  return g_strdup (text->str);
}

Test (cli_sweep, the_table_names_the_fastest_that_fits)
{
  g_auto (SsCliResult) result = RUN ("sweep", SS_TEACHING, FEW);
  g_autofree char *csv = ss_cli_read ("sweep.csv"), *partial = ss_cli_read (".sweep.csv.partial");
  g_autofree char *verdicts = NULL, *values = NULL;

  cr_expect (eq (int, result.status, 0), "%s", result.err);
  cr_expect (eq (str, result.err, (char *) ""));
  cr_expect (ne (ptr, strstr (result.out, "<- fastest that fits"), NULL));
  cr_expect (ne (ptr, strstr (result.out, "OUT OF MEMORY, step "), NULL));
  cr_expect (ne (ptr, strstr (result.out, "\nWrote sweep.csv.  For a picture: --plot sweep.png\n"),
                 NULL));
  cr_assert (ne (ptr, csv, NULL));
  cr_expect (eq (ptr, partial, NULL));
  verdicts = csv_column (csv, "verdict");
  values = csv_column (csv, "training/micro-batch");
  cr_expect (eq (str, verdicts, (char *) "fits fits oom oom"));
  cr_expect (eq (str, values, (char *) "1 2 3 4"));
}

/* a point is the run of the same settings, but that nobody is advised about it */
Test (cli_sweep, json_has_the_object_of_each_run)
{
  g_auto (SsCliResult) all = RUN ("sweep", SS_TEACHING, FEW, "--json", "--no-files");
  g_autoptr (JsonArray) array = parse_array (all.out);

  cr_assert (eq (uint, json_array_get_length (array), 4));
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *set = g_strdup_printf ("training/micro-batch=%u", i + 1);
      g_autofree char *value = g_strdup_printf ("%u", i + 1);
      g_auto (SsCliResult) one
        = RUN (SS_TEACHING, "--json", "--no-files", "--no-advice", "--set", set);
      g_autoptr (JsonParser) parser = json_parser_new ();
      JsonObject *met = json_array_get_object_element (array, i), *wanted;
      JsonObjectIter iter;
      JsonNode *node;
      const char *name;

      cr_assert (json_parser_load_from_data (parser, one.out, -1, NULL));
      wanted = json_node_get_object (json_parser_get_root (parser));
      cr_expect (eq (str, (char *) json_object_get_string_member (
                            json_object_get_object_member (met, "set"), "training/micro-batch"),
                     value));
      json_object_iter_init (&iter, wanted);
      while (json_object_iter_next (&iter, &name, &node))
        {
          cr_assert (json_object_has_member (met, name), "%s", name);
          cr_expect (json_node_equal (node, json_object_get_member (met, name)), "%u %s", i, name);
        }
    }
}

Test (cli_sweep, threads_change_nothing)
{
  static const char *const jobs[] = { "1", "2", "7" };
  g_autofree char *csv = NULL, *json = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++)
    {
      g_auto (SsCliResult) table
        = RUN ("sweep", SS_TEACHING, "training/micro-batch=1..3",
               "hardware/capacity=18..24 GiB..3 GiB", "-o", "-", "--jobs", jobs[i]);
      g_auto (SsCliResult) runs = RUN ("sweep", SS_TEACHING, FEW, "--json", "-j", jobs[i],
                                       "--no-files");

      cr_expect (eq (int, table.status, 0), "%s", table.err);
      if (csv == NULL)
        {
          csv = g_strdup (table.out);
          json = g_strdup (runs.out);
        }
      cr_expect (eq (str, table.out, csv), "%s", jobs[i]);
      cr_expect (eq (str, runs.out, json), "%s", jobs[i]);
    }
}

Test (cli_sweep, the_largest_that_fits_is_the_last_of_all)
{
  static const char *const capacities[] = { "15 GiB", "22 GiB", "41 GiB" };

  for (guint i = 0; i < G_N_ELEMENTS (capacities); i++)
    {
      g_auto (SsCliResult) all = RUN ("sweep", SS_TEACHING, "training/micro-batch=1..12", "-o",
                                      "-", "--capacity", capacities[i]);
      g_auto (SsCliResult) max = RUN ("sweep", SS_TEACHING, "training/micro-batch=max", "-o", "-",
                                      "--capacity", capacities[i]);
      g_autofree char *verdicts = csv_column (all.out, "verdict");
      g_autofree char *largest = csv_column (max.out, "training/micro-batch");
      g_auto (GStrv) each = g_strsplit (verdicts, " ", -1);
      guint n = g_strv_length (each);

      while (n > 0 && !g_str_equal (each[n - 1], "fits"))
        n--;
      cr_expect (eq (int, max.status, n > 0 ? 0 : 1), "%s", capacities[i]);
      cr_expect (eq (int, all.status, max.status));
      cr_expect (eq (u64, g_ascii_strtoull (largest, NULL, 10), MAX (n, 1)), "%s: %s",
                 capacities[i], largest);
    }
}

Test (cli_sweep, a_search_says_what_it_has_verified)
{
  g_auto (SsCliResult) max
    = RUN ("sweep", SS_TEACHING, "training/micro-batch=max", "--no-files");
  g_auto (SsCliResult) none = RUN ("sweep", SS_TEACHING, "training/micro-batch=max", "--no-files",
                                   "--capacity=10 GiB");
  g_auto (SsCliResult) limit = RUN ("sweep", MIXED, "model/layers=max", "--no-files");
  g_auto (SsCliResult) json = RUN ("sweep", SS_TEACHING, "training/micro-batch=max", "--no-files",
                                   "--json");
  g_autoptr (JsonArray) array = parse_array (json.out);
  JsonObject *search
    = json_object_get_object_member (json_array_get_object_element (array, 0), "search");

  cr_expect (ne (ptr, strstr (max.out, "2 fits, 3 runs out of memory"), NULL), "%s", max.out);
  cr_expect (eq (int, none.status, 1));
  cr_expect (ne (ptr, strstr (none.out, "nothing fits"), NULL), "%s", none.out);
  cr_expect (ne (ptr, strstr (limit.out, "12 fits, 13 is refused"), NULL), "%s", limit.out);
  cr_expect (eq (i64, json_object_get_int_member (search, "largest"), 2));
}

Test (cli_sweep, a_refused_point_is_a_row_and_all_refused_is_bad_input)
{
  g_auto (SsCliResult) some
    = RUN ("sweep", MIXED, "training/sequence-length=1024,2048", "--capacity=unlimited");
  g_auto (SsCliResult) all = RUN ("sweep", MIXED, "training/sequence-length=2048,4096");
  g_auto (SsCliResult) json = RUN ("sweep", MIXED, "training/sequence-length=1024,2048", "--json",
                                   "--no-files", "--capacity=unlimited");
  g_autoptr (JsonArray) array = parse_array (json.out);
  g_autofree char *csv = ss_cli_read ("sweep.csv");

  cr_expect (eq (int, some.status, 0), "%s", some.err);
  cr_expect (ne (ptr, strstr (some.out, "refused: sequence-length: 2048 of a model"), NULL));
  cr_assert (ne (ptr, csv, NULL));
  cr_expect (ne (ptr, strstr (csv, "\n2048,refused,"), NULL));
  cr_expect (eq (int, all.status, 2));
  cr_expect (eq (str, all.out, (char *) ""));
  cr_expect (ss_cli_lines_are_ours (all.err) && *all.err != '\0');
  cr_expect (eq (str, (char *) json_object_get_string_member (
                        json_array_get_object_element (array, 1), "verdict"),
                 (char *) "refused"));
}

/* every line has as many fields as the first; the one quoted text is the problem */
Test (cli_sweep, csv_is_rectangular)
{
  g_auto (SsCliResult) result = RUN ("sweep", MIXED, "training/sequence-length=512,2048",
                                     "hardware/capacity=1 GiB,40 GiB", "-o", "-");
  g_auto (GStrv) lines = g_strsplit (g_strchomp (result.out), "\n", -1);
  guint n_commas = 0;

  cr_assert (eq (uint, g_strv_length (lines), 5));
  for (guint i = 0; lines[i] != NULL; i++)
    {
      guint n = 0;

      for (const char *c = lines[i]; *c != '\0' && *c != '"'; c++)
        n += *c == ',';
      n_commas = i == 0 ? n : n_commas;
      cr_expect (eq (uint, n, n_commas), "%s", lines[i]);
    }
}

Test (cli_sweep, bad_lists_are_bad_input_and_all_of_them_are_said)
{
  g_auto (SsCliResult) result
    = RUN ("sweep", SS_TEACHING, "training/stpes=1", "checkpointing/policy=ful", "a=b");
  g_auto (SsCliResult) none = RUN ("sweep", SS_TEACHING);
  g_auto (SsCliResult) jobs = RUN ("sweep", SS_TEACHING, FEW, "--jobs=-1");
  g_auto (SsCliResult) both = RUN ("sweep", SS_TEACHING, FEW, "--json", "-o", "-");

  cr_expect (eq (int, result.status, 2));
  cr_expect (eq (uint, ss_cli_count_lines (result.err), 3), "%s", result.err);
  cr_expect (eq (int, none.status, 2));
  cr_expect (eq (int, jobs.status, 2));
  cr_expect (eq (int, both.status, 2));
}

Test (cli_sweep, files_of_others_are_not_replaced)
{
  g_autofree char *path = ss_cli_write ("sweep.csv", "mine\n", -1);
  g_auto (SsCliResult) refused = RUN ("sweep", SS_TEACHING, FEW, "-q");
  g_autofree char *kept = ss_cli_read ("sweep.csv");
  g_auto (SsCliResult) forced = RUN ("sweep", SS_TEACHING, FEW, "-q", "-f");
  g_auto (SsCliResult) again = RUN ("sweep", SS_TEACHING, "training/micro-batch=1", "-q");
  g_autofree char *last = ss_cli_read ("sweep.csv");
  g_auto (SsCliResult) named = RUN ("sweep", SS_TEACHING, FEW, "-q", "-o", "sweep.csv");
  g_auto (SsCliResult) nowhere = RUN ("sweep", SS_TEACHING, FEW, "-q", "-o", "no/such.csv");

  cr_expect (eq (int, refused.status, 3));
  cr_expect (eq (str, kept, (char *) "mine\n"));
  cr_expect (eq (int, forced.status, 0));
  cr_expect (eq (int, again.status, 0));
  cr_expect (eq (uint, ss_cli_count_lines (last), 2));
  cr_expect (eq (int, named.status, 3));
  cr_expect (eq (int, nowhere.status, 3));
}

Test (cli_sweep, plots_are_drawn)
{
  g_auto (SsCliResult) drawn = RUN ("sweep", SS_TEACHING, FEW, "--plot", "a.png");
  g_auto (SsCliResult) again = RUN ("sweep", SS_TEACHING, FEW, "--plot", "a.png");
  g_auto (SsCliResult) wrong = RUN ("sweep", SS_TEACHING, FEW, "--plot", "a.gif");
  g_auto (SsCliResult) without = ss_cli_shell ("PATH= $S sweep $F " FEW " --plot b.svg");
  g_autofree char *png = ss_cli_read ("a.png"), *svg = ss_cli_read ("b.svg");

  cr_expect (eq (int, drawn.status, 0), "%s", drawn.err);
  cr_expect (ne (ptr, strstr (drawn.out, "\nWrote sweep.csv, a.png\n"), NULL), "%s", drawn.out);
  cr_expect (ne (ptr, png, NULL));
  cr_expect (eq (int, again.status, 3));
  cr_expect (eq (int, wrong.status, 2));
  cr_expect (eq (int, without.status, 3));
  cr_expect (ne (ptr, strstr (without.err, "gnuplot"), NULL));
  cr_expect (eq (ptr, svg, NULL));
}

/* killed once something is in the partial file; what is left is taken up, and the end is the
 * same */
Test (cli_sweep, an_interrupted_sweep_goes_on)
{
  g_auto (SsCliResult) killed = ss_cli_shell (
    "$S sweep $F training/sequence-length=1..300 --quiet & p=$!; i=0;"
    "while [ $i -lt 600 ] && [ \"$(wc -c < .sweep.csv.partial 2>/dev/null || echo 0)\" -lt 5000 ];"
    "do sleep 0.05; i=$((i + 1)); done; kill -9 $p; wait $p; test ! -e sweep.csv && echo nothing");
  g_auto (SsCliResult) resumed = ss_cli_shell (
    "$S sweep $F training/sequence-length=1..300 -q; mv sweep.csv resumed.csv; ls -A");
  g_auto (SsCliResult) fresh = ss_cli_shell ("$S sweep $F training/sequence-length=1..300 -q");
  g_autofree char *one = ss_cli_read ("resumed.csv"), *two = ss_cli_read ("sweep.csv");

  cr_expect (eq (str, killed.out, (char *) "nothing\n"), "%s", killed.err);
  cr_expect (eq (str, resumed.out, (char *) "resumed.csv\n"), "%s", resumed.out);
  cr_expect (eq (int, fresh.status, 0));
  cr_assert (one != NULL && two != NULL);
  cr_expect (eq (str, one, two));
}

/* torch.optim.Adagrad has no fused form: the setting is another optimizer's, and is left out,
 * though the file names it too. */
Test (cli_sweep, an_implementation_of_another_optimizer_is_left_out)
{
  g_auto (SsCliResult) result
    = RUN ("sweep", SS_SOURCE_DIR "/scenarios/teaching-4layer.xml", "--no-files", "--json",
           "--set=optimizer/implementation=fused", "optimizer/type=adamw,adagrad",
           "optimizer/implementation=fused");

  cr_expect (eq (int, result.status, 0));
  cr_expect (eq (ptr, strstr (result.out, "refused"), NULL));
  cr_expect (ne (ptr, strstr (result.out, "\"optimizer/type\":\"adagrad\","
                                          "\"optimizer/implementation\":null"), NULL), "%s",
             result.out);
}
