/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <json-glib/json-glib.h>
#include <string.h>

#include "scenarios/chain-table.h"
#include "tests/chain-fixture.h"

#define FOLDER SS_SOURCE_DIR "/../shared/data/remat"

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Paths of the files whose name has that in it, sorted; the test is skipped if there is no such
 * folder. (transfer full) */
static GPtrArray *
list_files (const char *part)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (FOLDER, 0, NULL);
  const char *name;

  if (dir == NULL)
    cr_skip_test ("no " FOLDER);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (strstr (name, part) != NULL)
      g_ptr_array_add (paths, g_build_filename (FOLDER, name, NULL));
  g_ptr_array_sort (paths, compare_paths);
  cr_assert (gt (uint, paths->len, 0));
  return paths;
}

/* Lines of the file beside `path` whose name ends so, without CR. (transfer full) */
static char **
read_lines (const char *path, const char *from, const char *to)
{
  g_autoptr (GString) name = g_string_new (path);
  g_autofree char *text = NULL;
  g_autoptr (GString) plain = NULL;

  g_string_replace (name, from, to, 0);
  cr_assert (g_file_get_contents (name->str, &text, NULL, NULL), "%s", name->str);
  plain = g_string_new (text);
  g_string_replace (plain, "\r", "", 0);
  return g_strsplit (g_strchomp (plain->str), "\n", -1);
}

static void
assert_lines (const GString *met, char **wanted, const char *path)
{
  g_auto (GStrv) lines = g_strsplit (g_strchomp (met->str), "\n", -1);

  cr_assert (eq (uint, g_strv_length (lines), g_strv_length (wanted)), "%s", path);
  for (guint i = 0; lines[i] != NULL; i++)
    cr_expect (eq (str, lines[i], wanted[i]), "%s", path);
}

Test (chain_fixtures, policies_are_equal)
{
  g_autoptr (GPtrArray) paths = list_files (".chain.json");

  for (guint i = 0; i < paths->len; i++)
    {
      g_autoptr (SsChainFile) file = load_chain (paths->pdata[i]);
      g_auto (GStrv) wanted = read_lines (paths->pdata[i], ".chain.json", ".policies.csv");
      g_autoptr (GString) out = g_string_new (NULL);

      ss_chain_append_policies (file->chain, out);
      assert_lines (out, wanted, paths->pdata[i]);
    }
}

/* Line without what follows its last comma. */
static void
cut_last (char **lines)
{
  for (; *lines != NULL; lines++)
    if (strrchr (*lines, ',') != NULL)
      *strrchr (*lines, ',') = '\0';
}

/* How many stages were recomputed depends on which of equally fast schedules is found. */
Test (chain_fixtures, optima_are_equal)
{
  g_autoptr (GPtrArray) paths = list_files (".chain.json");

  for (guint i = 0; i < paths->len; i++)
    {
      g_autoptr (SsChainFile) file = load_chain (paths->pdata[i]);
      g_auto (GStrv) wanted = read_lines (paths->pdata[i], ".chain.json", ".pareto.csv");
      g_autoptr (GString) out = g_string_new (NULL);
      g_auto (GStrv) lines = NULL;

      ss_chain_append_pareto (file->chain, out);
      lines = g_strsplit (g_strchomp (out->str), "\n", -1);
      cut_last (lines);
      cut_last (wanted);
      cr_assert (eq (uint, g_strv_length (lines), g_strv_length (wanted)));
      for (guint k = 0; lines[k] != NULL; k++)
        cr_expect (eq (str, lines[k], wanted[k]), "%s", (char *) paths->pdata[i]);
    }
}

/* Every member of the one object is a member of the other, and the same. */
static void
assert_members (JsonObject *met, JsonObject *wanted, const char *path)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, wanted);
  while (json_object_iter_next (&iter, &name, &node))
    {
      JsonNode *own = json_object_get_member (met, name);

      cr_expect (own != NULL && json_node_equal (own, node), "%s: %s", path, name);
    }
}

static JsonObject *
parse (JsonParser *parser, const char *text)
{
  cr_assert (json_parser_load_from_data (parser, text, -1, NULL));
  return json_node_get_object (json_parser_get_root (parser));
}

Test (chain_fixtures, chains_come_back_with_their_summary)
{
  g_autoptr (GPtrArray) paths = list_files (".chain.json");

  for (guint i = 0; i < paths->len; i++)
    {
      g_autoptr (SsChainFile) file = load_chain (paths->pdata[i]);
      g_autoptr (JsonParser) own = json_parser_new (), theirs = json_parser_new ();
      g_autofree char *text = NULL;
      g_autoptr (GString) out = g_string_new (NULL);

      cr_assert (g_file_get_contents (paths->pdata[i], &text, NULL, NULL));
      cr_assert (ss_chain_append_json (file, out, NULL));
      assert_members (parse (own, out->str), parse (theirs, text), paths->pdata[i]);
    }
}

