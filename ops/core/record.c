/* SPDX-License-Identifier: MIT
 *
 * Recording one call, in PyTorch's own order: inputs kept, node made, inputs saved, outputs and
 * scratch allocated, kernel run, scratch freed, results saved, inputs dropped.
 */
#include "ops/core/kind.h"

#include "ops/core/tape-private.h"

const SsTarget *
ss_call_target (const SsCall *c)
{
  return &c->tape->target;
}

void
ss_call_result (SsCall *c, guint i)
{
  SsTape *t = c->tape;
  const SsContext *context = &t->context;
  SsStorage *s;

  if (c->result[i])
    return;
  s = c->result[i] = ss_storage_new (t, ss_tensor_bytes (&c->out[i]), FALSE);
  if (!ss_dtype_is_floating ((SsDtype) c->out[i].dtype))
    return;
  if (context->in_backward && !context->in_recompute ? context->is_loss_node
                                                     : context->phase == SS_PHASE_LOSS)
    ss_storage_claim (s, SS_CATEGORY_LOGITS);
}

void
ss_call_scratch (SsCall *c, guint64 bytes)
{
  g_assert (c->n_scratch < SS_MAX_SCRATCH);
  c->scratch[c->n_scratch++] = ss_storage_new (c->tape, bytes, TRUE);
}

void
ss_call_drop_scratch (SsCall *c)
{
  ss_storage_unref (c->scratch[--c->n_scratch]);
}

void
ss_call_drop_scratch_at (SsCall *c, guint i)
{
  SsStorage *s = c->scratch[i];

  for (c->n_scratch--; i < c->n_scratch; i++)
    c->scratch[i] = c->scratch[i + 1];
  ss_storage_unref (s);
}

void
ss_call_fail (SsCall *c, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  ss_tape_fail (c->tape, SS_OPS_ERROR_SHAPE, "%s: %s", c->kind->name, message);
}

/* ---- the row in the table of ops ---- */

static void
add_operands (const SsCall *c, SsOp *op)
{
  GArray *operands = c->tape->program->operands;

  op->first_operand = operands->len;
  op->n_inputs = (guint16) MIN (c->n_in, G_MAXUINT16);
  op->n_outputs = (guint16) c->n_out;
  for (guint i = 0; i < op->n_inputs; i++)
    g_array_append_val (operands, c->in[i]->tensor);
  for (guint i = 0; i < c->n_out; i++)
    g_array_append_val (operands, c->out[i]);
  if (c->kind->returned)
    {
      op->n_outputs = 1;
      g_array_append_val (operands, c->in[c->kind->returned - 1]->tensor);
    }
}

void
ss_tape_add_outputs (SsTape *t, guint n, SsValue *const *values)
{
  SsOp *op;

  if (!t->keeps_operands || !t->is_recording || t->is_stopped)
    return;
  op = &g_array_index (t->program->ops, SsOp, t->program->ops->len - 1);
  op->n_outputs = (guint16) MIN (n, G_MAXUINT16);
  for (guint i = 0; i < op->n_outputs; i++)
    g_array_append_val (t->program->operands, values[i]->tensor);
}

/* Same sizes and strides, dimension by dimension. */
static inline gboolean
lies_alike (const SsTensor *x, const SsTensor *like)
{
  if (x->n_dims != like->n_dims)
    return FALSE;
  for (guint i = 0; i < x->n_dims; i++)
    if (x->stride[i] != like->stride[i] || x->size[i] != like->size[i])
      return FALSE;
  return TRUE;
}

static gboolean
is_expanded (const SsTensor *x)
{
  for (guint i = 0; i < x->n_dims; i++)
    if (x->stride[i] == 0 && x->size[i] > 1)
      return TRUE;
  return FALSE;
}

/* Same-shape pointwise work runs at the memory's pace; what reads across it does not. */
static guint8
memory_kind_of (const SsCall *c)
{
  const SsTensor *like = c->n_out > 0 || c->n_in == 0 ? &c->out[0] : &c->in[0]->tensor;
  gboolean is_broadcast = FALSE, is_cast = FALSE;

  for (guint i = 0; i < c->n_in; i++)
    {
      const SsTensor *x = &c->in[i]->tensor;

      if (x->n_dims == 0)
        continue;
      is_cast |= x->dtype != like->dtype;
      if (lies_alike (x, like))
        continue;
      if (!ss_tensor_same_sizes (x, like))
        is_broadcast = TRUE;
      else if (!ss_tensor_same_strides (x, like))
        {
          if (!is_expanded (x))
            return SS_MEMORY_STRIDED;
          is_broadcast = TRUE;
        }
    }
  if (is_broadcast)
    return ss_dtype_bytes ((SsDtype) like->dtype) > 2 ? SS_MEMORY_BROADCAST_F32
                                                      : SS_MEMORY_BROADCAST_HALF;
  return is_cast ? SS_MEMORY_CAST : SS_MEMORY_PLAIN;
}

