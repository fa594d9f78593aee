/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#define STEPSIM SS_BUILD_DIR "/cli/stepsim"
#define SCENARIO SS_SOURCE_DIR "/scenarios/teaching-4layer.xml"

static char *folder;

static void
make_folder (void)
{
  folder = g_dir_make_tmp ("stepsim-test-XXXXXX", NULL);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  g_remove (path);
}

static void
remove_folder (void)
{
  remove_tree (folder);
  g_clear_pointer (&folder, g_free);
}

TestSuite (cli, .init = make_folder, .fini = remove_folder);

typedef struct
{
  int status;                    /* 128 + signal if one ended it */
  char *out, *err;
} Result;

static void
result_clear (Result *self)
{
  g_free (self->out);
  g_free (self->err);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Result, result_clear)

/* Runs argv in the test's folder. */
static Result
spawn (const char *const *argv)
{
  g_autoptr (GError) error = NULL;
  Result result = { 0 };
  int wait_status = 0;

  g_spawn_sync (folder, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &result.out,
                &result.err, &wait_status, &error);
  cr_assert (eq (ptr, error, NULL), "%s", error != NULL ? error->message : "");
  result.status
      = WIFEXITED (wait_status) ? WEXITSTATUS (wait_status) : 128 + WTERMSIG (wait_status);
  return result;
}

#define RUN(...) spawn ((const char *const[]) { STEPSIM, __VA_ARGS__, NULL })
/* A shell line, in which $S is the program and $F the scenario. */
static Result
shell (const char *line)
{
  g_autofree char *script = g_strdup_printf ("S='%s' F='%s'; %s", STEPSIM, SCENARIO, line);

  return spawn ((const char *const[]) { "/bin/sh", "-c", script, NULL });
}

static char *
write_file (const char *name, const char *contents, gssize length)
{
  char *path = g_build_filename (folder, name, NULL);

  cr_assert (g_file_set_contents (path, contents, length, NULL));
  return path;
}

static char *
read_file (const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *contents = NULL;

  g_file_get_contents (path, &contents, NULL, NULL);
  return contents;
}

static GBytes *
read_bytes (const char *below, const char *name)
{
  g_autofree char *path = g_build_filename (folder, below, name, NULL);
  char *contents;
  gsize length;

  return g_file_get_contents (path, &contents, &length, NULL) ? g_bytes_new_take (contents, length)
                                                              : NULL;
}

static gboolean
every_line_is_ours (const char *err)
{
  g_auto (GStrv) lines = g_strsplit (err, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    if (**line != '\0' && !g_str_has_prefix (*line, "stepsim: "))
      return FALSE;
  return TRUE;
}

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (; *text != '\0'; text++)
    n += *text == '\n';
  return n;
}

/* ---- usage ---- */

Test (cli, without_arguments_it_says_how_to_use_it)
{
  g_auto (Result) result = spawn ((const char *const[]) { STEPSIM, NULL });

  cr_expect (eq (int, result.status, 2));
  cr_expect (eq (str, result.out, (char *) ""));
  cr_expect (ne (ptr, strstr (result.err, "usage: stepsim"), NULL));
}

Test (cli, help_fits_a_screen_and_names_every_command)
{
  static const char *const commands[]
      = { "show", "list", "validate", "bench", "dump-events", "dump-ops" };
  g_auto (Result) result = RUN ("--help");

  cr_expect (eq (int, result.status, 0));
  cr_expect (le (uint, count_lines (result.out), 24));
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    cr_expect (ne (ptr, strstr (result.out, commands[i]), NULL), "%s", commands[i]);
}

Test (cli, every_command_has_help)
{
  static const char *const commands[]
      = { "show", "list", "validate", "bench", "dump-events", "dump-ops" };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_auto (Result) result = RUN (commands[i], "--help");

      cr_expect (eq (int, result.status, 0), "%s", commands[i]);
      cr_expect (ne (ptr, strstr (result.out, "Usage:"), NULL), "%s", commands[i]);
    }
}

