/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hw/xml-read.h"

/* A file of these bytes, its own folder around it; `name` is part of what messages say. */
static char *
file_of (const char *name, const char *bytes, gssize n)
{
  g_autofree char *folder = g_dir_make_tmp ("stepsim-XXXXXX", NULL);
  char *path = g_build_filename (folder, name, NULL);

  cr_assert (g_file_set_contents (path, bytes, n, NULL));
  return path;
}

static void
discard (char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);

  g_remove (path);
  g_rmdir (folder);
  g_free (path);
}

/* What opening it says, with the folder cut off every line. (transfer full) */
static char *
said_of (const char *path, const char *schema)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  SsXmlDocument *document = ss_xml_document_open (path, "device", schema, problems);
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_strdup_printf ("%s/", path);
  g_auto (GStrv) parts = NULL;

  ss_xml_document_free (document);
  if (ss_problems_settle (problems, &error))
    return g_strdup ("");
  cr_assert (error->domain == SS_HW_ERROR && error->code == SS_HW_ERROR_INPUT);
  *(strrchr (folder, '/')) = '\0';
  *(strrchr (folder, '/') + 1) = '\0';
  parts = g_strsplit (error->message, folder, -1);
  return g_strjoinv ("", parts);
}

static void
assert_said (const char *bytes, gssize n, const char *expected)
{
  char *path = file_of ("d.xml", bytes, n);
  g_autofree char *said = said_of (path, NULL);

  discard (path);
  cr_assert (eq (str, said, (char *) expected));
}

Test (xml_node, elements_and_attributes_are_read_with_their_lines)
{
  char *path = file_of (
      "d.xml",
      "<?xml version=\"1.0\"?>\n<!-- a > comment -->\n<device name='a &lt; b'\n  b=\"2\">\n"
      " <x a='>'\n\n   c = \"3\"/><y/>\n</device>\n",
      -1);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) document = ss_xml_document_open (path, "device", NULL, problems);
  SsXmlNode *root = ss_xml_document_root (document), *x = ss_xml_node_child (root, "x");
  g_autofree char *name = ss_xml_node_get (root, "name"), *none = ss_xml_node_get (root, "nothing");
  g_autofree char *beside = ss_xml_document_resolve (document, "m/e.xml"),
                  *folder = g_path_get_dirname (path);
  g_autofree char *expected = g_build_filename (folder, "m/e.xml", NULL);
  g_auto (GStrv) attributes = ss_xml_node_attributes (root);

  discard (path);
  cr_assert (eq (str, name, "a < b"));
  cr_assert (none == NULL);
  cr_assert (eq (int, ss_xml_node_line (root), 3));
  cr_assert (eq (int, ss_xml_node_attribute_line (root, "b"), 4));
  cr_assert (eq (int, ss_xml_node_line (x), 5));
  cr_assert (eq (int, ss_xml_node_attribute_line (x, "a"), 5));
  cr_assert (eq (int, ss_xml_node_attribute_line (x, "c"), 7));
  cr_assert (eq (int, ss_xml_node_attribute_line (x, "missing"), 5));
  cr_assert (eq (str, (char *) ss_xml_node_name (ss_xml_node_next_child (root, x)), "y"));
  cr_assert (ss_xml_node_next_child (root, ss_xml_node_next_child (root, x)) == NULL);
  cr_assert (eq (int, (int) g_strv_length (attributes), 2));
  cr_assert (eq (str, beside, expected));
}

Test (xml_node, what_is_set_stands_on_no_line)
{
  char *path = file_of ("d.xml", "<device a='1'/>", -1);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) document = ss_xml_document_open (path, "device", NULL, problems);
  SsXmlNode *root = ss_xml_document_root (document), *child;
  g_autofree char *value = NULL;

  discard (path);
  ss_xml_node_set (root, "a", "<2> & \"3\"");
  child = ss_xml_node_ensure_child (root, "sub");
  ss_xml_node_set (child, "b", "x");
  value = ss_xml_node_get (root, "a");
  cr_assert (eq (str, value, "<2> & \"3\""));
  cr_assert (ss_xml_node_ensure_child (root, "sub") == child);
  cr_assert (eq (int, ss_xml_node_attribute_line (root, "a"), 0));
  cr_assert (eq (int, ss_xml_node_line (child), 0));
  cr_assert (eq (int, ss_xml_node_attribute_line (child, "b"), 0));
}

