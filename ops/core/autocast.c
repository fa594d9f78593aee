/* SPDX-License-Identifier: MIT
 *
 * Autocast: which arguments are cast, and the cache of the casts of leaves.
 */
#include "ops/core/arithmetic.h"
#include "ops/core/tape-private.h"

static void
clear_cast (gpointer data)
{
  SsCast *c = data;

  ss_value_unref (c->leaf);
  ss_value_unref (c->cast);
}

void
ss_autocast_begin (SsTape *t, SsDtype lower)
{
  SsContext *c = &t->context;

  g_assert (!c->casts);
  c->lower_dtype = (guint8) lower;
  c->casts = g_array_new (FALSE, FALSE, sizeof (SsCast));
  g_array_set_clear_func (c->casts, clear_cast);
}

/* Leaving the outermost context empties the cache. */
void
ss_autocast_end (SsTape *t)
{
  if (t->context.casts)
    g_array_unref (g_steal_pointer (&t->context.casts));
}

gboolean
ss_autocast_is_on (const SsTape *t)
{
  return t->context.casts != NULL;
}

SsDtype
ss_autocast_dtype (const SsTape *t)
{
  return (SsDtype) t->context.lower_dtype;
}

static SsValue *
cached_cast (SsTape *t, SsValue *leaf)
{
  for (guint i = 0; i < t->context.casts->len; i++)
    {
      SsCast *c = &g_array_index (t->context.casts, SsCast, i);

      if (c->leaf == leaf)
        return c->cast;
    }
  return NULL;
}

SsValue *
ss_lower (SsTape *t, SsValue *x)
{
  SsCast c;
  SsValue *cast;

  if (!ss_autocast_is_on (t) || !ss_dtype_is_floating (ss_value_dtype (x))
      || ss_value_dtype (x) == SS_F64)
    return x;
  if (!x->leaf || ss_value_dtype (x) != SS_F32)
    return ss_to (t, x, (SsDtype) t->context.lower_dtype);
  cast = cached_cast (t, x);
  if (cast)
    return cast;
  c.cast = ss_value_sink (ss_to (t, x, (SsDtype) t->context.lower_dtype));
  c.leaf = ss_value_ref (x);
  g_array_append_val (t->context.casts, c);
  return c.cast;
}

SsValue *
ss_raise (SsTape *t, SsValue *x)
{
  if (!ss_autocast_is_on (t) || (ss_value_dtype (x) != SS_BF16 && ss_value_dtype (x) != SS_F16))
    return x;
  return ss_to (t, x, SS_F32);
}
