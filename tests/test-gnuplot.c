/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>
#include <string.h>

#include "output/figures/gnuplot.h"
#include "output/figures/memory-figure.h"
#include "recording-fixture.h"

static gboolean
has_gnuplot (void)
{
  g_autofree char *path = g_find_program_in_path ("gnuplot");

  return path != NULL;
}

static char *
quoted (const char *text)
{
  return ss_gnuplot_quote (text);
}

Test (gnuplot, texts_are_quoted_literally)
{
  static const struct
  {
    const char *text, *wanted;
  } rows[] = {
    { "plain", "'plain'" },
    { "it's", "'it\xe2\x80\x99s'" },
    { "''", "'\xe2\x80\x99\xe2\x80\x99'" },
    { "`touch X`", "'`touch X`'" },
    { "a\nset output 'b'\r\t", "'aset output \xe2\x80\x99" "b\xe2\x80\x99'" },
    { "@HOME $(x) \\n \"q\"", "'@HOME $(x) \\n \"q\"'" },
    { "\xff\x01", "'\xef\xbf\xbd'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = quoted (rows[i].text);

      cr_expect (eq (str, text, (char *) rows[i].wanted));
    }
}

Test (gnuplot, an_error_in_the_script_is_reported)
{
  g_autoptr (GError) error = NULL;

  if (!has_gnuplot ())
    cr_skip_test ("no gnuplot");
  cr_assert (eq (ptr, ss_gnuplot_run ("plot nosuch(\n", &error), NULL));
  cr_expect (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM));
  cr_expect (ne (ptr, strstr (error->message, "gnuplot failed: line 0: invalid expression"), NULL),
             "%s", error->message);
  g_clear_error (&error);
  cr_assert (eq (ptr, ss_gnuplot_run ("x = 1\n", &error), NULL));
  cr_expect (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM));
  cr_expect (g_str_has_prefix (error->message, "gnuplot drew nothing"), "%s", error->message);
}

Test (gnuplot, a_missing_program_is_named_with_its_package)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_strdup (g_getenv ("PATH"));
  GBytes *picture;

  g_setenv ("PATH", "/nowhere", TRUE);
  picture = ss_gnuplot_run ("plot x\n", &error);
  /* other tests may follow in this process */
  g_setenv ("PATH", path, TRUE);
  cr_assert (eq (ptr, picture, NULL));
  cr_expect (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM));
  cr_expect (ne (ptr, strstr (error->message, "package gnuplot"), NULL), "%s", error->message);
}

/* Each name tries to leave a file X in the folder where gnuplot runs. */
Test (gnuplot, names_of_a_scenario_never_run)
{
  static const char *const names[] = {
    "`touch X`",
    "'`touch X`'",
    "\"`touch X`\"",
    "' . system('touch X') . '",
    "a'\nsystem 'touch X'\n'b",
    "$(touch X)",
    "@x; !touch X",
    "x\n!touch X\n",
    "\\'`touch X`",
    "{/:Bold `touch X`}",
    "EOD\n!touch X\n$d1 << EOD",
  };
  SsOutputSettings settings = { SS_MEMORY_GIB };
  g_autofree char *folder = g_dir_make_tmp ("stepsim-XXXXXX", NULL);

  if (!has_gnuplot ())
    cr_skip_test ("no gnuplot");
  cr_assert (eq (int, g_chdir (folder), 0));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
      g_autoptr (GBytes) picture = NULL;
      g_autoptr (GError) error = NULL;
      char **const fields[] = { &recording->scenario_name, &recording->model_name,
                                &recording->device_name,   &recording->summary,
                                &recording->policy,        &recording->oom.tensor };

      for (guint f = 0; f < G_N_ELEMENTS (fields); f++)
        {
          g_free (*fields[f]);
          *fields[f] = g_strdup (names[i]);
        }
      picture = ss_output_memory_svg.render (recording, &settings, &error);
      cr_expect (ne (ptr, picture, NULL), "%s: %s", names[i], error != NULL ? error->message : "");
      cr_assert (not (g_file_test ("X", G_FILE_TEST_EXISTS)), "%s", names[i]);
    }
  cr_expect (eq (int, g_chdir ("/"), 0));
  cr_expect (eq (int, g_rmdir (folder), 0));
}