Test (xml_node, files_that_are_not_xml_get_one_line)
{
  assert_said ("", 0, "d.xml: is empty");
  assert_said ("  \n\n ", -1, "d.xml: is empty");
  assert_said ("{\"a\": 1}", -1, "d.xml:1: is not XML: begins with \"{\"; expected <device>");
  assert_said (" \n\n\xC3\xA4", -1,
               "d.xml:3: is not XML: begins with \"\xC3\xA4\"; expected <device>");
  assert_said ("<!-- no more -->", -1,
               "d.xml:1: is not well-formed XML: start tag expected, '<' not found");
  assert_said (
      "<device>\n<a>\n</device>", -1,
      "d.xml:3: is not well-formed XML: opening and ending tag mismatch: a line 2 and device");
  assert_said ("<device a='1' a='2'/>", -1,
               "d.xml:1: is not well-formed XML: attribute a redefined");
  assert_said ("<device/>\n<device/>", -1,
               "d.xml:2: is not well-formed XML: extra content at the end of the document");
  assert_said ("<device>\n</device>\n\0", 21, "d.xml:3: holds a zero byte; it is not a text file");
  assert_said ("<dev/>", -1, "d.xml:1: the root element is <dev>; expected <device>");
}

Test (xml_node, document_types_and_entities_are_refused)
{
  assert_said (
      "<?xml version='1.0'?>\n<!DOCTYPE device [\n<!ENTITY a \"aaaa\">\n"
      "<!ENTITY b \"&a;&a;\">]>\n<device x='&b;'/>",
      -1, "d.xml:2: has a DOCTYPE; document types and entities are not read, remove it");
  assert_said ("<!DOCTYPE device SYSTEM 'file:///etc/passwd'>\n<device/>", -1,
               "d.xml:1: has a DOCTYPE; document types and entities are not read, remove it");
  assert_said ("<device>\n<a x='&b;'/></device>", -1,
               "d.xml:2: is not well-formed XML: entity 'b' not defined");
}

Test (xml_node, encodings_are_read_right_or_refused)
{
  gsize n;
  g_autofree char *utf16
      = g_convert ("<?xml version='1.0' encoding='UTF-16'?><device name='\xC3\xA9'/>", -1, "UTF-16",
                   "UTF-8", NULL, &n, NULL);
  char *path = file_of ("d.xml", utf16, (gssize) n);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) document = ss_xml_document_open (path, "device", NULL, problems);
  g_autofree char *name = NULL;

  discard (path);
  cr_assert (document != NULL);
  name = ss_xml_node_get (ss_xml_document_root (document), "name");
  cr_assert (eq (str, name, "\xC3\xA9"));

  assert_said ("\xFF\xFE<\0d", 5, "d.xml: begins as UTF-16 but is not; save the file as UTF-8");
  assert_said ("<\0d\0e\0v\0", 8, "d.xml:1: holds a zero byte; it is not a text file");
  assert_said ("<device\nname='\xE9'/>", -1,
               "d.xml:2: byte 0xE9 is not valid UTF-8; save the file as UTF-8");
  assert_said ("<?xml version='1.0' encoding='latin1'?><device name='\xC3\xA9'/>", -1,
               "d.xml:1: declares the encoding \"latin1\"; save the file as UTF-8");
  assert_said ("<?xml version='1.0' encoding='no-such'?><device name='e'/>", -1, "");
  assert_said ("\xEF\xBB\xBF<device name='\xC3\xA9'/>", -1, "");
}

Test (xml_node, depth_and_attributes_are_bounded)
{
  g_autoptr (GString) deep = g_string_new ("<device>"), fits = g_string_new ("<device>"),
                      wide = g_string_new ("<device");

  for (guint i = 0; i < 100000; i++)
    g_string_append (deep, "<a>");
  assert_said (deep->str, -1, "d.xml:1: has elements nested deeper than 32");
  for (guint i = 1; i < SS_XML_MAX_DEPTH; i++)
    g_string_append (fits, "<a>");
  for (guint i = 1; i < SS_XML_MAX_DEPTH; i++)
    g_string_append (fits, "</a>");
  g_string_append (fits, "</device>");
  assert_said (fits->str, -1, "");
  for (guint i = 0; i < 90000; i++)
    g_string_append_printf (wide, " a%u=''", i);
  g_string_append (wide, "/>");
  assert_said (wide->str, -1, "d.xml:1: an element has more than 256 attributes");
}

Test (xml_node, large_files_are_refused_without_reading_them)
{
  g_autofree char *spaces = g_strnfill (SS_XML_MAX_BYTES + 1, ' ');
  char *path = file_of ("d.xml", spaces, -1);
  g_autofree char *huge = NULL;

  memcpy (spaces, "<device/>", strlen ("<device/>"));
  assert_said (spaces, SS_XML_MAX_BYTES, "");
  assert_said (spaces, SS_XML_MAX_BYTES + 1,
               "d.xml: is 1048577 bytes long; at most 1048576 are read");
  cr_assert (truncate (path, G_GINT64_CONSTANT (1) << 40) == 0);
  huge = said_of (path, NULL);
  discard (path);
  cr_assert (eq (str, huge, "d.xml: is 1099511627776 bytes long; at most 1048576 are read"));
}

