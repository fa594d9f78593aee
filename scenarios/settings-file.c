/* SPDX-License-Identifier: MIT */
#include "scenarios/settings-file.h"

#include <string.h>
#include <yaml.h>

#include "scenarios/text-file.h"

typedef struct
{
  yaml_parser_t parser;
  SsSettingsFile *file;
  GHashTable *anchors;           /* char * -> SsSetting *: plain values alone */
  SsProblems *problems;
} Reader;

static void
setting_free (gpointer data)
{
  SsSetting *setting = data;

  if (setting == NULL)
    return;
  g_free (setting->key);
  g_free (setting->text);
  g_free (setting);
}

void
ss_settings_file_free (SsSettingsFile *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->settings);
  g_free (self->path);
  g_free (self);
}

const SsSetting *
ss_settings_file_find (const SsSettingsFile *self, const char *key)
{
  for (guint i = self->settings->len; i-- > 0;)
    {
      const SsSetting *setting = g_ptr_array_index (self->settings, i);

      if (g_str_equal (setting->key, key))
        return setting;
    }
  return NULL;
}

/* ---- events ---- */

static gint
line_of (const yaml_event_t *event)
{
  return (gint) MIN (event->start_mark.line + 1, G_MAXINT32);
}

static gboolean
refuse (Reader *self, gint line, const char *what)
{
  ss_problems_add (self->problems, self->file->path, line, "%s", what);
  return FALSE;
}

/* FALSE with the problem added; an event that was read is to be deleted. */
static gboolean
next_event (Reader *self, yaml_event_t *event)
{
  if (yaml_parser_parse (&self->parser, event))
    return TRUE;
  ss_problems_add (self->problems, self->file->path,
                   (gint) MIN (self->parser.problem_mark.line + 1, G_MAXINT32),
                   "is not YAML: %s",
                   self->parser.problem != NULL ? self->parser.problem : "unknown fault");
  return FALSE;
}

/* ---- values ---- */

