/* SPDX-License-Identifier: MIT */
#include "scenarios/trainer.h"

#include <string.h>

#include "scenarios/attribute.h"
#include "scenarios/scenario-source.h"
#include "scenarios/trainer-private.h"

void
ss_trainer_free (SsTrainer *self)
{
  if (self == NULL)
    return;
  g_free (self->model);
  g_strfreev (self->overrides);
  g_free (self->report);
  g_free (self);
}

/* ---- what was met ---- */

const char *
ss_taking_text (const SsTaking *self, const char *key)
{
  const SsSetting *setting = ss_settings_file_find (self->file, key);

  return setting != NULL && setting->kind != SS_SETTING_NULL && setting->kind != SS_SETTING_OTHER
             && !g_str_equal (setting->text, "auto")
           ? setting->text : NULL;
}

gboolean
ss_taking_is (const SsTaking *self, const char *key)
{
  return g_strcmp0 (ss_taking_text (self, key), "true") == 0;
}

/* ---- what is chosen ---- */

static const SsAttribute *
attribute_of (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", 2);

  return parts[0] != NULL && parts[1] != NULL ? ss_scenario_attribute_find (parts[0], parts[1])
                                              : NULL;
}

static gboolean
takes (const SsAttribute *attribute, const char *value)
{
  g_auto (GStrv) words = attribute->kind->words != NULL ? attribute->kind->words (attribute) : NULL;

  return words == NULL || g_strv_contains ((const char *const *) words, value);
}

void
ss_taking_refuse (SsTaking *self, const char *path, const char *why)
{
  g_hash_table_replace (self->refused, g_strdup (path), g_strdup (why));
}

static void
choose (SsTaking *self, const char *path, const char *value)
{
  char *key = g_strdup (path);

  if (!g_hash_table_contains (self->chosen, path))
    g_ptr_array_add (self->order, g_strdup (path));
  g_hash_table_replace (self->chosen, key, g_strdup (value));
  g_hash_table_remove (self->refused, path);
}

gboolean
ss_taking_set (SsTaking *self, const char *path, const char *values)
{
  const SsAttribute *attribute = attribute_of (path);
  g_auto (GStrv) candidates = g_strsplit (values, "|", -1);
  g_autofree char *why = NULL;

  for (char **value = candidates; attribute != NULL && *value != NULL; value++)
    if (takes (attribute, *value))
      {
        choose (self, path, *value);
        return TRUE;
      }
  why = attribute != NULL ? g_strdup_printf ("%s is not simulated", candidates[0])
                          : g_strdup ("it is not simulated");
  ss_taking_refuse (self, path, why);
  return FALSE;
}

void
ss_taking_set_default (SsTaking *self, const char *path, const char *values, const char *what)
{
  if (g_hash_table_contains (self->chosen, path) || g_hash_table_contains (self->refused, path))
    return;
  if (ss_taking_set (self, path, values))
    g_string_append_printf (self->defaults, "%s: not said, %s: %s -> %s=%s\n", self->file->path,
                            ss_trainer_kind_name (self->kind), what, path,
                            (char *) g_hash_table_lookup (self->chosen, path));
}

/* The word for the value in "true=yes false=no"; "" sets nothing, NULL: there is none.
 * (transfer full) */
static char *
word_for (const char *words, const char *value)
{
  g_auto (GStrv) pairs = g_strsplit (words, " ", -1);

  for (char **pair = pairs; *pair != NULL; pair++)
    {
      const char *equals = strchr (*pair, '=');
      gsize n = (gsize) (equals - *pair);

      if (strlen (value) == n && g_ascii_strncasecmp (*pair, value, n) == 0)
        return g_strdup (equals + 1);
    }
  return NULL;
}

static void
take (SsTaking *self, const SsTrainerRule *rule, const SsSetting *setting)
{
  g_autofree char *value = NULL, *why = NULL;

  if (rule->words == NULL)
    {
      ss_taking_set (self, rule->path, setting->text);
      return;
    }
  value = word_for (rule->words, setting->text);
  if (value != NULL && *value != '\0')
    ss_taking_set (self, rule->path, value);
  else if (value == NULL)
    {
      why = g_strdup_printf ("%s is not simulated", setting->text);
      ss_taking_refuse (self, rule->path, why);
    }
}

/* ---- whose file it is ---- */

static gboolean
has (const SsSettingsFile *file, const char *key)
{
  return ss_settings_file_find (file, key) != NULL;
}

