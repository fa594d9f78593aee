/* SPDX-License-Identifier: MIT
 *
 * Nodes of autograd's graph: making, finding, letting go.
 */
#include <string.h>

#include "ops/core/tape-private.h"

static const SsOpKind accumulate_grad = { .name = "AccumulateGrad", .node_name = "AccumulateGrad" };

/* One record: the node, then its slots, edges and saved values. */
static gsize
node_bytes (guint n_edges, guint n_saved, guint n_slots)
{
  return sizeof (SsNode) + n_edges * sizeof (SsEdge) + n_saved * sizeof (SsSaved)
         + n_slots * sizeof (SsSlot);
}

/* The slab of that size, or NULL if the node is too large for any. */
static SsSlab *
slab_of (SsTape *t, gsize bytes)
{
  gsize i = (bytes - 1) / SS_NODE_STEP;

  return i < SS_N_NODE_SLABS ? &t->nodes[i] : NULL;
}

static void
free_node (SsNode *self)
{
  SsSlab *slab
    = slab_of (self->tape, node_bytes (self->n_edges, self->n_saved, self->n_slots));

  if (slab)
    ss_slab_give (slab, self);
  else
    g_free (self);
}

SsNode *
ss_node_new (SsTape *t, const SsOpKind *kind, guint n_edges, guint n_saved, guint n_slots)
{
  gsize bytes = node_bytes (n_edges, n_saved, n_slots);
  SsSlab *slab = slab_of (t, bytes);
  SsNode *self = slab ? ss_slab_take (slab) : g_malloc (bytes);

  g_assert (n_edges <= SS_MAX_EDGES && n_slots <= SS_MAX_OUTPUTS);
  memset (self, 0, bytes);
  self->tape = t;
  self->kind = kind;
  self->ref_count = 1;
  self->sequence = t->next_sequence++;
  self->module_id = t->context.module_id;
  self->is_loss = t->context.phase == SS_PHASE_LOSS && !t->context.in_backward;
  self->n_edges = (guint16) n_edges;
  self->n_saved = (guint16) n_saved;
  self->n_slots = (guint16) n_slots;
  self->slot = (SsSlot *) (self + 1);
  self->edge = (SsEdge *) (self->slot + n_slots);
  self->saved = (SsSaved *) (self->edge + n_edges);
  return self;
}

static void
clear_node (SsNode *self)
{
  for (guint i = 0; i < self->n_saved; i++)
    ss_saved_clear (&self->saved[i]);
  if (self->leaf)
    {
      self->leaf->leaf->accumulate = NULL;
      ss_value_unref (self->leaf);
    }
  if (self->holder && self->holder->unref)
    self->holder->unref (self->context);
  g_clear_pointer (&self->hooks, g_array_unref);
}

/* A chain of nodes is as long as the model: no recursion. */
void
ss_node_unref (SsNode *self)
{
  GPtrArray *later = NULL;

  while (self)
    {
      SsNode *next = NULL;

      if (--self->ref_count == 0)
        {
          clear_node (self);
          for (guint i = 0; i < self->n_edges; i++)
            {
              SsNode *to = self->edge[i].node;

              if (to && !next)
                next = to;
              else if (to)
                {
                  if (!later)
                    later = g_ptr_array_new ();
                  g_ptr_array_add (later, to);
                }
            }
          free_node (self);
        }
      if (!next && later && later->len > 0)
        next = g_ptr_array_steal_index_fast (later, later->len - 1);
      self = next;
    }
  if (later)
    g_ptr_array_unref (later);
}

SsNode *
ss_node_producing (SsTape *t, SsValue *value)
{
  SsNode *n;

  if (!value->leaf)
    {
      if (value->node)
        value->node->ref_count++;
      return value->node;
    }
  n = value->leaf->accumulate;
  if (n)
    {
      n->ref_count++;
      return n;
    }
  n = ss_node_new (t, &accumulate_grad, 0, 0, 1);
  n->sequence = G_MAXUINT32;
  n->leaf = ss_value_ref (value);
  n->slot[0].tensor = value->tensor;
  value->leaf->accumulate = n;
  return n;
}

SsNode *
ss_node_attach (SsTape *t, const SsOpKind *kind, guint n_in, SsValue *const *in, guint n_saved,
                SsValue *out)
{
  SsNode *n = ss_node_new (t, kind, n_in, n_saved, 1);

  n->slot[0].tensor = out->tensor;
  for (guint i = 0; i < n_in; i++)
    {
      n->edge[i].node = ss_node_producing (t, in[i]);
      n->edge[i].slot = in[i]->slot;
    }
  g_assert (!out->node && !out->leaf);
  out->node = n;
  return n;
}

void
ss_node_set_attribute (SsNode *n, guint i, gint64 value)
{
  n->attribute[i] = value;
}

void
ss_node_set_context (SsNode *n, gpointer context, const SsHolder *holder)
{
  n->context = context;
  n->holder = holder;
}

gpointer
ss_node_context (const SsNode *n)
{
  return n->context;
}

const SsOpKind *
ss_node_kind (const SsNode *n)
{
  return n->kind;
}

SsSaved *
ss_node_saves (const SsNode *n)
{
  return n->saved;
}

guint
ss_node_n_saves (const SsNode *n)
{
  return n->n_saved;
}

void
ss_node_mark_loss (SsNode *n)
{
  n->is_loss = TRUE;
}

gboolean
ss_node_needs (const SsNode *n, guint i)
{
  return i < n->n_edges && n->edge[i].node != NULL;
}

const SsTensor *
ss_node_wanted (const SsNode *n, guint i)
{
  return &n->edge[i].node->slot[n->edge[i].slot].tensor;
}

SsValue *
ss_node_saved (const SsNode *n, guint i)
{
  return n->saved[i].value;
}

gint64
ss_node_attribute (const SsNode *n, guint i)
{
  return n->attribute[i];
}

const gint64 *
ss_node_attributes (const SsNode *n)
{
  return n->attribute;
}
