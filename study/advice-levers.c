/* SPDX-License-Identifier: MIT
 *
 * What can be changed about a run that is short of memory, as practitioners do it.
 */
#include "study/advice-private.h"

#include <string.h>

#include "hw/data-path.h"

/* Lengths of sequences are tried at eighths, but no finer or coarser than kernels like them. */
#define MIN_SEQUENCE_UNIT 128
#define MAX_SEQUENCE_UNIT 1024
/* What a replay takes of the time that trace and replay take. */
#define REPLAY_ALONE 0.3

static void
try_free (gpointer data)
{
  SsCandidateTry *self = data;

  g_strfreev (self->settings);
  g_free (self->what);
  g_free (self);
}

void
ss_candidate_free (SsCandidate *self)
{
  if (self == NULL)
    return;
  g_free (self->lever);
  g_ptr_array_unref (self->tries);
  g_free (self);
}

static SsCandidate *
candidate_new (const char *lever, SsAdviceChanges changes)
{
  SsCandidate *self = g_new0 (SsCandidate, 1);

  self->lever = g_strdup (lever);
  self->changes = changes;
  self->tries = g_ptr_array_new_with_free_func (try_free);
  return self;
}

/* Takes `what` and the settings, of which the second may be NULL. */
static SsCandidateTry *
add_try (SsCandidate *self, char *what, char *setting, char *second)
{
  SsCandidateTry *try = g_new0 (SsCandidateTry, 1);

  try->settings = g_new0 (char *, 3);
  try->settings[0] = setting;
  try->settings[1] = second;
  try->what = what;
  try->n_ops_factor = 1;
  g_ptr_array_add (self->tries, try);
  return try;
}

/* A candidate of one strength. */
static SsCandidate *
add (GPtrArray *all, const char *lever, SsAdviceChanges changes, const char *what,
     const char *setting, const char *second)
{
  SsCandidate *candidate = candidate_new (lever, changes);

  add_try (candidate, g_strdup (what), g_strdup (setting), g_strdup (second));
  g_ptr_array_add (all, candidate);
  return candidate;
}

/* One that has several, if it has any. */
static void
add_several (GPtrArray *all, SsCandidate *candidate)
{
  if (candidate->tries->len > 0)
    g_ptr_array_add (all, candidate);
  else
    ss_candidate_free (candidate);
}

/* ---- checkpoints ---- */

static gboolean
has_policy (const SsTraceConfig *config, const char *name)
{
  return g_str_equal (config->checkpointing.policy->name, name);
}

/* The first m layers, each by itself; all of them is a policy of its own. */
static void
try_layers (SsCandidate *candidate, guint m, guint n_layers)
{
  SsCandidateTry *try;

  if (m == n_layers)
    try = add_try (candidate, g_strdup ("every layer checkpointed"),
                   g_strdup ("checkpointing/policy=full"), NULL);
  else
    try = add_try (candidate, g_strdup_printf ("%u of %u layers checkpointed", m, n_layers),
                   g_strdup ("checkpointing/policy=block"),
                   g_strdup_printf ("checkpointing/layers=%u", m));
  /* a third of a step again, at most */
  try->n_ops_factor = 1.35;
}

static void
add_checkpoints (GPtrArray *all, const SsTraceConfig *config)
{
  SsCandidate *layers = candidate_new ("checkpointing", SS_ADVICE_CHANGES_NOTHING);
  guint n_layers = (guint) config->model.n_layers;
  guint first = has_policy (config, "block") ? config->checkpointing.n_block_layers + 1 : 1;

  if (!has_policy (config, "full"))
    for (guint m = first; m <= n_layers; m++)
      try_layers (layers, m, n_layers);
  add_several (all, layers);
  /* fewer inputs are kept, but more layers at a time are computed again */
  if (has_policy (config, "full") && n_layers > 1)
    add (all, "checkpointing", SS_ADVICE_CHANGES_NOTHING, "layers checkpointed in groups",
         "checkpointing/policy=sqrt", NULL);
  if (!has_policy (config, "none"))
    return;
  add (all, "selective checkpointing", SS_ADVICE_CHANGES_NOTHING,
       "norms and activation functions computed again", "checkpointing/policy=selective",
       "checkpointing/drop=norms activations");
  add (all, "selective checkpointing", SS_ADVICE_CHANGES_NOTHING,
       "all but matrix products computed again", "checkpointing/policy=selective",
       "checkpointing/keep=matmul");
}

