/* SPDX-License-Identifier: MIT */
#include "output/formats/address-map.h"

struct _SsAddressMap
{
  GTree *ranges;                 /* SsAddressRange *, both key and value */
};

static gint
compare (gconstpointer a, gconstpointer b, gpointer user_data G_GNUC_UNUSED)
{
  const SsAddressRange *p = a, *q = b;

  return p->address < q->address ? -1 : p->address > q->address;
}

SsAddressMap *
ss_address_map_new (void)
{
  SsAddressMap *self = g_new0 (SsAddressMap, 1);

  self->ranges = g_tree_new_full (compare, NULL, NULL, g_free);
  return self;
}

void
ss_address_map_free (SsAddressMap *self)
{
  if (self == NULL)
    return;
  g_tree_unref (self->ranges);
  g_free (self);
}

/* The last range that begins at or before the address; NULL: none. */
static const SsAddressRange *
at_or_before (const SsAddressMap *self, guint64 address)
{
  const SsAddressRange key = { .address = address };
  GTreeNode *node = g_tree_upper_bound (self->ranges, &key);

  node = node != NULL ? g_tree_node_previous (node) : g_tree_node_last (self->ranges);
  return node != NULL ? g_tree_node_value (node) : NULL;
}

static const SsAddressRange *
beginning_at (const SsAddressMap *self, guint64 address)
{
  const SsAddressRange key = { .address = address };

  return g_tree_lookup (self->ranges, &key);
}

static gboolean
is_free (const SsAddressMap *self, const SsAddressRange *range)
{
  const SsAddressRange *before;

  if (range->bytes == 0 || range->address + range->bytes < range->address)
    return FALSE;
  before = at_or_before (self, range->address + range->bytes - 1);
  return before == NULL || before->address + before->bytes <= range->address;
}

gboolean
ss_address_map_insert (SsAddressMap *self, const SsAddressRange *range)
{
  SsAddressRange *copy;

  if (!is_free (self, range))
    return FALSE;
  copy = g_memdup2 (range, sizeof *range);
  g_tree_insert (self->ranges, copy, copy);
  return TRUE;
}

gboolean
ss_address_map_join (SsAddressMap *self, const SsAddressRange *range)
{
  SsAddressRange joined = *range;
  const SsAddressRange *before, *after;

  if (!is_free (self, range))
    return FALSE;
  after = beginning_at (self, range->address + range->bytes);
  if (after != NULL && after->group == range->group)
    {
      joined.bytes += after->bytes;
      g_tree_remove (self->ranges, after);
    }
  before = at_or_before (self, range->address);
  if (before != NULL && before->address + before->bytes == range->address
      && before->group == range->group)
    {
      joined = (SsAddressRange) { before->address, before->bytes + joined.bytes, before->tag,
                                  before->group };
      g_tree_remove (self->ranges, before);
    }
  return ss_address_map_insert (self, &joined);
}

gboolean
ss_address_map_find (const SsAddressMap *self, guint64 address, SsAddressRange *range)
{
  const SsAddressRange *found = at_or_before (self, address);

  if (found == NULL || address - found->address >= found->bytes)
    return FALSE;
  *range = *found;
  return TRUE;
}

gboolean
ss_address_map_remove (SsAddressMap *self, guint64 address, SsAddressRange *removed)
{
  const SsAddressRange *found = beginning_at (self, address);

  if (found == NULL)
    return FALSE;
  *removed = *found;
  g_tree_remove (self->ranges, found);
  return TRUE;
}

gboolean
ss_address_map_cut (SsAddressMap *self, guint64 address, guint64 bytes)
{
  SsAddressRange whole, rest;
  guint64 offset;

  if (!ss_address_map_find (self, address, &whole))
    return FALSE;
  offset = address - whole.address;
  if (bytes == 0 || bytes > whole.bytes - offset)
    return FALSE;
  ss_address_map_remove (self, whole.address, &rest);
  rest = whole;
  rest.bytes = offset;
  ss_address_map_insert (self, &rest);
  rest.address = address + bytes;
  rest.bytes = whole.bytes - offset - bytes;
  ss_address_map_insert (self, &rest);
  return TRUE;
}

static gboolean
append (gpointer key G_GNUC_UNUSED, gpointer value, gpointer user_data)
{
  g_array_append_vals (user_data, value, 1);
  return FALSE;
}

GArray *
ss_address_map_list (const SsAddressMap *self)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (SsAddressRange));

  g_tree_foreach (self->ranges, append, list);
  return list;
}
