/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>

#include "memory/allocator-exact.h"
#include "memory/allocator-replay.h"

/* What a replay prints of a file that is right: its column names, its rows and its "# oom:"
 * lines. */
static GString *
expected_of (const char *path)
{
  GString *expected = g_string_new (NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  cr_assert (g_file_get_contents (path, &text, NULL, NULL), "%s", path);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (*lines[i] && (*lines[i] != '#' || g_str_has_prefix (lines[i], "# oom:")))
      g_string_append_printf (expected, "%s\n", lines[i]);
  return expected;
}

/* The first line that differs. */
static char *
difference (const char *expected, const char *actual)
{
  g_auto (GStrv) a = g_strsplit (expected, "\n", -1), b = g_strsplit (actual, "\n", -1);
  guint i = 0;

  while (a[i] && b[i] && g_str_equal (a[i], b[i]))
    i++;
  return g_strdup_printf ("row %u: expected '%s', got '%s'", i, a[i] ? a[i] : "the end",
                          b[i] ? b[i] : "the end");
}

/* Replays every event file of a folder; returns how many there were. */
static guint
replay_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n_files = 0;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL), *where = NULL;
      g_autoptr (GString) expected = NULL, actual = g_string_new (NULL);
      g_autoptr (GError) error = NULL;
      gboolean ok;

      if (!g_str_has_suffix (name, ".csv"))
        continue;
      n_files++;
      expected = expected_of (path);
      ok = ss_allocator_replay (path, NULL, actual, &error);
      cr_assert (ok, "%s", error ? error->message : "");
      where = difference (expected->str, actual->str);
      cr_assert (g_string_equal (expected, actual), "%s, %s", name, where);
    }
  return n_files;
}

/* made by hand, the sums in their comments: one file for each rule and each surprise */
Test (allocator_replay, rules_come_out_as_summed_by_hand)
{
  cr_assert (ge (uint, replay_folder (SS_SOURCE_DIR "/tests/allocator"), 22));
}

/* recorded from the real allocator over a driver of fixed capacity */
Test (allocator_replay, recorded_files_come_out_byte_for_byte)
{
  guint n_files = replay_folder (SS_SOURCE_DIR "/../shared/data/allocator");

  if (n_files == 0)
    cr_skip_test ("no recorded event files beside the source");
  cr_assert (ge (uint, n_files, 23));
}

/* ---- input that is wrong ---- */

static char *
replay_text (const char *text, gssize length, const char *conf, GString *out, GError **error)
{
  g_autofree char *path = NULL;
  gint file = g_file_open_tmp ("stepsim-XXXXXX.csv", &path, NULL);

  cr_assert (ge (int, file, 0));
  g_close (file, NULL);
  cr_assert (g_file_set_contents (path, text, length, NULL));
  ss_allocator_replay (path, conf, out, error);
  g_unlink (path);
  return g_steal_pointer (&path);
}