Test (cli, version_is_one_line)
{
  g_auto (Result) result = RUN ("--version");

  cr_expect (eq (int, result.status, 0));
  cr_expect (g_str_has_prefix (result.out, "stepsim "));
  cr_expect (eq (uint, count_lines (result.out), 1));
}

Test (cli, a_mistyped_command_is_told_what_is_near)
{
  g_auto (Result) result = RUN ("validat", SCENARIO);

  cr_expect (eq (int, result.status, 2));
  cr_expect (ne (ptr, strstr (result.err, "validate"), NULL), "%s", result.err);
}

Test (cli, unknown_options_and_wrong_counts_are_usage)
{
  static const char *const lines[] = {
    "$S $F --no-such-option", "$S $F $F",      "$S show",   "$S validate", "$S list nothing",
    "$S bench nothing",       "$S show $F $F", "$S --json", "$S $F --set", "$S $F --capacity",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_auto (Result) result = shell (lines[i]);

      cr_expect (eq (int, result.status, 2), "%s", lines[i]);
      cr_expect (eq (str, result.out, (char *) ""), "%s", lines[i]);
      cr_expect (every_line_is_ours (result.err), "%s: %s", lines[i], result.err);
    }
}

/* ---- answers ---- */

Test (cli, status_says_whether_it_fits)
{
  g_auto (Result) fits = RUN (SCENARIO, "--json", "--no-files", "--capacity=unlimited");
  g_auto (Result) dies = RUN (SCENARIO, "--json", "--no-files", "--capacity=1 GiB", "--set",
                              "hardware/context=1 MiB");

  cr_expect (eq (int, fits.status, 0), "%s", fits.err);
  cr_expect (ne (ptr, strstr (fits.out, "\"verdict\":\"fits\""), NULL));
  cr_expect (eq (str, fits.err, (char *) ""));
  cr_expect (eq (int, dies.status, 1), "%s", dies.err);
  cr_expect (ne (ptr, strstr (dies.out, "\"verdict\":\"oom\""), NULL));
  cr_expect (ne (ptr, strstr (dies.out, "CUDA out of memory. Tried to allocate"), NULL));
}

Test (cli, no_files_writes_none_and_json_alone_writes_them)
{
  g_auto (Result) without = RUN (SCENARIO, "--json", "--no-files");
  g_autofree char *out = g_build_filename (folder, "stepsim-out", NULL);

  cr_expect (not (g_file_test (out, G_FILE_TEST_EXISTS)));
  {
    g_auto (Result) with = RUN (SCENARIO, "--json");
    g_autofree char *json = read_file ("stepsim-out/run.json");
    g_autofree char *csv = read_file ("stepsim-out/timeline.csv");

    cr_expect (eq (str, with.out, without.out));
    cr_assert (ne (ptr, json, NULL));
    cr_expect (eq (str, json, with.out));
    cr_expect (ne (ptr, csv, NULL));
  }
}

/* every file a run writes */
Test (cli, the_same_input_gives_the_same_bytes)
{
  g_auto (Result) one = RUN (SCENARIO, "--json", "-o", "one");
  g_auto (Result) two = RUN (SCENARIO, "--json", "-o", "two");
  g_autofree char *path = g_build_filename (folder, "one", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  cr_assert (ne (ptr, dir, NULL));
  cr_expect (eq (str, one.out, two.out));
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autoptr (GBytes) a = read_bytes ("one", name), b = read_bytes ("two", name);

      cr_assert (a != NULL && b != NULL, "%s", name);
      cr_expect (g_bytes_equal (a, b), "%s", name);
    }
}

