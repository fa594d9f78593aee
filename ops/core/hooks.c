/* SPDX-License-Identifier: MIT */
#include "ops/core/hooks.h"

#include "ops/core/tape-private.h"

typedef enum
{
  TENSOR, NODE_BEFORE, NODE_AFTER, ACCUMULATED, FORWARD_BEFORE, FORWARD_AFTER
} Type;

typedef struct
{
  Type type;
  guint slot;                    /* tensor: which output of the node */
  union
  {
    SsTensorHook tensor;
    SsNodePreHook node_before;
    SsNodeHook node_after;
    SsLeafHook accumulated;
    SsForwardPreHook forward_before;
    SsForwardHook forward_after;
  } run;
  gpointer data;
  const SsHolder *holder;
} Hook;

static void
unref_value (gpointer self)
{
  ss_value_unref (self);
}

static void
visit_value (gpointer self, SsVisit visit, gpointer visit_data)
{
  visit (self, visit_data);
}

const SsHolder ss_value_holder = { unref_value, visit_value };

/* ---- lists ---- */

static void
clear_hook (gpointer data)
{
  const Hook *h = data;

  if (h->holder && h->holder->unref)
    h->holder->unref (h->data);
}

static void
add (GArray **hooks, const Hook *hook)
{
  if (!*hooks)
    {
      *hooks = g_array_new (FALSE, FALSE, sizeof (Hook));
      g_array_set_clear_func (*hooks, clear_hook);
    }
  g_array_append_vals (*hooks, hook, 1);
}

/* The next hook of a type from number *i on; NULL: no more. */
static const Hook *
next (const GArray *hooks, Type type, guint *i)
{
  while (hooks && *i < hooks->len)
    {
      const Hook *h = &g_array_index (hooks, Hook, (*i)++);

      if (h->type == type)
        return h;
    }
  return NULL;
}

void
ss_hooks_each (const GArray *hooks, SsVisit visit, gpointer visit_data)
{
  for (guint i = 0; hooks && i < hooks->len; i++)
    {
      const Hook *h = &g_array_index (hooks, Hook, i);

      if (h->holder && h->holder->each)
        h->holder->each (h->data, visit, visit_data);
    }
}

/* ---- backward ---- */

void
ss_hook_tensor (SsValue *value, SsTensorHook hook, gpointer data, const SsHolder *holder)
{
  Hook h = { .type = TENSOR, .slot = value->leaf ? 0 : value->slot, .run.tensor = hook,
             .data = data, .holder = holder };

  g_assert (ss_value_requires_grad (value));
  add (value->leaf ? &value->leaf->hooks : &value->node->hooks, &h);
}

void
ss_hook_node_before (SsNode *n, SsNodePreHook hook, gpointer data, const SsHolder *holder)
{
  Hook h = { .type = NODE_BEFORE, .run.node_before = hook, .data = data, .holder = holder };

  add (&n->hooks, &h);
}

void
ss_hook_node_after (SsNode *n, SsNodeHook hook, gpointer data, const SsHolder *holder)
{
  Hook h = { .type = NODE_AFTER, .run.node_after = hook, .data = data, .holder = holder };

  add (&n->hooks, &h);
}

void
ss_hook_accumulated (SsValue *leaf, SsLeafHook hook, gpointer data, const SsHolder *holder)
{
  Hook h = { .type = ACCUMULATED, .run.accumulated = hook, .data = data, .holder = holder };

  g_assert (leaf->leaf);
  add (&leaf->leaf->hooks, &h);
}

void
ss_hooks_run_tensor (SsTape *t, const GArray *hooks, guint slot, SsValue **gradient)
{
  const Hook *h;

  for (guint i = 0; (h = next (hooks, TENSOR, &i));)
    {
      SsValue *other = h->slot == slot && *gradient ? h->run.tensor (t, *gradient, h->data) : NULL;

      if (!other)
        continue;
      ss_value_unref (*gradient);
      *gradient = other;
    }
}

void
ss_hooks_run_before (SsTape *t, const SsNode *n, SsValue **gradient)
{
  const Hook *h;

  for (guint i = 0; (h = next (n->hooks, NODE_BEFORE, &i));)
    h->run.node_before (t, n, gradient, h->data);
}

