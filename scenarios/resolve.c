/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hw/data-path.h"
#include "scenarios/loading-private.h"
#include "scenarios/model-file.h"

/* Without sequence-length: the model's positions, but no more than this (DESIGN section 7). */
#define MAX_DEFAULT_SEQUENCE 8192

/* ---- files ---- */

static gboolean
is_same_file (const char *a, const char *b)
{
  g_autofree char *whole_a = g_canonicalize_filename (a, NULL),
                  *whole_b = g_canonicalize_filename (b, NULL);

  return g_str_equal (whole_a, whole_b);
}

/* "; near: models/llama3-8b.xml", or nothing: which shipped model an href may have meant, as an
 * href names it. (transfer full) */
static char *
near_models (const char *href)
{
  static const char prefix[] = "near: ";
  g_auto (GStrv) known = ss_data_list ("scenarios/models"), near = NULL;
  g_autofree char *name = g_path_get_basename (href), *hint = NULL;
  GString *text = g_string_new (NULL);

  if (g_str_has_suffix (name, ".xml"))
    name[strlen (name) - strlen (".xml")] = '\0';
  /* the name that `stepsim list models` prints, which is no href yet */
  hint = g_strv_contains ((const char *const *) known, name)
           ? g_strconcat (prefix, name, NULL)
           : ss_problems_suggest (name, (const char *const *) known);
  near = g_str_has_prefix (hint, prefix) ? g_strsplit (hint + strlen (prefix), ", ", -1) : NULL;
  for (char **model = near; model && *model; model++)
    g_string_append_printf (text, "%smodels/%s.xml", model == near ? "; near: " : ", ", *model);
  return g_string_free (text, FALSE);
}

static void
refuse_href (SsLoading *self, const char *element, const char *href, const char *beside)
{
  g_autofree char *hint = NULL;

  if (!g_str_equal (element, "model"))
    {
      ss_loading_problem (self, element, "href", "href: there is no file \"%s\"", beside);
      return;
    }
  hint = near_models (href);
  ss_loading_problem (self, element, "href",
                      "href: there is no file \"%s\", and no shipped model of that name%s", beside,
                      hint);
}

/* Where an href of the element points: beside the scenario; if it was an override, from the current
 * folder; for a model, among the shipped ones.  NULL with the problem added. */