Test (cli, set_changes_the_scenario_and_names_what_it_does_not_know)
{
  g_auto (Result) three = RUN (SCENARIO, "--json", "--no-files", "--set", "training/steps=3",
                               "--capacity=unlimited");
  g_auto (Result) bad = RUN (SCENARIO, "--json", "--no-files", "--set", "training/stpes=3");
  g_auto (Result) text = shell ("$S $F --no-files --json --set name=$(printf '\\377')");

  cr_expect (ne (ptr, strstr (three.out, "\"step\":3"), NULL), "%s", three.err);
  cr_expect (eq (int, bad.status, 2));
  cr_expect (ne (ptr, strstr (bad.err, "stpes"), NULL), "%s", bad.err);
  cr_expect (eq (int, text.status, 2));
}

Test (cli, show_prints_a_scenario_that_runs_the_same)
{
  g_auto (Result) shown = RUN ("show", SCENARIO, "-o", "shown.xml");
  g_auto (Result) again = RUN ("show", SCENARIO, "-o", "shown.xml");
  g_auto (Result) forced = RUN ("show", SCENARIO, "-o", "shown.xml", "-f");
  g_auto (Result) a = RUN (SCENARIO, "--json", "--no-files"),
                  b = RUN ("shown.xml", "--json", "--no-files");

  cr_expect (eq (int, shown.status, 0), "%s", shown.err);
  cr_expect (eq (int, again.status, 3));
  cr_expect (eq (int, forced.status, 0));
  cr_expect (eq (str, a.out, b.out), "%s", b.err);
}

