/* SPDX-License-Identifier: MIT
 *
 * SsValue: a reference-counted handle to a tensor on the tape, as a Python name or a temporary is.
 * A storage lives while any value of it does; the tape writes its release where the last one goes.
 * It has a shape, no values.  Results are born floating: see ss_keep.
 */
#pragma once

#include <glib.h>

#include "memory/category.h"
#include "memory/tensor.h"

G_BEGIN_DECLS

typedef struct _SsTape SsTape;
typedef struct _SsNode SsNode;
typedef struct _SsValue SsValue;

typedef struct
{
  SsTape *tape;
  guint32 id;                    /* index into the program's storages */
  guint32 n_values;              /* handles that keep it alive */
  guint8 stream;                 /* SsStreamId: in whose pool it is */
  guint8 is_discarded;           /* resized to nothing for a while */
} SsStorage;

/* What a parameter (a leaf of autograd's graph) has besides its tensor. */
typedef struct
{
  SsValue *grad;                 /* .grad, or NULL; held */
  SsNode *accumulate;            /* its AccumulateGrad node while a graph needs it; not held */
  GArray *hooks;                 /* of its gradient, or NULL */
} SsLeaf;

struct _SsValue
{
  guint32 ref_count;
  guint32 born; /* number of ops recorded before it, for the check of argument order */
  guint16 n_names;               /* Python names that hold it: what a traceback would keep alive */
  guint8 is_floating : 1;
  guint8 is_reached : 1;         /* by ops/core/unwind.c, once in a trace */
  guint8 slot;                   /* which output of `node` */
  SsTape *tape;
  SsTensor tensor;
  SsStorage *storage;            /* NULL on a stopped tape */
  SsValue *base;                 /* a view holds the value it views, as autograd's views do */
  SsNode *node;                  /* what made it, if it wants a gradient */
  SsValue *older, *newer;        /* in the tape's list of what is alive */
  SsLeaf *leaf;                  /* leaves that require a gradient only */
};

SsValue *ss_value_ref (SsValue *self);
void ss_value_unref (SsValue *self);
/* Drops a reference that ss_keep took for a name. */
void ss_name_release (SsValue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsValue, ss_name_release)

/* Binds a name: sinks a floating value, else takes another reference. (transfer full) */
SsValue *ss_keep (SsValue *value);
/* `name = value`: keeps the new value, then drops the old one. `value` may be NULL (del name). */
void ss_rebind (SsValue **name, SsValue *value);
/* `return name`: the name's value becomes the function's result. (transfer floating) */
SsValue *ss_give (SsValue **name);
/* `del name` */
#define ss_drop(name) g_clear_pointer (name, ss_name_release)
/* An expression whose result nobody takes. */
#define ss_discard(value) ss_name_release (ss_keep (value))

/* Says what the value's storage is for; a storage keeps the first in the order of SsCategory. */
void ss_value_claim (SsValue *value, SsCategory category);

/* Sizes, by dimension from the left or (negative) from the right. */
gint64 ss_value_size (const SsValue *value, int dim);
static inline SsDtype
ss_value_dtype (const SsValue *value)
{
  return (SsDtype) value->tensor.dtype;
}
static inline gboolean
ss_value_requires_grad (const SsValue *value)
{
  return value->leaf != NULL || value->node != NULL;
}

G_END_DECLS
