/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "output/formats/address-map.h"

static gboolean
insert (SsAddressMap *map, guint64 address, guint64 bytes)
{
  return ss_address_map_insert (map, &(SsAddressRange) { address, bytes, 0, 0 });
}

static gboolean
join (SsAddressMap *map, guint64 address, guint64 bytes, guint64 group)
{
  return ss_address_map_join (map, &(SsAddressRange) { address, bytes, address, group });
}

/* "100+50 200+50" */
static char *
text_of (const SsAddressMap *map)
{
  g_autoptr (GArray) list = ss_address_map_list (map);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < list->len; i++)
    {
      const SsAddressRange *range = &g_array_index (list, SsAddressRange, i);

      g_string_append_printf (text, "%s%" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT, i > 0 ? " " : "",
                              range->address, range->bytes);
    }
  return g_string_free (text, FALSE);
}

Test (address_map, ranges_never_overlap_or_wrap_around)
{
  g_autoptr (SsAddressMap) map = ss_address_map_new ();
  g_autofree char *text = NULL;

  cr_expect (insert (map, 100, 50));
  cr_expect (not (insert (map, 100, 1)));
  cr_expect (not (insert (map, 149, 10)));
  cr_expect (not (insert (map, 90, 11)));
  cr_expect (not (insert (map, 90, 100)));
  cr_expect (not (insert (map, 10, 0)));
  cr_expect (not (insert (map, G_MAXUINT64 - 4, 100)));
  cr_expect (insert (map, 150, 10));
  cr_expect (insert (map, 90, 10));
  text = text_of (map);
  cr_expect (eq (str, text, (char *) "90+10 100+50 150+10"));
}

Test (address_map, touching_ranges_of_a_group_become_one)
{
  g_autoptr (SsAddressMap) map = ss_address_map_new ();
  g_autofree char *text = NULL;
  SsAddressRange range;

  cr_expect (join (map, 100, 50, 1) && join (map, 200, 50, 1) && join (map, 250, 10, 2));
  cr_expect (join (map, 150, 50, 1));
  text = text_of (map);
  cr_expect (eq (str, text, (char *) "100+150 250+10"));
  cr_assert (ss_address_map_find (map, 249, &range));
  cr_expect (eq (u64, range.tag, 100));
  cr_expect (not (ss_address_map_find (map, 260, &range)));
  cr_expect (not (ss_address_map_find (map, 99, &range)));
}

Test (address_map, a_piece_is_cut_out_of_the_range_that_holds_it)
{
  g_autoptr (SsAddressMap) map = ss_address_map_new ();
  g_autofree char *text = NULL;
  SsAddressRange range;

  cr_expect (insert (map, 100, 100));
  cr_expect (not (ss_address_map_cut (map, 150, 51)));
  cr_expect (ss_address_map_cut (map, 120, 30));
  cr_expect (ss_address_map_cut (map, 100, 20));
  cr_expect (not (ss_address_map_cut (map, 100, 20)));
  text = text_of (map);
  cr_expect (eq (str, text, (char *) "150+50"));
  cr_expect (not (ss_address_map_remove (map, 160, &range)));
  cr_expect (ss_address_map_remove (map, 150, &range));
}
