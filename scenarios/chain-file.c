/* SPDX-License-Identifier: MIT */
#include "scenarios/chain-file.h"

#include <string.h>

#include "scenarios/json-source.h"

typedef struct
{
  const char *path;
  SsJsonSource *source;
  SsProblems *problems;
} Reader;

static void
named_schedule_free (gpointer data)
{
  SsNamedSchedule *self = data;

  g_free (self->name);
  ss_chain_schedule_free (self->schedule);
  g_free (self);
}

SsChainFile *
ss_chain_file_new (SsChain *chain, const char *unit, const char *time_unit)
{
  SsChainFile *self = g_new0 (SsChainFile, 1);

  self->chain = chain;
  self->unit = g_strdup (unit);
  self->time_unit = g_strdup (time_unit);
  self->schedules = g_ptr_array_new_with_free_func (named_schedule_free);
  return self;
}

void
ss_chain_file_free (SsChainFile *self)
{
  if (self == NULL)
    return;
  ss_chain_free (self->chain);
  g_free (self->mark);
  g_free (self->unit);
  g_free (self->time_unit);
  g_free (self->meta);
  g_ptr_array_unref (self->schedules);
  g_free (self);
}

static void G_GNUC_PRINTF (3, 4)
add_problem (const Reader *reader, const char *member, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  ss_problems_add (reader->problems, reader->path,
                   ss_json_source_line (reader->source, member), "%s: %s", member, text);
}

/* The member, or NULL if there is none or it is null. */
static JsonNode *
member (const Reader *reader, const char *name)
{
  JsonNode *node = json_object_get_member (reader->source->object, name);

  return node == NULL || JSON_NODE_HOLDS_NULL (node) ? NULL : node;
}

static gboolean
read_count (JsonNode *node, guint64 *value)
{
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64
      || json_node_get_int (node) < 0)
    return FALSE;
  *value = (guint64) json_node_get_int (node);
  return TRUE;
}

/* The list of that name if it has the wanted length; NULL, and said if it is there or wanted. */
static JsonArray *
list (const Reader *reader, const char *name, guint n_wanted, gboolean is_wanted)
{
  JsonNode *node = member (reader, name);

  if (node == NULL && is_wanted)
    add_problem (reader, name, "is missing");
  else if (node != NULL && !JSON_NODE_HOLDS_ARRAY (node))
    add_problem (reader, name, "is not a list");
  else if (node != NULL && json_array_get_length (json_node_get_array (node)) != n_wanted)
    add_problem (reader, name, "has %u elements; %u are wanted",
                 json_array_get_length (json_node_get_array (node)), n_wanted);
  else if (node != NULL)
    return json_node_get_array (node);
  return NULL;
}

/* Fills n numbers that lie `stride` bytes apart; they stay as they are if the list is not there. */
static void
read_numbers (const Reader *reader, const char *name, gboolean is_wanted, guint n, guint64 *out,
              gsize stride)
{
  JsonArray *numbers = list (reader, name, n, is_wanted);

  for (guint i = 0; numbers != NULL && i < n; i++)
    if (!read_count (json_array_get_element (numbers, i),
                     (guint64 *) (gpointer) ((char *) out + i * stride)))
      add_problem (reader, name, "element %u is not a whole number of 0 or more", i);
}

static char *
read_text (const Reader *reader, const char *name, const char *otherwise)
{
  JsonNode *node = member (reader, name);

  if (node == NULL)
    return g_strdup (otherwise);
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));
  add_problem (reader, name, "is not text");
  return NULL;
}

/* "llama" of "chains/llama.chain.json". */
static char *
name_of_path (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);

  if (g_str_has_suffix (base, ".json"))
    base[strlen (base) - strlen (".json")] = '\0';
  if (g_str_has_suffix (base, ".chain"))
    base[strlen (base) - strlen (".chain")] = '\0';
  return g_steal_pointer (&base);
}

/* As many as f has elements; 0 and said if that is no number of stages. */
static guint
read_n_stages (const Reader *reader)
{
  JsonNode *f = member (reader, "f"), *stated = member (reader, "n_stages");
  guint64 n, n_stated;

  if (f == NULL || !JSON_NODE_HOLDS_ARRAY (f))
    {
      add_problem (reader, "f", f == NULL ? "is missing" : "is not a list");
      return 0;
    }
  n = json_array_get_length (json_node_get_array (f));
  if (n < 1 || n > SS_CHAIN_MAX_STAGES)
    {
      add_problem (reader, "f", "has %" G_GUINT64_FORMAT " elements; a chain has 1 to %d stages",
                   n, SS_CHAIN_MAX_STAGES);
      return 0;
    }
  if (stated != NULL && (!read_count (stated, &n_stated) || n_stated != n))
    add_problem (reader, "n_stages", "is not the number of elements of f, %" G_GUINT64_FORMAT, n);
  return (guint) n;
}

