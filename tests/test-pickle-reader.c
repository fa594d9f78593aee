/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "output/formats/pickle-reader.h"
#include "output/formats/pickle-writer.h"

#define BYTES(text) g_bytes_new_static (text, sizeof (text) - 1)

static SsPickle *
read_all (GBytes *bytes)
{
  g_autoptr (GBytes) owned = bytes;
  g_autoptr (GError) error = NULL;
  SsPickle *pickle = ss_pickle_read (owned, &error);

  cr_assert (ne (ptr, pickle, NULL), "%s", error != NULL ? error->message : "");
  return pickle;
}

static void
expect_refused (GBytes *bytes, const char *wanted)
{
  g_autoptr (GBytes) owned = bytes;
  g_autoptr (GError) error = NULL;
  g_autoptr (SsPickle) pickle = ss_pickle_read (owned, &error);

  cr_assert (eq (ptr, pickle, NULL), "%s", wanted);
  cr_expect (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT));
  cr_expect (eq (str, error->message, (char *) wanted));
}

/* {'a': [1, 256, -1, 2**31, -2**63, None, True], 'b': (0.5,)} as pickle.dumps (..., 4) has it. */
#define SAMPLE                                                                                     \
  "\x80\x04\x95\x37\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01" "a\x94]\x94(K\x01M\x00\x01J"        \
  "\xff\xff\xff\xff\x8a\x05\x00\x00\x00\x80\x00\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80N\x88"      \
  "e\x8c\x01" "b\x94G?\xe0\x00\x00\x00\x00\x00\x00\x85\x94u."

Test (pickle_reader, values_of_every_kind)
{
  static const gint64 wanted[] = { 1, 256, -1, G_GINT64_CONSTANT (2147483648), G_MININT64 };
  g_autoptr (SsPickle) pickle = read_all (BYTES (SAMPLE));
  SsPickleId root = ss_pickle_root (pickle), list = ss_pickle_get (pickle, root, "a");
  SsPickleId pair = ss_pickle_get (pickle, root, "b");
  gint64 value;

  cr_assert (eq (uint, ss_pickle_length (pickle, list), 7));
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      cr_assert (ss_pickle_int (pickle, ss_pickle_item (pickle, list, i), &value));
      cr_expect (eq (i64, value, wanted[i]));
    }
  cr_expect (not (ss_pickle_int (pickle, ss_pickle_item (pickle, list, 6), &value)));
  cr_expect (ss_pickle_is_true (pickle, ss_pickle_item (pickle, list, 6)));
  cr_expect (eq (int, ss_pickle_type (pickle, ss_pickle_item (pickle, list, 5)), SS_PICKLE_NONE));
  cr_assert (eq (uint, ss_pickle_length (pickle, pair), 1));
  cr_expect (eq (int, ss_pickle_type (pickle, ss_pickle_item (pickle, pair, 0)), SS_PICKLE_REAL));
  cr_expect (eq (uint, ss_pickle_get (pickle, root, "c"), SS_PICKLE_ABSENT));
  cr_expect (eq (uint, ss_pickle_get (pickle, list, "a"), SS_PICKLE_ABSENT));
}

/* A list that holds itself, and one that is filled in three pieces (BINPUT 0 ... BINGET 0). */
Test (pickle_reader, objects_are_shared_and_filled_in_pieces)
{
  g_autoptr (SsPickle) pickle
    = read_all (BYTES ("\x80\x02]q\x00(K\x01K\x02" "eh\x00" "a(K\x03" "e."));
  SsPickleId root = ss_pickle_root (pickle);

  cr_assert (eq (uint, ss_pickle_length (pickle, root), 4));
  cr_expect (eq (uint, ss_pickle_item (pickle, root, 2), root));
}

Test (pickle_reader, of_two_equal_keys_the_later_counts)
{
  g_autoptr (SsPickle) pickle
    = read_all (BYTES ("\x80\x04}(\x8c\x01" "aK\x01\x8c\x01" "aK\x02u."));
  gint64 value = 0;

  cr_assert (ss_pickle_int (pickle, ss_pickle_get (pickle, ss_pickle_root (pickle), "a"), &value));
  cr_expect (eq (i64, value, 2));
}

