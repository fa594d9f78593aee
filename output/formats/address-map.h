/* SPDX-License-Identifier: MIT
 *
 * SsAddressMap: ranges of device addresses that never overlap, ordered, each with three numbers of
 * its owner's.  Adjacent ranges can be made one.  It knows no allocator.  The creator owns it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 address, bytes;
  guint64 tag;                   /* the owner's */
  guint64 group;                 /* the owner's: ranges of different groups are never joined */
} SsAddressRange;

typedef struct _SsAddressMap SsAddressMap;

SsAddressMap *ss_address_map_new (void);
void ss_address_map_free (SsAddressMap *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsAddressMap, ss_address_map_free)

/* FALSE, and nothing is changed: it is empty, wraps around, or overlaps one that is there. */
gboolean ss_address_map_insert (SsAddressMap *self, const SsAddressRange *range);
/* The same; touching ranges of its group become one with it, with the tag of the lowest. */
gboolean ss_address_map_join (SsAddressMap *self, const SsAddressRange *range);
/* The range that holds the address. FALSE: none does. */
gboolean ss_address_map_find (const SsAddressMap *self, guint64 address, SsAddressRange *range);
/* The range that begins there is taken out. FALSE: none does. */
gboolean ss_address_map_remove (SsAddressMap *self, guint64 address, SsAddressRange *removed);
/* Cuts address to address + bytes out of the one range that holds all of it. FALSE: none does. */
gboolean ss_address_map_cut (SsAddressMap *self, guint64 address, guint64 bytes);
/* All ranges in order of address. (transfer full) (element-type SsAddressRange) */
GArray *ss_address_map_list (const SsAddressMap *self);

G_END_DECLS
