/* SPDX-License-Identifier: MIT */
#include "study/explain-private.h"

#define KIND(kind) (1u << SS_TENSOR_##kind)
/* Sizes that grow with the micro-batch and the sequence. */
#define OF_TOKENS                                                                                  \
  (KIND (LOGITS) | KIND (SCORES) | KIND (MASK) | KIND (ACTIVATION) | KIND (FLOW))
#define ANY (~0u)

/* So many are told. */
#define MAX_TOLD 6

/* What is tried for which kind of tensor. */
static const struct
{
  guint kinds;
  const char *setting;
  const char *why;
} changes[] = {
  { KIND (LOGITS), "kernels/loss=direct", "loss on the logits' own type" },
  { KIND (LOGITS), "kernels/loss=fused-linear", "head and loss as one kernel, in chunks" },
  { KIND (LOGITS), "kernels/loss=liger", "loss in one kernel, over its input" },
  { KIND (LOGITS), "kernels/profile=liger", "liger's kernels, head and loss fused" },
  { KIND (SCORES) | KIND (MASK), "kernels/attention=sdpa", "attention as PyTorch chooses" },
  { KIND (SCORES) | KIND (MASK), "kernels/attention=sdpa-flash", "attention in tiles" },
  { KIND (SCORES) | KIND (MASK), "kernels/attention=sdpa-efficient", "attention in tiles" },
  { KIND (SCORES) | KIND (ACTIVATION), "training/dropout=0", "no dropout" },
  { KIND (SCORES) | KIND (ACTIVATION) | KIND (FLOW), "checkpointing/policy=full",
    "layers computed again in backward" },
  { KIND (ACTIVATION) | KIND (FLOW), "kernels/norm=liger", "norms in one kernel" },
  { KIND (ACTIVATION) | KIND (FLOW), "kernels/mlp=liger", "gated activation in one kernel" },
  { KIND (ACTIVATION) | KIND (FLOW), "kernels/rope=liger", "rotation in place" },
  { KIND (ACTIVATION) | KIND (FLOW), "kernels/profile=liger", "liger's kernels" },
  { KIND (ACTIVATION) | KIND (FLOW), "kernels/profile=compiled", "torch.compile" },
  { KIND (UPDATE), "optimizer/implementation=fused", "update without temporaries" },
  { KIND (UPDATE), "optimizer/implementation=for-loop", "one parameter at a time" },
  { KIND (CLIP), "training/clip-grad-norm=none", "no clipping" },
  { KIND (STATE) | KIND (UPDATE), "optimizer/type=adafactor", "states of rows and columns" },
  { KIND (STATE) | KIND (GRADIENT) | KIND (UPDATE) | KIND (MASTER) | KIND (CLIP),
    "adapter/type=lora", "frozen weights beside small trained ones" },
  { ANY, "allocator/alloc-conf=expandable_segments:True", "segments that grow" },
  { ANY, "precision/recipe=bf16", "parameters, gradients and states in bf16" },
  { ANY, "precision/recipe=bf16-amp", "matrix products in bf16" },
};

/* ---- the same tensor in another run ---- */

static gboolean
is_same_thing (const SsRequest *a, const SsRequest *b)
{
  return a->kind == b->kind && g_strcmp0 (a->op_name, b->op_name) == 0
         && g_str_equal (a->module, b->module) && g_str_equal (a->phase, b->phase)
         && a->is_recompute == b->is_recompute && a->has_words == b->has_words
         && a->n_token_factors == b->n_token_factors;
}

/* Of several that are alike it is the one in the same place. */
static const SsRequest *
counterpart (const SsRequestTable *table, const SsRequest *request, const SsRequestTable *changed)
{
  const SsRequest *last = NULL;
  guint place = 0;

  for (guint i = 0; i < table->requests->len && table->requests->pdata[i] != request; i++)
    place += is_same_thing (table->requests->pdata[i], request);
  for (guint i = 0; i < changed->requests->len; i++)
    {
      const SsRequest *other = changed->requests->pdata[i];

      if (!is_same_thing (other, request))
        continue;
      last = other;
      if (place-- == 0)
        break;
    }
  return last;
}

static gboolean
has_that_number (const SsExplanation *explanation, const SsRequest *request)
{
  return ss_oom_message_fits (&explanation->message, request->bytes, request->segment_bytes);
}

/* The first of that kind and still of that number, whatever makes it now. */
static const SsRequest *
still_there (const SsExplanation *explanation, SsTensorKind kind, const SsRequestTable *changed)
{
  for (guint i = 0; i < changed->requests->len; i++)
    {
      const SsRequest *other = changed->requests->pdata[i];

      if (other->kind == kind && has_that_number (explanation, other))
        return other;
    }
  return NULL;
}

/* What to compare with: the same tensor, unless it has another number now and another has its. */
static const SsRequest *
find_now (const SsExplanation *explanation, const SsRequestTable *table,
          const SsRequest *request, const SsRequestTable *changed)
{
  const SsRequest *same = counterpart (table, request, changed);
  const SsRequest *other;

  if (same != NULL && has_that_number (explanation, same))
    return same;
  other = still_there (explanation, request->kind, changed);
  return other != NULL ? other : same;
}