static gboolean
is_torchtune (const SsSettingsFile *file)
{
  for (guint i = 0; i < file->settings->len; i++)
    if (g_str_has_suffix (((SsSetting *) g_ptr_array_index (file->settings, i))->key,
                          "._component_"))
      return TRUE;
  return FALSE;
}

/* FALSE: none of them is known to have such keys. */
static gboolean
find_kind (const SsSettingsFile *file, SsTrainerKind *kind)
{
  static const char *const deepspeed[]
    = { "train_micro_batch_size_per_gpu", "train_batch_size", "zero_optimization.stage" },
    *const factory[] = { "finetuning_type", "template", "cutoff_len", "stage" },
    *const hugging_face[] = { "per_device_train_batch_size", "output_dir", "learning_rate",
                              "gradient_checkpointing", "optim" };

  *kind = SS_TRAINER_TORCHTUNE;
  if (is_torchtune (file))
    return TRUE;
  *kind = SS_TRAINER_DEEPSPEED;
  for (guint i = 0; i < G_N_ELEMENTS (deepspeed); i++)
    if (has (file, deepspeed[i]))
      return TRUE;
  *kind = SS_TRAINER_AXOLOTL;
  if (has (file, "base_model") && !has (file, "model_name_or_path"))
    return TRUE;
  *kind = SS_TRAINER_LLAMA_FACTORY;
  for (guint i = 0; i < G_N_ELEMENTS (factory) && has (file, "model_name_or_path"); i++)
    if (has (file, factory[i]))
      return TRUE;
  *kind = SS_TRAINER_HUGGING_FACE;
  for (guint i = 0; i < G_N_ELEMENTS (hugging_face); i++)
    if (has (file, hugging_face[i]))
      return TRUE;
  return FALSE;
}

/* ---- what became of each line ---- */

static gboolean
is_off (const SsSetting *setting)
{
  static const char *const off[] = { "false", "0", "none", "no", "", NULL };

  return setting->kind == SS_SETTING_NULL || g_strv_contains (off, setting->text);
}

/* An optimizer's name says how it runs too. (transfer full) */
static char *
with_implementation (const SsTaking *self, const char *path, const char *value)
{
  static const char implementation[] = "optimizer/implementation";
  const char *how = g_hash_table_lookup (self->chosen, implementation);

  if (how == NULL || !g_str_equal (path, "optimizer/type"))
    return g_strdup_printf ("-> %s=%s", path, value);
  return g_strdup_printf ("-> %s=%s, %s=%s", path, value, implementation, how);
}

/* "-> training/steps=2", "left: ..." (transfer full) */
static char *
fate_of (const SsTaking *self, const SsSetting *setting, SsTrainer *out)
{
  const SsTrainerRule *rule = ss_trainer_rule_find (self->kind, setting->key);
  const char *path = rule != NULL ? rule->path : NULL;
  const char *value = path != NULL ? g_hash_table_lookup (self->chosen, path) : NULL;
  const char *refused = path != NULL ? g_hash_table_lookup (self->refused, path) : NULL;

  if (path != NULL && g_str_equal (path, "model/href"))
    {
      out->n_taken++;
      return g_strdup ("-> the model");
    }
  if (value != NULL && refused == NULL && !(rule->words != NULL && is_off (setting)))
    {
      out->n_taken++;
      return with_implementation (self, path, value);
    }
  out->n_left++;
  if (rule == NULL)
    return g_strdup ("left: stepsim does not know it");
  if (rule->kind == SS_RULE_LEFT)
    return g_strdup_printf ("left: %s", rule->why != NULL ? rule->why : "does not change a step");
  if (g_str_equal (setting->text, "auto"))
    return g_strdup ("left: the trainer fills it in");
  if (is_off (setting) || (rule->kind != SS_RULE_MATTERS && refused == NULL))
    return g_strdup ("left: changes nothing");
  out->n_that_matter++;
  return g_strdup_printf ("LEFT, THOUGH IT MATTERS: %s", refused != NULL ? refused : rule->why);
}