static gboolean
is_word_of (const char *text, const char *const *words)
{
  for (; *words != NULL; words++)
    if (g_ascii_strcasecmp (text, *words) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_number (const char *text)
{
  char *end;

  if (text[0] == '\0' || strspn (text, "+-.0123456789eE_") != strlen (text)
      || strpbrk (text, "0123456789") == NULL)
    return FALSE;
  g_ascii_strtod (text, &end);
  return *end == '\0';
}

/* What a plain value is, as YAML 1.1 has it, which Python's loader reads; what stands in quotes is
 * text. */
static void
settle_scalar (SsSetting *setting, const yaml_event_t *event)
{
  static const char *const yes[] = { "true", "yes", "on", NULL },
                           *const no[] = { "false", "no", "off", NULL },
                           *const null[] = { "null", "~", "none", "", NULL };
  const char *text = (const char *) event->data.scalar.value;
  gboolean is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

  setting->kind = SS_SETTING_TEXT;
  if (is_plain && (is_word_of (text, yes) || is_word_of (text, no)))
    {
      setting->kind = SS_SETTING_FLAG;
      setting->text = g_strdup (is_word_of (text, yes) ? "true" : "false");
      return;
    }
  if (is_plain && is_word_of (text, null))
    setting->kind = SS_SETTING_NULL;
  else if (is_plain && is_number (text))
    setting->kind = SS_SETTING_NUMBER;
  setting->text = g_strdup (setting->kind == SS_SETTING_NULL ? "null" : text);
}

static SsSetting *
setting_new (const char *key, gint line)
{
  SsSetting *setting = g_new0 (SsSetting, 1);

  setting->key = g_strdup (key);
  setting->line = line;
  return setting;
}

static gboolean
add (Reader *self, SsSetting *setting)
{
  g_ptr_array_add (self->file->settings, setting);
  return self->file->settings->len <= SS_SETTINGS_MAX_COUNT
         || refuse (self, setting->line, "has more than 5000 settings");
}

/* An alias stands for a plain value that an anchor named before it: so nothing multiplies. */
static gboolean
take_plain (Reader *self, const yaml_event_t *event, SsSetting *setting)
{
  const char *anchor = event->type == YAML_ALIAS_EVENT
                         ? (const char *) event->data.alias.anchor
                         : (const char *) event->data.scalar.anchor;

  if (event->type == YAML_ALIAS_EVENT)
    {
      const SsSetting *named = g_hash_table_lookup (self->anchors, anchor);

      if (named == NULL)
        return refuse (self, line_of (event), "has an alias of more than a plain value; write it "
                                              "out");
      setting->kind = named->kind;
      setting->text = g_strdup (named->text);
      return TRUE;
    }
  settle_scalar (setting, event);
  if (anchor != NULL)
    {
      SsSetting *kept = setting_new (setting->key, setting->line);

      kept->kind = setting->kind;
      kept->text = g_strdup (setting->text);
      g_hash_table_replace (self->anchors, g_strdup (anchor), kept);
    }
  return TRUE;
}

/* ---- nodes ---- */

static gboolean read_mapping (Reader *self, const char *prefix, guint depth);

/* Past the end of a list or mapping whose beginning has been read. */
static gboolean
skip_rest (Reader *self, guint depth)
{
  for (guint open = 1; open > 0;)
    {
      yaml_event_t event;

      if (!next_event (self, &event))
        return FALSE;
      if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT)
        open++;
      else if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
        open--;
      if (depth + open > SS_SETTINGS_MAX_DEPTH)
        {
          gint line = line_of (&event);

          yaml_event_delete (&event);
          return refuse (self, line, "is nested deeper than 32");
        }
      yaml_event_delete (&event);
    }
  return TRUE;
}

/* A list of plain values is their texts; any other is only said to be there. */
static gboolean
read_list (Reader *self, const char *key, gint line, guint depth)
{
  g_autoptr (GString) text = g_string_new (NULL);
  SsSetting *setting = setting_new (key, line);
  gboolean is_good = TRUE, is_plain = TRUE, is_at_end = FALSE;

  while (is_good && !is_at_end)
    {
      yaml_event_t event;
      SsSetting one = { 0 };

      if (!(is_good = next_event (self, &event)))
        break;
      is_at_end = event.type == YAML_SEQUENCE_END_EVENT;
      if (event.type == YAML_SCALAR_EVENT || event.type == YAML_ALIAS_EVENT)
        is_good = take_plain (self, &event, &one);
      else if (!is_at_end)
        {
          is_plain = FALSE;
          is_good = skip_rest (self, depth + 1);
        }
      if (one.text != NULL)
        g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", one.text);
      g_free (one.text);
      yaml_event_delete (&event);
    }
  setting->kind = is_plain ? SS_SETTING_LIST : SS_SETTING_OTHER;
  setting->text = g_strdup (is_plain ? text->str : "a list");
  return add (self, setting) && is_good;
}

static gboolean
read_value (Reader *self, const char *key, guint depth)
{
  yaml_event_t event;
  gboolean is_good = TRUE;
  gint line;

  if (!next_event (self, &event))
    return FALSE;
  line = line_of (&event);
  if (event.type == YAML_SCALAR_EVENT || event.type == YAML_ALIAS_EVENT)
    {
      SsSetting *setting = setting_new (key, line);

      is_good = take_plain (self, &event, setting);
      is_good = add (self, setting) && is_good;
    }
  else if (depth >= SS_SETTINGS_MAX_DEPTH)
    is_good = refuse (self, line, "is nested deeper than 32");
  else if (event.type == YAML_SEQUENCE_START_EVENT)
    is_good = read_list (self, key, line, depth + 1);
  else if (event.type == YAML_MAPPING_START_EVENT)
    is_good = read_mapping (self, key, depth + 1);
  yaml_event_delete (&event);
  return is_good;
}

/* The members of a mapping whose beginning has been read. */
static gboolean
read_mapping (Reader *self, const char *prefix, guint depth)
{
  for (;;)
    {
      yaml_event_t event;
      g_autofree char *key = NULL;

      if (!next_event (self, &event))
        return FALSE;
      if (event.type == YAML_SCALAR_EVENT)
        key = prefix != NULL ? g_strdup_printf ("%s.%s", prefix, event.data.scalar.value)
                             : g_strdup ((const char *) event.data.scalar.value);
      if (event.type != YAML_SCALAR_EVENT && event.type != YAML_MAPPING_END_EVENT)
        {
          gint line = line_of (&event);

          yaml_event_delete (&event);
          return refuse (self, line, "has a key that is no plain word");
        }
      yaml_event_delete (&event);
      if (key == NULL)
        return TRUE;
      if (!read_value (self, key, depth))
        return FALSE;
    }
}

/* Up to the first document, which must be a mapping. */
static gboolean
read_document (Reader *self)
{
  for (;;)
    {
      yaml_event_t event;
      yaml_event_type_t type;
      gint line;

      if (!next_event (self, &event))
        return FALSE;
      type = event.type;
      line = line_of (&event);
      yaml_event_delete (&event);
      if (type == YAML_MAPPING_START_EVENT)
        return read_mapping (self, NULL, 1);
      if (type == YAML_STREAM_END_EVENT)
        return refuse (self, 0, "has no settings");
      if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT)
        return refuse (self, line, "is no mapping of settings: wanted \"key: value\" lines or a "
                                   "JSON object");
    }
}

SsSettingsFile *
ss_settings_file_load (const char *path, SsProblems *problems)
{
  g_autofree char *text = ss_text_file_load (path, SS_SETTINGS_MAX_BYTES, problems);
  g_autoptr (SsSettingsFile) file = NULL;
  Reader reader = { .problems = problems };
  gboolean is_good;

  if (text == NULL)
    return NULL;
  reader.file = file = g_new0 (SsSettingsFile, 1);
  file->path = g_strdup (path);
  file->settings = g_ptr_array_new_with_free_func (setting_free);
  if (!yaml_parser_initialize (&reader.parser))
    {
      ss_problems_add (problems, path, 0, "cannot be read: no memory for its parser");
      return NULL;
    }
  reader.anchors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, setting_free);
  yaml_parser_set_input_string (&reader.parser, (const unsigned char *) text, strlen (text));
  yaml_parser_set_encoding (&reader.parser, YAML_UTF8_ENCODING);
  is_good = read_document (&reader);
  yaml_parser_delete (&reader.parser);
  g_hash_table_unref (reader.anchors);
  return is_good ? g_steal_pointer (&file) : NULL;
}