static void
read_layers (const Reader *reader, SsChain *chain)
{
  guint64 range[2] = { chain->first_layer, chain->last_layer };

  read_numbers (reader, "layers", FALSE, 2, range, sizeof *range);
  if (range[0] < 1 || range[0] > range[1] || range[1] > chain->n_stages)
    {
      add_problem (reader, "layers", "is not a range of stages 1 to %u", chain->n_stages);
      return;
    }
  chain->first_layer = (guint) range[0];
  chain->last_layer = (guint) range[1];
}

static void
read_stages (const Reader *reader, SsChain *chain)
{
  guint n = chain->n_stages;
  SsChainStage *first = &chain->stages[1];
  gsize stride = sizeof *first;

  read_numbers (reader, "a", TRUE, n + 1, chain->boundary_bytes, sizeof (guint64));
  for (guint i = 0; i < n; i++)
    chain->gradient_bytes[i] = chain->boundary_bytes[i];
  read_numbers (reader, "d", FALSE, n + 1, chain->gradient_bytes, sizeof (guint64));
  read_numbers (reader, "w", TRUE, n, &first->saved_bytes, stride);
  read_numbers (reader, "f", TRUE, n, &first->forward_time, stride);
  for (guint i = 1; i <= n; i++)
    chain->stages[i].recompute_time = chain->stages[i].forward_time;
  read_numbers (reader, "fr", FALSE, n, &first->recompute_time, stride);
  read_numbers (reader, "b", TRUE, n, &first->backward_time, stride);
  read_numbers (reader, "tf", FALSE, n, &first->forward_bytes, stride);
  read_numbers (reader, "tb", FALSE, n, &first->backward_bytes, stride);
}

static void
read_schedule (const Reader *reader, JsonNode *node, guint index, GPtrArray *schedules)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  const char *name = NULL, *ops = NULL;
  g_autoptr (GError) error = NULL;
  SsChainSchedule *schedule;
  SsNamedSchedule *named;

  if (object != NULL)
    {
      name = json_object_get_string_member_with_default (object, "name", NULL);
      ops = json_object_get_string_member_with_default (object, "ops", NULL);
    }
  if (name == NULL || ops == NULL)
    {
      add_problem (reader, "schedules", "element %u has no name or no ops", index);
      return;
    }
  schedule = ss_chain_schedule_parse (ops, &error);
  if (schedule == NULL)
    {
      add_problem (reader, "schedules", "%s: %s", name, error->message);
      return;
    }
  named = g_new0 (SsNamedSchedule, 1);
  named->name = g_strdup (name);
  named->schedule = schedule;
  g_ptr_array_add (schedules, named);
}

static void
read_schedules (const Reader *reader, GPtrArray *schedules)
{
  JsonNode *node = member (reader, "schedules");
  JsonArray *array;

  if (node == NULL)
    return;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    {
      add_problem (reader, "schedules", "is not a list");
      return;
    }
  array = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (array); i++)
    read_schedule (reader, json_array_get_element (array, i), i, schedules);
}

static void
read_meta (const Reader *reader, SsChainFile *self)
{
  JsonNode *node = member (reader, "meta");

  if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
    self->meta = json_to_string (node, FALSE);
  else if (node != NULL)
    add_problem (reader, "meta", "is not an object");
}

static SsChainFile *
read_file (const Reader *reader)
{
  g_autofree char *stem = name_of_path (reader->path);
  g_autofree char *name = NULL, *unit = NULL, *time_unit = NULL;
  g_autoptr (GError) error = NULL;
  guint n = read_n_stages (reader);
  SsChainFile *self;

  if (n == 0)
    return NULL;
  name = read_text (reader, "name", stem);
  unit = read_text (reader, "unit", "B");
  time_unit = read_text (reader, "time_unit", "unit");
  self = ss_chain_file_new (ss_chain_new (name, n), unit, time_unit);
  self->mark = read_text (reader, "mark", NULL);
  read_meta (reader, self);
  read_layers (reader, self->chain);
  read_stages (reader, self->chain);
  read_schedules (reader, self->schedules);
  if (ss_problems_count (reader->problems) == 0 && !ss_chain_check (self->chain, &error))
    ss_problems_add (reader->problems, reader->path, 0, "%s", error->message);
  return self;
}

SsChainFile *
ss_chain_file_load (const char *path, GError **error)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsJsonSource) source
      = ss_json_source_load (path, SS_CHAIN_FILE_MAX_BYTES, problems);
  g_autoptr (SsChainFile) self = NULL;

  if (source != NULL)
    self = read_file (&(Reader) { path, source, problems });
  return ss_problems_settle (problems, error) ? g_steal_pointer (&self) : NULL;
}
