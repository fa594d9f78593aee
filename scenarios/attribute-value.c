/* SPDX-License-Identifier: MIT */
#include "scenarios/attribute-value.h"

#include <math.h>

#include "hw/problems.h"
#include "hw/units.h"
#include "hw/xml-node.h"
#include "scenarios/scenario-private.h"

#define FIELD(type, attribute, scenario) (*(type *) ((char *) (scenario) + (attribute)->offset))
#define FIELD_OF(type, attribute, scenario)                                                        \
  (*(const type *) ((const char *) (scenario) + (attribute)->offset))

static gboolean
refuse_word (const char *text, char **words, char **problem)
{
  g_autofree char *known = ss_problems_suggest (text, (const char *const *) words);

  *problem = g_strdup_printf ("\"%s\" is not known; %s", text, known);
  g_strfreev (words);
  return FALSE;
}

/* ---- counts, flags and text ---- */

static gboolean
count_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  return ss_units_count (text, attribute->min, attribute->max, &FIELD (gint64, attribute, scenario),
                         problem);
}

static char *
count_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT, FIELD_OF (gint64, attribute, scenario));
}

static gboolean
small_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  gint64 count;

  if (!ss_units_count (text, attribute->min, attribute->max, &count, problem))
    return FALSE;
  FIELD (guint, attribute, scenario) = (guint) count;
  return TRUE;
}

static char *
small_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup_printf ("%u", FIELD_OF (guint, attribute, scenario));
}

/* The second word of the two stands for TRUE. */
static gboolean
flag_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  g_auto (GStrv) words = attribute->kind->words (attribute);

  if (!g_strv_contains ((const char *const *) words, text))
    return refuse_word (text, g_steal_pointer (&words), problem);
  FIELD (gboolean, attribute, scenario) = g_str_equal (text, words[1]);
  return TRUE;
}

static char *
flag_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  g_auto (GStrv) words = attribute->kind->words (attribute);

  return g_strdup (words[FIELD_OF (gboolean, attribute, scenario) ? 1 : 0]);
}

static gboolean
text_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  char **field = &FIELD (char *, attribute, scenario);

  /* names go into file headers and pictures, paths to the system: 4096 is its own limit */
  if (strlen (text) > (gsize) attribute->max)
    {
      *problem = g_strdup_printf ("a text of %" G_GSIZE_FORMAT " bytes; at most %" G_GINT64_FORMAT,
                                  strlen (text), attribute->max);
      return FALSE;
    }
  if (strlen (text) < (gsize) attribute->min)
    {
      *problem = g_strdup ("is empty");
      return FALSE;
    }
  g_free (*field);
  *field = g_strdup (text);
  return TRUE;
}

static char *
text_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup (FIELD_OF (char *, attribute, scenario));
}

/* The shortest decimal that reads back as the same number. */
char *
ss_number_print (double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint digits = 1; digits <= 17; digits++)
    {
      g_autofree char *format = g_strdup_printf ("%%.%ug", digits);

      g_ascii_formatd (text, sizeof text, format, number);
      if (!(g_ascii_strtod (text, NULL) < number) && !(g_ascii_strtod (text, NULL) > number))
        break;
    }
  return g_strdup (text);
}

/* ---- words of other rooms' lists ---- */

#define NAMED(stem, Type, list, member)                                                            \
  static char **stem##_words (G_GNUC_UNUSED const SsAttribute *attribute)                          \
  {                                                                                                \
    GStrvBuilder *builder = g_strv_builder_new ();                                                 \
    char **words;                                                                                  \
                                                                                                   \
    for (const Type *const *p = list (); *p; p++)                                                  \
      g_strv_builder_add (builder, (*p)->name);                                                    \
    words = g_strv_builder_end (builder);                                                          \
    g_strv_builder_unref (builder);                                                                \
    return words;                                                                                  \
  }                                                                                                \
                                                                                                   \
  static gboolean stem##_read (const SsAttribute *attribute, SsScenario *scenario,                 \
                               const char *text, char **problem)                                   \
  {                                                                                                \
    for (const Type *const *p = list (); *p; p++)                                                  \
      if (g_str_equal ((*p)->name, text))                                                          \
        {                                                                                          \
          scenario->member = *p;                                                                   \
          return TRUE;                                                                             \
        }                                                                                          \
    return refuse_word (text, stem##_words (attribute), problem);                                  \
  }                                                                                                \
                                                                                                   \
  static char *stem##_print (G_GNUC_UNUSED const SsAttribute *attribute,                           \
                             const SsScenario *scenario)                                           \
  {                                                                                                \
    return g_strdup (scenario->member->name);                                                      \
  }

