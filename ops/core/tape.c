/* SPDX-License-Identifier: MIT */
#include "ops/core/tape.h"

#include "ops/core/tape-private.h"

/* Beyond this a trace would need gigabytes; nobody means it. */
#define MAX_INSTRUCTIONS (20u * 1000 * 1000)

G_DEFINE_QUARK (ss-ops-error-quark, ss_ops_error)

/* ---- life ---- */

static guint
module_hash (gconstpointer key)
{
  const SsModuleInfo *m = key;

  return (m->parent * 31u + (guint) m->index) * 31u + g_direct_hash (m->name);
}

static gboolean
module_equal (gconstpointer a, gconstpointer b)
{
  const SsModuleInfo *x = a, *y = b;

  return x->parent == y->parent && x->index == y->index && x->name == y->name;
}

SsTape *
ss_tape_new (const SsTarget *target)
{
  SsTape *t = g_new0 (SsTape, 1);

  t->program = ss_program_new ();
  ss_slab_init (&t->storages, sizeof (SsStorage));
  ss_slab_init (&t->values, sizeof (SsValue));
  for (guint i = 0; i < SS_N_NODE_SLABS; i++)
    ss_slab_init (&t->nodes[i], (i + 1) * SS_NODE_STEP);
  t->target = *target;
  t->is_recording = TRUE;
  t->context.is_grad_enabled = TRUE;
  t->module_ids = g_hash_table_new_full (module_hash, module_equal, g_free, NULL);
  t->begun_layers = g_array_new (FALSE, TRUE, sizeof (gboolean));
  return t;
}

void
ss_tape_watch (SsTape *t, SsTraceWatch watch, gpointer user_data)
{
  t->watch = watch;
  t->watch_data = user_data;
}

void
ss_tape_stop_where_unwound (SsTape *t)
{
  t->stops_unwound = TRUE;
}

GArray *
ss_tape_take_unwound (SsTape *t)
{
  return g_steal_pointer (&t->unwound);
}

void
ss_tape_keep_operands (SsTape *t)
{
  t->keeps_operands = TRUE;
}

void
ss_tape_finish (SsTape *t)
{
  ss_tape_mark (t, SS_MARK_END, 0);
  t->is_recording = FALSE;
}

SsProgram *
ss_tape_seal (SsTape *t, GError **error)
{
  SsProgram *program = t->program;

  t->is_recording = FALSE;
  for (guint i = 0; i < SS_N_THREADS; i++)
    for (guint k = 0; k < SS_N_STREAMS; k++)
      ss_storage_unref (t->workspace[i][k]);
  /* a value that still lives would be a floating one nobody took, or a cycle */
  g_assert (!t->newest_value);
  g_assert (!t->context.casts);
  g_clear_pointer (&t->unwound, g_array_unref);
  g_hash_table_unref (t->module_ids);
  g_clear_pointer (&t->forward_hooks, g_hash_table_unref);
  g_array_unref (t->begun_layers);
  ss_slab_clear (&t->storages);
  ss_slab_clear (&t->values);
  for (guint i = 0; i < SS_N_NODE_SLABS; i++)
    ss_slab_clear (&t->nodes[i]);
  if (t->error)
    {
      g_propagate_error (error, t->error);
      g_clear_pointer (&program, ss_program_unref);
    }
  g_free (t);
  return program;
}

void
ss_tape_fail (SsTape *t, SsOpsError code, const char *format, ...)
{
  va_list args;

  t->is_stopped = TRUE;
  if (t->error)
    return;
  va_start (args, format);
  t->error = g_error_new_valist (SS_OPS_ERROR, (gint) code, format, args);
  va_end (args);
  if (t->context.module_id != 0)
    {
      g_autofree char *path = ss_program_module_path (t->program, t->context.module_id);

      g_prefix_error (&t->error, "%s: ", path);
    }
}

SsContext *
ss_tape_context (SsTape *t)
{
  return &t->context;
}

gboolean
ss_tape_has_failed (const SsTape *t)
{
  return t->error != NULL;
}

void
ss_tape_stop (SsTape *t)
{
  t->is_stopped = TRUE;
}

void
ss_tape_go_on (SsTape *t)
{
  t->is_stopped = t->error != NULL;
}

gboolean
ss_tape_is_stopped (const SsTape *t)
{
  return t->is_stopped;
}

const SsTarget *
ss_tape_target (const SsTape *t)
{
  return &t->target;
}

void
ss_tape_emit (SsTape *t, SsInstructionType type, guint8 stream, guint32 index)
{
  SsInstruction instruction = { (guint8) type, stream, index };

  if (t->program->code->len >= MAX_INSTRUCTIONS)
    {
      ss_tape_fail (t, SS_OPS_ERROR_OVERFLOW,
                    "the trace is longer than %u instructions; fewer steps, micro-batches or "
                    "layers were expected",
                    MAX_INSTRUCTIONS);
      t->is_recording = FALSE;
      return;
    }
  g_array_append_val (t->program->code, instruction);
  if (t->watch && !t->watch (t->program, &instruction, t->watch_data))
    {
      t->watch = NULL;
      ss_tape_unwind (t, index);
      if (t->stops_unwound)
        ss_tape_fail (t, SS_OPS_ERROR_STOPPED, "stopped at storage %u", index);
    }
}

/* ---- where we are ---- */

static void
emit_mark (SsTape *t, SsMarkType type, gint layer, guint64 bytes)
{
  const SsContext *c = &t->context;
  SsMark mark = {
    .type = (guint8) type, .phase = c->phase, .step = c->step, .micro_batch = c->micro_batch,
    .layer = layer, .bytes = bytes,
  };

  if (!t->is_recording || t->error)
    return;
  g_array_append_val (t->program->marks, mark);
  ss_tape_emit (t, SS_MARK, t->context.stream, t->program->marks->len - 1);
}