Test (xml_node, things_that_are_no_files_get_one_line)
{
  char *path = file_of ("pipe.xml", "", 0);
  g_autofree char *folder = g_path_get_dirname (path), *missing = NULL, *pipe = NULL, *dir = NULL,
                  *device = NULL;

  g_remove (path);
  missing = said_of (path, NULL);
  cr_assert (eq (str, missing, "pipe.xml: cannot be opened: No such file or directory"));
  cr_assert (mkfifo (path, 0600) == 0);
  pipe = said_of (path, NULL);
  cr_assert (eq (str, pipe, "pipe.xml: is a pipe; a regular file is expected"));
  dir = said_of (folder, NULL);
  cr_assert (g_str_has_suffix (dir, ": is a folder"));
  device = said_of ("/dev/zero", NULL);
  cr_assert (eq (str, device, "zero: is a device; a regular file is expected"));
  discard (path);
}

Test (xml_node, every_fault_of_structure_is_told_in_the_order_of_lines)
{
  char *path
      = file_of ("d.xml",
                 "<device name='x' foo='1'\n  bar='%n%s'>\n"
                 "  <memory capacity='80 GiB' context='1 GiB' bandwidth='3 TB/s' source='x'/>\n"
                 "  <compue/>\n"
                 "  <peak bf16='1 TFLOP/s' fp16='1 TFLOP/s' fp32='1 TFLOP/s' source='x'/>\n"
                 "  <peak bf16='1 TFLOP/s' fp16='1 TFLOP/s' fp32='1 TFLOP/s' source='x'/>\n"
                 "  stray words\n</device>\n",
                 -1);
  g_autofree char *said = said_of (path, "hw/device.xsd");

  discard (path);
  cr_assert (eq (
      str, said,
      "d.xml:1: device: unknown attribute \"foo\"; known: name, family\n"
      "d.xml:1: device: text \"stray words\" is not expected here\n"
      "d.xml:1: device: <compute> is missing\n"
      "d.xml:1: device: <launch> is missing\n"
      "d.xml:2: device: unknown attribute \"bar\"; known: name, family\n"
      "d.xml:3: memory: attribute \"l2\" is missing\n"
      "d.xml:4: device: unknown element <compue>; near: compute\n"
      "d.xml:6: device: <peak> is given more than once"));
}

/* counting lines anew for each of the faults would take minutes */
Test (xml_node, a_file_full_of_faults_is_told_fast, .timeout = 10)
{
  g_autoptr (GString) text = g_string_new ("<device>\n");
  char *path;
  g_autofree char *said = NULL;

  for (guint i = 0; i < 200000; i++)
    g_string_append (text, "<a/>\n");
  g_string_append (text, "</device>");
  path = file_of ("d.xml", text->str, -1);
  said = said_of (path, "hw/device.xsd");
  discard (path);
  cr_assert (g_str_has_prefix (said, "d.xml:1: device: attribute \"name\" is missing\n"));
  cr_assert (strstr (said, "\nand 199905 more problems") != NULL);
}

Test (xml_node, the_letter_of_the_schema_covers_values)
{
  char *path = file_of ("d.xml", "<device name=''/>\n", -1);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) document = ss_xml_document_open (path, "device", NULL, problems);
  g_autoptr (GError) error = NULL;

  discard (path);
  cr_assert (not (ss_xml_document_validate (document, "hw/device.xsd", problems)));
  cr_assert (not (ss_problems_settle (problems, &error)));
  cr_assert (strstr (error->message, "d.xml:1: Element 'device', attribute 'name'") != NULL);
}

Test (xml_node, a_schema_that_is_nowhere_is_told)
{
  char *path = file_of ("d.xml", "<device/>\n", -1);
  g_autofree char *said = said_of (path, "hw/none.xsd");

  discard (path);
  cr_assert (eq (str, said, "d.xml: its schema hw/none.xsd is nowhere; is stepsim installed?"));
}

