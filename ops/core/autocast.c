/* SPDX-License-Identifier: MIT
 *
 * Autocast: which arguments are cast, and the cache of the casts of leaves.
 */
#include "ops/kinds/pointwise.h"
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
  g_assert (!t->casts);
  t->lower_dtype = (guint8) lower;
  t->casts = g_array_new (FALSE, FALSE, sizeof (SsCast));
  g_array_set_clear_func (t->casts, clear_cast);
}

/* Leaving the outermost context empties the cache. */
void
ss_autocast_end (SsTape *t)
{
  if (t->casts)
    g_array_unref (g_steal_pointer (&t->casts));
}

gboolean
ss_autocast_is_on (const SsTape *t)
{
  return t->casts != NULL;
}

static SsValue *
cached_cast (SsTape *t, SsValue *leaf)
{
  for (guint i = 0; i < t->casts->len; i++)
    {
      SsCast *c = &g_array_index (t->casts, SsCast, i);

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

  if (!t->casts || !ss_dtype_is_floating (ss_value_dtype (x)) || ss_value_dtype (x) == SS_F64)
    return x;
  if (!x->leaf || ss_value_dtype (x) != SS_F32)
    return ss_to (t, x, (SsDtype) t->lower_dtype);
  cast = cached_cast (t, x);
  if (cast)
    return cast;
  c.cast = ss_value_sink (ss_to (t, x, (SsDtype) t->lower_dtype));
  c.leaf = ss_value_ref (x);
  g_array_append_val (t->casts, c);
  return c.cast;
}

SsValue *
ss_raise (SsTape *t, SsValue *x)
{
  if (!t->casts || (ss_value_dtype (x) != SS_BF16 && ss_value_dtype (x) != SS_F16))
    return x;
  return ss_to (t, x, SS_F32);
}