void
ss_tape_begin_phase (SsTape *t, SsPhase phase, guint step, guint micro_batch)
{
  t->context.phase = (guint8) phase;
  t->context.step = step;
  t->context.micro_batch = micro_batch;
  emit_mark (t, SS_MARK_PHASE, -1, 0);
}

SsPhase
ss_tape_phase (const SsTape *t)
{
  return (SsPhase) t->context.phase;
}

void
ss_tape_mark (SsTape *t, SsMarkType type, guint64 bytes)
{
  emit_mark (t, type, -1, bytes);
}

void
ss_tape_mark_forward_end (SsTape *t, gint layer)
{
  if (!t->context.in_backward)
    emit_mark (t, SS_MARK_FORWARD_END, layer, 0);
}

gint
ss_tape_layer (const SsTape *t)
{
  return ss_program_module_layer (t->program, t->context.module_id);
}

/* Called for each node before anything of it runs: the first one of a layer is its last op, and
 * ready means that the gradient of the layer's output is complete. */
void
ss_tape_mark_backward_begin (SsTape *t, gint layer)
{
  if (layer < 0)
    return;
  if ((guint) layer >= t->begun_layers->len)
    g_array_set_size (t->begun_layers, (guint) layer + 1);
  if (g_array_index (t->begun_layers, gboolean, layer))
    return;
  g_array_index (t->begun_layers, gboolean, layer) = TRUE;
  emit_mark (t, SS_MARK_BACKWARD_BEGIN, layer, 0);
}

static SsModuleScope
enter (SsTape *t, const char *name, gint index)
{
  SsModuleScope scope = { t, t->context.module_id };
  SsModuleInfo key = {
    .parent = t->context.module_id,
    .layer = index >= 0 ? index : ss_tape_layer (t),
    .index = index,
    .name = name,
  };
  gpointer id;

  if (g_hash_table_lookup_extended (t->module_ids, &key, NULL, &id))
    t->context.module_id = GPOINTER_TO_UINT (id);
  else
    {
      t->context.module_id = t->program->modules->len;
      g_array_append_val (t->program->modules, key);
      g_hash_table_insert (t->module_ids, g_memdup2 (&key, sizeof key),
                           GUINT_TO_POINTER (t->context.module_id));
    }
  return scope;
}

SsModuleScope
ss_module_enter (SsTape *t, const char *name, gint layer)
{
  return enter (t, name, layer);
}

guint32
ss_tape_module (const SsTape *t)
{
  return t->context.module_id;
}

SsModuleScope
ss_module_enter_again (SsTape *t, guint32 module_id)
{
  SsModuleScope scope = { t, t->context.module_id };

  t->context.module_id = module_id;
  return scope;
}

void
ss_module_leave (SsModuleScope *scope)
{
  scope->tape->context.module_id = scope->outer;
}

SsNativeScope
ss_native_enter (SsTape *t)
{
  t->context.n_native++;
  return (SsNativeScope) { t };
}

void
ss_native_leave (SsNativeScope *scope)
{
  scope->tape->context.n_native--;
}

/* ---- values from nothing ---- */

SsValue *
ss_empty (SsTape *t, const SsTensor *x)
{
  return ss_value_new (t, x, ss_storage_new (t, ss_tensor_bytes (x), FALSE));
}

SsValue *
ss_empty_sizes (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size)
{
  SsTensor x = ss_tensor (dtype, n_dims, size);

  return ss_empty (t, &x);
}

SsValue *
ss_parameter (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size, gboolean requires_grad)
{
  SsValue *v = ss_value_sink (ss_empty_sizes (t, dtype, n_dims, size));

  v->n_names++;                 /* the module's attribute */
  ss_value_claim (v, SS_CATEGORY_PARAMETERS);
  if (requires_grad)
    ss_require_grad (v);
  return v;
}

void
ss_tape_count_parameters (SsTape *t, const GPtrArray *parameters)
{
  SsProgram *p = t->program;

  for (guint i = 0; i < parameters->len; i++)
    {
      const SsValue *v = parameters->pdata[i];
      guint64 n = ss_tensor_count (&v->tensor);

      p->n_parameters = ss_size_add (p->n_parameters, n);
      if (v->leaf)
        p->n_trainable_parameters = ss_size_add (p->n_trainable_parameters, n);
    }
}

void
ss_require_grad (SsValue *value)
{
  if (!value->leaf)
    value->leaf = g_new0 (SsLeaf, 1);
}

void
ss_freeze (SsValue *value)
{
  g_assert (!value->leaf || (!value->leaf->grad && !value->leaf->accumulate
                              && !value->leaf->hooks));
  g_clear_pointer (&value->leaf, g_free);
}

SsValue *
ss_detach (SsTape *t, SsValue *value)
{
  return ss_value_sink (ss_value_new (t, &value->tensor, ss_storage_ref (value->storage)));
}

gboolean
ss_tape_set_grad_enabled (SsTape *t, gboolean is_enabled)
{
  gboolean was = t->context.is_grad_enabled;

  t->context.is_grad_enabled = is_enabled != FALSE;
  return was;
}

gboolean
ss_tape_grad_enabled (const SsTape *t)
{
  return t->context.is_grad_enabled;
}

void
ss_tape_set_optimizer (SsTape *t, gboolean is_optimizer)
{
  t->context.is_optimizer = is_optimizer != FALSE;
}
