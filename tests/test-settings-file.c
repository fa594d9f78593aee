/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "scenario-fixture.h"
#include "scenarios/settings-file.h"

/* "key=text:kind:line" of each setting, or what is wrong, the folder cut off. (transfer full) */
static char *
read (const char *text)
{
  char *folder = fixture_folder ();
  g_autofree char *path = fixture_write (folder, "s.yml", text, -1),
                  *prefix = g_strdup_printf ("%s/", folder);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsSettingsFile) file = ss_settings_file_load (path, problems);
  g_autoptr (GError) error = NULL;
  GString *said = g_string_new (NULL);

  for (guint i = 0; file != NULL && i < file->settings->len; i++)
    {
      const SsSetting *s = g_ptr_array_index (file->settings, i);

      g_string_append_printf (said, "%s%s=%s:%d:%d", i > 0 ? "|" : "", s->key, s->text, s->kind,
                              s->line);
    }
  if (!ss_problems_settle (problems, &error))
    g_string_assign (said, error->message);
  g_string_replace (said, prefix, "", 0);
  fixture_discard (folder);
  return g_string_free (said, FALSE);
}

/* Kinds: 0 text, 1 number, 2 flag, 3 null, 4 list, 5 other. */
Test (settings_file, yaml_and_json_are_flat_settings_with_lines)
{
  static const struct { const char *text, *said; } rows[] = {
    { "a: 1\nb: yes\nc: \"yes\"\nd:\ne: [q, v]\nf:\n  g: 2e-4\n  h: x y\n",
      "a=1:1:1|b=true:2:2|c=yes:0:3|d=null:3:4|e=q v:4:5|f.g=2e-4:1:7|f.h=x y:0:8" },
    { "{\n\t\"a\": true, \"b\": {\"c\": null,\n\"d\": \"auto\"}}",
      "a=true:2:2|b.c=null:3:2|b.d=auto:0:3" },
    { "d:\n  - path: x\n    type: y\ne: &n 3\nf: *n\n", "d=a list:5:2|e=3:1:4|f=3:1:5" },
    { "---\na: 1\n---\nb: 2\n", "a=1:1:2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *said = read (rows[i].text);

      cr_expect (eq (str, said, (char *) rows[i].said), "%s", rows[i].text);
    }
}

Test (settings_file, what_is_no_settings_is_refused_with_its_line)
{
  static const struct { const char *text, *said; } rows[] = {
    { "- a\n- b\n", "s.yml:1: is no mapping of settings: wanted \"key: value\" lines or a JSON "
                    "object" },
    { "a: &m {b: 1}\nc: *m\n", "s.yml:2: has an alias of more than a plain value; write it out" },
    { "a: 1\n[b]: 2\n", "s.yml:2: has a key that is no plain word" },
    { "# nothing\n", "s.yml: has no settings" },
    { "a: 1\nb: [1\n", "s.yml:3: is not YAML: did not find expected ',' or ']'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *said = read (rows[i].text);

      cr_expect (eq (str, said, (char *) rows[i].said), "%s", rows[i].text);
    }
}

Test (settings_file, depth_size_and_number_are_bounded)
{
  g_autoptr (GString) deep = g_string_new ("a: "), lists = g_string_new ("a: "),
                      many = g_string_new (NULL), large = g_string_new ("a: ");
  g_autofree char *said_deep = NULL, *said_lists = NULL, *said_many = NULL, *said_large = NULL;

  for (guint i = 0; i < 100; i++)
    {
      g_string_append (deep, "{a: ");
      g_string_append (lists, "[");
    }
  for (guint i = 0; i <= SS_SETTINGS_MAX_COUNT; i++)
    g_string_append_printf (many, "k%u: 1\n", i);
  while (large->len <= SS_SETTINGS_MAX_BYTES)
    g_string_append (large, "xxxxxxxxxxxxxxxx");
  said_deep = read (deep->str);
  said_lists = read (lists->str);
  said_many = read (many->str);
  said_large = read (large->str);
  cr_expect (eq (str, said_deep, "s.yml:1: is nested deeper than 32"));
  cr_expect (eq (str, said_lists, "s.yml:1: is nested deeper than 32"));
  cr_expect (eq (str, said_many, "s.yml:5001: has more than 5000 settings"));
  cr_expect (ne (ptr, strstr (said_large, "bytes long; at most 1048576 are read"), NULL), "%s",
             said_large);
}