static char *
find_file (SsLoading *self, const char *element, const char *href)
{
  g_autofree char *beside = ss_xml_document_resolve (self->document, href);
  g_autofree char *name = g_build_filename ("scenarios", href, NULL);
  g_autofree char *shipped = g_str_equal (element, "model") ? ss_data_find (name) : NULL;

  if (!self->is_around_model && is_same_file (beside, ss_xml_document_path (self->document)))
    {
      ss_loading_problem (self, element, "href",
                          "href: \"%s\" is this scenario itself; wanted a file of the %s", href,
                          element);
      return NULL;
    }
  if (g_file_test (beside, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&beside);
  if (ss_loading_override (self, element, "href") && g_file_test (href, G_FILE_TEST_EXISTS))
    return g_strdup (href);
  if (shipped)
    return g_steal_pointer (&shipped);
  refuse_href (self, element, href, beside);
  return NULL;
}

/* An href that finds the same file from anywhere: as it was for a shipped one, else the whole path.
 */
static char *
lasting_href (const char *href, const char *path)
{
  g_autofree char *name = g_build_filename ("scenarios", href, NULL);
  g_autofree char *shipped = ss_data_find (name);

  if (shipped && is_same_file (shipped, path))
    return g_strdup (href);
  return g_canonicalize_filename (path, NULL);
}

static void
replace_href (char **href, const char *path)
{
  char *lasting = lasting_href (*href, path);

  g_free (*href);
  *href = lasting;
}

/* ---- model ---- */

static void
cut_layers (SsLoading *self)
{
  SsScenario *scenario = self->scenario;
  gint64 *n_layers = &scenario->config.model.n_layers;

  scenario->n_layers_whole = *n_layers;
  if (scenario->n_layers_kept > *n_layers)
    ss_loading_problem (self, "model", "layers",
                        "layers: %" G_GINT64_FORMAT " of a model that has %" G_GINT64_FORMAT,
                        scenario->n_layers_kept, *n_layers);
  else if (scenario->n_layers_kept > 0)
    *n_layers = scenario->n_layers_kept;
}

/* Sets every probability that the model type has. */
static void
set_dropout (SsLoading *self)
{
  SsScenario *scenario = self->scenario;
  SsModelConfig *model = &scenario->config.model;
  const SsModelType *type = ss_model_type_find (model->model_type, NULL);
  guint n_set = 0;

  if (scenario->dropout < 0)
    return;
  for (guint i = 0; i < type->n_fields; i++)
    if (type->fields[i].type == SS_FIELD_PROBABILITY)
      {
        *(double *) ((char *) model + type->fields[i].offset) = scenario->dropout;
        n_set++;
      }
  if (n_set == 0 && scenario->dropout > 0)
    ss_loading_problem (self, "training", "dropout", "dropout: a %s model has none",
                        model->model_type);
}

static gboolean
resolve_model (SsLoading *self)
{
  SsScenario *scenario = self->scenario;
  g_autofree char *path = NULL;

  if (!scenario->model_href)
    return FALSE;
  path = find_file (self, "model", scenario->model_href);
  if (path && g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      ss_loading_problem (self, "model", "href",
                          "href: \"%s\" is a folder; wanted a model file (.xml) or a Hugging Face "
                          "config (.json)",
                          path);
      return FALSE;
    }
  if (!path
      || !ss_model_file_load (path, &scenario->config.model, &scenario->model_name, self->problems))
    return FALSE;
  replace_href (&scenario->model_href, path);
  cut_layers (self);
  set_dropout (self);
  return TRUE;
}

/* ---- device ---- */

/* A message of the device's reader: its lines begin with the device's own file and line, or say
 * what the name was. */
static void
add_device_problem (SsLoading *self, const char *attribute, const char *path, const GError *error)
{
  g_auto (GStrv) lines = g_strsplit (error->message, "\n", -1);

  for (char **line = lines; *line; line++)
    {
      char *rest = path && g_str_has_prefix (*line, path) ? *line + strlen (path) : NULL;
      gint64 number = rest && *rest == ':' ? g_ascii_strtoll (rest + 1, &rest, 10) : 0;

      if (rest && g_str_has_prefix (rest, ": "))
        ss_problems_add (self->problems, path, (gint) number, "%s", rest + 2);
      else
        ss_loading_problem (self, "hardware", attribute, "%s", *line);
    }
}

static void
load_device (SsLoading *self)
{
  SsScenario *scenario = self->scenario;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;

  if (scenario->device_href)
    {
      path = find_file (self, "hardware", scenario->device_href);
      if (!path)
        return;
      scenario->device = ss_device_load_file (path, &error);
      replace_href (&scenario->device_href, path);
    }
  else if (strchr (scenario->device_name, '/') || g_str_has_suffix (scenario->device_name, ".xml"))
    ss_loading_problem (self, "hardware", "device", "device: \"%s\" is a file; name it with href",
                        scenario->device_name);
  else
    scenario->device = ss_device_load (scenario->device_name, &error);
  if (error)
    add_device_problem (self, scenario->device_href ? "href" : "device", path, error);
}

/* Of device and href an override takes the place of what the file says. */
static gboolean
choose_device (SsLoading *self)
{
  SsScenario *scenario = self->scenario;

  if (scenario->device_name && scenario->device_href)
    {
      if (ss_loading_override (self, "hardware", "device")
          && !ss_loading_override (self, "hardware", "href"))
        g_clear_pointer (&scenario->device_href, g_free);
      else if (ss_loading_override (self, "hardware", "href")
               && !ss_loading_override (self, "hardware", "device"))
        g_clear_pointer (&scenario->device_name, g_free);
      else
        ss_loading_problem (self, "hardware", "href",
                            "device and href both name the hardware; wanted one of them");
    }
  else if (!scenario->device_name && !scenario->device_href
           && ss_loading_element (self, "hardware"))
    ss_loading_problem (self, "hardware", "device",
                        self->is_around_model
                          ? "no device is given; wanted --device=NAME (stepsim list devices)"
                          : "<hardware> has neither device nor href");
  return (scenario->device_name != NULL) != (scenario->device_href != NULL);
}

static void
resolve_device (SsLoading *self)
{
  SsScenario *scenario = self->scenario;

  if (!choose_device (self))
    return;
  load_device (self);
  if (!scenario->device)
    return;
  if (!scenario->has_capacity)
    scenario->capacity_bytes = ss_device_capacity_bytes (scenario->device);
  if (!scenario->has_context)
    scenario->context_bytes = ss_device_context_bytes (scenario->device);
  if (ss_size_add (scenario->context_bytes, scenario->other_processes_bytes)
          >= scenario->capacity_bytes
      && scenario->capacity_bytes > 0)
    ss_loading_problem (self, "hardware", scenario->has_context ? "context" : "capacity",
                        "context and other-processes: %" G_GUINT64_FORMAT
                        " B leave nothing of a capacity of %" G_GUINT64_FORMAT " B",
                        ss_size_add (scenario->context_bytes, scenario->other_processes_bytes),
                        scenario->capacity_bytes);
}

/* ---- what depends on more than one value ---- */

static void
check_sequence (SsLoading *self)
{
  SsTraceConfig *config = &self->scenario->config;
  gint64 positions = config->model.max_position_embeddings;

  if (config->sequence_length == 0)
    config->sequence_length = MIN (positions, MAX_DEFAULT_SEQUENCE);
  else if (config->model.family->has_learned_positions && config->sequence_length > positions)
    ss_loading_problem (self, "training", "sequence-length",
                        "sequence-length: %" G_GINT64_FORMAT
                        " of a model that has learned %" G_GINT64_FORMAT " positions",
                        config->sequence_length, positions);
}

static gboolean
is_stated (const SsLoading *self, const char *element, const char *attribute)
{
  const SsXmlNode *node = ss_loading_element (self, element);
  g_autofree char *value = node ? ss_xml_node_get (node, attribute) : NULL;

  return value != NULL;
}

/* Where nothing is said, the default is the optimizer's own. */
static void
check_optimizer (SsLoading *self)
{
  SsTraceConfig *config = &self->scenario->config;
  const char *blamed = "implementation";
  g_autoptr (GString) known = g_string_new (NULL);
  guint implementations;

  if (!config->optimizer)
    return;
  if (!is_stated (self, "optimizer", "implementation"))
    {
      config->implementation = config->optimizer->by_default;
      return;
    }
  implementations = ss_optimizer_implementations (config->optimizer);
  if (implementations & 1u << config->implementation)
    return;
  for (guint i = 0; i < SS_N_IMPLEMENTATIONS; i++)
    if (implementations & 1u << i)
      g_string_append_printf (known, "%s%s", known->len ? ", " : "",
                              ss_implementation_name ((SsImplementation) i));
  if (!ss_loading_override (self, "optimizer", "implementation")
      && ss_loading_override (self, "optimizer", "type"))
    blamed = "type";
  ss_loading_problem (self, "optimizer", blamed, "%s: %s has no %s implementation; known: %s",
                      blamed, config->optimizer->name,
                      ss_implementation_name (config->implementation), known->str);
}

/* The linears that an adapter takes where nothing is said, or all. (transfer full) */
static char **
family_targets (const SsModelFamily *family, gboolean all)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (const SsLinearName *l = family->linears; l->target; l++)
    if (l->is_default || all)
      g_strv_builder_add (builder, l->target);
  return g_strv_builder_end (builder);
}

