/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>
#include <unistd.h>

#include "cli-fixture.h"
#include "cli/sweep-partial.h"

#define N_ROWS 4

TestSuite (sweep_partial, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

static SsSweepRow *
row_of (guint index)
{
  g_autofree char *value = g_strdup_printf ("%u", index);
  SsSweepRow *row = ss_sweep_row_new_refused ((const char *const[]) { value, "b", NULL }, "no");

  if (index == 0)
    return row;
  g_clear_pointer (&row->problem, g_free);
  row->verdict = index == 1 ? SS_ROW_FITS : SS_ROW_OUT_OF_MEMORY;
  row->capacity_bytes = G_GUINT64_CONSTANT (84929347584);
  row->peak_allocated_bytes = 1000 + index;
  row->floor_bytes = 990 + index;
  row->by_category[SS_CATEGORY_ACTIVATIONS] = index;
  row->peak_step = 2;
  g_strlcpy (row->peak_phase, "backward", sizeof row->peak_phase);
  row->step_ns = 123456789;
  row->tokens_per_s = 0.1;
  row->json = g_strdup ("{\"a\":\"\xc3\xa9\"}");
  return row;
}

static char *
output_path (void)
{
  return g_build_filename (ss_cli_folder (), "out.csv", NULL);
}

static void
clear_rows (SsSweepRow **rows)
{
  for (guint i = 0; i < N_ROWS; i++)
    g_clear_pointer (&rows[i], ss_sweep_row_free);
}

static guint
count_rows (SsSweepRow **rows)
{
  guint n = 0;

  for (guint i = 0; i < N_ROWS; i++)
    n += rows[i] != NULL ? 1 : 0;
  return n;
}

static void
write_rows (guint n)
{
  SsSweepRow *rows[N_ROWS] = { NULL };
  g_autofree char *output = output_path ();
  SsSweepPartial *partial = ss_sweep_partial_open (output, "question", rows, N_ROWS, 2, NULL);

  cr_assert (ne (ptr, partial, NULL));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (SsSweepRow) row = row_of (i);

      ss_sweep_partial_add (partial, i, row);
    }
  ss_sweep_partial_close (partial, FALSE);
}

/* How many rows a file of these bytes leaves; they are what was written. */
static guint
rows_left (const char *question, const char *bytes, gssize n)
{
  SsSweepRow *rows[N_ROWS] = { NULL };
  g_autofree char *output = output_path ();
  g_autofree char *path = ss_cli_write (".out.csv.partial", bytes, n);
  g_autoptr (GError) error = NULL;
  SsSweepPartial *partial = ss_sweep_partial_open (output, question, rows, N_ROWS, 2, &error);
  guint left = count_rows (rows);

  cr_assert (ne (ptr, partial, NULL), "%s", error != NULL ? error->message : "");
  for (guint i = 0; i < N_ROWS; i++)
    {
      g_autoptr (SsSweepRow) row = row_of (i);
      g_autoptr (GBytes) wanted = ss_sweep_row_to_bytes (row), met = NULL;

      if (rows[i] == NULL)
        continue;
      met = ss_sweep_row_to_bytes (rows[i]);
      cr_expect (g_bytes_equal (wanted, met));
    }
  clear_rows (rows);
  ss_sweep_partial_close (partial, FALSE);
  return left;
}

static char *
read_partial (gsize *n)
{
  g_autofree char *output = output_path (), *path = ss_sweep_partial_path (output);
  char *bytes = NULL;

  cr_assert (g_file_get_contents (path, &bytes, n, NULL));
  return bytes;
}

/* cut off anywhere, what is whole is taken up and never more */
Test (sweep_partial, a_truncated_file_leaves_its_whole_rows)
{
  g_autofree char *bytes = NULL;
  gsize n;
  guint most = 0;

  write_rows (N_ROWS);
  bytes = read_partial (&n);
  for (gsize length = 0; length <= n; length++)
    {
      guint left = rows_left ("question", bytes, (gssize) length);

      cr_assert (ge (uint, left, most));
      most = left;
      cr_assert (length < n || left == N_ROWS);
      cr_assert (length == n || left < N_ROWS);
    }
}

