/* SPDX-License-Identifier: MIT */
#include "study/device-text.h"

#include <string.h>

#define MAX_COLUMNS 112
/* What a fit does not touch is explained behind this. */
#define KEPT "; kept: "

/* ---- where the element is ---- */

typedef struct
{
  gsize start, end;              /* of "<gemm ... />" with the spaces before it */
  gboolean is_there;
  char *kept;                    /* what its source says of what is not fitted, or NULL */
} Place;

/* The end of the tag that begins at `tag`: behind its '>', quoted text left out. */
static const char *
end_of_tag (const char *tag)
{
  char quote = '\0';

  for (; *tag != '\0'; tag++)
    {
      if (quote != '\0')
        quote = *tag == quote ? '\0' : quote;
      else if (*tag == '"' || *tag == '\'')
        quote = *tag;
      else if (*tag == '>')
        return tag + 1;
    }
  return tag;
}

/* The value of an attribute within a tag, spaces of line breaks joined. (transfer full) */
static char *
attribute_of (const char *tag, const char *end, const char *name)
{
  g_autofree char *text = g_strndup (tag, (gsize) (end - tag));
  g_autofree char *key = g_strconcat (name, "=\"", NULL);
  const char *value = strstr (text, key);
  GString *joined;

  if (value == NULL)
    return NULL;
  value += strlen (key);
  joined = g_string_new (NULL);
  for (; *value != '"' && *value != '\0'; value++)
    if (!g_ascii_isspace (*value))
      g_string_append_c (joined, *value);
    else if (joined->len > 0 && joined->str[joined->len - 1] != ' ')
      g_string_append_c (joined, ' ');
  return g_string_free (joined, FALSE);
}

/* The element of that name, whose `kernel` is that one unless it is NULL. */
static Place
find_element (const char *text, const char *name, const char *kernel)
{
  g_autofree char *open = g_strdup_printf ("<%s", name);
  Place place = { 0 };

  for (const char *tag = strstr (text, open); tag != NULL; tag = strstr (tag + 1, open))
    {
      const char *end = end_of_tag (tag), *first = tag;
      g_autofree char *met = attribute_of (tag, end, "kernel"), *source = NULL;
      const char *kept;

      if (!g_ascii_isspace (tag[strlen (open)]) || (kernel && g_strcmp0 (met, kernel) != 0))
        continue;
      source = attribute_of (tag, end, "source");
      kept = source != NULL ? strstr (source, KEPT) : NULL;
      while (first > text && first[-1] == ' ')
        first--;
      place = (Place) { (gsize) (first - text), (gsize) (end - text), TRUE, g_strdup (kept) };
      return place;
    }
  return place;
}

/* ---- the new element ---- */

/* Four digits, no exponent. */
static void
append_value (GString *text, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  guint decimals = value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4;
  g_autofree char *format = g_strdup_printf ("%%.%uf", decimals);

  g_string_append (text, g_ascii_formatd (number, sizeof number, format, value));
  while (text->str[text->len - 1] == '0')
    g_string_truncate (text, text->len - 1);
  if (text->str[text->len - 1] == '.')
    g_string_truncate (text, text->len - 1);
}

/* Words of `content` after each other, in lines of up to MAX_COLUMNS behind `indent` spaces. */
static void
append_wrapped (GString *text, guint indent, guint *column, const char *content)
{
  g_auto (GStrv) words = g_strsplit (content, " ", -1);

  for (char **word = words; *word != NULL; word++)
    {
      guint n = (guint) strlen (*word) + 1;

      if (*column + n > MAX_COLUMNS)
        {
          g_string_append_printf (text, "\n%*s%s", (int) indent, "", *word);
          *column = indent + n - 1;
        }
      else
        {
          g_string_append_printf (text, "%s%s", word == words ? "" : " ", *word);
          *column += n;
        }
    }
}

static void
append_percent (GString *text, const char *what, SsErrorSummary errors)
{
  char median[G_ASCII_DTOSTR_BUF_SIZE], p90[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s median %s %%, p90 %s %%", what,
                          g_ascii_formatd (median, sizeof median, "%.1f", errors.median_abs),
                          g_ascii_formatd (p90, sizeof p90, "%.1f", errors.p90_abs));
}

static char *
source_of (const SsCalibration *c, const char *table, const char *kept)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "[F] stepsim calibrate, %u rows of %s (%s): ", c->n_rows, table,
                          c->sources);
  append_percent (text, "", c->result.fitted);
  g_string_append_printf (text, "; left out in %d parts", SS_FIT_FOLDS);
  append_percent (text, "", c->result.left_out);
  g_string_append (text, kept != NULL ? kept : "");
  /* what comes from a table goes between quotes */
  g_string_replace (text, "&", "&amp;", 0);
  g_string_replace (text, "\"", "&quot;", 0);
  g_string_replace (text, "<", "&lt;", 0);
  g_string_replace (text, ":  ", ": ", 0);
  g_string_replace (text, "parts ", "parts: ", 0);
  return g_string_free (text, FALSE);
}