Test (xml_read, values_are_checked_where_they_stand)
{
  static const char *const known[] = { "none", "every", NULL };
  char *path = file_of (
      "d.xml", "<device a='80'\n b='1.5'\n c='maybe' d='yes'\n e='evry' f='4 GiB'\n g='0'/>\n", -1);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) document = ss_xml_document_open (path, "device", NULL, problems);
  g_autofree char *prefix = g_strdup_printf ("%s:", path), *expected = NULL;
  g_autoptr (GError) error = NULL;
  SsXmlNode *root = ss_xml_document_root (document);
  guint64 bytes = 7;
  gint64 count = 7;
  double fraction = 7;
  gboolean yes = FALSE;
  guint index = 7;

  discard (path);
  cr_assert (not (ss_xml_read_bytes (root, "none", &bytes, problems)));
  cr_assert (eq (u64, bytes, 7));
  cr_assert (ss_xml_read_bytes (root, "f", &bytes, problems));
  cr_assert (eq (u64, bytes, G_GUINT64_CONSTANT (4294967296)));
  cr_assert (ss_xml_read_boolean (root, "d", &yes, problems) && yes);
  cr_assert (eq (uint, ss_problems_count (problems), 0));
  cr_assert (not (ss_xml_read_count (root, "g", 1, 9, &count, problems)));
  cr_assert (not (ss_xml_read_choice (root, "e", known, &index, problems)));
  cr_assert (not (ss_xml_read_boolean (root, "c", &yes, problems)));
  cr_assert (not (ss_xml_read_fraction (root, "b", &fraction, problems)));
  cr_assert (not (ss_xml_read_bytes (root, "a", &bytes, problems)));
  cr_assert (not (ss_problems_settle (problems, &error)));
  expected = g_strdup_printf (
      "%s1: a: \"80\" has no unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB\n"
      "%s2: b: \"1.5\" is not between 0 and 1\n"
      "%s3: c: \"maybe\" is not known; known: no, yes\n"
      "%s4: e: \"evry\" is not known; known: none, every\n"
      "%s5: g: \"0\" is not between 1 and 9",
      prefix, prefix, prefix, prefix, prefix);
  cr_assert (eq (str, error->message, expected));
}

Test (problems, lines_are_clean_and_bounded)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (GError) error = NULL;

  cr_assert (ss_problems_settle (problems, &error));
  ss_problems_add (problems, "b\n.xml", 2, "%s", "bell \a, bad \xFF, reversed \xE2\x80\xAE");
  ss_problems_add (problems, "b\n.xml", 2, "%s", "bell \a, bad \xFF, reversed \xE2\x80\xAE");
  ss_problems_add (problems, "b\n.xml", 0, "whole file");
  cr_assert (not (ss_problems_settle (problems, &error)));
  cr_assert (eq (str, error->message,
                 "b?.xml: whole file\nb?.xml:2: bell ?, bad \xEF\xBF\xBD, reversed ?"));
  g_clear_error (&error);
  for (guint i = 0; i < 150; i++)
    ss_problems_add (problems, "c.xml", (gint) i + 1, "fault");
  cr_assert (not (ss_problems_settle (problems, &error)));
  cr_assert (g_str_has_suffix (error->message, "\nand 52 more problems"));
}

Test (problems, near_names_of_a_long_list_and_all_of_a_short_one)
{
  static const char *const devices[] = { "a100-sxm-40gb",
                                         "a100-sxm-80gb",
                                         "b200-sxm-180gb",
                                         "h100-nvl",
                                         "h100-sxm-80gb",
                                         "rtx-4090",
                                         NULL };
  static const char *const words[] = { "none", "zero", NULL }, *const nothing[] = { NULL };
  g_autofree char *near = ss_problems_suggest ("h100-96gb", devices),
                  *far = ss_problems_suggest ("tpu", devices);
  g_autofree char *typo = ss_problems_suggest ("rtx-4909", devices),
                  *all = ss_problems_suggest ("nul", words);
  g_autofree char *none = ss_problems_suggest ("x", nothing);

  cr_assert (eq (str, near, "near: h100-nvl, h100-sxm-80gb"));
  cr_assert (eq (
      str, far,
      "known: a100-sxm-40gb, a100-sxm-80gb, b200-sxm-180gb, h100-nvl, h100-sxm-80gb, rtx-4090"));
  cr_assert (eq (str, typo, "near: rtx-4090"));
  cr_assert (eq (str, all, "known: none, zero"));
  cr_assert (eq (str, none, "none is known"));
}

Test (data_path, finds_the_tree_from_the_build_folder_and_nothing_outside)
{
  g_autofree char *schema = ss_data_find ("hw/device.xsd"),
                  *outside = ss_data_find ("hw/../meson.build");
  g_autofree char *missing = ss_data_find ("hw/devices/none.xml"),
                  *absolute = ss_data_find ("/etc/passwd");

  cr_assert (schema != NULL);
  cr_assert (outside == NULL && missing == NULL && absolute == NULL);
}
