/* SPDX-License-Identifier: MIT */
#include "study/tensor-name.h"

#include <string.h>

/* ---- what is known of a storage ---- */

static gboolean
belongs_to_the_model (guint8 category)
{
  switch ((SsCategory) category)
    {
    case SS_CATEGORY_PARAMETERS:
    case SS_CATEGORY_MASTER_WEIGHTS:
    case SS_CATEGORY_GRADIENTS:
    case SS_CATEGORY_GRADIENT_ACCUMULATION:
    case SS_CATEGORY_OPTIMIZER_STATES:
      return TRUE;
    case SS_CATEGORY_WORKSPACE:
    case SS_CATEGORY_LOGITS:
    case SS_CATEGORY_ACTIVATIONS:
    case SS_CATEGORY_TEMPORARIES:
    case SS_N_CATEGORIES:
      break;
    }
  return FALSE;
}

/* Strides are no part of what a tensor is called. */
static void
take_shape (SsTensorTrait *trait, const SsTensor *tensor)
{
  memset (&trait->shape, 0, sizeof trait->shape);
  trait->shape.dtype = tensor->dtype;
  trait->shape.n_dims = tensor->n_dims;
  for (guint i = 0; i < tensor->n_dims; i++)
    trait->shape.size[i] = tensor->size[i];
}

/* A kernel's own memory is as often as not a copy of an operand in a wider type, and what a fused
 * kernel writes has the shape of one. */
static gboolean
take_shape_of_operand (SsTensorTrait *trait, const SsProgram *program, const SsOp *op)
{
  static const SsDtype types[] = { SS_F32, SS_BF16, SS_I64, SS_U8 };

  for (guint i = 0; i < (guint) op->n_inputs + op->n_outputs; i++)
    {
      const SsTensor *operand = ss_program_operand (program, op->first_operand + i);
      guint64 n_elements = ss_tensor_count (operand);

      for (guint k = 0; k < G_N_ELEMENTS (types) && operand->n_dims > 1; k++)
        if (ss_size_mul (n_elements, ss_dtype_bytes (types[k])) == trait->bytes)
          {
            SsTensor like = *operand;

            if (ss_dtype_bytes ((SsDtype) like.dtype) != ss_dtype_bytes (types[k]))
              like.dtype = (guint8) types[k];
            take_shape (trait, &like);
            return TRUE;
          }
    }
  return FALSE;
}

static gboolean
take_shape_of_output (SsTensorTrait *trait, const SsProgram *program, const SsOp *op)
{
  for (guint i = 0; i < op->n_outputs; i++)
    {
      const SsTensor *output
        = ss_program_operand (program, op->first_operand + op->n_inputs + i);

      if (ss_tensor_bytes (output) != trait->bytes)
        continue;
      take_shape (trait, output);
      return TRUE;
    }
  return FALSE;
}

/* What is made while loading belongs to the next op only if that stands in the same module. */
static const SsOp *
op_of (const SsProgram *program, const SsStorageInfo *storage, SsPhase phase)
{
  const SsOp *op;

  if (storage->op_id >= ss_program_n_ops (program) || storage->category == SS_CATEGORY_WORKSPACE)
    return NULL;
  op = ss_program_op (program, storage->op_id);
  if (phase == SS_PHASE_LOAD && storage->category == SS_CATEGORY_PARAMETERS
      && op->module_id != storage->module_id)
    return NULL;
  return op;
}

void
ss_tensor_trait_of (const SsProgram *program, guint32 storage_id, SsPhase phase,
                    SsTensorTrait *trait)
{
  const SsStorageInfo *storage = ss_program_storage (program, storage_id);
  const SsOp *op = op_of (program, storage, phase);

  memset (trait, 0, sizeof *trait);
  trait->bytes = storage->bytes;
  trait->module_id = storage->module_id;
  trait->phase = (guint8) phase;
  trait->category = storage->category;
  trait->is_scratch = storage->is_scratch;
  trait->shape.dtype = SS_N_DTYPES;
  if (op == NULL)
    return;
  if ((storage->is_scratch || !take_shape_of_output (trait, program, op))
      && !take_shape_of_operand (trait, program, op) && phase == SS_PHASE_LOAD)
    return;
  trait->op = op->kind;
  trait->is_recompute = op->is_recompute;
  trait->is_backward = op->is_backward;
  trait->is_optimizer = op->is_optimizer;
}