void
ss_hooks_run_after (SsTape *t, const SsNode *n, SsValue **of_inputs, SsValue *const *of_outputs)
{
  const Hook *h;

  for (guint i = 0; (h = next (n->hooks, NODE_AFTER, &i));)
    h->run.node_after (t, n, of_inputs, of_outputs, h->data);
}

void
ss_hooks_run_accumulated (SsTape *t, SsValue *leaf)
{
  const Hook *h;

  for (guint i = 0; (h = next (leaf->leaf->hooks, ACCUMULATED, &i));)
    h->run.accumulated (t, leaf, h->data);
}

/* ---- the end of a backward ---- */

typedef struct
{
  SsCallback run;
  gpointer data;
} Callback;

void
ss_queue_callback (SsTape *t, SsCallback callback, gpointer data)
{
  Callback c = { callback, data };
  GArray **queue = t->context.callbacks;

  g_assert (queue);
  if (!*queue)
    *queue = g_array_new (FALSE, FALSE, sizeof (Callback));
  g_array_append_val (*queue, c);
}

void
ss_callbacks_run (SsTape *t, GArray **queue)
{
  for (guint i = 0; *queue && i < (*queue)->len && !t->is_stopped; i++)
    {
      Callback c = g_array_index (*queue, Callback, i);

      c.run (t, c.data);
    }
  g_clear_pointer (queue, g_array_unref);
}

/* ---- forward ---- */

static void
add_forward (SsTape *t, guint32 module_id, const Hook *hook)
{
  gpointer key = GUINT_TO_POINTER (module_id);
  GArray *hooks, *found;

  if (!t->forward_hooks)
    t->forward_hooks
      = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  hooks = found = g_hash_table_lookup (t->forward_hooks, key);
  add (&hooks, hook);
  if (!found)
    g_hash_table_insert (t->forward_hooks, key, hooks);
}

void
ss_hook_forward_before (SsTape *t, guint32 module_id, SsForwardPreHook hook, gpointer data)
{
  Hook h = { .type = FORWARD_BEFORE, .run.forward_before = hook, .data = data };

  add_forward (t, module_id, &h);
}

void
ss_hook_forward_after (SsTape *t, guint32 module_id, SsForwardHook hook, gpointer data)
{
  Hook h = { .type = FORWARD_AFTER, .run.forward_after = hook, .data = data };

  add_forward (t, module_id, &h);
}

static SsValue *
call_hooked (SsTape *t, const GArray *const *lists, SsForward forward, gconstpointer self,
             guint n_in, SsValue **in)
{
  g_autoptr (SsValue) out = NULL;
  const Hook *h;

  for (guint k = 0; k < 2; k++)
    for (guint i = 0; (h = next (lists[k], FORWARD_BEFORE, &i));)
      h->run.forward_before (t, n_in, in, h->data);
  out = ss_keep (forward (t, self, in));
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; (h = next (lists[k], FORWARD_AFTER, &i));)
      {
        SsValue *other = h->run.forward_after (t, n_in, in, out, h->data);

        if (!other)
          continue;
        ss_rebind (&out, other);
        ss_value_unref (other);
      }
  return ss_give (&out);
}

SsValue *
ss_module_call (SsTape *t, SsForward forward, gconstpointer self, guint n_in, SsValue *const *in)
{
  const GArray *lists[2] = { NULL };
  SsValue *held[SS_MAX_FORWARD_INPUTS] = { NULL }, *out;

  if (t->forward_hooks)
    {
      lists[0] = g_hash_table_lookup (t->forward_hooks, GUINT_TO_POINTER (SS_EVERY_MODULE));
      lists[1]
        = g_hash_table_lookup (t->forward_hooks, GUINT_TO_POINTER (t->context.module_id));
    }
  if (!lists[0] && !lists[1])
    return forward (t, self, in);
  g_assert (n_in <= SS_MAX_FORWARD_INPUTS);
  for (guint i = 0; i < n_in; i++)
    held[i] = in[i] ? ss_value_sink (in[i]) : NULL;
  out = call_hooked (t, lists, forward, self, n_in, held);
  for (guint i = 0; i < n_in; i++)
    g_clear_pointer (&held[i], ss_value_unref);
  return out;
}