static char *
report_of (const SsTaking *self, SsTrainer *out)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->file->settings->len; i++)
    {
      const SsSetting *setting = g_ptr_array_index (self->file->settings, i);
      g_autofree char *fate = fate_of (self, setting, out),
                      *shown = g_strndup (setting->text, 60);

      /* a value is the file's own and may hold anything */
      for (char *p = shown; *p != '\0'; p++)
        if (g_ascii_iscntrl (*p))
          *p = ' ';
      if (!g_utf8_validate (shown, -1, NULL))
        *(char *) g_utf8_find_prev_char (shown, shown + strlen (shown)) = '\0';
      g_string_append_printf (text, "%s:%d: %s: %s%s%s\n", self->file->path, setting->line,
                              setting->key, shown, fate[0] == '-' ? " " : "; ", fate);
    }
  g_string_append (text, self->defaults->str);
  return g_string_free (text, FALSE);
}

/* ---- the model ---- */

static void
name_model (SsTaking *self)
{
  static const char *const keys[] = { "base_model", "model_name_or_path" };

  for (guint i = 0; i < G_N_ELEMENTS (keys) && self->model == NULL; i++)
    self->model = g_strdup (ss_taking_text (self, keys[i]));
}

/* "llama38b" of "meta-llama/Meta-Llama-3-8B-Instruct" and of "llama3-8b". */
static char *
bare_name (const char *name)
{
  static const char *const noise[] = { "meta", "hf", "instruct", "base", "chat", "v0.1", NULL };
  const char *slash = strrchr (name, '/');
  g_autofree char *lower = g_ascii_strdown (slash != NULL ? slash + 1 : name, -1);
  g_auto (GStrv) words = g_strsplit_set (lower, "-_", -1);
  GString *bare = g_string_new (NULL);

  for (char **word = words; *word != NULL; word++)
    for (const char *p = *word; *p != '\0' && !g_strv_contains (noise, *word); p++)
      if (g_ascii_isalnum (*p))
        g_string_append_c (bare, *p);
  return g_string_free (bare, FALSE);
}

char *
ss_trainer_find_model (const char *model)
{
  g_autofree char *config = g_build_filename (model, "config.json", NULL),
                  *wanted = bare_name (model);
  g_auto (GStrv) shipped = ss_scenario_source_models ();

  if (g_file_test (config, G_FILE_TEST_EXISTS) || g_file_test (model, G_FILE_TEST_IS_REGULAR))
    return g_strdup (model);
  for (char **name = shipped; *name != NULL; name++)
    {
      g_autofree char *bare = bare_name (*name);

      if (g_str_equal (bare, wanted))
        return g_strdup (*name);
    }
  return NULL;
}

/* ---- the whole ---- */

static char **
overrides_of (const SsTaking *self)
{
  GPtrArray *all = g_ptr_array_new ();

  for (guint i = 0; i < self->order->len; i++)
    {
      const char *path = g_ptr_array_index (self->order, i);

      g_ptr_array_add (all, g_strdup_printf ("%s=%s", path,
                                             (char *) g_hash_table_lookup (self->chosen, path)));
    }
  g_ptr_array_add (all, NULL);
  return (char **) g_ptr_array_free (all, FALSE);
}

SsTrainer *
ss_trainer_read (const char *path, SsProblems *problems)
{
  g_autoptr (SsSettingsFile) file = ss_settings_file_load (path, problems);
  SsTaking taking = { .file = file };
  SsTrainer *self;

  if (file == NULL)
    return NULL;
  if (!find_kind (file, &taking.kind))
    {
      ss_problems_add (problems, path, 0,
                       "is of no trainer that is known: Hugging Face TrainingArguments, Axolotl, "
                       "LLaMA-Factory, torchtune, DeepSpeed");
      return NULL;
    }
  taking.chosen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  taking.refused = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  taking.order = g_ptr_array_new_with_free_func (g_free);
  taking.defaults = g_string_new (NULL);
  for (guint i = 0; i < file->settings->len; i++)
    {
      const SsSetting *setting = g_ptr_array_index (file->settings, i);
      const SsTrainerRule *rule = ss_trainer_rule_find (taking.kind, setting->key);

      if (rule != NULL && rule->kind == SS_RULE_SET && setting->kind != SS_SETTING_NULL
          && !g_str_equal (setting->text, "auto"))
        take (&taking, rule, setting);
    }
  ss_taking_compose (&taking);
  name_model (&taking);
  self = g_new0 (SsTrainer, 1);
  self->kind = taking.kind;
  self->model = taking.model;
  self->overrides = overrides_of (&taking);
  self->report = report_of (&taking, self);
  g_string_free (taking.defaults, TRUE);
  g_ptr_array_unref (taking.order);
  g_hash_table_unref (taking.refused);
  g_hash_table_unref (taking.chosen);
  return self;
}