/* ---- sizes by name ---- */

typedef struct
{
  const SsTraceConfig *config;
  SsTensorTrait *trait;
  SsRequest *request;
  GString *factors;
  gboolean has_heads;
  SsWidth widths[SS_MAX_WIDTHS + 1];   /* of the family, and the adapter's */
  guint n_widths;
} Naming;

static void
add_factor (Naming *naming, gint64 size, const char *name)
{
  if (naming->factors->len > 0)
    g_string_append (naming->factors, " x ");
  g_string_append_printf (naming->factors, "%" G_GINT64_FORMAT, size);
  if (name != NULL)
    g_string_append_printf (naming->factors, " %s", name);
}

static void
add_tokens (Naming *naming)
{
  add_factor (naming, naming->config->sequence_length, "tokens");
  naming->request->n_token_factors++;
}

static void
add_batch (Naming *naming)
{
  add_factor (naming, naming->config->micro_batch, NULL);
  naming->request->n_batch_factors++;
}

static void
take_widths (Naming *naming)
{
  const SsTraceConfig *c = naming->config;

  naming->n_widths = c->model.family->widths (&c->model, naming->widths);
  if (c->adapter.type != NULL)
    naming->widths[naming->n_widths++]
      = (SsWidth) { c->adapter.rank, "adapter features", SS_WIDTH_FEATURES };
}

static gboolean
counts_heads (const SsWidth *width)
{
  return width->role == SS_WIDTH_HEADS || width->role == SS_WIDTH_KEY_HEADS;
}

/* A width of the model that has a name, or a number of heads; NULL: none. */
static const SsWidth *
width_of (const Naming *naming, gint64 size, gboolean is_count)
{
  for (guint i = 0; i < naming->n_widths; i++)
    if (counts_heads (&naming->widths[i]) == is_count && naming->widths[i].name != NULL
        && naming->widths[i].size == size)
      return &naming->widths[i];
  return NULL;
}

static void
add_width (Naming *naming, gint64 size)
{
  const SsWidth *width = width_of (naming, size, FALSE);

  naming->request->has_words |= width != NULL && width->role == SS_WIDTH_WORDS;
  if (size != 1)
    add_factor (naming, size, width != NULL ? width->name : NULL);
}

static void
add_heads (Naming *naming, const SsWidth *heads)
{
  naming->has_heads |= heads->role == SS_WIDTH_HEADS;
  add_factor (naming, heads->size, heads->name);
}

/* The last size is tokens only where it stands for the tokens attended to. */
static gboolean
is_tokens (const Naming *naming, guint i)
{
  const SsTensor *x = &naming->trait->shape;
  gint64 size = x->size[i];

  if (size != naming->config->sequence_length || naming->request->n_token_factors > 1)
    return FALSE;
  if (i + 1 < x->n_dims || naming->request->n_token_factors == 0)
    return TRUE;
  return x->n_dims == 4 || naming->has_heads;
}

/* (B S, ...), (B, S, ...), (B, heads, S, ...), (B heads, S, ...) */
static void
name_first (Naming *naming, gint64 size)
{
  const SsTraceConfig *c = naming->config;
  guint n_dims = naming->trait->shape.n_dims;
  const SsWidth *heads
    = size % c->micro_batch == 0 ? width_of (naming, size / c->micro_batch, TRUE) : NULL;

  if (n_dims <= 2 && size == c->micro_batch * c->sequence_length)
    {
      add_batch (naming);
      add_tokens (naming);
    }
  else if (n_dims > 1 && size == c->micro_batch)
    add_batch (naming);
  else if (n_dims == 3 && heads != NULL)
    {
      add_batch (naming);
      add_heads (naming, heads);
    }
  else if (is_tokens (naming, 0))
    add_tokens (naming);
  else
    add_width (naming, size);
}

static void
name_sizes (Naming *naming)
{
  const SsTensor *x = &naming->trait->shape;

  for (guint i = 0; i < x->n_dims; i++)
    {
      const SsWidth *heads = width_of (naming, x->size[i], TRUE);

      if (i == 0)
        name_first (naming, x->size[i]);
      else if (is_tokens (naming, i))
        add_tokens (naming);
      else if ((x->n_dims >= 4 || x->size[x->n_dims - 1] == naming->config->sequence_length)
               && (i == 1 || i == 2) && heads != NULL)
        add_heads (naming, heads);
      else
        add_width (naming, x->size[i]);
    }
}

