/* SPDX-License-Identifier: MIT */
#include "ops/core/autograd.h"

#include "ops/core/arithmetic.h"
#include "ops/core/tape-private.h"

/* ---- ready nodes: highest sequence number first ---- */

static void
push_ready (GPtrArray *heap, SsNode *n)
{
  guint i = heap->len;

  g_ptr_array_add (heap, n);
  for (; i > 0 && ((SsNode *) heap->pdata[(i - 1) / 2])->sequence < n->sequence; i = (i - 1) / 2)
    heap->pdata[i] = heap->pdata[(i - 1) / 2];
  heap->pdata[i] = n;
}

static SsNode *
pop_ready (GPtrArray *heap)
{
  SsNode *top = heap->pdata[0];
  SsNode *last = g_ptr_array_steal_index (heap, heap->len - 1);
  guint i = 0;

  for (guint c = 1; c < heap->len; i = c, c = 2 * i + 1)
    {
      if (c + 1 < heap->len
          && ((SsNode *) heap->pdata[c + 1])->sequence > ((SsNode *) heap->pdata[c])->sequence)
        c++;
      if (((SsNode *) heap->pdata[c])->sequence <= last->sequence)
        break;
      heap->pdata[i] = heap->pdata[c];
    }
  if (heap->len > 0)
    heap->pdata[i] = last;
  return top;
}

/* How many edges of this backward lead to each node. */
static void
count_dependencies (SsTape *t, SsNode *root)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  root->visited = ++t->backward_id;
  root->n_pending = 0;
  g_ptr_array_add (stack, root);
  while (stack->len > 0)
    {
      SsNode *n = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      for (guint i = 0; i < n->n_edges; i++)
        {
          SsNode *to = n->edge[i].node;

          if (!to)
            continue;
          if (to->visited != t->backward_id)
            {
              to->visited = t->backward_id;
              to->n_pending = 0;
              g_ptr_array_add (stack, to);
            }
          to->n_pending++;
        }
    }
}

/* ---- gradients arrive ---- */

/* Taken over if nobody else holds it and it lies as the parameter does, else cloned in the
 * parameter's layout; later ones are added in place. */
static void
accumulate (SsTape *t, SsValue *parameter, SsValue *g)
{
  SsLeaf *leaf = parameter->leaf;

  if (leaf->grad)
    ss_add_in_place (t, leaf->grad, g);
  else if (g->ref_count == 1 && ss_tensor_same_strides (&g->tensor, &parameter->tensor))
    leaf->grad = ss_value_ref (g);
  else
    leaf->grad = ss_value_sink (ss_clone_like (t, g, &parameter->tensor));
  ss_value_claim (leaf->grad, SS_CATEGORY_GRADIENTS);
}

void
ss_accumulate_grad (SsTape *t, SsValue *parameter, SsValue **gradient)
{
  const SsLeaf *leaf = parameter->leaf;
  const SsNode *n = leaf->accumulate;

  ss_hooks_run_tensor (t, leaf->hooks, 0, gradient);
  if (n)
    ss_hooks_run_before (t, n, gradient);
  accumulate (t, parameter, *gradient);
  ss_hooks_run_accumulated (t, parameter);
  if (n)
    ss_hooks_run_after (t, n, NULL, gradient);
}

/* InputBuffer: the sum is made in place if the earlier gradient is dense and held by nobody
 * else. */
static void
deliver (SsTape *t, SsSlot *slot, SsValue *g)
{
  SsValue *old = slot->incoming;

  if (!old)
    {
      slot->incoming = g;
      return;
    }
  if (old->ref_count == 1 && old->storage && old->storage->n_values == 1
      && ss_tensor_is_dense (&old->tensor))
    ss_add_in_place (t, old, g);
  else
    {
      slot->incoming = ss_value_sink (ss_add (t, old, g));
      ss_value_unref (old);
    }
  ss_value_unref (g);
}

/* validate_outputs: a gradient broader than its input is summed, one of another type is cast. */
static void
validate (SsTape *t, const SsNode *n, SsValue **out)
{
  for (guint i = 0; i < n->n_edges; i++)
    {
      const SsTensor *wanted;
      SsValue *old = out[i];

      if (!old || !ss_node_needs (n, i))
        continue;
      wanted = ss_node_wanted (n, i);
      if (!ss_tensor_same_sizes (wanted, &out[i]->tensor))
        {
          out[i] = ss_value_sink (ss_sum_to (t, out[i], wanted));
          ss_value_unref (old);
          old = out[i];
        }
      if (wanted->dtype != out[i]->tensor.dtype)
        {
          out[i] = ss_value_sink (ss_to (t, out[i], (SsDtype) wanted->dtype));
          ss_value_unref (old);
        }
    }
}

/* ---- one node ---- */

static gboolean
unpack (SsTape *t, SsNode *n)
{
  gboolean was_packed = FALSE;

  for (guint i = 0; i < n->n_saved; i++)
    if (n->saved[i].hooks)
      {
        n->saved[i].value = ss_saved_get (t, &n->saved[i]);
        was_packed = TRUE;
      }
  return was_packed;
}

