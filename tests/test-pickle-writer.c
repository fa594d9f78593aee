/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "output/formats/pickle-writer.h"

static void
expect_bytes (SsPickleWriter *writer, const void *wanted, gsize size)
{
  g_autoptr (GBytes) bytes = ss_pickle_writer_finish (writer);
  g_autoptr (GBytes) expected = g_bytes_new (wanted, size);

  cr_expect (g_bytes_equal (bytes, expected));
}

/* Each integer in the smallest form; from 2^31 up in two's complement with room for the sign
 * (pickletools: BININT1, BININT2, BININT, LONG1). */
Test (pickle_writer, integers_take_the_smallest_form)
{
  static const struct
  {
    gint64 value;
    const char *bytes;
    gsize size;
  } rows[] = {
    { 255, "\x80\x04K\xff.", 5 },
    { 256, "\x80\x04M\x00\x01.", 6 },
    { -1, "\x80\x04J\xff\xff\xff\xff.", 8 },
    { 2147483648, "\x80\x04\x8a\x05\x00\x00\x00\x80\x00.", 10 },
    { G_GINT64_CONSTANT (0x20000000000), "\x80\x04\x8a\x06\x00\x00\x00\x00\x00\x02.", 11 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (SsPickleWriter) writer = ss_pickle_writer_new ();

      ss_pickle_writer_int (writer, rows[i].value);
      expect_bytes (writer, rows[i].bytes, rows[i].size);
    }
}

Test (pickle_writer, a_text_is_written_once)
{
  static const char wanted[] = "\x80\x04}(\x8c\x01" "a\x94h\x00.";
  g_autoptr (SsPickleWriter) writer = ss_pickle_writer_new ();

  ss_pickle_writer_begin_dict (writer);
  ss_pickle_writer_key (writer, "a");
  ss_pickle_writer_text (writer, "a");
  expect_bytes (writer, wanted, sizeof wanted - 1);
}

/* 2001 items are three chunks: of 1000, 1000 and 1, as MARK ... APPENDS each. */
Test (pickle_writer, long_lists_come_in_chunks)
{
  g_autoptr (SsPickleWriter) writer = ss_pickle_writer_new ();
  g_autoptr (GBytes) bytes = NULL;

  ss_pickle_writer_begin_list (writer);
  for (guint i = 0; i < 2001; i++)
    {
      ss_pickle_writer_item (writer);
      ss_pickle_writer_bool (writer, TRUE);
    }
  ss_pickle_writer_end_list (writer);
  bytes = ss_pickle_writer_finish (writer);
  cr_expect (eq (sz, g_bytes_get_size (bytes), 2 + 1 + 2001 + 2 * 3 + 1));
}
