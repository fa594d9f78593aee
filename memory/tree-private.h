/* SPDX-License-Identifier: MIT
 *
 * SsTree: an ordered set of records that carry their own links: a treap (Aragon and Seidel 1989)
 * for each eighth of a power of two of the major number, as sizes are spread over many.  It knows
 * two numbers per record and allocates nothing; whoever inserts a record owns it.  What was
 * inserted last is often the first to be taken out, and so waits beside the tree until another
 * comes.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SsTreeNode SsTreeNode;

struct _SsTreeNode
{
  SsTreeNode *child[2];          /* before, after */
  guint64 major, minor;          /* ordered by major, then minor; no two alike in one tree */
  guint64 priority;              /* a parent's is not below its children's */
};

#define SS_TREE_WORDS 8

/* All zero: empty. */
typedef struct
{
  SsTreeNode *newest;            /* not in the tree yet, or NULL */
  guint64 filled[SS_TREE_WORDS]; /* a bit for each root that is not NULL */
  SsTreeNode *roots[SS_TREE_WORDS * 64];
} SsTree;

void ss_tree_insert (SsTree *self, SsTreeNode *node, guint64 major, guint64 minor);
/* `node` must be in the tree. */
void ss_tree_remove (SsTree *self, SsTreeNode *node);
/* The first not before (major, minor), or NULL. (transfer none) */
SsTreeNode *ss_tree_at_least (const SsTree *self, guint64 major, guint64 minor);
/* The last before (major, minor), or NULL. (transfer none) */
SsTreeNode *ss_tree_below (const SsTree *self, guint64 major, guint64 minor);
/* The one after `node`, or NULL. (transfer none) */
SsTreeNode *ss_tree_after (const SsTree *self, const SsTreeNode *node);

G_END_DECLS