static void
run_backward (SsTape *t, SsNode *n, SsValue **grad, SsValue **out)
{
  gboolean was_packed = unpack (t, n);

  /* a recomputation that was stopped part-way has not all that was saved */
  if (!t->is_stopped)
    n->kind->backward (t, n, grad, out);
  /* what hooks unpacked belongs to the backward function's own scope */
  for (guint i = n->n_saved; was_packed && i-- > 0;)
    ss_saved_clear (&n->saved[i]);
  for (guint i = 0; i < n->n_edges; i++)
    if (out[i])
      ss_value_sink (out[i]);
}

static void
evaluate (SsTape *t, SsNode *n, GPtrArray *ready)
{
  SsValue *out[SS_MAX_EDGES] = { NULL }, *grad[SS_MAX_OUTPUTS] = { NULL };

  for (guint i = 0; i < n->n_slots; i++)
    grad[i] = g_steal_pointer (&n->slot[i].incoming);
  t->context.module_id = n->module_id;
  t->context.is_loss_node = n->is_loss != FALSE;
  /* a stopped tape only lets go */
  if (n->leaf)
    {
      if (!t->is_stopped)
        ss_accumulate_grad (t, n->leaf, &grad[0]);
      g_clear_pointer (&grad[0], ss_value_unref);
      return;
    }
  if (!t->is_stopped)
    {
      ss_tape_mark_backward_begin (t, ss_tape_layer (t));
      for (guint i = 0; i < n->n_slots; i++)
        ss_hooks_run_tensor (t, n->hooks, i, &grad[i]);
      ss_hooks_run_before (t, n, grad);
      run_backward (t, n, grad, out);
      validate (t, n, out);
      ss_hooks_run_after (t, n, out, grad);
    }
  for (guint i = 0; i < n->n_slots; i++)
    g_clear_pointer (&grad[i], ss_value_unref);
  for (guint i = 0; i < n->n_saved; i++)
    ss_saved_clear (&n->saved[i]);
  for (guint i = 0; i < n->n_edges; i++)
    {
      SsNode *to = n->edge[i].node;

      if (out[i] && !to)
        ss_value_unref (out[i]);         /* a kernel made it although nobody wants it */
      if (out[i] && to)
        deliver (t, &to->slot[n->edge[i].slot], out[i]);
      if (to && --to->n_pending == 0)
        push_ready (ready, to);
    }
}

/* ---- the engine ---- */

static void
run_ready (SsTape *t, SsNode *root, guint slot, SsValue *gradient)
{
  g_autoptr (GPtrArray) ready = g_ptr_array_new ();

  count_dependencies (t, root);
  root->slot[slot].incoming = ss_value_ref (gradient);
  push_ready (ready, root);
  while (ready->len > 0)
    evaluate (t, pop_ready (ready), ready);
}

void
ss_backward (SsTape *t, SsValue *value, SsValue *gradient)
{
  SsContext outer = t->context;
  GArray *callbacks = NULL;
  SsValue *ones;

  /* a failed trace made no graph */
  if (!value->node)
    return;
  if (!t->context.in_backward)
    g_array_set_size (t->begun_layers, 0);
  ones = gradient ? ss_value_ref (gradient) : ss_value_sink (ss_ones_like (t, value));
  if (!gradient)
    ss_value_claim (ones, SS_CATEGORY_LOGITS);
  t->context.is_grad_enabled = FALSE;
  t->context.thread = SS_THREAD_BACKWARD;
  t->context.in_backward = TRUE;
  t->context.in_recompute = FALSE;
  t->context.callbacks = &callbacks;
  if (!gradient)
    ones->n_names++;              /* torch.autograd.backward's own local */
  run_ready (t, value->node, value->slot, ones);
  t->context.is_grad_enabled = outer.is_grad_enabled;
  t->context.module_id = outer.module_id;
  ss_callbacks_run (t, &callbacks);
  t->context = outer;
  ss_value_unref (ones);
}

/* ---- what is held ---- */

typedef struct
{
  SsTape *tape;
  GHashTable *seen;              /* SsStorage */
  guint64 bytes;
} Held;

static void
add_storage (SsValue *value, gpointer data)
{
  Held *held = data;
  const SsStorageInfo *info;

  if (!value || !value->storage || value->storage->is_discarded
      || !g_hash_table_add (held->seen, value->storage))
    return;
  info = ss_program_storage (held->tape->program, value->storage->id);
  if (info->category != SS_CATEGORY_PARAMETERS)
    held->bytes = ss_size_add (held->bytes, info->bytes);
}

static void
add_held (Held *held, const SsNode *n)
{
  for (guint i = 0; i < n->n_saved; i++)
    ss_saved_each (&n->saved[i], add_storage, held);
  if (n->holder && n->holder->each)
    n->holder->each (n->context, add_storage, held);
}

guint64
ss_saved_bytes (SsTape *t, const SsValue *value)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  Held held = { t, seen, 0 };

  if (!value->node)
    return 0;
  value->node->visited = ++t->backward_id;
  g_ptr_array_add (stack, value->node);
  while (stack->len > 0)
    {
      SsNode *n = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      add_held (&held, n);
      for (guint i = 0; i < n->n_edges; i++)
        if (n->edge[i].node && n->edge[i].node->visited != t->backward_id)
          {
            n->edge[i].node->visited = t->backward_id;
            g_ptr_array_add (stack, n->edge[i].node);
          }
    }
  return held.bytes;
}