SsCandidate *
ss_advice_fewer_checkpoints (const SsScenario *base)
{
  const SsTraceConfig *config = ss_scenario_trace_config (base);
  SsCandidate *candidate = candidate_new ("checkpointing", SS_ADVICE_CHANGES_NOTHING);
  guint n_layers = (guint) config->model.n_layers, end = n_layers;

  /* the optimal one is the fastest that fits already */
  if (has_policy (config, "none") || has_policy (config, "optimal"))
    return candidate;
  if (has_policy (config, "block"))
    end = MIN (config->checkpointing.n_block_layers, n_layers);
  if (end > 0)
    add_try (candidate, g_strdup ("no checkpoints"), g_strdup ("checkpointing/policy=none"), NULL);
  for (guint m = 1; m < end; m++)
    try_layers (candidate, m, n_layers);
  return candidate;
}

/* ---- kernels ---- */

static gboolean
are_equal (const SsKernels *a, const SsKernels *b)
{
  return a->norm == b->norm && a->rope == b->rope && a->mlp == b->mlp
         && a->attention == b->attention && a->loss == b->loss && a->is_compiled == b->is_compiled;
}

static void
add_kernels (GPtrArray *all, const SsTraceConfig *config)
{
  const SsKernels *kernels = &config->kernels;

  if (kernels->loss != SS_LOSS_FUSED_LINEAR)
    add (all, "kernels", SS_ADVICE_CHANGES_NOTHING, "loss fused with the head: no logits",
         "kernels/loss=fused-linear", NULL);
  if (!are_equal (kernels, &ss_kernel_profile_find ("liger")->kernels))
    add (all, "kernels", SS_ADVICE_CHANGES_NOTHING,
         "Liger's kernels: norm, rotation, MLP, fused loss", "kernels/profile=liger", NULL);
  if (kernels->attention == SS_ATTENTION_EAGER || kernels->attention == SS_ATTENTION_SDPA_MATH)
    add (all, "attention", SS_ADVICE_CHANGES_NOTHING, "attention fused: no scores are kept",
         "kernels/attention=sdpa", NULL);
  if (!kernels->is_compiled)
    add (all, "kernels", SS_ADVICE_CHANGES_NOTHING, "torch.compile of model and loss",
         "kernels/profile=compiled", NULL);
  if (kernels->loss == SS_LOSS_HF)
    add (all, "kernels", SS_ADVICE_CHANGES_NUMERICS, "loss on the logits' own type",
         "kernels/loss=direct", NULL)->is_alone = TRUE;
}

/* ---- the training loop ---- */

/* Options that change where blocks go, in the order in which PyTorch's notes name them; the first
 * is the one its own message recommends. */
static const struct
{
  const char *key, *option, *what;
} options[] = {
  { "expandable_segments", "expandable_segments:True",
    "expandable segments: memory not cut in pieces" },
  { "max_split_size_mb", "max_split_size_mb:512", "large blocks are not split" },
  { "max_split_size_mb", "max_split_size_mb:128", "blocks above 128 MiB are not split" },
  { "roundup_power2_divisions", "roundup_power2_divisions:8",
    "sizes rounded so that blocks can be used again" },
  { "garbage_collection_threshold", "garbage_collection_threshold:0.8",
    "idle segments given back before memory is full" },
};