/* peft's "all-linear" is every linear but the head. */
static gboolean
is_all_linear (char **targets)
{
  return targets[0] && !targets[1] && g_str_equal (targets[0], "all-linear");
}

/* bitsandbytes' Linear4bit replaces nn.Linear alone. */
static void
check_quantised (SsLoading *self)
{
  const SsTraceConfig *config = &self->scenario->config;
  const SsAdapter *a = &config->adapter;

  if (!a->is_quantised && (a->is_double_quantised || a->prepares_kbit))
    ss_loading_problem (self, "adapter", a->is_double_quantised ? "double-quant" : "prepare-kbit",
                        "%s: of a qlora adapter only",
                        a->is_double_quantised ? "double-quant" : "prepare-kbit");
  if (!a->is_quantised)
    return;
  if (g_str_equal (config->model.model_type, "gpt2"))
    ss_loading_problem (self, "adapter", "type",
                        "type: qlora packs nn.Linear, and GPT-2's linears are Conv1D; known: lora");
  if (!g_str_equal (config->precision->name, "bf16"))
    ss_loading_problem (self, "precision", "recipe",
                        "recipe: qlora computes in bf16 without autocast; wanted bf16, not %s",
                        config->precision->name);
}

static void
check_adapter (SsLoading *self)
{
  SsTraceConfig *config = &self->scenario->config;
  const SsModelFamily *family = config->model.family;
  char **targets;

  if (!config->adapter.type)
    return;
  check_quantised (self);
  if (!config->adapter.targets || is_all_linear (config->adapter.targets))
    {
      targets = family_targets (family, config->adapter.targets != NULL);
      g_strfreev (config->adapter.targets);
      config->adapter.targets = targets;
    }
  targets = config->adapter.targets;
  for (guint i = 0; targets[i]; i++)
    {
      g_autofree char *known = ss_family_linears_known (family);
      const SsLinearName *linear = ss_family_linear (family, targets[i]);

      if (!linear)
        ss_loading_problem (self, "adapter", "targets",
                            "targets: \"%s\" is no linear of a %s model; known: %s", targets[i],
                            config->model.model_type, known);
      for (guint j = 0; j < i; j++)
        if (linear && ss_family_linear (family, targets[j]) == linear)
          ss_loading_problem (self, "adapter", "targets", "targets: \"%s\" stands there twice",
                              targets[i]);
    }
}

