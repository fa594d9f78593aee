/* SPDX-License-Identifier: MIT */
#include "output/formats/json-text.h"

void
ss_json_append_text (GString *json, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text != NULL ? text : "", -1);

  g_string_append_c (json, '"');
  for (const char *c = valid; *c != '\0'; c++)
    {
      if (*c == '"' || *c == '\\')
        g_string_append_printf (json, "\\%c", *c);
      else if ((guchar) *c < 0x20 || *c == 0x7f)
        g_string_append_printf (json, "\\u%04x", (guint) *c);
      else
        g_string_append_c (json, *c);
    }
  g_string_append_c (json, '"');
}

void
ss_json_append_us (GString *json, gint64 ns)
{
  if (ns < 0)
    g_string_append_c (json, '-');
  g_string_append_printf (json, "%" G_GINT64_FORMAT ".%03" G_GINT64_FORMAT, ABS (ns / 1000),
                          ABS (ns % 1000));
}
