/* SPDX-License-Identifier: MIT */
#include "scenarios/model-config.h"

#include <math.h>

/* Sizes that are wanted: whole, positive, below 2^31. */
#define MAX_SIZE G_MAXINT32
/* Far beyond any model; each layer costs us memory before the trace says that it is too long. */
#define MAX_LAYERS 10000

typedef struct
{
  SsModelConfig *config;
  const char *model_type;
  GHashTable *values;
  const char *file;
  gint line;
  char separator;
  SsProblems *problems;
} Resolving;

void
ss_config_value_free (SsConfigValue *value)
{
  if (!value)
    return;
  g_free (value->text);
  g_free (value);
}

GHashTable *
ss_config_values_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                (GDestroyNotify) ss_config_value_free);
}

static char *
shown_name (const Resolving *self, const char *name)
{
  return g_strdelimit (g_strdup (name), "_", self->separator);
}

static gint64 *
count_at (const Resolving *self, gsize offset)
{
  return (gint64 *) ((char *) self->config + offset);
}

static void
set_number (const Resolving *self, const SsConfigField *field, double number)
{
  void *target = (char *) self->config + field->offset;

  switch (field->type)
    {
    case SS_FIELD_COUNT:
      *(gint64 *) target = (gint64) number;
      break;
    case SS_FIELD_FLAG:
      *(gboolean *) target = number > 0;
      break;
    case SS_FIELD_PROBABILITY:
      *(double *) target = number;
      break;
    case SS_FIELD_ROPE:
      *(SsRopeType *) target = (SsRopeType) number;
      break;
    case SS_FIELD_WORD:
      if (field->offset)
        *(gint *) target = (gint) number;
      break;
    }
}

/* head_dim = hidden_size / num_attention_heads and the like: no rest may remain. */
static void
set_quotient (const Resolving *self, const SsConfigField *field)
{
  gint64 above = *count_at (self, field->offset_b), below = *count_at (self, field->offset_c);
  g_autofree char *name = shown_name (self, field->name);

  /* one of them is missing or wrong, which has been said */
  if (above == 0 || below == 0)
    return;
  if (above % below != 0)
    ss_problems_add (self->problems, self->file, self->line,
                     "%s is not given, and %" G_GINT64_FORMAT " / %" G_GINT64_FORMAT
                     " is not a whole number",
                     name, above, below);
  else
    *count_at (self, field->offset) = above / below;
}

/* What it means that the value is not there, or null. */
static void
set_by_rule (const Resolving *self, const SsConfigField *field, SsFieldAbsent rule, gint line,
             const char *how)
{
  g_autofree char *name = shown_name (self, field->name);

  switch (rule)
    {
    case SS_ABSENT_REQUIRED:
      ss_problems_add (self->problems, self->file, line, "%s %s; a %s model needs it", name, how,
                       self->model_type);
      break;
    case SS_ABSENT_CONSTANT:
      set_number (self, field, field->value);
      break;
    case SS_ABSENT_ZERO:
      set_number (self, field, 0);
      break;
    case SS_ABSENT_SAME_AS:
      *count_at (self, field->offset) = *count_at (self, field->offset_b);
      break;
    case SS_ABSENT_QUOTIENT:
      set_quotient (self, field);
      break;
    case SS_ABSENT_MULTIPLE:
      *count_at (self, field->offset) = (gint64) field->value * *count_at (self, field->offset_b);
      break;
    }
}

/* What was wanted instead of a value of that type; NULL if it is good. */
static const char *
fault_of (const Resolving *self, SsFieldType type, const SsConfigValue *value)
{
  switch (type)
    {
    case SS_FIELD_COUNT:
      return value->kind == SS_CONFIG_NUMBER && value->number >= 1 && value->number <= MAX_SIZE
                 && !(value->number < floor (value->number))
                 && !(value->number > floor (value->number))
               ? NULL
               : "a whole number from 1 to 2147483647";
    case SS_FIELD_FLAG:
      return value->kind == SS_CONFIG_FLAG ? NULL
             : self->separator == '-'      ? "yes or no"
                                           : "true or false";
    case SS_FIELD_PROBABILITY:
      return value->kind == SS_CONFIG_NUMBER && value->number >= 0 && value->number < 1
               ? NULL
               : "a probability from 0 to below 1";
    case SS_FIELD_WORD:
    case SS_FIELD_ROPE:
      break;
    }
  return NULL;
}

/* The word of a rope: stated as such, or the type within an object; NULL for an object without one.
 */