/* ---- trying ---- */

typedef struct
{
  SsExplanation *explanation;
  const SsScenario *scenario;
  const SsRequestTable *table;
  const SsRequest *request;
} Trial;

/* Less is asked for, or by a whole such tensor less is in use by then, and the run as a whole needs
 * no more; or the run fits. */
static gboolean
helps (const Trial *trial, const SsExplainedChange *change)
{
  const SsRequest *request = trial->request;

  if (change->fits && !trial->table->fits)
    return TRUE;
  if (change->peak_allocated_bytes > trial->table->peak_allocated_bytes)
    return FALSE;
  return change->segment_bytes < request->segment_bytes
         || change->allocated_bytes + request->segment_bytes <= request->allocated_bytes;
}

/* Of changes that come to the same the first is told. */
static gboolean
is_told (const SsExplanation *explanation, const SsExplainedChange *change)
{
  for (guint i = 0; i < explanation->changes->len; i++)
    {
      const SsExplainedChange *other = explanation->changes->pdata[i];

      if (other->segment_bytes == change->segment_bytes
          && other->allocated_bytes == change->allocated_bytes
          && other->peak_allocated_bytes == change->peak_allocated_bytes)
        return TRUE;
    }
  return FALSE;
}

/* Takes the settings. */
static void
try_settings (const Trial *trial, char **settings, const char *why)
{
  g_auto (GStrv) owned = settings;
  g_autoptr (SsScenario) scenario
    = ss_scenario_derive (trial->scenario, (const char *const *) settings, NULL);
  g_autoptr (SsRequestTable) changed = scenario ? ss_request_table_new (scenario, NULL) : NULL;
  const SsRequest *now;
  SsExplainedChange *change;

  if (changed == NULL)
    return;
  now = find_now (trial->explanation, trial->table, trial->request, changed);
  change = g_new0 (SsExplainedChange, 1);
  change->why = why;
  change->segment_bytes = now != NULL ? now->segment_bytes : 0;
  change->allocated_bytes = now != NULL ? now->allocated_bytes : 0;
  change->peak_allocated_bytes = changed->peak_allocated_bytes;
  change->fits = changed->fits;
  if (helps (trial, change) && !is_told (trial->explanation, change))
    {
      change->settings = g_steal_pointer (&owned);
      g_ptr_array_add (trial->explanation->changes, change);
    }
  else
    ss_explained_change_free (change);
}

/* The same sequences in twice as many micro-batches; or half as many tokens of each. */
static void
try_halves (const Trial *trial)
{
  const SsTraceConfig *config = ss_scenario_trace_config (trial->scenario);
  char **settings = g_new0 (char *, 3);

  if (config->micro_batch > 1)
    {
      settings[0] = g_strdup_printf ("training/micro-batch=%" G_GINT64_FORMAT,
                                     config->micro_batch / 2);
      if (config->micro_batch % 2 == 0)
        settings[1] = g_strdup_printf ("training/gradient-accumulation=%u",
                                       2 * config->gradient_accumulation);
      try_settings (trial, settings, "smaller micro-batches");
      settings = g_new0 (char *, 2);
    }
  settings[0] = g_strdup_printf ("training/sequence-length=%" G_GINT64_FORMAT,
                                 MAX (config->sequence_length / 2, 1));
  try_settings (trial, settings, "shorter sequences");
}

/* Gone, then the smallest, each by peak. */
static gint
compare_changes (gconstpointer a, gconstpointer b)
{
  const SsExplainedChange *x = *(SsExplainedChange *const *) a;
  const SsExplainedChange *y = *(SsExplainedChange *const *) b;

  if (x->segment_bytes != y->segment_bytes)
    return x->segment_bytes < y->segment_bytes ? -1 : 1;
  if (x->peak_allocated_bytes != y->peak_allocated_bytes)
    return x->peak_allocated_bytes < y->peak_allocated_bytes ? -1 : 1;
  return g_strcmp0 (x->settings[0], y->settings[0]);
}

void
ss_explain_changes (SsExplanation *explanation, const SsScenario *scenario,
                    const SsRequestTable *table)
{
  Trial trial = { explanation, scenario, table, explanation->found->pdata[0] };
  guint kind = 1u << trial.request->kind;

  /* of such a number there are too many tensors for one to matter */
  if (ss_explanation_names_no_tensor (explanation))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    if (changes[i].kinds & kind)
      {
        char *settings[] = { (char *) changes[i].setting, NULL };

        try_settings (&trial, g_strdupv (settings), changes[i].why);
      }
  if (kind & OF_TOKENS)
    try_halves (&trial);
  g_ptr_array_sort (explanation->changes, compare_changes);
  if (explanation->changes->len > MAX_TOLD)
    g_ptr_array_set_size (explanation->changes, MAX_TOLD);
}