static void
append_attributes (GString *pairs, const SsParameter *parameters, guint n, gconstpointer model)
{
  for (guint i = 0; i < n; i++)
    {
      double value = *ss_parameter_in (&parameters[i], (gpointer) model);

      g_string_append_printf (pairs, " %s=\"", parameters[i].name);
      append_value (pairs, parameters[i].is_time ? value * 1e6 : value);
      g_string_append (pairs, parameters[i].is_time ? "\302\240us\"" : "\"");
    }
}

static char *
element_of (const SsCalibration *c, const char *name, guint margin, const char *source)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GString) pairs = g_string_new (NULL);
  guint n, indent = margin + (guint) strlen (name) + 2, column = indent;
  const SsParameter *parameters = c->time_class == SS_TIME_GEMM ? ss_gemm_parameters (&n)
                                  : c->time_class == SS_TIME_MEMORY
                                    ? ss_memory_parameters (&n)
                                    : ss_attention_parameters (&n);
  g_autofree char *quoted = g_strdup_printf ("source=\"%s\"/>", source);

  if (c->time_class == SS_TIME_ATTENTION)
    g_string_append_printf (pairs, " kernel=\"%s\"", ss_attention_kernel_names ()[c->kernel]);
  append_attributes (pairs, parameters, n, &c->model);
  g_string_append_printf (text, "%*s<%s ", (int) margin, "", name);
  append_wrapped (text, indent, &column, pairs->str + 1);
  g_string_append_printf (text, "\n%*s", (int) indent, "");
  column = indent;
  append_wrapped (text, indent + (guint) strlen ("source=\""), &column, quoted);
  /* a unit stays beside its number */
  g_string_replace (text, "\302\240", " ", 0);
  return g_string_free (text, FALSE);
}

/* ---- into the text ---- */

/* Where the file has no such element: kinds inside <memory>, the others before <launch>. */
static void
insert_new (GString *text, const SsCalibration *c, const char *element)
{
  Place before = find_element (text->str, "launch", NULL);
  Place memory = find_element (text->str, "memory", NULL);

  if (c->time_class == SS_TIME_MEMORY && memory.is_there)
    {
      g_autofree char *inner = g_strdup_printf (">\n%s\n  </memory>", element);

      g_string_erase (text, (gssize) memory.end - 2, 2);
      g_string_insert (text, (gssize) memory.end - 2, inner);
    }
  else if (before.is_there)
    {
      g_string_insert (text, (gssize) before.start, "\n");
      g_string_insert (text, (gssize) before.start, element);
    }
  g_free (before.kept);
  g_free (memory.kept);
}

static void
replace_element (GString *text, const SsCalibration *c, const char *table)
{
  const char *name = c->time_class == SS_TIME_GEMM     ? "gemm"
                     : c->time_class == SS_TIME_MEMORY ? "kinds"
                                                       : "attention";
  const char *kernel
    = c->time_class == SS_TIME_ATTENTION ? ss_attention_kernel_names ()[c->kernel] : NULL;
  Place place = find_element (text->str, name, kernel);
  g_autofree char *source = source_of (c, table, place.kept);
  g_autofree char *element
    = element_of (c, name, c->time_class == SS_TIME_MEMORY ? 4 : 2, source);

  if (place.is_there)
    {
      g_string_erase (text, (gssize) place.start, (gssize) (place.end - place.start));
      g_string_insert (text, (gssize) place.start, element);
    }
  else
    insert_new (text, c, element);
  g_free (place.kept);
}

/* A host's file is one element: its two figures and its source change. */
static void
replace_attribute (GString *text, const char *name, const char *value)
{
  g_autofree char *key = g_strdup_printf (" %s=\"", name);
  const char *found = strstr (text->str, key);
  gssize start;
  gsize n;

  if (found == NULL)
    return;
  start = (gssize) (found - text->str) + (gssize) strlen (key);
  n = strcspn (text->str + start, "\"");
  g_string_erase (text, start, (gssize) n);
  g_string_insert (text, start, value);
}

static void
replace_host (GString *text, const SsCalibration *c, const char *table)
{
  Place place = find_element (text->str, "host", NULL);
  g_autofree char *source = source_of (c, table, place.kept);
  g_autoptr (GString) value = g_string_new (NULL), wrapped = g_string_new (NULL);
  guint column = 14;

  append_value (value, c->parameters[0].value);
  g_string_append (value, " us");
  append_wrapped (wrapped, 14, &column, source);
  replace_attribute (text, "forward", value->str);
  replace_attribute (text, "backward", value->str);
  replace_attribute (text, "source", wrapped->str);
  g_free (place.kept);
}

char *
ss_device_text_with (const char *text, const GPtrArray *calibrations, const char *table)
{
  GString *changed = g_string_new (text);

  for (guint i = 0; i < calibrations->len; i++)
    {
      const SsCalibration *c = calibrations->pdata[i];

      if (c->time_class == SS_TIME_HOST)
        replace_host (changed, c, table);
      else
        replace_element (changed, c, table);
    }
  return g_string_free (changed, FALSE);
}
