/* SPDX-License-Identifier: MIT */
#include "output/figures/text-width.h"

#include <string.h>

#define UNITS_PER_EM 2048
#define SLACK 1.08
#define FIRST ' '
#define N_LETTERS 95

/* Advance widths from the hmtx tables of DejaVu Sans and DejaVu Sans Bold 2.37, ' ' to '~', in
 * 1/2048 em. */
static const guint16 advances[2][N_LETTERS] = {
  {
     651,  821,  942, 1716, 1303, 1946, 1597,  563,  799,  799, 1024, 1716,  651,  739,  651,  690,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303,  690,  690, 1716, 1716, 1716, 1087,
    2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540,  604,  604, 1343, 1141, 1767, 1532, 1612,
    1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403,  799,  690,  799, 1716, 1024,
    1024, 1255, 1300, 1126, 1300, 1260,  721, 1300, 1298,  569,  569, 1186,  569, 1995, 1298, 1253,
    1300, 1300,  842, 1067,  803, 1298, 1212, 1675, 1212, 1212, 1075, 1303,  690, 1303, 1716,
  },
  {
     713,  934, 1067, 1716, 1425, 2052, 1786,  627,  936,  936, 1071, 1716,  778,  850,  778,  748,
    1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425,  819,  819, 1716, 1716, 1716, 1188,
    2048, 1585, 1561, 1503, 1700, 1399, 1399, 1681, 1714,  762,  762, 1587, 1305, 2038, 1714, 1741,
    1501, 1741, 1577, 1475, 1397, 1663, 1585, 2259, 1579, 1483, 1485,  936,  748,  936, 1716, 1024,
    1024, 1382, 1466, 1214, 1466, 1389,  891, 1466, 1458,  702,  702, 1362,  702, 2134, 1458, 1407,
    1466, 1466, 1010, 1219,  979, 1458, 1335, 1892, 1321, 1335, 1192, 1458,  748, 1458, 1716,
  },
};

/* A letter outside ASCII counts as wide as the widest digit, one of East Asia as a whole em. */
static guint
advance (gunichar letter, gboolean is_bold)
{
  if (letter >= FIRST && letter < FIRST + N_LETTERS)
    return advances[is_bold ? 1 : 0][letter - FIRST];
  if (g_unichar_iszerowidth (letter))
    return 0;
  return g_unichar_iswide (letter) ? UNITS_PER_EM : advances[1]['0' - FIRST];
}

double
ss_text_width (const char *text, double size_px, gboolean is_bold)
{
  guint64 units = 0;

  for (const char *c = text; *c != '\0'; c = g_utf8_next_char (c))
    units += advance (g_utf8_get_char (c), is_bold);
  return (double) units / UNITS_PER_EM * size_px * SLACK;
}

char *
ss_text_fit (const char *text, double size_px, gboolean is_bold, double width_px)
{
  const char *end = text + strlen (text);

  if (ss_text_width (text, size_px, is_bold) <= width_px)
    return g_strdup (text);
  while (end > text)
    {
      g_autofree char *start = NULL, *shorter = NULL;

      end = g_utf8_prev_char (end);
      start = g_strndup (text, (gsize) (end - text));
      shorter = g_strconcat (g_strchomp (start), "\xe2\x80\xa6", NULL);
      if (ss_text_width (shorter, size_px, is_bold) <= width_px)
        return g_steal_pointer (&shorter);
    }
  return g_strdup ("");
}