static const SsConfigValue *
rope_word (const Resolving *self, const char *name, const SsConfigValue *value)
{
  static const char *const members[] = { "rope_type", "type" };

  if (value->kind != SS_CONFIG_OTHER)
    return value;
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      g_autofree char *path = g_strdup_printf ("%s.%s", name, members[i]);
      const SsConfigValue *word = g_hash_table_lookup (self->values, path);

      if (word)
        return word;
    }
  return NULL;
}

/* "rope_scaling" of older files and "rope_parameters" of newer ones; an object without a type is
 * the default. */
static void
resolve_rope (const Resolving *self, const SsConfigField *field)
{
  static const char *const words[]
    = { [SS_ROPE_DEFAULT] = "default", [SS_ROPE_LLAMA3] = "llama3", NULL };
  const char *const names[] = { field->name, "rope_parameters" };

  set_number (self, field, field->value);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const SsConfigValue *value = g_hash_table_lookup (self->values, names[i]), *word;
      g_autofree char *shown = shown_name (self, names[i]), *known = NULL;

      if (!value || value->kind == SS_CONFIG_NULL || !(word = rope_word (self, names[i], value)))
        continue;
      for (guint type = 0; words[type]; type++)
        if (g_str_equal (words[type], word->text))
          {
            set_number (self, field, type);
            return;
          }
      known = ss_problems_suggest (word->text, words);
      ss_problems_add (self->problems, self->file, word->line, "%s: type %s is not known; %s",
                       shown, word->text, known);
      return;
    }
}

/* A word that the family's code does not follow, as another activation function, would make other
 * kernels than those that are traced. */
static void
resolve_word (const Resolving *self, const SsConfigField *field)
{
  const SsConfigValue *value = g_hash_table_lookup (self->values, field->name);
  g_autofree char *shown = shown_name (self, field->name), *known = NULL;

  for (guint i = 0; value && field->words[i]; i++)
    if (g_str_equal (field->words[i], value->text))
      {
        set_number (self, field, i);
        return;
      }
  if (!value)
    return;
  known = g_strjoinv (", ", (char **) field->words);
  ss_problems_add (self->problems, self->file, value->line,
                   "%s: %s is not modelled for %s; known: %s", shown, value->text,
                   self->model_type, known);
}

static void
resolve_field (const Resolving *self, const SsConfigField *field)
{
  const SsConfigValue *value = g_hash_table_lookup (self->values, field->name);
  g_autofree char *name = shown_name (self, field->name);
  const char *fault;

  if (field->type == SS_FIELD_ROPE)
    {
      resolve_rope (self, field);
      return;
    }
  if (field->type == SS_FIELD_WORD)
    {
      resolve_word (self, field);
      return;
    }
  if (!value || value->kind == SS_CONFIG_NULL)
    {
      set_by_rule (self, field, value ? field->null : field->absent,
                   value ? value->line : self->line, value ? "is null" : "is missing");
      return;
    }
  fault = fault_of (self, field->type, value);
  if (fault)
    ss_problems_add (self->problems, self->file, value->line, "%s: %s is not %s", name, value->text,
                     fault);
  else
    set_number (self, field, value->kind == SS_CONFIG_FLAG ? value->flag : value->number);
}

/* What no family can mean, whatever its rules made of the fields. */
static char *
fault_of_whole (const SsModelConfig *config)
{
  if (config->n_layers > MAX_LAYERS)
    return g_strdup_printf ("%" G_GINT64_FORMAT " layers; at most %d are traced", config->n_layers,
                            MAX_LAYERS);
  return NULL;
}

void
ss_model_config_resolve (SsModelConfig *config, const char *model_type, GHashTable *values,
                         const char *file, gint line, char separator, SsProblems *problems)
{
  const SsModelFamily *family = NULL;
  const SsModelType *type = ss_model_type_find (model_type, &family);
  guint n_before = ss_problems_count (problems);
  g_autofree char *known = NULL, *problem = NULL;
  Resolving self = { config, model_type, values, file, line, separator, problems };

  *config = (SsModelConfig) { 0 };
  if (!type)
    {
      known = ss_model_types_known ();
      ss_problems_add (problems, file, line, "model type \"%s\" is not known; known: %s",
                       model_type, known);
      return;
    }
  config->family = family;
  config->model_type = type->model_type;
  for (guint i = 0; i < type->n_fields; i++)
    resolve_field (&self, &type->fields[i]);
  if (ss_problems_count (problems) > n_before)
    return;
  if (!type->finish || type->finish (config, &problem))
    problem = fault_of_whole (config);
  if (problem)
    ss_problems_add (problems, file, line, "%s", problem);
}