static SsCost
cost_of (const SsCall *c)
{
  const SsTensor *main = c->n_out > 0 || c->n_in == 0 ? &c->out[0] : &c->in[0]->tensor;
  SsCost cost = { .op_class = SS_OP_MEMORY, .n_launches = 1, .dtype = main->dtype };

  for (guint i = 0; i < c->n_in; i++)
    cost.bytes = ss_size_add (cost.bytes, ss_tensor_bytes (&c->in[i]->tensor));
  for (guint i = 0; i < c->n_out; i++)
    cost.bytes = ss_size_add (cost.bytes, ss_tensor_bytes (&c->out[i]));
  if (c->kind->cost)
    c->kind->cost (c, &cost);
  if (cost.op_class == SS_OP_MEMORY)
    cost.variant = c->kind->memory ? (guint8) (c->kind->memory - 1) : memory_kind_of (c);
  return cost;
}

static void
record_run (const SsCall *c)
{
  SsTape *t = c->tape;
  const SsContext *context = &t->context;
  SsCost cost = cost_of (c);
  SsOp op = {
    .kind = c->kind, .flops = cost.flops, .model_flops = cost.model_flops, .bytes = cost.bytes,
    .side_bytes = cost.side_bytes, .module_id = context->module_id,
    .n_launches = (guint16) MIN (cost.n_launches, G_MAXUINT16),
    .op_class = (guint8) cost.op_class, .variant = cost.variant, .alignment = cost.alignment,
    .dtype = cost.dtype, .is_backward = context->thread == SS_THREAD_BACKWARD,
    .is_recompute = context->in_recompute, .is_causal = cost.is_causal != FALSE,
    .is_optimizer = context->is_optimizer, .is_synchronous = c->kind->is_synchronous,
    .is_recorded = c->has_node != FALSE,
  };

  if (cost.flops == SS_SIZE_OVERFLOW || cost.model_flops == SS_SIZE_OVERFLOW
      || cost.bytes == SS_SIZE_OVERFLOW || cost.side_bytes == SS_SIZE_OVERFLOW)
    {
      ss_tape_fail (t, SS_OPS_ERROR_OVERFLOW,
                    "%s: 2^63 floating-point operations or bytes, or more; a smaller micro-batch, "
                    "sequence or model was expected",
                    c->kind->name);
      return;
    }
  if (context->in_recompute || context->is_optimizer)
    op.model_flops = 0;
  memcpy (op.shape, cost.shape, sizeof op.shape);
  if (t->keeps_operands)
    add_operands (c, &op);
  g_array_append_val (t->program->ops, op);
  ss_tape_emit (t, SS_RUN, t->context.stream, t->program->ops->len - 1);
}

/* ---- the kernel ---- */

static void
bring_workspace (SsCall *c)
{
  SsTape *t = c->tape;
  SsStorage **workspace = &t->workspace[t->context.thread][t->context.stream];

  if (*workspace || t->target.workspace_bytes == 0)
    return;
  *workspace = ss_storage_new (t, t->target.workspace_bytes, FALSE);
  ss_storage_claim (*workspace, SS_CATEGORY_WORKSPACE);
}

static void
run_kernel (SsCall *c)
{
  const SsOpKind *kind = c->kind;

  if (kind->is_view)
    return;
  if (kind->allocate)
    kind->allocate (c);
  else
    {
      for (guint i = 0; i < c->n_out && !kind->in_place; i++)
        ss_call_result (c, i);
      if (kind->scratch)
        kind->scratch (c);
    }
  if (kind->uses_workspace)
    bring_workspace (c);
  if (c->tape->is_recording && !c->tape->is_stopped)
    record_run (c);
  while (c->n_scratch > 0)
    ss_call_drop_scratch (c);
}

/* ---- dispatch ---- */

void
ss_dispatch_mode_push (SsTape *t, SsDispatchMode *mode, SsDispatch dispatch, gpointer data)
{
  *mode = (SsDispatchMode) { dispatch, data, t->context.modes };
  t->context.modes = mode;
}

void
ss_dispatch_mode_pop (SsTape *t, SsDispatchMode *mode)
{
  g_assert (t->context.modes == mode);
  t->context.modes = mode->outer;
}

void
ss_call_run (SsCall *c)
{
  const SsDispatchMode *mode = c->tape->context.modes;

  if (c->tape->is_stopped)
    return;
  if (!mode)
    {
      run_kernel (c);
      return;
    }
  c->tape->context.modes = mode->outer;
  mode->dispatch (c, mode->data);
  c->tape->context.modes = mode;
}

SsValue *
ss_call_output (const SsCall *c, guint i)
{
  return ss_value_sink (ss_value_new (c->tape, &c->out[i], ss_storage_ref (c->result[i])));
}

void
ss_call_set_output (SsCall *c, guint i, const SsValue *value)
{
  c->result[i] = ss_storage_ref (value->storage);
}

