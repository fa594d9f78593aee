/* SPDX-License-Identifier: MIT */
#include "memory/tree-private.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define N_NODES 200
#define N_ROUNDS 20000

/* Of every order of magnitude, many of them equal, and the largest there is. */
static guint64
random_major (GRand *random)
{
  guint64 bits = (guint64) g_rand_int (random) << 32 | g_rand_int (random);

  switch (g_rand_int_range (random, 0, 4))
    {
    case 0:
      return bits % 20;
    case 1:
      return G_MAXUINT64 - bits % 3;
    case 2:
      return G_GUINT64_CONSTANT (1) << (bits % 64);
    default:
      return bits >> g_rand_int_range (random, 0, 64);
    }
}

static gboolean
is_before (const SsTreeNode *node, guint64 major, guint64 minor)
{
  return node->major < major || (node->major == major && node->minor < minor);
}

/* What the tree should find, by looking at all of them: the first that is not before the key, or
 * the last that is. */
static SsTreeNode *
look (SsTreeNode *nodes, const gboolean *is_in, guint64 major, guint64 minor, gboolean is_below)
{
  SsTreeNode *best = NULL;

  for (guint i = 0; i < N_NODES; i++)
    if (is_in[i] && is_before (&nodes[i], major, minor) == is_below
        && (best == NULL || is_before (&nodes[i], best->major, best->minor) != is_below))
      best = &nodes[i];
  return best;
}

Test (tree, finds_what_a_look_at_all_finds)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (17);
  SsTreeNode nodes[N_NODES];
  gboolean is_in[N_NODES] = { FALSE };
  SsTree tree = { 0 };

  for (guint round = 0; round < N_ROUNDS; round++)
    {
      guint i = (guint) g_rand_int_range (random, 0, N_NODES);
      guint64 major = random_major (random), minor = g_rand_int (random);
      SsTreeNode *found;

      if (is_in[i])
        ss_tree_remove (&tree, &nodes[i]);
      else
        ss_tree_insert (&tree, &nodes[i], major, (guint64) minor << 8 | i);
      is_in[i] = !is_in[i];
      if (g_rand_boolean (random))
        major = nodes[i].major;
      found = ss_tree_at_least (&tree, major, minor);
      cr_assert (eq (ptr, found, look (nodes, is_in, major, minor, FALSE)));
      if (found != NULL)
        cr_assert (eq (ptr, ss_tree_after (&tree, found),
                       look (nodes, is_in, found->major, found->minor + 1, FALSE)));
      cr_assert (eq (ptr, ss_tree_below (&tree, major, minor),
                     look (nodes, is_in, major, minor, TRUE)));
    }
}

Test (tree, is_empty_when_all_are_taken_out)
{
  SsTreeNode nodes[3];
  SsTree tree = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    ss_tree_insert (&tree, &nodes[i], i * 1000, i);
  cr_expect (eq (ptr, ss_tree_below (&tree, G_MAXUINT64, 0), &nodes[2]));
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    ss_tree_remove (&tree, &nodes[i]);
  cr_expect (eq (ptr, ss_tree_at_least (&tree, 0, 0), NULL));
  cr_expect (eq (ptr, ss_tree_below (&tree, G_MAXUINT64, G_MAXUINT64), NULL));
}