static void
add_allocator (GPtrArray *all, const SsScenario *base)
{
  const char *conf = ss_scenario_alloc_conf (base);

  if (!g_str_equal (ss_scenario_allocator (base), "caching"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autofree char *setting
        = g_strconcat ("allocator/alloc-conf=", conf != NULL && *conf != '\0' ? conf : "",
                       conf != NULL && *conf != '\0' ? "," : "", options[i].option, NULL);

      if (conf == NULL || strstr (conf, options[i].key) == NULL)
        {
          SsCandidate *candidate = add (all, "allocator", SS_ADVICE_CHANGES_NOTHING,
                                        options[i].what, setting, NULL);

          candidate->is_alone = i > 0;
          ((SsCandidateTry *) g_ptr_array_index (candidate->tries, 0))->n_ops_factor = REPLAY_ALONE;
        }
    }
}

static void
add_loop (GPtrArray *all, const SsTraceConfig *config)
{
  if (config->holds_outputs)
    add (all, "outputs", SS_ADVICE_CHANGES_NOTHING, "outputs let go after the loss",
         "training/hold-outputs=no", NULL);
  if (config->zeroes_in_place)
    add (all, "gradients", SS_ADVICE_CHANGES_NOTHING, "gradients dropped after the update",
         "training/zero-grad=none", NULL);
  if (config->implementation != SS_FUSED && config->optimizer->update[SS_FUSED] != NULL)
    add (all, "update", SS_ADVICE_CHANGES_NOTHING, "update in fused kernels, no temporaries",
         "optimizer/implementation=fused", NULL);
  if (config->implementation == SS_FOREACH && config->optimizer->update[SS_FOR_LOOP] != NULL)
    add (all, "update", SS_ADVICE_CHANGES_NOTHING, "update parameter by parameter",
         "optimizer/implementation=for-loop", NULL);
}

/* As many tokens in a step, in more and smaller micro-batches. */
static void
add_micro_batches (GPtrArray *all, const SsTraceConfig *config)
{
  SsCandidate *candidate = candidate_new ("micro-batch", SS_ADVICE_CHANGES_NOTHING);
  gint64 max_accumulation = 4096;   /* as the scenario has it */

  for (gint64 parts = 2; parts <= config->micro_batch; parts++)
    {
      gint64 accumulation = parts * config->gradient_accumulation;

      if (config->micro_batch % parts != 0 || accumulation > max_accumulation)
        continue;
      add_try (candidate,
               g_strdup_printf ("%" G_GINT64_FORMAT " micro-batches of %" G_GINT64_FORMAT " a step",
                                accumulation, config->micro_batch / parts),
               g_strdup_printf ("training/micro-batch=%" G_GINT64_FORMAT,
                                config->micro_batch / parts),
               g_strdup_printf ("training/gradient-accumulation=%" G_GINT64_FORMAT, accumulation))
        ->n_ops_factor = (double) parts;
    }
  add_several (all, candidate);
}

/* ---- what is learned ---- */

static void
add_shorter (GPtrArray *all, const SsTraceConfig *config)
{
  SsCandidate *candidate = candidate_new ("sequence", SS_ADVICE_CHANGES_TRAINING);
  gint64 length = config->sequence_length, unit = MAX_SEQUENCE_UNIT;

  while (unit > MIN_SEQUENCE_UNIT && unit > length / 8)
    unit /= 2;
  for (gint64 shorter = (length - 1) / unit * unit, n = 0; shorter > 0 && n < 64;
       shorter -= MAX (unit, length / 64 / unit * unit), n++)
    add_try (candidate,
             g_strdup_printf ("sequences of %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT " tokens",
                              shorter, length),
             g_strdup_printf ("training/sequence-length=%" G_GINT64_FORMAT, shorter), NULL);
  add_several (all, candidate);
}

static void
add_precision (GPtrArray *all, const SsTraceConfig *config)
{
  const SsPrecision *now = config->precision;

  if (now->accumulates_f32)
    add (all, "precision", SS_ADVICE_CHANGES_NUMERICS, "gradients accumulated in bf16",
         "precision/recipe=bf16-mixed", NULL);
  if (g_str_equal (now->name, "fp32"))
    add (all, "precision", SS_ADVICE_CHANGES_NUMERICS, "autocast to bf16 over fp32 parameters",
         "precision/recipe=bf16-amp", NULL);
  if (!g_str_equal (now->name, "bf16"))
    add (all, "precision", SS_ADVICE_CHANGES_TRAINING,
         "pure bf16: no fp32 copy of the parameters", "precision/recipe=bf16", NULL);
}

static void
add_optimizer (GPtrArray *all, const SsTraceConfig *config, const char *name, gboolean is_alone,
               SsAdviceChanges changes, const char *what)
{
  const SsOptimizer *optimizer = ss_optimizer_find (name);
  g_autofree char *setting = g_strconcat ("optimizer/type=", name, NULL);
  g_autofree char *implementation = g_strconcat (
    "optimizer/implementation=", ss_implementation_name (optimizer->by_default), NULL);

  if (optimizer != config->optimizer)
    add (all, "optimizer", changes, what, setting,
         optimizer->by_default == config->implementation ? NULL : implementation)
      ->is_alone = is_alone;
}

static void
add_optimizers (GPtrArray *all, const SsTraceConfig *config)
{
  if (g_str_equal (config->optimizer->name, "sgd"))
    return;
  if (g_str_equal (config->optimizer->name, "adamw"))
    add_optimizer (all, config, "adamw-8bit", FALSE, SS_ADVICE_CHANGES_NUMERICS,
                   "8-bit AdamW: moments of one byte");
  /* of the plain ones a language model learns little: they are named, not built upon */
  add_optimizer (all, config, "adafactor", FALSE, SS_ADVICE_CHANGES_TRAINING,
                 "Adafactor: states of rows and columns only");
  if (!g_str_equal (config->optimizer->name, "adafactor"))
    add_optimizer (all, config, "momentum", TRUE, SS_ADVICE_CHANGES_TRAINING,
                   "SGD with momentum: one state a parameter");
  add_optimizer (all, config, "sgd", TRUE, SS_ADVICE_CHANGES_TRAINING,
                 "plain SGD: no optimizer states");
}

static void
add_adapter (GPtrArray *all, const SsTraceConfig *config)
{
  if (config->adapter.type == NULL && config->model.family->linears != NULL)
    add (all, "adapter", SS_ADVICE_CHANGES_TRAINING, "LoRA: adapters trained, all else frozen",
         "adapter/type=lora", NULL);
  if (!config->adapter.is_quantised && config->model.family->linears != NULL
      && g_str_equal (config->precision->name, "bf16") && !config->kernels.is_compiled
      && !g_str_equal (config->model.model_type, "gpt2"))
    add (all, "adapter", SS_ADVICE_CHANGES_TRAINING, "QLoRA: adapters over a base of 4 bits",
         "adapter/type=qlora", NULL);
}

/* ---- devices ---- */

static gint
compare_capacities (gconstpointer a, gconstpointer b)
{
  const SsDevice *x = *(SsDevice *const *) a, *y = *(SsDevice *const *) b;
  guint64 bytes_x = ss_device_capacity_bytes (x), bytes_y = ss_device_capacity_bytes (y);

  if (bytes_x != bytes_y)
    return bytes_x < bytes_y ? -1 : 1;
  return g_strcmp0 (ss_device_id (x), ss_device_id (y));
}

/* With more memory than the scenario's, the smallest first; one that does not read is left out. */
static GPtrArray *
larger_devices (guint64 capacity_bytes)
{
  GPtrArray *devices = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_device_unref);
  g_auto (GStrv) names = ss_data_list ("hw/devices");

  for (char **name = names; *name != NULL; name++)
    {
      SsDevice *device = ss_device_load (*name, NULL);

      if (device != NULL && ss_device_capacity_bytes (device) > capacity_bytes)
        g_ptr_array_add (devices, device);
      else if (device != NULL)
        ss_device_unref (device);
    }
  g_ptr_array_sort (devices, compare_capacities);
  return devices;
}