Test (pickle_reader, what_runs_code_is_refused_where_it_stands)
{
  static const struct
  {
    guint8 opcode;
    const char *name;
  } rows[] = {
    { 'c', "GLOBAL" },  { 0x93, "STACK_GLOBAL" }, { 'R', "REDUCE" },        { 'b', "BUILD" },
    { 'i', "INST" },    { 'o', "OBJ" },           { 0x81, "NEWOBJ" },       { 0x92, "NEWOBJ_EX" },
    { 'P', "PERSID" },  { 'Q', "BINPERSID" },     { 0x82, "EXT1" },         { 0x83, "EXT2" },
    { 0x84, "EXT4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const guint8 file[] = { 0x80, 4, ']', 'K', 1, rows[i].opcode, 'o', 's', '\n', '.' };
      g_autofree char *wanted = g_strdup_printf (
        "byte 5: %s makes objects by running code: no memory snapshot has it", rows[i].name);

      expect_refused (g_bytes_new (file, sizeof file), wanted);
    }
}

Test (pickle_reader, what_makes_no_sense_is_refused_where_it_stands)
{
#define ROW(file, wanted) { file, sizeof (file) - 1, wanted }
  static const struct
  {
    const char *file;
    gsize size;
    const char *wanted;
  } rows[] = {
    ROW ("", "byte 0: the file ends in the middle"),
    ROW ("(lp0\n.", "byte 0: 0x28 does not begin a pickle of protocol 2 to 5"),
    ROW ("\x80\x01N.", "byte 0: pickle protocol 1; known: 2 to 5"),
    ROW ("\x80\x06N.", "byte 0: pickle protocol 6; known: 2 to 5"),
    ROW ("\x80\x04.", "byte 2: the file ends with 0 objects, not one"),
    ROW ("\x80\x04NN.", "byte 4: the file ends with 2 objects, not one"),
    ROW ("\x80\x04(N.", "byte 4: the file ends with 1 objects, not one"),
    ROW ("\x80\x04" "B\x01\x00\x00\x00x.",
         "byte 2: opcode 0x42 is none that a memory snapshot has"),
    ROW ("\x80\x04Na.", "byte 3: the stack is too short"),
    ROW ("\x80\x04NNa.", "byte 4: what is to be filled is no list"),
    ROW ("\x80\x04)Na.", "byte 4: what is to be filled is no list"),
    ROW ("\x80\x04]NNs.", "byte 5: what is to be filled is no dict"),
    ROW ("\x80\x04}(Nu.", "byte 5: a key without a value"),
    ROW ("\x80\x04Nu.", "byte 3: there is no mark"),
    ROW ("\x80\x04(Ne.", "byte 4: there is nothing to fill"),
    ROW ("\x80\x04](N(a.", "byte 6: the stack is too short"),
    ROW ("\x80\x04N\x86.", "byte 3: the stack is too short"),
    ROW ("\x80\x04\x94.", "byte 2: nothing to remember"),
    ROW ("\x80\x04Nr\xff\xff\xff\x7f.", "byte 3: memo number 2147483647 is out of order"),
    ROW ("\x80\x04h\x00.", "byte 2: there is no memo number 0"),
    ROW ("\x80\x04X\xff\xff\xff\xffx.", "byte 2: a text of 4294967295 bytes"),
    ROW ("\x80\x04X\xff\xff\xff\x7fx.", "byte 2: the file ends in the middle"),
    ROW ("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffx.",
         "byte 2: a text of 18446744073709551615 bytes"),
    ROW ("\x80\x04\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.",
         "byte 2: an integer of more than 64 bits"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    expect_refused (g_bytes_new_static (rows[i].file, rows[i].size), rows[i].wanted);
}

Test (pickle_reader, truncated_anywhere_is_refused)
{
  for (gsize size = 0; size < sizeof SAMPLE - 1; size++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (SAMPLE, size);
      g_autoptr (GError) error = NULL;

      cr_expect (eq (ptr, ss_pickle_read (bytes, &error), NULL), "%zu", size);
      cr_expect (error != NULL && g_str_has_prefix (error->message, "byte "));
    }
}

/* A hundred thousand marks, and as many lists each in the one before. */
Test (pickle_reader, deep_nesting_is_refused)
{
  GByteArray *marks = g_byte_array_new (), *lists = g_byte_array_new ();

  g_byte_array_append (marks, (const guint8 *) "\x80\x04", 2);
  g_byte_array_append (lists, (const guint8 *) "\x80\x04", 2);
  for (guint i = 0; i < 100000; i++)
    {
      g_byte_array_append (marks, (const guint8 *) "(", 1);
      g_byte_array_append (lists, (const guint8 *) "]", 1);
    }
  for (guint i = 0; i < 99999; i++)
    g_byte_array_append (lists, (const guint8 *) "a", 1);
  g_byte_array_append (lists, (const guint8 *) ".", 1);
  expect_refused (g_byte_array_free_to_bytes (marks), "byte 66: nested more than 64 deep");
  expect_refused (g_byte_array_free_to_bytes (lists), "byte 100066: nested more than 64 deep");
}

/* One more than the most that may wait for their container, of one byte each. */
Test (pickle_reader, too_many_objects_in_no_container_are_refused)
{
  gsize size = SS_PICKLE_MAX_WAITING + 4;
  guint8 *file = g_malloc (size);
  g_autofree char *wanted
    = g_strdup_printf ("byte %u: more than %u objects that are in no list or dict yet",
                       SS_PICKLE_MAX_WAITING + 2, SS_PICKLE_MAX_WAITING);

  memset (file, 'N', size);
  file[0] = 0x80;
  file[1] = 4;
  expect_refused (g_bytes_new_take (file, size), wanted);
}

Test (pickle_reader, what_the_writer_wrote)
{
  static const gint64 values[] = { 0, 255, 256, 65535, 65536, -1, 2147483647, 2147483648,
                                   -2147483649, G_MAXINT64, G_MININT64 };
  g_autoptr (SsPickleWriter) writer = ss_pickle_writer_new ();
  g_autoptr (SsPickle) pickle = NULL;

  ss_pickle_writer_begin_list (writer);
  for (guint i = 0; i < 3000; i++)
    {
      ss_pickle_writer_item (writer);
      ss_pickle_writer_int (writer, values[i % G_N_ELEMENTS (values)]);
    }
  ss_pickle_writer_end_list (writer);
  pickle = read_all (ss_pickle_writer_finish (writer));
  cr_assert (eq (uint, ss_pickle_length (pickle, ss_pickle_root (pickle)), 3000));
  for (guint i = 0; i < 3000; i++)
    {
      gint64 value = 1;

      cr_assert (ss_pickle_int (pickle, ss_pickle_item (pickle, ss_pickle_root (pickle), i),
                                &value));
      cr_expect (eq (i64, value, values[i % G_N_ELEMENTS (values)]));
    }
}