Test (chain_fixtures, schedules_are_equal)
{
  g_autoptr (GPtrArray) paths = list_files ("_explicit_schedules.json");

  for (guint i = 0; i < paths->len; i++)
    {
      g_autoptr (SsChainFile) file = load_chain (paths->pdata[i]);
      g_autoptr (JsonParser) own = json_parser_new (), theirs = json_parser_new ();
      g_autofree char *text = NULL;
      g_autoptr (GString) out = g_string_new (NULL);
      JsonObject *wanted;

      cr_assert (g_file_get_contents (paths->pdata[i], &text, NULL, NULL));
      cr_assert (ss_chain_append_json (file, out, NULL));
      wanted = parse (theirs, text);
      json_object_remove_member (wanted, "note");
      assert_members (parse (own, out->str), wanted, paths->pdata[i]);
    }
}

Test (chain_fixtures, revolve_is_equal)
{
  g_autoptr (GPtrArray) paths = list_files ("_revolve_slots.csv");

  for (guint i = 0; i < paths->len; i++)
    {
      g_auto (GStrv) rows = read_lines (paths->pdata[i], "", "");

      for (guint k = 1; rows[k] != NULL; k++)
        {
          g_auto (GStrv) cells = g_strsplit (rows[k], ",", -1);
          g_autofree char *wanted = g_strdup_printf ("%s\n%s\n", rows[0], rows[k]);
          g_autoptr (GString) out = g_string_new (NULL);

          ss_chain_append_revolve ((guint) g_ascii_strtoull (cells[0], NULL, 10),
                                   (guint) g_ascii_strtoull (cells[1], NULL, 10), out);
          cr_expect (eq (str, out->str, wanted));
        }
    }
}

/* Of a file there, or one of the homogeneous ones that are not: hom_unit_L16. (transfer full) */
static SsChain *
chain_by_name (const char *name, const char *prefix)
{
  static const struct { const char *kind; guint64 a, w; } kinds[]
      = { { "hom_thin_L", 1, 0 }, { "hom_unit_L", 1, 1 }, { "hom_fat_L", 2, 39 } };
  g_autofree char *path = g_strdup_printf ("%s%s.chain.json", prefix, name);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_prefix (name, kinds[i].kind))
      return ss_chain_new_homogeneous (
        name, (guint) g_ascii_strtoull (name + strlen (kinds[i].kind), NULL, 10), kinds[i].a,
        kinds[i].w);
  {
    g_autoptr (SsChainFile) file = load_chain (path);

    return g_steal_pointer (&file->chain);
  }
}

Test (chain_fixtures, nested_schedules_are_equal)
{
  g_autoptr (GPtrArray) paths = list_files ("_nested.csv");

  for (guint i = 0; i < paths->len; i++)
    {
      g_auto (GStrv) rows = read_lines (paths->pdata[i], "", "");
      const char *path = paths->pdata[i];
      g_autofree char *prefix = g_strndup (path, strlen (path) - strlen ("nested.csv"));

      for (guint k = 1; rows[k] != NULL; k++)
        {
          g_auto (GStrv) cells = g_strsplit (rows[k], ",", -1);
          SsCheckpointing nested = nested_levels (cells[1], g_str_equal (cells[2], "1"));
          g_autoptr (SsChain) chain = chain_by_name (cells[0], prefix);
          g_autofree char *wanted = g_strdup_printf ("%s\n%s\n", rows[0], rows[k]);
          g_autoptr (GString) out = g_string_new (NULL);

          ss_chain_append_nested (chain, &nested, out);
          cr_expect (eq (str, out->str, wanted));
        }
    }
}

/* {"model", "s", "b", "h", "h_kv", "F", "attn", "block"}, with a note in each policy. */
Test (chain_fixtures, choices_within_a_block_are_equal)
{
  g_autoptr (GPtrArray) paths = list_files ("_block_policies_");

  for (guint i = 0; i < paths->len; i++)
    {
      g_autoptr (JsonParser) own = json_parser_new (), theirs = json_parser_new ();
      g_autofree char *text = NULL;
      g_autoptr (GString) out = g_string_new (NULL);
      JsonObject *wanted, *block, *policies;
      g_autoptr (GList) names = NULL;

      cr_assert (g_file_get_contents (paths->pdata[i], &text, NULL, NULL));
      wanted = parse (theirs, text);
      json_object_remove_member (wanted, "model");
      block = json_object_get_object_member (wanted, "block");
      policies = json_object_get_object_member (block, "policies");
      names = json_object_get_members (policies);
      for (GList *name = names; name != NULL; name = name->next)
        json_object_remove_member (json_object_get_object_member (policies, name->data), "note");
      cr_assert (ss_chain_append_block (
        &(SsBlockSizes) { (guint64) json_object_get_int_member (wanted, "s"),
                          (guint64) json_object_get_int_member (wanted, "b"),
                          (guint64) json_object_get_int_member (wanted, "h"),
                          (guint64) json_object_get_int_member (wanted, "h_kv"),
                          (guint64) json_object_get_int_member (wanted, "F") },
        out));
      assert_members (parse (own, out->str), wanted, paths->pdata[i]);
    }
}