/* ---- the node ---- */

static SsNode *
make_node (SsCall *c)
{
  SsTape *t = c->tape;
  const SsOpKind *kind = c->kind;
  gboolean any = FALSE;
  SsNode *n;

  if (!t->context.is_grad_enabled || !kind->backward || t->is_stopped)
    return NULL;
  for (guint i = 0; i < c->n_in; i++)
    any |= ss_value_requires_grad (c->in[i]);
  if (!any)
    return NULL;
  n = ss_node_new (t, kind, c->n_in, kind->n_saves, MAX (kind->n_carriers, 1));
  for (guint i = 0; i < n->n_slots; i++)
    n->slot[i].tensor = c->out[i];
  if (c->attribute)
    memcpy (n->attribute, c->attribute, sizeof n->attribute);
  for (guint i = 0; i < c->n_in; i++)
    {
      n->edge[i].node = ss_node_producing (t, c->in[i]);
      n->edge[i].slot = c->in[i]->slot;
    }
  return n;
}

/* Inputs are saved before the kernel allocates, results after it ran, up to where a hook stops the
 * tape. */
static void
save (SsCall *c, SsNode *n, SsValue **results)
{
  for (guint i = 0; i < c->kind->n_saves && !c->tape->is_stopped; i++)
    {
      SsSave s = c->kind->saves[i];
      gboolean is_result = s.what >= SS_RESULT (0);

      if (is_result != (results != NULL) || (s.when >= 0 && !ss_node_needs (n, (guint) s.when)))
        continue;
      if (!is_result && (guint) s.what >= c->n_in)
        continue;
      if (is_result)
        {
          /* a result kept by its own node must not hold that node */
          g_autoptr (SsValue) plain = ss_detach (c->tape, results[s.what - SS_RESULT (0)]);

          ss_saved_set (c->tape, &n->saved[i], plain);
        }
      else
        ss_saved_set (c->tape, &n->saved[i], c->in[s.what]);
    }
}

/* ---- the call ---- */

/* C leaves the order of arguments open: results that were made as arguments must be in order. */
static void
take_inputs (SsCall *c)
{
  guint32 last = 0;

  for (guint i = 0; i < c->n_in; i++)
    {
      if (c->in[i]->is_floating)
        {
          g_assert (c->in[i]->born >= last);
          last = c->in[i]->born;
        }
      ss_value_sink (c->in[i]);
    }
}

/* Outputs that look at an input, or that the kernel writes over one. */
static void
share_storages (SsCall *c)
{
  for (guint i = 0; i < c->n_out; i++)
    if (c->kind->is_view)
      c->result[i] = ss_storage_ref (c->in[0]->storage);
    else if (c->shares[i])
      c->result[i] = ss_storage_ref (c->in[c->shares[i] - 1]->storage);
}

static void
make_outputs (SsCall *c, SsValue **out)
{
  SsTape *t = c->tape;

  for (guint i = 0; i < c->n_out && !c->kind->in_place; i++)
    {
      out[i] = ss_value_new (t, &c->out[i], c->result[i]);
      if (c->kind->holds_base || c->shares[i])
        {
          SsValue *over = c->in[c->shares[i] ? c->shares[i] - 1 : 0];

          out[i]->base = ss_value_ref (over->base ? over->base : over);
        }
    }
}

void
ss_record_multi (SsTape *t, const SsOpKind *kind, const gint64 *attribute, guint n_in,
                 SsValue *const *in, SsValue **out)
{
  SsCall c;
  SsNode *n;

  /* an initializer would clear all of it, and slower */
  memset (&c, 0, G_STRUCT_OFFSET (SsCall, out));
  c.tape = t;
  c.kind = kind;
  c.in = in;
  c.n_in = n_in;
  c.attribute = attribute;
  memset (out, 0, SS_MAX_OUTPUTS * sizeof *out);
  take_inputs (&c);
  if (kind->infer)
    kind->infer (&c);
  share_storages (&c);
  n = make_node (&c);
  c.has_node = n != NULL;
  if (n)
    save (&c, n, NULL);
  ss_call_run (&c);
  make_outputs (&c, out);
  if (n)
    save (&c, n, out);
  for (guint i = 0; n && i < n->n_slots; i++)
    {
      out[i]->node = n;
      out[i]->slot = (guint8) i;
      n->ref_count += i > 0;
    }
  for (guint i = 0; i < n_in; i++)
    ss_value_unref (in[i]);
}

SsValue *
ss_record (SsTape *t, const SsOpKind *kind, const gint64 *attribute, guint n_in, SsValue *const *in)
{
  SsValue *out[SS_MAX_OUTPUTS];

  ss_record_multi (t, kind, attribute, n_in, in, out);
  for (guint i = 1; i < SS_MAX_OUTPUTS && out[i]; i++)
    ss_value_unref (out[i]);
  return out[0];
}
