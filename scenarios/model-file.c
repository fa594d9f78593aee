/* SPDX-License-Identifier: MIT */
#include "scenarios/model-file.h"

#include <string.h>

#include "hw/xml-node.h"
#include "scenarios/hf-config.h"

#define MAX_NAME_BYTES 200


/* A name fit for a line of a report: short and without control characters. */
static gboolean
is_usable_name (const char *name)
{
  if (!name || name[0] == '\0' || strlen (name) > MAX_NAME_BYTES)
    return FALSE;
  for (const char *p = name; *p; p++)
    if (g_ascii_iscntrl (*p))
      return FALSE;
  return TRUE;
}

char *
ss_model_file_name (const char *path)
{
  g_autofree char *whole = g_canonicalize_filename (path, NULL);
  g_autofree char *base = g_path_get_basename (whole);
  g_autofree char *folder = g_path_get_dirname (whole);
  g_autofree char *name = g_str_equal (base, "config.json") ? g_path_get_basename (folder) : NULL;
  const char *dot = strrchr (base, '.');

  if (name == NULL)
    name = g_strndup (base, dot != NULL ? (gsize) (dot - base) : strlen (base));
  return is_usable_name (name) && g_utf8_validate (name, -1, NULL) ? g_steal_pointer (&name)
                                                                   : g_strdup ("model");
}

/* ---- Hugging Face ---- */

/* The file of a quantized model: its base is smaller than any recipe's, and its layers run other
 * kernels. */
static void
refuse_quantized (GHashTable *values, const char *path, SsProblems *problems)
{
  const SsConfigValue *quantized = g_hash_table_lookup (values, "quantization_config");

  if (quantized && quantized->kind != SS_CONFIG_NULL)
    ss_problems_add (problems, path, quantized->line,
                     "quantization_config: quantized weights are not modelled; expected the config "
                     "of the model before it was quantized");
}

/* "llama" of "LlamaForCausalLM", if it is a type that is known. */
static const SsModelType *
type_of_architecture (const SsConfigValue *architecture)
{
  for (const SsModelFamily *const *family = ss_model_families (); *family; family++)
    for (guint i = 0; i < (*family)->n_types; i++)
      {
        const SsModelType *type = &(*family)->types[i];
        g_auto (GStrv) words = g_strsplit (type->model_type, "_", -1);
        g_autofree char *joined = g_strjoinv ("", words);
        gsize n = strlen (joined);

        if (g_ascii_strncasecmp (architecture->text, joined, n) == 0
            && g_ascii_isupper (architecture->text[n]))
          return type;
      }
  return NULL;
}

static gboolean
has_required_fields (const SsModelType *type, GHashTable *values)
{
  guint n_required = 0;

  for (guint i = 0; i < type->n_fields; i++)
    if (type->fields[i].absent == SS_ABSENT_REQUIRED && type->fields[i].type == SS_FIELD_COUNT)
      {
        if (!g_hash_table_contains (values, type->fields[i].name))
          return FALSE;
        n_required++;
      }
  return n_required > 0;
}

/* The line that is missing: as its architecture says, else every type whose fields these are.
 * (transfer full) */
static char *
line_to_add (GHashTable *values)
{
  const SsConfigValue *architecture = g_hash_table_lookup (values, "architectures.0");
  const SsModelType *named = architecture && architecture->kind == SS_CONFIG_TEXT
                               ? type_of_architecture (architecture) : NULL;
  GString *line = g_string_new (NULL);

  if (named)
    g_string_append_printf (line, "\"%s\"", named->model_type);
  for (const SsModelFamily *const *family = ss_model_families (); *family && !named; family++)
    for (guint i = 0; i < (*family)->n_types; i++)
      if (has_required_fields (&(*family)->types[i], values))
        g_string_append_printf (line, "%s\"%s\"", line->len ? " or " : "",
                                (*family)->types[i].model_type);
  if (line->len == 0)
    g_string_append (line, "is this a Hugging Face config?");
  else
    {
      g_string_prepend (line, "add the line \"model_type\": ");
      g_string_append_c (line, ',');
    }
  return g_string_free (line, FALSE);
}

static void
refuse_type (const SsConfigValue *type, GHashTable *values, const char *path, SsProblems *problems)
{
  g_autofree char *line = line_to_add (values);

  ss_problems_add (problems, path, type ? type->line : 0, "model_type %s; %s",
                   type ? "is no text" : "is missing", line);
}

static gboolean
load_json (const char *path, SsModelConfig *config, char **name, SsProblems *problems)
{
  guint n_before = ss_problems_count (problems);
  g_autoptr (GHashTable) values = ss_hf_config_load (path, problems);
  const SsConfigValue *type, *own_name;

  if (!values)
    return FALSE;
  type = g_hash_table_lookup (values, "model_type");
  if (!type || type->kind != SS_CONFIG_TEXT)
    {
      refuse_type (type, values, path, problems);
      return FALSE;
    }
  ss_model_config_resolve (config, type->text, values, path, 0, '_', problems);
  if (config->family)
    refuse_quantized (values, path, problems);
  own_name = g_hash_table_lookup (values, "_name_or_path");
  if (own_name && own_name->kind == SS_CONFIG_TEXT && is_usable_name (own_name->text))
    *name = g_strdup (own_name->text);
  else
    *name = ss_model_file_name (path);
  return ss_problems_count (problems) == n_before;
}