/* Where the scenario says how much memory there is, another device has no more. */
static void
add_devices (GPtrArray *all, const SsScenario *base)
{
  guint64 capacity_bytes = ss_scenario_capacity_bytes (base);
  SsCandidate *candidate = candidate_new ("device", SS_ADVICE_CHANGES_DEVICE);
  g_autoptr (GPtrArray) devices = NULL;

  if (capacity_bytes == ss_device_capacity_bytes (ss_scenario_device (base)))
    {
      devices = larger_devices (capacity_bytes);
      for (guint i = 0; i < devices->len; i++)
        add_try (candidate, g_strdup (ss_device_name (g_ptr_array_index (devices, i))),
                 g_strconcat ("hardware/device=", ss_device_id (g_ptr_array_index (devices, i)),
                              NULL), NULL);
    }
  add_several (all, candidate);
}

/* ---- all of them ---- */

GPtrArray *
ss_advice_candidates (const SsScenario *base)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_candidate_free);
  const SsTraceConfig *config = ss_scenario_trace_config (base);

  add_checkpoints (all, config);
  add_kernels (all, config);
  add_loop (all, config);
  add_allocator (all, base);
  add_micro_batches (all, config);
  add_precision (all, config);
  add_optimizers (all, config);
  add_devices (all, base);
  add_shorter (all, config);
  add_adapter (all, config);
  return all;
}