/* The allocator is the one who knows its options. */
static void
check_allocator (SsLoading *self)
{
  const SsScenario *scenario = self->scenario;
  SsAllocatorSettings settings = { .capacity_bytes = G_MAXINT64, .conf = scenario->alloc_conf };
  g_autoptr (GError) error = NULL;
  g_autoptr (SsAllocator) allocator = NULL;

  if (!scenario->allocator || !scenario->alloc_conf)
    return;
  allocator = ss_allocator_new (scenario->allocator, &settings, &error);
  if (!allocator)
    ss_loading_problem (self, "allocator", "alloc-conf", "alloc-conf: %s", error->message);
}

static void
check_input (SsLoading *self)
{
  const SsScenario *scenario = self->scenario;

  if (scenario->config.input.is_from_host && scenario->device
      && !ss_device_has_host_link (scenario->device))
    ss_loading_problem (self, "input", "pinned",
                        "input: the device file of %s has no host-link, so that copies cannot be "
                        "timed; wanted one, or no input", ss_device_name (scenario->device));
}

void
ss_loading_resolve (SsLoading *self)
{
  SsScenario *scenario = self->scenario;
  g_autofree char *base = g_path_get_basename (scenario->path);

  if (!scenario->name)
    scenario->name = g_str_has_suffix (base, ".xml")
                       ? g_strndup (base, strlen (base) - strlen (".xml"))
                       : g_steal_pointer (&base);
  resolve_device (self);
  check_input (self);
  check_optimizer (self);
  check_allocator (self);
  ss_loading_check_capability (self);
  ss_loading_resolve_running (self);
  ss_loading_choose_policy (self);
  if (!resolve_model (self))
    return;
  check_sequence (self);
  check_adapter (self);
  ss_loading_check_policy (self);
}