static void
name_widths (Naming *naming)
{
  const SsTensor *x = &naming->trait->shape;

  for (guint i = 0; i < x->n_dims; i++)
    add_width (naming, x->size[i]);
}

/* A parameter was made from nothing: its sizes are two widths of the model whose product it is, or
 * one. */
static void
guess_sizes (Naming *naming)
{
  const SsWidth *one = &(const SsWidth) { 1, NULL, SS_WIDTH_FEATURES };
  SsTensor *x = &naming->trait->shape;
  SsDtype dtype = naming->trait->category == SS_CATEGORY_MASTER_WEIGHTS
                    ? SS_F32 : naming->config->precision->parameter_dtype;

  for (guint i = 0; i <= naming->n_widths; i++)
    for (guint k = 0; k <= naming->n_widths; k++)
      {
        const SsWidth *a = i < naming->n_widths ? &naming->widths[i] : one;
        const SsWidth *b = k < naming->n_widths ? &naming->widths[k] : one;
        guint64 n = ss_size_mul ((guint64) a->size, (guint64) b->size);

        if (counts_heads (a) || counts_heads (b)
            || ss_size_mul (n, ss_dtype_bytes (dtype)) != naming->trait->bytes)
          continue;
        *x = ss_tensor (dtype, 2, (const gint64[]) { a->size, b->size });
        return;
      }
}

/* ---- kind ---- */

static gboolean
op_is (const SsTensorTrait *trait, const char *name)
{
  return trait->op != NULL && g_str_has_suffix (trait->op->name, name);
}

static SsTensorKind
kind_by_shape (const Naming *naming)
{
  const SsTensorTrait *trait = naming->trait;
  const SsRequest *request = naming->request;

  if (request->n_token_factors > 1)
    return naming->has_heads ? SS_TENSOR_SCORES : SS_TENSOR_MASK;
  if (request->has_words && request->n_token_factors > 0)
    return SS_TENSOR_LOGITS;
  if (trait->shape.n_dims > 0 && request->n_token_factors == 0 && op_is (trait, "_to_copy"))
    return SS_TENSOR_CAST;
  return trait->is_backward && !trait->is_recompute ? SS_TENSOR_FLOW : SS_TENSOR_ACTIVATION;
}

static SsTensorKind
kind_of (const Naming *naming)
{
  const SsTensorTrait *trait = naming->trait;

  switch ((SsCategory) trait->category)
    {
    case SS_CATEGORY_PARAMETERS:
      return SS_TENSOR_PARAMETER;
    case SS_CATEGORY_MASTER_WEIGHTS:
      return SS_TENSOR_MASTER;
    case SS_CATEGORY_GRADIENTS:
    case SS_CATEGORY_GRADIENT_ACCUMULATION:
      return SS_TENSOR_GRADIENT;
    case SS_CATEGORY_OPTIMIZER_STATES:
      return SS_TENSOR_STATE;
    case SS_CATEGORY_WORKSPACE:
      return SS_TENSOR_WORKSPACE;
    case SS_CATEGORY_LOGITS:
      return SS_TENSOR_LOGITS;
    case SS_CATEGORY_ACTIVATIONS:
    case SS_CATEGORY_TEMPORARIES:
    case SS_N_CATEGORIES:
      break;
    }
  if (trait->phase == SS_PHASE_LOAD && trait->category == SS_CATEGORY_TEMPORARIES)
    return SS_TENSOR_PARAMETER;
  if (trait->phase == SS_PHASE_OPTIMIZER || trait->phase == SS_PHASE_ZERO_GRAD)
    return trait->is_optimizer ? SS_TENSOR_UPDATE : SS_TENSOR_CLIP;
  return kind_by_shape (naming);
}

/* ---- words ---- */

static const char *
logits_word (const SsTensorTrait *trait)
{
  if (op_is (trait, "::_log_softmax"))
    return "log-probabilities";
  if (op_is (trait, "::nll_loss_backward"))
    return "gradient of the log-probabilities";
  return trait->is_backward && !trait->is_recompute ? "gradient of the logits" : "logits";
}

static const char *
scores_word (const SsTensorTrait *trait)
{
  gboolean is_gradient = trait->is_backward && !trait->is_recompute;

  if (trait->shape.dtype == SS_BOOL)
    return "dropout mask of the attention weights";
  if (op_is (trait, "::_softmax") || op_is (trait, "::native_dropout"))
    return "attention weights";
  return is_gradient ? "gradient of the attention scores" : "attention scores";
}

