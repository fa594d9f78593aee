/* SPDX-License-Identifier: MIT
 *
 * What an out-of-memory exception releases before the training loop can look: everything that
 * only compiled code and Python's evaluation stack held (outputs and scratch of the failing
 * call, temporaries of the expression, incoming gradients of the failing node, autocast's cast
 * cache). Local names stay, since the traceback keeps their frames. So it is a question of
 * reachability: from the names.
 */
#include "ops/core/tape-private.h"

typedef struct
{
  GArray *storages;              /* gboolean by id: a name leads to it */
  GPtrArray *pending_values, *pending_nodes;
} Marking;

static void
reach_value (Marking *m, SsValue *value)
{
  if (!value || value->is_reached)
    return;
  value->is_reached = TRUE;
  g_ptr_array_add (m->pending_values, value);
}

static void
reach_node (Marking *m, SsNode *node)
{
  if (!node || node->is_reached)
    return;
  node->is_reached = TRUE;
  g_ptr_array_add (m->pending_nodes, node);
}

static void
reach_held (SsValue *value, gpointer data)
{
  reach_value (data, value);
}

static void
follow_value (Marking *m, SsValue *value)
{
  if (value->storage)
    g_array_index (m->storages, gboolean, value->storage->id) = TRUE;
  reach_value (m, value->base);
  reach_node (m, value->node);
  if (!value->leaf)
    return;
  reach_value (m, value->leaf->grad);
  ss_hooks_each (value->leaf->hooks, reach_held, m);
}

static void
follow_node (Marking *m, SsNode *node)
{
  for (guint i = 0; i < node->n_saved; i++)
    ss_saved_each (&node->saved[i], reach_held, m);
  for (guint i = 0; i < node->n_slots; i++)
    reach_value (m, node->slot[i].incoming);
  for (guint i = 0; i < node->n_edges; i++)
    reach_node (m, node->edge[i].node);
  reach_value (m, node->leaf);
  if (node->holder && node->holder->each)
    node->holder->each (node->context, reach_held, m);
  ss_hooks_each (node->hooks, reach_held, m);
}

static void
follow_all (Marking *m)
{
  while (m->pending_values->len > 0 || m->pending_nodes->len > 0)
    {
      if (m->pending_values->len > 0)
        follow_value (m,
                      g_ptr_array_steal_index_fast (m->pending_values, m->pending_values->len - 1));
      else
        follow_node (m, g_ptr_array_steal_index_fast (m->pending_nodes, m->pending_nodes->len - 1));
    }
}

static void
reach_roots (Marking *m, SsTape *t)
{
  for (SsValue *value = t->newest_value; value; value = value->older)
    if (value->n_names > 0)
      reach_value (m, value);
  for (guint i = 0; i < SS_N_THREADS; i++)
    for (guint k = 0; k < SS_N_STREAMS; k++)
      if (t->workspace[i][k])
        g_array_index (m->storages, gboolean, t->workspace[i][k]->id) = TRUE;
}

static gboolean
note_alive (const SsProgram *p G_GNUC_UNUSED, const SsInstruction *i, gpointer alive)
{
  g_array_index ((GArray *) alive, gboolean, i->index) = i->type == SS_ALLOCATE;
  return TRUE;
}

/* Storages that are alive, by number. */
static GArray *
alive_storages (const SsProgram *p)
{
  static const SsProgramVisitor visitor = { .allocate = note_alive, .release = note_alive };
  GArray *alive = g_array_new (FALSE, TRUE, sizeof (gboolean));

  g_array_set_size (alive, ss_program_n_storages (p));
  ss_program_play (p, 0, &visitor, alive);
  return alive;
}

void
ss_tape_unwind (SsTape *t, guint32 storage_id)
{
  g_autoptr (GArray) storages = g_array_new (FALSE, TRUE, sizeof (gboolean));
  g_autoptr (GPtrArray) pending_values = g_ptr_array_new ();
  g_autoptr (GPtrArray) pending_nodes = g_ptr_array_new ();
  g_autoptr (GArray) alive = alive_storages (t->program);
  Marking m = { storages, pending_values, pending_nodes };

  g_array_set_size (storages, ss_program_n_storages (t->program));
  reach_roots (&m, t);
  follow_all (&m);
  t->unwound = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 id = 0; id < storage_id; id++)
    if (g_array_index (alive, gboolean, id) && !g_array_index (storages, gboolean, id))
      g_array_append_val (t->unwound, id);
}