NAMED (precision, SsPrecision, ss_precisions, config.precision)
NAMED (optimizer, SsOptimizer, ss_optimizers, config.optimizer)
NAMED (policy, SsCheckpointPolicy, ss_checkpoint_policies, config.checkpointing.policy)
NAMED (profile, SsKernelProfile, ss_kernel_profiles, profile)
NAMED (allocator, SsAllocatorClass, ss_allocator_classes, allocator)

/* Flags say FALSE by the first word and TRUE by the second. */
#define WORDS(stem, all)                                                                           \
  static char **stem##_words (G_GNUC_UNUSED const SsAttribute *attribute)                          \
  {                                                                                                \
    return g_strsplit (all, " ", -1);                                                              \
  }

WORDS (yes_no, "no yes")
WORDS (empty_cache, "none step")
WORDS (zero_grad, "none zero")
WORDS (adapter_dtype, "base fp32")
WORDS (grouping, "one decay")

static char **
device_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  return ss_data_list ("hw/devices");
}

static char **
implementation_words (G_GNUC_UNUSED const SsAttribute *attribute)
{
  char **words = g_new0 (char *, SS_N_IMPLEMENTATIONS + 1);

  for (guint i = 0; i < SS_N_IMPLEMENTATIONS; i++)
    words[i] = g_strdup (ss_implementation_name ((SsImplementation) i));
  return words;
}

/* ---- values with a rule of their own ---- */

static char *
layers_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT, scenario->config.model.n_layers);
}

static gboolean
capacity_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario, const char *text,
               char **problem)
{
  scenario->has_capacity = TRUE;
  if (g_str_equal (text, "unlimited"))
    {
      scenario->capacity_bytes = G_MAXINT64;
      return TRUE;
    }
  if (!ss_units_bytes (text, &scenario->capacity_bytes, problem))
    return FALSE;
  if (scenario->capacity_bytes == 0)
    {
      *problem = g_strdup ("0 bytes; wanted a size above 0, or unlimited");
      return FALSE;
    }
  return TRUE;
}

static char *
bytes_to_text (guint64 bytes)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT " B", bytes);
}

static char *
capacity_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  if (scenario->capacity_bytes == G_MAXINT64)
    return g_strdup ("unlimited");
  return bytes_to_text (scenario->capacity_bytes);
}

static gboolean
bytes_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  return ss_units_bytes (text, &FIELD (guint64, attribute, scenario), problem);
}

static char *
bytes_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  return bytes_to_text (FIELD_OF (guint64, attribute, scenario));
}

static gboolean
context_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario, const char *text,
              char **problem)
{
  scenario->has_context = TRUE;
  return ss_units_bytes (text, &scenario->context_bytes, problem);
}

static char *
context_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return bytes_to_text (scenario->context_bytes);
}

/* A decimal number; FALSE for anything else that strtod would take (hex, inf, nan, spaces). */
static gboolean
parse_number (const char *text, double *number)
{
  char *end;

  if (text[0] == '\0' || strspn (text, "0123456789.eE+-") != strlen (text))
    return FALSE;
  *number = g_ascii_strtod (text, &end);
  return *end == '\0' && isfinite (*number);
}

static gboolean
clip_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario, const char *text,
           char **problem)
{
  scenario->clip_grad_norm = 0;
  if (g_str_equal (text, "none"))
    return TRUE;
  if (parse_number (text, &scenario->clip_grad_norm) && scenario->clip_grad_norm > 0)
    {
      scenario->config.has_clip = TRUE;
      return TRUE;
    }
  *problem = g_strdup_printf ("\"%s\" is not a norm; wanted a number above 0, or none", text);
  return FALSE;
}

static char *
clip_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return scenario->config.has_clip ? ss_number_print (scenario->clip_grad_norm) : g_strdup ("none");
}

gboolean
ss_probability_read (const char *text, double otherwise, double *probability, char **problem)
{
  if (parse_number (text, probability) && *probability >= 0 && *probability < 1)
    return TRUE;
  *probability = otherwise;
  *problem
    = g_strdup_printf ("\"%s\" is not a probability; wanted a number from 0 to below 1", text);
  return FALSE;
}

static gboolean
dropout_read (G_GNUC_UNUSED const SsAttribute *attribute, SsScenario *scenario, const char *text,
              char **problem)
{
  return ss_probability_read (text, -1, &scenario->dropout, problem);
}

