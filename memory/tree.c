/* SPDX-License-Identifier: MIT */
#include "memory/tree-private.h"

static inline gboolean
is_before (const SsTreeNode *node, guint64 major, guint64 minor)
{
  return node->major < major || (node->major == major && node->minor < minor);
}

/* The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
 * 2014): the shape of the tree is a function of what is in it, so runs repeat. */
static inline guint64
priority_of (guint64 x)
{
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Goes down to where the priority belongs and splits what hangs there by the key. */
void
ss_tree_insert (SsTree *self, SsTreeNode *node, guint64 major, guint64 minor)
{
  SsTreeNode **link = &self->root, **left = &node->left, **right = &node->right, *rest;

  node->major = major;
  node->minor = minor;
  node->priority = priority_of (minor);
  while (*link && (*link)->priority >= node->priority)
    link = is_before (*link, major, minor) ? &(*link)->right : &(*link)->left;
  for (rest = *link; rest;)
    if (is_before (rest, major, minor))
      {
        *left = rest;
        left = &rest->right;
        rest = rest->right;
      }
    else
      {
        *right = rest;
        right = &rest->left;
        rest = rest->left;
      }
  *left = *right = NULL;
  *link = node;
}

/* Puts the merge of both children in the node's place. */
void
ss_tree_remove (SsTree *self, SsTreeNode *node)
{
  SsTreeNode **link = &self->root, *left = node->left, *right = node->right;

  while (*link != node)
    link = is_before (*link, node->major, node->minor) ? &(*link)->right : &(*link)->left;
  while (left && right)
    if (left->priority >= right->priority)
      {
        *link = left;
        link = &left->right;
        left = left->right;
      }
    else
      {
        *link = right;
        link = &right->left;
        right = right->left;
      }
  *link = left ? left : right;
}

SsTreeNode *
ss_tree_at_least (const SsTree *self, guint64 major, guint64 minor)
{
  SsTreeNode *node = self->root, *best = NULL;

  while (node)
    if (is_before (node, major, minor))
      node = node->right;
    else
      {
        best = node;
        node = node->left;
      }
  return best;
}

SsTreeNode *
ss_tree_below (const SsTree *self, guint64 major, guint64 minor)
{
  SsTreeNode *node = self->root, *best = NULL;

  while (node)
    if (is_before (node, major, minor))
      {
        best = node;
        node = node->right;
      }
    else
      node = node->left;
  return best;
}

SsTreeNode *
ss_tree_after (const SsTree *self, const SsTreeNode *node)
{
  return ss_tree_at_least (self, node->major, node->minor + 1);
}