Test (allocator_replay, a_wrong_line_is_named_with_file_and_line)
{
  enum
  {
    EVENT = SS_ALLOCATOR_ERROR_EVENT,
    CONF = SS_ALLOCATOR_ERROR_CONF
  };
  static const struct
  {
    const char *text;
    gint code;
    const char *reason;
  } rows[] = {
    { "alloc,1,512,0\nalloc,1,512,0\n", EVENT, ":2: an id is used once, met '1'" },
    { "free,7,,\n", EVENT, ":1: an id that is freed must be in use, met '7'" },
    { "alloc,1,1,0\nfree,1,,\nfree,1,,\n", EVENT, ":3: an id that is freed" },
    { "# capacity_total=100\nalloc,1,512,0\nfree,1,,\n", EVENT, ":3: an id that is freed" },
    { "record_stream,7,,1\n", EVENT, ":1: an id that a stream uses must be in use" },
    { "malloc,1,512,0\n", EVENT, ":1: an event is one of alloc, free, " },
    { "\033[2J,1,512,0\n", EVENT, "met '\\033[2J'" },
    { "# fine\n\nalloc,x,512,0\n", EVENT, ":3: id of alloc is a whole number in range, met 'x'" },
    { "alloc,1,-5,0\n", EVENT, "bytes of alloc is a whole number in range, met '-5'" },
    { "alloc,1,9223372036854775808,0\n", EVENT, "bytes of alloc is a whole number in range" },
    { "alloc,1,512,4294967296\n", EVENT, "stream of alloc is a whole number in range" },
    { "alloc,1\n", EVENT, "bytes of alloc is a whole number in range, met ''" },
    { "sync,1,,\n", EVENT, "id of sync stays empty, met '1'" },
    { "# capacity_total=80 GiB\n", EVENT,
      ":1: capacity_total is a number of bytes, met '80 GiB'" },
    { "# external_used=\n", EVENT, ":1: external_used is a number of bytes, met ''" },
    { "# memory_fraction=2\n", EVENT, ":1: memory_fraction is 'unset' or a number" },
    { "# memory_fraction=nan\n", EVENT, ":1: memory_fraction is 'unset' or a number" },
    { "# conf=no:1\nsync,,,\n", CONF, ":2: unrecognized allocator option 'no'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      g_autoptr (GError) error = NULL;
      g_autofree char *path = replay_text (rows[i].text, -1, NULL, out, &error);

      cr_assert (g_error_matches (error, SS_ALLOCATOR_ERROR, rows[i].code), "row %u", i);
      cr_assert (g_str_has_prefix (error->message, path), "%s", error->message);
      cr_assert (strstr (error->message, rows[i].reason) != NULL, "%s", error->message);
    }
}

Test (allocator_replay, zero_bytes_and_a_missing_file_are_refused)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) zero = NULL;
  g_autoptr (GError) missing = NULL;
  g_autofree char *path = replay_text ("sync,,,\nsy\0c,,,\n", 16, NULL, out, &zero);

  cr_assert (g_error_matches (zero, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_EVENT));
  cr_assert (strstr (zero->message, ":2: a line has no zero bytes") != NULL);
  cr_assert (not (ss_allocator_replay (path, NULL, out, &missing)));
  cr_assert (g_error_matches (missing, G_FILE_ERROR, G_FILE_ERROR_NOENT));
}

/* an empty request has no place; a monstrous one moves no counter; options given beside the file
 * win */
Test (allocator_replay, rows_are_printed_with_the_state_after_them)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;

  path = replay_text ("# capacity_total=1073741824\r\n"
                      "# conf=max_split_size_mb:1\r\n"
                      "alloc,1,0,0\r\nalloc,2,1152921504606846976,0\r\n"
                      "alloc,3,1,4,ignored\r\n",
                      -1, "", out, &error);
  cr_assert (ne (ptr, path, NULL));
  cr_assert (eq (ptr, error, NULL));
  cr_assert (eq (str, out->str,
                 "op,id,bytes,stream,result,segment,offset,block_bytes,allocated_bytes,"
                 "reserved_bytes,active_bytes,inactive_split_bytes,num_alloc_retries\n"
                 "alloc,1,0,0,ok,,,0,0,0,0,0,0\n"
                 "alloc,2,1152921504606846976,0,oom,,,0,0,0,0,0,0\n"
                 "# oom: tried=1073741824.00 GiB total=1024.00 MiB free=1024.00 MiB "
                 "allocated=0 bytes reserved_unallocated=0 bytes\n"
                 "alloc,3,1,4,ok,0,0,512,512,2097152,512,2096640,0\n"));
}

Test (allocator_replay, any_allocator_can_be_asked)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  gint file = g_file_open_tmp ("stepsim-XXXXXX.csv", &path, NULL);

  g_close (file, NULL);
  cr_assert (g_file_set_contents (path, "alloc,1,3,0\nfree,1,,\n", -1, NULL));
  cr_assert (ss_allocator_replay_on (&ss_allocator_exact, path, NULL, out, &error));
  g_unlink (path);
  cr_assert (g_str_has_suffix (out->str,
                               "alloc,1,3,0,ok,0,0,3,3,3,3,0,0\nfree,1,,,ok,,,,0,0,0,0,0\n"));
}