/* ---- two at once ---- */

static gboolean
share_a_path (char **a, char **b)
{
  for (char **x = a; *x != NULL; x++)
    for (char **y = b; *y != NULL; y++)
      {
        gsize length = strcspn (*x, "=");

        if (strncmp (*x, *y, length + 1) == 0)
          return TRUE;
      }
  return FALSE;
}

static char **
joined_settings (char **a, char **b)
{
  GPtrArray *all = g_ptr_array_new ();

  for (; *a != NULL; a++)
    g_ptr_array_add (all, g_strdup (*a));
  for (; *b != NULL; b++)
    g_ptr_array_add (all, g_strdup (*b));
  g_ptr_array_add (all, NULL);
  return (char **) g_ptr_array_free (all, FALSE);
}

/* "every layer checkpointed, pure bf16": what follows a colon is left to the one alone. */
static char *
joined_what (const char *a, const char *b)
{
  return g_strdup_printf ("%.*s, %.*s", (int) strcspn (a, ":"), a, (int) strcspn (b, ":"), b);
}

SsCandidate *
ss_candidate_join (const SsCandidate *first, const SsCandidate *second)
{
  const SsCandidate *fixed = first, *varied = second;
  const SsCandidateTry *strongest;
  g_autofree char *lever = g_strdup_printf ("%s, %s", first->lever, second->lever);
  SsCandidate *joined;

  if (second->tries->len == 1)
    {
      fixed = second;
      varied = first;
    }
  strongest = g_ptr_array_index (fixed->tries, fixed->tries->len - 1);
  if (first->is_alone || second->is_alone || g_str_equal (first->lever, second->lever)
      || share_a_path (strongest->settings,
                       ((SsCandidateTry *) g_ptr_array_index (varied->tries, 0))->settings))
    return NULL;
  joined = candidate_new (lever, MAX (first->changes, second->changes));
  for (guint i = 0; i < varied->tries->len; i++)
    {
      const SsCandidateTry *try = g_ptr_array_index (varied->tries, i);
      SsCandidateTry *both = g_new0 (SsCandidateTry, 1);

      both->settings = joined_settings (strongest->settings, try->settings);
      both->what = joined_what (strongest->what, try->what);
      both->n_ops_factor = strongest->n_ops_factor * try->n_ops_factor;
      g_ptr_array_add (joined->tries, both);
    }
  return joined;
}
