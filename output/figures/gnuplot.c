/* SPDX-License-Identifier: MIT */
#include "output/figures/gnuplot.h"

#include <string.h>

#include "output/helper-program.h"

/* Doubling a quote is not enough: gnuplot 5.4 takes a doubled quote in only after another
 * character, so that one at the start, or two of them, end the string (tried; scanner.c looks ahead
 * from the character before). */
char *
ss_gnuplot_quote (const char *text)
{
  g_autofree char *clean = ss_clean_text (text);
  GString *quoted = g_string_new (clean);

  g_string_replace (quoted, "'", "\xe2\x80\x99", 0);
  g_string_prepend_c (quoted, '\'');
  g_string_append_c (quoted, '\'');
  return g_string_free (quoted, FALSE);
}

/* --default-settings leaves out the start-up files of the user and the machine. */
GBytes *
ss_gnuplot_run (const char *script, GError **error)
{
  static const char *const argv[] = { "gnuplot", "--default-settings", NULL };
  g_autoptr (GBytes) input = NULL, picture = NULL;
  g_autofree char *words = NULL;

  g_return_val_if_fail (script != NULL, NULL);
  input = g_bytes_new (script, strlen (script));
  picture = ss_helper_program_run (
      argv, input,
      "gnuplot is not installed: pictures need the package gnuplot (gnuplot-nox is enough)", &words,
      error);
  if (picture == NULL)
    return NULL;
  if (g_bytes_get_size (picture) > 0)
    return g_steal_pointer (&picture);
  g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "gnuplot drew nothing: %s", words);
  return NULL;
}