/* a bit that has turned ends what is taken up */
Test (sweep_partial, a_changed_byte_is_noticed)
{
  g_autofree char *bytes = NULL;
  gsize n, header;

  write_rows (N_ROWS);
  bytes = read_partial (&n);
  header = strcspn (bytes, "\n") + 1;
  for (gsize i = header; i < n; i++)
    {
      bytes[i] ^= 1;
      cr_assert (lt (uint, rows_left ("question", bytes, (gssize) n), N_ROWS), "%" G_GSIZE_FORMAT,
                 i);
      bytes[i] ^= 1;
    }
  cr_expect (eq (uint, rows_left ("question", bytes, (gssize) n), N_ROWS));
}

Test (sweep_partial, another_question_begins_anew)
{
  g_autofree char *bytes = NULL;
  gsize n;

  write_rows (N_ROWS);
  bytes = read_partial (&n);
  cr_expect (eq (uint, rows_left ("another", bytes, (gssize) n), 0));
}

/* checksums that are right over what is no row */
Test (sweep_partial, rows_of_somebody_else_are_no_rows)
{
  static const char *const bodies[] = {
    "00000000", "00000000garbage", "ffffffff", "00000004\1\2\3\4\5\6\7\10\11\12", "0000000g",
  };
  g_autofree char *bytes = NULL;
  gsize n;

  write_rows (0);
  bytes = read_partial (&n);
  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    {
      g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, bodies[i], -1);
      g_autofree char *text = g_strdup_printf ("%s%08x%s\n%s", bytes, (guint) strlen (bodies[i]),
                                               sum, bodies[i]);

      cr_expect (eq (uint, rows_left ("question", text, -1), 0), "%u", i);
    }
}

/* index and number of values are the reader's to hold */
Test (sweep_partial, a_row_that_does_not_belong_there_is_left_out)
{
  SsSweepRow *rows[N_ROWS] = { NULL };
  g_autofree char *output = output_path ();
  g_autoptr (SsSweepRow) row = row_of (1);
  SsSweepPartial *partial = ss_sweep_partial_open (output, "q", rows, N_ROWS, 2, NULL);

  ss_sweep_partial_add (partial, N_ROWS, row);
  ss_sweep_partial_close (partial, FALSE);
  partial = ss_sweep_partial_open (output, "q", rows, N_ROWS, 2, NULL);
  cr_expect (eq (uint, count_rows (rows), 0));
  ss_sweep_partial_add (partial, 1, row);
  ss_sweep_partial_close (partial, FALSE);
  partial = ss_sweep_partial_open (output, "q", rows, N_ROWS, 3, NULL);
  cr_expect (eq (uint, count_rows (rows), 0));
  ss_sweep_partial_close (partial, TRUE);
}

Test (sweep_partial, somebody_elses_file_is_left_alone)
{
  SsSweepRow *rows[N_ROWS] = { NULL };
  g_autofree char *output = output_path ();
  g_autofree char *path = ss_cli_write (".out.csv.partial", "my diary\n", -1);
  g_autoptr (GError) error = NULL;
  g_autofree char *after = NULL;

  cr_expect (eq (ptr, ss_sweep_partial_open (output, "q", rows, N_ROWS, 2, &error), NULL));
  cr_expect (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_WRITE));
  after = ss_cli_read (".out.csv.partial");
  cr_expect (eq (str, after, (char *) "my diary\n"));
}

Test (sweep_partial, a_link_is_not_followed)
{
  SsSweepRow *rows[N_ROWS] = { NULL };
  g_autofree char *output = output_path (), *path = ss_sweep_partial_path (output);
  g_autoptr (GError) error = NULL;

  cr_assert (eq (int, symlink ("/dev/null", path), 0));
  cr_expect (eq (ptr, ss_sweep_partial_open (output, "q", rows, N_ROWS, 2, &error), NULL));
  cr_expect (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_WRITE));
}

Test (sweep_partial, two_sweeps_do_not_share_one)
{
  SsSweepRow *rows[N_ROWS] = { NULL };
  g_autofree char *output = output_path ();
  g_autoptr (GError) error = NULL;
  SsSweepPartial *one = ss_sweep_partial_open (output, "q", rows, N_ROWS, 2, NULL);

  cr_expect (eq (ptr, ss_sweep_partial_open (output, "q", rows, N_ROWS, 2, &error), NULL));
  cr_expect (ne (ptr, strstr (error->message, "another sweep"), NULL));
  ss_sweep_partial_close (one, TRUE);
}
