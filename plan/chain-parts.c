/* SPDX-License-Identifier: MIT */
#include "plan/chain-parts-private.h"

#include <string.h>

typedef struct
{
  guint first, last;
} Part;

struct _SsChainParts
{
  guint n_stages;
  guint32 **ids;                 /* by number of stages less 1, then by first stage less 1 */
  GArray *examples;              /* Part, by id */
};

/* What the optimum depends on in a stage. */
typedef struct
{
  SsChainStage stage;
  guint64 boundary_bytes, gradient_bytes;
} StageType;

static guint
hash_type (gconstpointer data)
{
  const guint64 *words = data;
  guint64 hash = 0;

  for (guint i = 0; i < sizeof (StageType) / sizeof (guint64); i++)
    hash = (hash ^ words[i]) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (guint) (hash >> 32);
}

static gboolean
equal_types (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (StageType)) == 0;
}

/* For each stage a number of its type, from 0. (transfer full) */
static guint32 *
number_types (const SsChain *chain)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (hash_type, equal_types, g_free, NULL);
  guint32 *types = g_new (guint32, chain->n_stages);

  for (guint i = 0; i < chain->n_stages; i++)
    {
      StageType type = { chain->stages[i + 1], chain->boundary_bytes[i + 1],
                         chain->gradient_bytes[i + 1] };
      gpointer found;

      if (!g_hash_table_lookup_extended (known, &type, NULL, &found))
        {
          found = GUINT_TO_POINTER (g_hash_table_size (known));
          g_hash_table_insert (known, g_memdup2 (&type, sizeof type), found);
        }
      types[i] = GPOINTER_TO_UINT (found);
    }
  return types;
}

/* The number of (a, b): the known one, or the next id, whose example is first .. last. */
static guint32
intern (SsChainParts *self, GHashTable *known, guint64 a, guint64 b, guint first, guint last)
{
  gint64 key[2] = { (gint64) a, (gint64) b };
  gpointer found;
  Part part = { first, last };

  if (g_hash_table_lookup_extended (known, key, NULL, &found))
    return GPOINTER_TO_UINT (found);
  found = GUINT_TO_POINTER (self->examples->len);
  g_hash_table_insert (known, g_memdup2 (key, sizeof key), found);
  g_array_append_val (self->examples, part);
  return GPOINTER_TO_UINT (found);
}

static guint
hash_pair (gconstpointer data)
{
  const guint64 *pair = data;
  guint64 hash = (pair[0] ^ (pair[1] << 32)) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return (guint) (hash >> 32);
}

static gboolean
equal_pairs (gconstpointer a, gconstpointer b)
{
  const guint64 *x = a, *y = b;

  return x[0] == y[0] && x[1] == y[1];
}

/* A part of one stage is told by the gradient it hands on, its type, and whether it ends the chain:
 * then it is run for the first time.  A longer one by the part without its last stage and the type
 * of that. */
SsChainParts *
ss_chain_parts_new (const SsChain *chain)
{
  SsChainParts *self = g_new0 (SsChainParts, 1);
  g_autofree guint32 *types = number_types (chain);
  guint n = chain->n_stages;

  self->n_stages = n;
  self->ids = g_new0 (guint32 *, n);
  self->examples = g_array_new (FALSE, FALSE, sizeof (Part));
  for (guint length = 1; length <= n; length++)
    {
      g_autoptr (GHashTable) known
          = g_hash_table_new_full (hash_pair, equal_pairs, g_free, NULL);
      guint32 *ids = self->ids[length - 1] = g_new (guint32, n - length + 1);

      for (guint i = 0; i + length <= n; i++)
        {
          guint64 before = length == 1 ? chain->gradient_bytes[i] : self->ids[length - 2][i];
          guint64 type = 2 * (guint64) types[i + length - 1] + (i + length == n);

          ids[i] = intern (self, known, before, type, i + 1, i + length);
        }
    }
  return self;
}

void
ss_chain_parts_free (SsChainParts *self)
{
  for (guint i = 0; i < self->n_stages; i++)
    g_free (self->ids[i]);
  g_free (self->ids);
  g_array_unref (self->examples);
  g_free (self);
}

guint
ss_chain_parts_n (const SsChainParts *self)
{
  return self->examples->len;
}

guint
ss_chain_parts_id (const SsChainParts *self, guint first, guint last)
{
  return self->ids[last - first][first - 1];
}

void
ss_chain_parts_example (const SsChainParts *self, guint id, guint *first, guint *last)
{
  const Part *part = &g_array_index (self->examples, Part, id);

  *first = part->first;
  *last = part->last;
}