/* ---- model files of our own ---- */

/* A value as the attribute states it: a number, yes or no, or a text. */
static SsConfigValue *
value_of (char *text, gint line)
{
  SsConfigValue *value = g_new0 (SsConfigValue, 1);
  char *end;

  value->line = line;
  value->text = text;
  value->kind = SS_CONFIG_TEXT;
  if (g_str_equal (text, "yes") || g_str_equal (text, "no"))
    {
      value->kind = SS_CONFIG_FLAG;
      value->flag = g_str_equal (text, "yes");
    }
  else if (text[0] != '\0' && strspn (text, "0123456789.") == strlen (text))
    {
      value->number = g_ascii_strtod (text, &end);
      value->kind = *end == '\0' ? SS_CONFIG_NUMBER : SS_CONFIG_TEXT;
    }
  return value;
}

/* Refuses the attributes of `node` that are not among `known`. */
static void
check_attributes (const SsXmlNode *node, const char *const *known, SsProblems *problems)
{
  g_auto (GStrv) met = ss_xml_node_attributes (node);

  for (char **name = met; *name; name++)
    if (!g_strv_contains (known, *name))
      {
        g_autofree char *near = ss_problems_suggest (*name, known);

        ss_xml_node_problem (node, *name, problems, "<%s> has no attribute \"%s\"; %s",
                             ss_xml_node_name (node), *name, near);
      }
}

/* The attributes that <config> has for that model type: the family's fields, and where they come
 * from. */
static char **
config_attributes (const SsModelType *type)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < type->n_fields; i++)
    {
      g_autofree char *name = g_strdelimit (g_strdup (type->fields[i].name), "_", '-');

      g_strv_builder_add (builder, name);
    }
  g_strv_builder_add (builder, "source");
  return g_strv_builder_end (builder);
}

static void
read_config (const SsXmlDocument *document, const SsXmlNode *node, const char *model_type,
             SsModelConfig *config, SsProblems *problems)
{
  const SsModelType *type = ss_model_type_find (model_type, NULL);
  g_autoptr (GHashTable) values = ss_config_values_new ();
  g_auto (GStrv) known = type ? config_attributes (type) : NULL;

  if (type)
    check_attributes (node, (const char *const *) known, problems);
  for (guint i = 0; type && i < type->n_fields; i++)
    {
      char *text = ss_xml_node_get (node, known[i]);

      if (text)
        g_hash_table_replace (values, g_strdup (type->fields[i].name),
                              value_of (text, ss_xml_node_attribute_line (node, known[i])));
    }
  ss_model_config_resolve (config, model_type, values, ss_xml_document_path (document),
                           ss_xml_node_line (node), '-', problems);
}

static void
check_children (const SsXmlNode *root, SsProblems *problems)
{
  SsXmlNode *node = NULL, *first = ss_xml_node_child (root, "config");

  while ((node = ss_xml_node_next_child (root, node)))
    if (!g_str_equal (ss_xml_node_name (node), "config"))
      ss_xml_node_problem (node, NULL, problems, "element <%s> is not known; known: config",
                           ss_xml_node_name (node));
    else if (node != first)
      ss_xml_node_problem (node, NULL, problems, "a second <config>; the first is on line %d",
                           ss_xml_node_line (first));
}

static gboolean
load_xml (const char *path, SsModelConfig *config, char **name, SsProblems *problems)
{
  static const char *const attributes[] = { "name", "type", "source", NULL };
  guint n_before = ss_problems_count (problems);
  g_autoptr (SsXmlDocument) document = ss_xml_document_open (path, "model", NULL, problems);
  SsXmlNode *root = document ? ss_xml_document_root (document) : NULL;
  SsXmlNode *node = root ? ss_xml_node_child (root, "config") : NULL;
  g_autofree char *type = root ? ss_xml_node_get (root, "type") : NULL;

  if (!document)
    return FALSE;
  check_attributes (root, attributes, problems);
  check_children (root, problems);
  if (!node)
    ss_xml_node_problem (root, NULL, problems, "<config> is missing");
  if (!type)
    ss_xml_node_problem (root, NULL, problems, "type is missing in <model>");
  if (type && node)
    read_config (document, node, type, config, problems);
  *name = ss_xml_node_get (root, "name");
  if (!is_usable_name (*name))
    {
      if (*name)
        ss_xml_node_problem (root, "name", problems,
                             "name: wanted 1 to %d bytes without control characters",
                             MAX_NAME_BYTES);
      g_free (*name);
      *name = ss_model_file_name (path);
    }
  if (ss_problems_count (problems) == n_before)
    ss_xml_document_validate (document, "scenarios/model.xsd", problems);
  return ss_problems_count (problems) == n_before;
}

gboolean
ss_model_file_load (const char *path, SsModelConfig *config, char **name, SsProblems *problems)
{
  *name = NULL;
  if (g_str_has_suffix (path, ".json"))
    return load_json (path, config, name, problems);
  if (g_str_has_suffix (path, ".xml"))
    return load_xml (path, config, name, problems);
  ss_problems_add (problems, path, 0,
                   "is no model file: wanted a model file that ends in .xml or a Hugging Face "
                   "config that ends in .json");
  return FALSE;
}
