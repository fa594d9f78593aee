/* SPDX-License-Identifier: MIT */
#include "text-boxes.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "output/figures/canvas.h"
#include "output/figures/text-width.h"

/* The texts of a script that stand level, as boxes of their true width: what the page shows. */
static GArray *
text_boxes (const char *script)
{
  g_autoptr (GRegex) regex = g_regex_new (
    "^set label \\d+ '([^']*)' at ([-0-9.]+),([-0-9.]+) (left|center|right) noenhanced front"
    " textcolor rgb '[^']*' font 'DejaVu Sans( Bold)?,([0-9.]+)'$",
    G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (SsRect));

  for (g_regex_match (regex, script, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *text = g_match_info_fetch (match, 1), *x = g_match_info_fetch (match, 2);
      g_autofree char *y = g_match_info_fetch (match, 3), *align = g_match_info_fetch (match, 4);
      g_autofree char *bold = g_match_info_fetch (match, 5), *size = g_match_info_fetch (match, 6);
      double size_px = g_ascii_strtod (size, NULL), middle_y = g_ascii_strtod (y, NULL);
      double width = ss_text_width (text, size_px, *bold != '\0'), left = g_ascii_strtod (x, NULL);
      SsRect box;

      left -= *align == 'c' ? width / 2 : *align == 'r' ? width : 0;
      /* letters with their descenders are a full size high */
      box = (SsRect) { left, middle_y - size_px / 2, left + width, middle_y + size_px / 2 };
      g_array_append_val (boxes, box);
    }
  return boxes;
}

void
ss_expect_texts_clear (const char *name, const char *script, double width, double height)
{
  g_autoptr (GArray) boxes = text_boxes (script);

  cr_expect (gt (uint, boxes->len, 8), "%s: texts are found", name);
  for (guint i = 0; i < boxes->len; i++)
    {
      const SsRect *a = &g_array_index (boxes, SsRect, i);

      cr_expect (a->left >= 0 && a->right <= width && a->top >= 0 && a->bottom <= height,
                 "%s: text %u leaves the page: %g to %g", name, i + 1, a->left, a->right);
      for (guint j = 0; j < i; j++)
        {
          const SsRect *b = &g_array_index (boxes, SsRect, j);

          cr_expect (a->right <= b->left || b->right <= a->left || a->bottom <= b->top
                         || b->bottom <= a->top,
                     "%s: texts %u and %u overlap", name, j + 1, i + 1);
        }
    }
}
