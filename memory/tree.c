/* SPDX-License-Identifier: MIT */
#include "memory/tree-private.h"

/* Major and minor as one number. */
__extension__ typedef unsigned __int128 Key;

/* Arithmetic instead of branches: which way a search turns is anybody's guess, the processor's
 * too. */
static inline guint
is_before (const SsTreeNode *node, guint64 major, guint64 minor)
{
  return ((Key) node->major << 64 | node->minor) < ((Key) major << 64 | minor);
}

/* The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014): the shape of the tree is a function of what is in it, so runs repeat. */
static inline guint64
priority_of (guint64 x)
{
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Below 8 each number has a treap of its own, from there on each eighth of a power of two: it rises
 * with the number. */
static inline guint
index_of (guint64 major)
{
  guint power;

  if (major < 8)
    return (guint) major;
  power = 63 - (guint) __builtin_clzll (major);
  return (power - 2) * 8 + (guint) (major >> (power - 3) & 7);
}

/* The first treap after that one which has something in it; NULL if there is none. */
static SsTreeNode *
treap_after (const SsTree *self, guint index)
{
  guint word = index / 64;
  guint64 bits = self->filled[word] & (G_MAXUINT64 - 1) << index % 64;

  while (!bits)
    {
      if (++word == SS_TREE_WORDS)
        return NULL;
      bits = self->filled[word];
    }
  return self->roots[word * 64 + (guint) __builtin_ctzll (bits)];
}

/* The last before that one, likewise. */
static SsTreeNode *
treap_before (const SsTree *self, guint index)
{
  guint word = index / 64;
  guint64 bits = self->filled[word] & ((G_GUINT64_CONSTANT (1) << index % 64) - 1);

  while (!bits)
    {
      if (word-- == 0)
        return NULL;
      bits = self->filled[word];
    }
  return self->roots[word * 64 + 63 - (guint) __builtin_clzll (bits)];
}

static SsTreeNode *
outermost (SsTreeNode *node, guint side)
{
  while (node && node->child[side])
    node = node->child[side];
  return node;
}

/* Goes down to where the priority belongs and splits what hangs there by the key. */
static void
hang_in (SsTree *self, SsTreeNode *node)
{
  guint64 major = node->major, minor = node->minor;
  guint index = index_of (major);
  SsTreeNode **link = &self->roots[index], *rest;
  SsTreeNode **side[2] = { &node->child[0], &node->child[1] };

  self->filled[index / 64] |= G_GUINT64_CONSTANT (1) << index % 64;
  node->priority = priority_of (minor);
  while (*link && (*link)->priority >= node->priority)
    link = &(*link)->child[is_before (*link, major, minor)];
  for (rest = *link; rest;)
    {
      guint before = is_before (rest, major, minor);

      *side[!before] = rest;
      side[!before] = &rest->child[before];
      rest = rest->child[before];
    }
  *side[0] = *side[1] = NULL;
  *link = node;
}

/* Puts the merge of both children in the node's place. */
static void
take_out (SsTree *self, SsTreeNode *node)
{
  guint index = index_of (node->major);
  SsTreeNode **link = &self->roots[index], *before = node->child[0], *after = node->child[1];

  while (*link != node)
    link = &(*link)->child[is_before (*link, node->major, node->minor)];
  while (before && after)
    if (before->priority >= after->priority)
      {
        *link = before;
        link = &before->child[1];
        before = *link;
      }
    else
      {
        *link = after;
        link = &after->child[0];
        after = *link;
      }
  *link = before ? before : after;
  if (!self->roots[index])
    self->filled[index / 64] &= ~(G_GUINT64_CONSTANT (1) << index % 64);
}

void
ss_tree_insert (SsTree *self, SsTreeNode *node, guint64 major, guint64 minor)
{
  if (self->newest)
    hang_in (self, self->newest);
  node->major = major;
  node->minor = minor;
  self->newest = node;
}

void
ss_tree_remove (SsTree *self, SsTreeNode *node)
{
  if (node == self->newest)
    self->newest = NULL;
  else
    take_out (self, node);
}

SsTreeNode *
ss_tree_at_least (const SsTree *self, guint64 major, guint64 minor)
{
  guint index = index_of (major);
  SsTreeNode *newest = self->newest;
  SsTreeNode *node = self->roots[index], *best = NULL;

  while (node)
    {
      guint before = is_before (node, major, minor);

      best = before ? best : node;
      node = node->child[before];
    }
  if (!best)
    best = outermost (treap_after (self, index), 0);
  if (newest && !is_before (newest, major, minor)
      && (!best || is_before (newest, best->major, best->minor)))
    return newest;
  return best;
}

SsTreeNode *
ss_tree_below (const SsTree *self, guint64 major, guint64 minor)
{
  guint index = index_of (major);
  SsTreeNode *newest = self->newest;
  SsTreeNode *node = self->roots[index], *best = NULL;

  while (node)
    {
      guint before = is_before (node, major, minor);

      best = before ? node : best;
      node = node->child[before];
    }
  if (!best)
    best = outermost (treap_before (self, index), 1);
  if (newest && is_before (newest, major, minor)
      && (!best || is_before (best, newest->major, newest->minor)))
    return newest;
  return best;
}

SsTreeNode *
ss_tree_after (const SsTree *self, const SsTreeNode *node)
{
  return ss_tree_at_least (self, node->major, node->minor + 1);
}