/* What the model type has; dropouts that differ have no one number that says them. */
static char *
dropout_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  const SsModelConfig *model = &scenario->config.model;
  const SsModelType *type = ss_model_type_find (model->model_type, NULL);
  g_autofree char *first = NULL;

  for (guint i = 0; i < type->n_fields; i++)
    if (type->fields[i].type == SS_FIELD_PROBABILITY)
      {
        double probability = *(const double *) ((const char *) model + type->fields[i].offset);
        g_autofree char *text = ss_number_print (probability);

        if (first && !g_str_equal (first, text))
          return NULL;
        if (!first)
          first = g_steal_pointer (&text);
      }
  return first ? g_steal_pointer (&first) : g_strdup ("0");
}

static gboolean
implementation_read (const SsAttribute *attribute, SsScenario *scenario, const char *text,
                     char **problem)
{
  g_auto (GStrv) words = attribute->kind->words (attribute);

  for (guint i = 0; i < SS_N_IMPLEMENTATIONS; i++)
    if (g_str_equal (words[i], text))
      {
        scenario->config.implementation = (SsImplementation) i;
        return TRUE;
      }
  return refuse_word (text, g_steal_pointer (&words), problem);
}

static char *
implementation_print (G_GNUC_UNUSED const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup (ss_implementation_name (scenario->config.implementation));
}

/* The profile stands before the single choices in the table, so that they override it. */
static gboolean
kernels_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  if (!profile_read (attribute, scenario, text, problem))
    return FALSE;
  scenario->config.kernels = scenario->profile->kernels;
  return TRUE;
}

static char **
choice_words (const SsAttribute *attribute)
{
  SsKernels kernels = { 0 };
  g_autofree char *known = NULL;

  ss_kernels_set (&kernels, attribute->name, "", &known);
  return g_strsplit (known, ", ", -1);
}

static gboolean
choice_read (const SsAttribute *attribute, SsScenario *scenario, const char *text, char **problem)
{
  g_autofree char *known = NULL;

  if (ss_kernels_set (&scenario->config.kernels, attribute->name, text, &known))
    return TRUE;
  return refuse_word (text, choice_words (attribute), problem);
}

static char *
choice_print (const SsAttribute *attribute, const SsScenario *scenario)
{
  return g_strdup (ss_kernels_get (&scenario->config.kernels, attribute->name));
}

/* ---- the kinds ---- */

const SsValueKind ss_value_count = { NULL, count_read, count_print };
const SsValueKind ss_value_small = { NULL, small_read, small_print };
const SsValueKind ss_value_text = { NULL, text_read, text_print };
const SsValueKind ss_value_yes_no = { yes_no_words, flag_read, flag_print };
const SsValueKind ss_value_empty_cache = { empty_cache_words, flag_read, flag_print };
const SsValueKind ss_value_zero_grad = { zero_grad_words, flag_read, flag_print };
const SsValueKind ss_value_layers = { NULL, count_read, layers_print };
const SsValueKind ss_value_device = { device_words, text_read, text_print };
const SsValueKind ss_value_capacity
  = { NULL, capacity_read, capacity_print, SS_BYTES_PATTERN "|unlimited" };
const SsValueKind ss_value_bytes = { NULL, bytes_read, bytes_print, SS_BYTES_PATTERN };
const SsValueKind ss_value_context = { NULL, context_read, context_print, SS_BYTES_PATTERN };
const SsValueKind ss_value_clip = { NULL, clip_read, clip_print };
const SsValueKind ss_value_dropout = { NULL, dropout_read, dropout_print };
const SsValueKind ss_value_precision = { precision_words, precision_read, precision_print };
const SsValueKind ss_value_optimizer = { optimizer_words, optimizer_read, optimizer_print };
const SsValueKind ss_value_implementation
  = { implementation_words, implementation_read, implementation_print };
const SsValueKind ss_value_grouping = { grouping_words, flag_read, flag_print };
const SsValueKind ss_value_policy = { policy_words, policy_read, policy_print };
const SsValueKind ss_value_profile = { profile_words, kernels_read, profile_print };
const SsValueKind ss_value_choice = { choice_words, choice_read, choice_print };
const SsValueKind ss_value_adapter_dtype = { adapter_dtype_words, flag_read, flag_print };
const SsValueKind ss_value_allocator = { allocator_words, allocator_read, allocator_print };
