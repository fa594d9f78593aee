/* SPDX-License-Identifier: MIT */
#include "cli/config.h"

#include <string.h>

#include "hw/problems.h"

#define GROUP "stepsim"
#define MAX_BYTES (64 * 1024)

typedef struct
{
  const char *name;
  gsize offset;                  /* of the char * in SsConfig */
  const char *values[4];         /* NULL-terminated */
} Setting;

static const Setting settings[] = {
  { "units", G_STRUCT_OFFSET (SsConfig, units), { "GiB", "GB" } },
  { "color", G_STRUCT_OFFSET (SsConfig, color), { "auto", "always", "never" } },
};

typedef struct
{
  const char *path, *text;
  gsize length;
  GKeyFile *keys;
  SsProblems *problems;
} Reading;

void
ss_config_clear (SsConfig *self)
{
  g_clear_pointer (&self->units, g_free);
  g_clear_pointer (&self->color, g_free);
}

static const Setting *
find_setting (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (g_str_equal (settings[i].name, name))
      return &settings[i];
  return NULL;
}

/* ---- lines, which GKeyFile does not tell ---- */

static gboolean
is_readable (const Reading *r, gsize length)
{
  g_autoptr (GKeyFile) keys = g_key_file_new ();

  return g_key_file_load_from_data (keys, r->text, length, G_KEY_FILE_NONE, NULL);
}

/* The line that cannot be read: with it the beginning of the file cannot, up to it it can. */
static gint
line_of_fault (const Reading *r)
{
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (gsize));
  guint first = 0, after;

  for (gsize i = 1; i <= r->length; i++)
    if (r->text[i - 1] == '\n' || i == r->length)
      g_array_append_val (ends, i);
  for (after = ends->len; first < after;)
    {
      guint middle = (first + after) / 2;

      if (is_readable (r, g_array_index (ends, gsize, middle)))
        first = middle + 1;
      else
        after = middle;
    }
  return (gint) MIN (first + 1, ends->len);
}

/* Of a group, or of a key within it: the last, which counts where a name is there twice. */
static gint
line_of (const Reading *r, const char *group, const char *key)
{
  g_auto (GStrv) lines = g_strsplit (r->text, "\n", -1);
  g_autofree char *head = g_strdup_printf ("[%s]", group);
  gboolean is_inside = FALSE;
  gint found = 0;

  for (gint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strstrip (lines[i]);

      if (line[0] == '[')
        {
          is_inside = g_str_equal (line, head);
          found = is_inside && key == NULL ? i + 1 : found;
          continue;
        }
      line[strcspn (line, "=")] = '\0';
      if (is_inside && g_strcmp0 (g_strchomp (line), key) == 0)
        found = i + 1;
    }
  return found;
}

/* ---- the settings ---- */

static void
check_groups (Reading *r)
{
  static const char *const known[] = { GROUP, NULL };
  g_auto (GStrv) groups = g_key_file_get_groups (r->keys, NULL);

  for (char **group = groups; *group != NULL; group++)
    {
      g_autofree char *hint = ss_problems_suggest (*group, known);

      if (!g_str_equal (*group, GROUP))
        ss_problems_add (r->problems, r->path, line_of (r, *group, NULL), "unknown group [%s]; %s",
                         *group, hint);
    }
}

static void
take_value (Reading *r, SsConfig *self, const char *key)
{
  const Setting *setting = find_setting (key);
  /* as it stands, valid UTF-8 or not; always there */
  g_autofree char *value = g_key_file_get_value (r->keys, GROUP, key, NULL), *hint = NULL;
  const char *names[G_N_ELEMENTS (settings) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    names[i] = settings[i].name;
  hint = ss_problems_suggest (setting != NULL ? g_strchomp (value) : key,
                              setting != NULL ? setting->values : names);
  if (setting == NULL)
    ss_problems_add (r->problems, r->path, line_of (r, GROUP, key), "unknown setting \"%s\"; %s",
                     key, hint);
  else if (!g_strv_contains (setting->values, value))
    ss_problems_add (r->problems, r->path, line_of (r, GROUP, key), "%s: \"%s\" is not known; %s",
                     key, value, hint);
  else
    G_STRUCT_MEMBER (char *, self, setting->offset) = g_steal_pointer (&value);
}

static void
read_keys (Reading *r, SsConfig *self)
{
  g_auto (GStrv) keys = NULL;
  g_autoptr (GError) error = NULL;

  if (!g_key_file_load_from_data (r->keys, r->text, r->length, G_KEY_FILE_NONE, &error))
    {
      ss_problems_add (r->problems, r->path, line_of_fault (r), "%s", error->message);
      return;
    }
  check_groups (r);
  keys = g_key_file_get_keys (r->keys, GROUP, NULL, NULL);
  for (char **key = keys; key != NULL && *key != NULL; key++)
    take_value (r, self, *key);
}

/* What is no file could be endless. */
static char *
read_text (const char *path, gsize *length, SsProblems *problems)
{
  char *text = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return NULL;
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    ss_problems_add (problems, path, 0, "is no file");
  else if (!g_file_get_contents (path, &text, length, NULL))
    ss_problems_add (problems, path, 0, "cannot be read");
  else if (*length > MAX_BYTES || strlen (text) != *length)
    {
      ss_problems_add (problems, path, 0, "is no text, or longer than %d bytes", MAX_BYTES);
      g_clear_pointer (&text, g_free);
    }
  return text;
}

gboolean
ss_config_load (SsConfig *self, GError **error)
{
  g_autofree char *path = g_build_filename (g_get_user_config_dir (), "stepsim", "config", NULL);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  Reading reading = { .path = path, .keys = keys, .problems = problems };
  g_autofree char *text = read_text (path, &reading.length, problems);

  *self = (SsConfig) { NULL };
  reading.text = text;
  if (text != NULL && *text != '\0')
    read_keys (&reading, self);
  if (ss_problems_settle (problems, error))
    return TRUE;
  ss_config_clear (self);
  return FALSE;
}
