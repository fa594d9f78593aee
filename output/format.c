/* SPDX-License-Identifier: MIT */
#include "output/format.h"

#include <string.h>

static const SsByteScale scales[][4] = {
  [SS_MEMORY_GIB] = { { "GiB", 1073741824 }, { "MiB", 1048576 }, { "KiB", 1024 }, { "B", 1 } },
  [SS_MEMORY_GB] = { { "GB", 1e9 }, { "MB", 1e6 }, { "kB", 1e3 }, { "B", 1 } },
};

SsByteScale
ss_byte_scale (SsMemoryUnits units, guint64 largest_bytes)
{
  guint i = 0;

  while (i < 3 && (double) largest_bytes < scales[units][i].bytes)
    i++;
  return scales[units][i];
}

void
ss_append_fixed (GString *text, double value, guint decimals)
{
  char format[8], number[G_ASCII_DTOSTR_BUF_SIZE + 320];

  g_snprintf (format, sizeof format, "%%.%uf", MIN (decimals, 9));
  g_ascii_formatd (number, sizeof number, format, value);
  g_string_append (text, number);
}

static char *
fixed_with_unit (double value, guint decimals, const char *unit)
{
  GString *text = g_string_new (NULL);

  ss_append_fixed (text, value, decimals);
  if (*unit != '\0')
    g_string_append_printf (text, " %s", unit);
  return g_string_free (text, FALSE);
}

char *
ss_format_scaled (guint64 bytes, SsByteScale scale, guint decimals)
{
  return fixed_with_unit ((double) bytes / scale.bytes, decimals, "");
}

char *
ss_format_bytes (guint64 bytes, SsMemoryUnits units, guint decimals)
{
  SsByteScale scale = ss_byte_scale (units, bytes);

  return fixed_with_unit ((double) bytes / scale.bytes, scale.bytes > 1 ? decimals : 0, scale.name);
}

/* As it is printed: with so many decimals. */
static double
rounded (guint64 bytes, SsByteScale scale, guint decimals)
{
  g_autofree char *text = ss_format_scaled (bytes, scale, decimals);

  return g_ascii_strtod (text, NULL);
}

char *
ss_format_rest_scaled (guint64 whole_bytes, guint64 part_bytes, SsByteScale scale, guint decimals)
{
  double rest = rounded (whole_bytes, scale, decimals) - rounded (part_bytes, scale, decimals);
  char *text = fixed_with_unit (rest, decimals, "");

  /* "-0.0" is less than nothing */
  if (*text == '-' && strspn (text + 1, "0.") == strlen (text + 1))
    memmove (text, text + 1, strlen (text));
  return text;
}

char *
ss_format_rest (guint64 whole_bytes, guint64 part_bytes, SsMemoryUnits units, guint decimals)
{
  SsByteScale scale = ss_byte_scale (units, whole_bytes);
  guint64 rest_bytes = MAX (whole_bytes, part_bytes) - MIN (whole_bytes, part_bytes);
  g_autofree char *number = NULL;

  if ((double) rest_bytes < scale.bytes)
    {
      number = ss_format_bytes (rest_bytes, units, decimals);
      return g_strconcat (whole_bytes < part_bytes ? "-" : "", number, NULL);
    }
  number = ss_format_rest_scaled (whole_bytes, part_bytes, scale, decimals);
  return g_strdup_printf ("%s %s", number, scale.name);
}

char *
ss_format_time (gint64 ns)
{
  if (ns >= G_GINT64_CONSTANT (10000000000))
    return fixed_with_unit ((double) ns / 1e9, 1, "s");
  return fixed_with_unit ((double) ns / 1e6, ns >= 100000000 ? 0 : ns >= 10000000 ? 1 : 2, "ms");
}

char *
ss_format_count (guint64 count)
{
  if (count >= 1000000000)
    return fixed_with_unit ((double) count / 1e9, count >= 100000000000 ? 0 : 2, "B");
  if (count >= 1000000)
    return fixed_with_unit ((double) count / 1e6, count >= 100000000 ? 0 : 1, "M");
  return g_strdup_printf ("%" G_GUINT64_FORMAT, count);
}

char *
ss_clean_text (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text != NULL ? text : "", -1);
  GString *clean = g_string_new (NULL);

  for (const char *c = valid; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar letter = g_utf8_get_char (c);

      if (g_unichar_isprint (letter))
        g_string_append_unichar (clean, letter);
    }
  return g_string_free (clean, FALSE);
}

char *
ss_shell_word (const char *text)
{
  g_autofree char *clean = ss_clean_text (text);

  for (const char *c = clean; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && strchr ("/=-_.,:+", *c) == NULL)
      return g_shell_quote (clean);
  return g_steal_pointer (&clean);
}