/* NULL: say which op made it. */
static const char *
word_of (SsTensorKind kind, const SsTensorTrait *trait)
{
  switch (kind)
    {
    case SS_TENSOR_LOGITS:
      return logits_word (trait);
    case SS_TENSOR_SCORES:
      return scores_word (trait);
    case SS_TENSOR_MASK:
      return "attention mask";
    case SS_TENSOR_CAST:
      return "copy of the weight";
    case SS_TENSOR_PARAMETER:
      return trait->category == SS_CATEGORY_PARAMETERS ? "weight" : "temporary of loading";
    case SS_TENSOR_MASTER:
      return "master copy of the weight";
    case SS_TENSOR_GRADIENT:
      return "gradient of the weight";
    case SS_TENSOR_STATE:
      return "optimizer state";
    case SS_TENSOR_UPDATE:
      return "temporary of the optimizer";
    case SS_TENSOR_CLIP:
      return "temporary of gradient clipping";
    case SS_TENSOR_WORKSPACE:
      return "workspace of the matrix library";
    case SS_TENSOR_ACTIVATION:
    case SS_TENSOR_FLOW:
    case SS_N_TENSOR_KINDS:
      break;
    }
  return NULL;
}

/* "fp32": as people write it. */
static const char *
dtype_word (guint8 dtype)
{
  switch ((SsDtype) dtype)
    {
    case SS_F16:
      return "fp16";
    case SS_F32:
      return "fp32";
    case SS_F64:
      return "fp64";
    case SS_BOOL:
    case SS_U8:
    case SS_I32:
    case SS_I64:
    case SS_U64:
    case SS_BF16:
      return ss_dtype_name ((SsDtype) dtype);
    case SS_N_DTYPES:
      break;
    }
  return NULL;
}

static char *
what_of (SsTensorKind kind, const SsTensorTrait *trait)
{
  const char *dtype = dtype_word (trait->shape.dtype), *word = word_of (kind, trait);
  GString *what = g_string_new (NULL);

  if (dtype != NULL)
    g_string_append_printf (what, "%s ", dtype);
  if (trait->is_scratch && trait->op != NULL)
    g_string_append_printf (what, "scratch memory of %s", trait->op->name);
  else if (word != NULL)
    g_string_append (what, word);
  else if (trait->op == NULL)
    g_string_append (what, "tensor");
  else if (kind == SS_TENSOR_FLOW)
    g_string_append_printf (what, "gradient that %s makes", trait->op->name);
  else
    g_string_append_printf (what, "output of %s", trait->op->name);
  return g_string_free (what, FALSE);
}

void
ss_tensor_name (const SsTensorTrait *given, const SsTraceConfig *config, SsRequest *request)
{
  SsTensorTrait trait = *given;
  Naming naming = {
    .config = config, .trait = &trait, .request = request, .factors = g_string_new (NULL),
  };

  take_widths (&naming);
  if (trait.phase == SS_PHASE_LOAD && trait.shape.dtype == SS_N_DTYPES
      && trait.category != SS_CATEGORY_ACTIVATIONS)
    guess_sizes (&naming);
  if (belongs_to_the_model (trait.category) || trait.phase == SS_PHASE_OPTIMIZER
      || (trait.phase == SS_PHASE_LOAD && trait.category != SS_CATEGORY_ACTIVATIONS))
    name_widths (&naming);
  else
    name_sizes (&naming);
  if (trait.shape.dtype == SS_N_DTYPES)
    g_string_printf (naming.factors, "%" G_GUINT64_FORMAT " bytes", trait.bytes);
  else
    {
      request->element_bytes = ss_dtype_bytes ((SsDtype) trait.shape.dtype);
      add_factor (&naming, (gint64) request->element_bytes,
                  request->element_bytes > 1 ? "bytes" : "byte");
    }
  request->kind = kind_of (&naming);
  request->what = what_of (request->kind, &trait);
  request->factors = g_string_free (naming.factors, FALSE);
  request->op_name = trait.op != NULL ? trait.op->name : NULL;
  request->phase = ss_phase_name ((SsPhase) trait.phase);
  request->bytes = trait.bytes;
  request->is_recompute = trait.is_recompute != 0;
}