Test (cli, lists_have_the_names_that_scenarios_use)
{
  static const struct { const char *kind, *name; } rows[] = {
    { "models", "llama3-8b" }, { "devices", "h100-sxm-80gb" }, { "policies", "full" },
    { "optimizers", "adamw" }, { "profiles", "hf-sdpa" },      { "recipes", "bf16-amp" },
    { "allocators", "exact" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (Result) result = RUN ("list", rows[i].kind);
      g_autofree char *text = g_strconcat ("\n", result.out, NULL),
                      *line = g_strconcat ("\n", rows[i].name, " ", NULL);

      cr_expect (eq (int, result.status, 0), "%s", result.err);
      cr_expect (ne (ptr, strstr (text, line), NULL), "%s", rows[i].kind);
    }
}

Test (cli, dumps_have_the_columns_of_the_recordings)
{
  g_auto (Result) events = RUN ("dump-events", SCENARIO), ops = RUN ("dump-ops", SCENARIO);
  g_auto (Result) program = RUN (SCENARIO, "--dump-program");

  cr_expect (g_str_has_prefix (events.out, "action,id,bytes,step,micro_batch,phase\n"));
  cr_expect (ne (ptr, strstr (events.out, "\nalloc,0,"), NULL));
  cr_expect (g_str_has_prefix (ops.out, "step,micro_batch,phase,op,inputs,outputs,"
                                        "allocated_before,peak_in_op,allocated_after\n"));
  cr_expect (ne (ptr, strstr (ops.out, "\n1,1,forward,aten::embedding,"), NULL));
  cr_expect (eq (int, program.status, 0));
  cr_expect (ne (ptr, strstr (program.out, "\nrun,aten::"), NULL));
}

/* ---- bad input ---- */

static void
expect_refused (const char *path, const char *what)
{
  g_auto (Result) run = RUN (path, "--json", "--no-files"), validate = RUN ("validate", path);

  cr_expect (eq (int, run.status, 2), "%s", what);
  cr_expect (eq (str, run.out, (char *) ""), "%s", what);
  cr_expect (ne (str, run.err, (char *) ""), "%s", what);
  cr_expect (every_line_is_ours (run.err), "%s: %s", what, run.err);
  cr_expect (eq (int, validate.status, 2), "%s", what);
}

Test (cli, wrong_files_are_refused_with_their_name)
{
  static const struct { const char *what, *contents; } rows[] = {
    { "empty", "" },
    { "only spaces", "   \n  " },
    { "no xml", "steps: 2\n" },
    { "cut short", "<scenario name='x'><model href='m.xml'/>" },
    { "wrong root", "<device name='x'/>" },
    { "no model", "<scenario name='x'><hardware device='h100-sxm-80gb'/></scenario>" },
    { "no hardware", "<scenario name='x'><model href='m.xml'/></scenario>" },
    { "unknown element", "<scenario name='x'><modle href='m.xml'/></scenario>" },
    { "cyclic href",
      "<scenario name='x'><model href='bad.xml'/><hardware device='h100-sxm-80gb'/></scenario>" },
    { "absent href", "<scenario name='x'><model href='nowhere.xml'/><hardware "
                     "device='h100-sxm-80gb'/></scenario>" },
    { "entity bomb",
      "<!DOCTYPE s [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]>"
      "<scenario name='&c;'/>" },
    { "external entity",
      "<!DOCTYPE s [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><scenario name='x'>&a;</scenario>" },
    { "not utf-8", "<scenario name='\xff\xfe'/>" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = write_file ("bad.xml", rows[i].contents, -1);

      expect_refused (path, rows[i].what);
    }
}

Test (cli, wrong_values_are_refused)
{
  static const char *const settings[] = {
    "training/micro-batch=-1",
    "training/micro-batch=0",
    "training/micro-batch=two",
    "training/micro-batch=99999999999999999999",
    "training/micro-batch=4611686018427387904",
    "training/sequence-length=1.5",
    "training/steps=0",
    "training/steps=-2",
    "training/gradient-accumulation=1e9",
    "hardware/capacity=80",
    "hardware/capacity=-80 GiB",
    "hardware/capacity=80 GiBB",
    "hardware/capacity=9999999 TiB",
    "hardware/device=h100-96gb",
    "precision/recipe=fp4",
    "optimizer/type=adamx",
    "optimizer/implementation=quick",
    "checkpointing/policy=sometimes",
    "kernels/profile=mine",
    "kernels/attention=none",
    "allocator/type=best",
    "training/zero-grad=maybe",
    "model/layers=-3",
    "model/layers=0",
    "nonsense",
    "a/b/c=d",
    "=",
    "",
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_auto (Result) result = RUN (SCENARIO, "--json", "--no-files", "--set", settings[i]);

      cr_expect (eq (int, result.status, 2), "%s", settings[i]);
      cr_expect (eq (str, result.out, (char *) ""), "%s", settings[i]);
      cr_expect (every_line_is_ours (result.err) && result.err[0] != '\0', "%s: %s", settings[i],
                 result.err);
    }
}

/* UTF-16 is XML too: read or refused, never more than that */
Test (cli, utf_16_does_no_harm)
{
  g_autofree char *xml = NULL, *wide = NULL, *path = NULL;
  gsize length = 0;

  cr_assert (g_file_get_contents (SCENARIO, &xml, NULL, NULL));
  wide = g_convert (xml, -1, "UTF-16", "UTF-8", NULL, &length, NULL);
  cr_assert (ne (ptr, wide, NULL));
  path = write_file ("wide.xml", wide, (gssize) length);
  {
    g_auto (Result) result = RUN (path, "--json", "--no-files");

    cr_expect (le (int, result.status, 2));
    cr_expect (every_line_is_ours (result.err), "%s", result.err);
  }
}

Test (cli, a_hundred_megabytes_of_spaces_are_refused_unread)
{
  const gsize n = 100 * 1000 * 1000;
  g_autofree char *spaces = g_malloc (n), *path = NULL;

  memset (spaces, ' ', n);
  path = write_file ("spaces.xml", spaces, (gssize) n);
  expect_refused (path, "spaces");
}

Test (cli, what_cannot_be_read_is_bad_input)
{
  g_auto (Result) absent = RUN ("./nowhere.xml"), dir = RUN ("/"), device = RUN ("/dev/null");

  cr_expect (eq (int, absent.status, 2));
  cr_expect (ne (ptr, strstr (absent.err, "nowhere.xml"), NULL));
  cr_expect (eq (int, dir.status, 2));
  cr_expect (eq (int, device.status, 2));
}

/* ---- output that fails ---- */

Test (cli, a_full_device_is_said)
{
  g_auto (Result) run = shell ("$S $F --json --no-files > /dev/full");
  g_auto (Result) show = shell ("$S show $F > /dev/full");
  g_auto (Result) help = shell ("$S --help > /dev/full");
  g_auto (Result) file = shell ("$S show $F -o /dev/full");

  cr_expect (eq (int, run.status, 3));
  cr_expect (ne (ptr, strstr (run.err, "standard output"), NULL));
  cr_expect (eq (int, show.status, 3));
  cr_expect (eq (int, help.status, 3));
  cr_expect (eq (int, file.status, 3));
}

/* the pictures are missing, all else is there, and why is said once */
Test (cli, without_gnuplot_the_rest_is_written)
{
  g_auto (Result) result = shell ("PATH= $S $F --capacity=unlimited");
  g_autofree char *json = read_file ("stepsim-out/run.json");

  cr_expect (eq (int, result.status, 3));
  cr_expect (eq (uint, count_lines (result.err), 1), "%s", result.err);
  cr_expect (ne (ptr, strstr (result.err, "gnuplot"), NULL));
  cr_expect (ne (ptr, strstr (result.out, "\nWrote stepsim-out/"), NULL));
  cr_expect (ne (ptr, json, NULL));
}

Test (cli, quiet_leaves_the_answer_to_the_status)
{
  g_auto (Result) result = RUN (SCENARIO, "--quiet", "--no-files", "--capacity=unlimited");

  cr_expect (eq (int, result.status, 0));
  cr_expect (eq (str, result.out, (char *) ""));
  cr_expect (eq (str, result.err, (char *) ""));
}

Test (cli, units_and_colour_are_as_asked)
{
  g_auto (Result) plain = RUN (SCENARIO, "--no-files");
  g_auto (Result) gb = RUN (SCENARIO, "--no-files", "--units=GB");
  g_auto (Result) colour = RUN (SCENARIO, "--no-files", "--color=always");
  g_auto (Result) wrong = RUN (SCENARIO, "--no-files", "--units=MB");
  g_auto (Result) no = RUN (SCENARIO, "--no-files", "--color=red");

  cr_expect (eq (ptr, strchr (plain.out, '\x1b'), NULL));
  cr_expect (ne (ptr, strchr (colour.out, '\x1b'), NULL));
  cr_expect (ne (ptr, strstr (plain.out, "GiB"), NULL));
  cr_expect (ne (ptr, strstr (gb.out, "GB"), NULL));
  cr_expect (eq (int, wrong.status, 2));
  cr_expect (eq (int, no.status, 2));
}

Test (cli, a_closed_stdout_is_said_and_nothing_else_is_overwritten)
{
  g_auto (Result) result = shell ("$S $F --json >&-");
  g_autofree char *json = read_file ("stepsim-out/run.json");

  cr_expect (eq (int, result.status, 3));
  cr_assert (ne (ptr, json, NULL));
  cr_expect (g_str_has_suffix (json, "}\n"));
}

/* more than a pipe holds, so that the reader is gone before the end */
Test (cli, a_reader_that_goes_away_is_no_noise)
{
  g_auto (Result) result
      = shell ("{ $S dump-events $F --set training/steps=9; echo status $? >&2; } | head -c 10");

  cr_expect (eq (str, result.err, (char *) "status 3\n"));
}

Test (cli, a_folder_that_cannot_be_made_is_said)
{
  g_autofree char *file = write_file ("file", "x", -1);
  g_auto (Result) result = RUN (SCENARIO, "--json", "-o", "file/below"),
                  on_it = RUN (SCENARIO, "--json", "-o", "file");

  cr_expect (eq (int, result.status, 3));
  cr_expect (every_line_is_ours (result.err));
  cr_expect (eq (int, on_it.status, 3));
}
