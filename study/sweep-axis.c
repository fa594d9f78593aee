/* SPDX-License-Identifier: MIT */
#include "study/sweep-axis.h"

#include <string.h>

#include "hw/problems.h"
#include "scenarios/attribute-value.h"

G_DEFINE_QUARK (ss-sweep-error-quark, ss_sweep_error)

#define MAX_DIGITS 15

/* A decimal number with its unit, exactly: mantissa / 10^n_decimals. */
typedef struct
{
  gint64 mantissa;
  guint n_decimals;
  const char *unit;              /* "" for none; points into the text */
} Quantity;

void
ss_sweep_axis_free (SsSweepAxis *self)
{
  if (self == NULL)
    return;
  g_free (self->path);
  g_ptr_array_unref (self->values);
  g_free (self);
}

/* ---- numbers ---- */

static gboolean
parse_quantity (const char *text, Quantity *quantity)
{
  const char *c = text;
  guint n_digits = 0;

  *quantity = (Quantity) { .unit = "" };
  for (gboolean has_point = FALSE; g_ascii_isdigit (*c) || (*c == '.' && !has_point); c++)
    {
      if (*c == '.')
        {
          has_point = TRUE;
          continue;
        }
      if (++n_digits > MAX_DIGITS)
        return FALSE;
      quantity->mantissa = quantity->mantissa * 10 + (*c - '0');
      quantity->n_decimals += has_point ? 1 : 0;
    }
  if (n_digits == 0 || c[-1] == '.')
    return FALSE;
  while (*c == ' ')
    c++;
  quantity->unit = c;
  for (; *c != '\0'; c++)
    if (!g_ascii_isalpha (*c))
      return FALSE;
  return TRUE;
}

gboolean
ss_sweep_number (const char *text, double *number, const char **unit)
{
  Quantity quantity;

  if (!parse_quantity (text, &quantity))
    return FALSE;
  *number = (double) quantity.mantissa;
  for (guint i = 0; i < quantity.n_decimals; i++)
    *number /= 10;
  if (unit != NULL)
    *unit = quantity.unit;
  return TRUE;
}

static char *
quantity_text (gint64 mantissa, guint n_decimals, const char *unit)
{
  GString *text = g_string_new (NULL);

  g_string_printf (text, "%0*" G_GINT64_FORMAT, (int) n_decimals + 1, mantissa);
  if (n_decimals > 0)
    {
      g_string_insert_c (text, (gssize) (text->len - n_decimals), '.');
      while (text->str[text->len - 1] == '0')
        g_string_truncate (text, text->len - 1);
      if (text->str[text->len - 1] == '.')
        g_string_truncate (text, text->len - 1);
    }
  if (*unit != '\0')
    g_string_append_printf (text, " %s", unit);
  return g_string_free (text, FALSE);
}

/* To as many decimals; FALSE: too long a number. */
static gboolean
rescale (Quantity *quantity, guint n_decimals)
{
  for (; quantity->n_decimals < n_decimals; quantity->n_decimals++)
    {
      /* twice it is still a number: the last of a range and a step more */
      if (quantity->mantissa > G_MAXINT64 / 20)
        return FALSE;
      quantity->mantissa *= 10;
    }
  return TRUE;
}

/* ---- items ---- */

typedef struct
{
  SsSweepAxis *axis;
  const SsAttribute *attribute;
  SsScenario *scratch;           /* what values are tried on */
  const char *text;              /* the whole argument, for messages */
  GHashTable *seen;
} Parsing;

static gboolean
fail (const Parsing *p, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
fail (const Parsing *p, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL, *clean = g_utf8_make_valid (p->text, -1);
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_strdelimit (clean, "\n\r\t\x1b\x7f", '?');
  g_set_error (error, SS_SWEEP_ERROR, SS_SWEEP_ERROR_AXIS, "%s: %s", clean, what);
  return FALSE;
}

/* Whether the attribute can have that value in any scenario; what it does to the scratch does not
 * matter. */
static gboolean
is_possible (const Parsing *p, const char *value, GError **error)
{
  const SsAttribute *attribute = p->attribute;
  g_auto (GStrv) words = attribute->kind == &ss_value_device
                           ? attribute->kind->words (attribute) : NULL;
  g_autofree char *problem = NULL, *known = NULL;

  /* only what loads it finds out that there is no such device */
  if (words != NULL && !g_strv_contains ((const char *const *) words, value))
    {
      known = ss_problems_suggest (value, (const char *const *) words);
      return fail (p, error, "%s: \"%s\" is not known; %s", attribute->name, value, known);
    }
  if (attribute->kind->read (attribute, p->scratch, value, &problem))
    return TRUE;
  return fail (p, error, "%s: %s", attribute->name, problem);
}

static gboolean
add_value (Parsing *p, char *value, GError **error)
{
  g_autofree char *owned = value;

  if (!is_possible (p, value, error))
    return FALSE;
  if (g_hash_table_contains (p->seen, value))
    return TRUE;
  if (p->axis->values->len >= SS_SWEEP_MAX_POINTS)
    return fail (p, error, "more than %d values", SS_SWEEP_MAX_POINTS);
  g_hash_table_add (p->seen, g_strdup (value));
  g_ptr_array_add (p->axis->values, g_steal_pointer (&owned));
  return TRUE;
}

static gboolean
same_unit (const char *unit, const char *other)
{
  return *unit == '\0' || g_str_equal (unit, other);
}

static gboolean
add_range (Parsing *p, char **ends, GError **error)
{
  Quantity from, to, step = { .mantissa = 1, .unit = "" };
  guint n_decimals;

  for (char **end = ends; *end != NULL; end++)
    g_strstrip (*end);
  if (!parse_quantity (ends[0], &from) || !parse_quantity (ends[1], &to)
      || (ends[2] != NULL && (!parse_quantity (ends[2], &step) || ends[3] != NULL)))
    return fail (p, error, "wanted from..to or from..to..step, numbers above or equal 0");
  if (!same_unit (from.unit, to.unit) || !same_unit (step.unit, to.unit))
    return fail (p, error, "one unit for the whole range is wanted");
  n_decimals = MAX (MAX (from.n_decimals, to.n_decimals), step.n_decimals);
  if (!rescale (&from, n_decimals) || !rescale (&to, n_decimals) || !rescale (&step, n_decimals))
    return fail (p, error, "numbers of at most %d digits are wanted", MAX_DIGITS);
  if (step.mantissa == 0)
    return fail (p, error, "a step of 0 never reaches %s", ends[1]);
  if (from.mantissa > to.mantissa)
    return fail (p, error, "nothing lies between %s and %s", ends[0], ends[1]);
  if ((to.mantissa - from.mantissa) / step.mantissa >= SS_SWEEP_MAX_POINTS)
    return fail (p, error, "more than %d values", SS_SWEEP_MAX_POINTS);
  for (gint64 m = from.mantissa; m <= to.mantissa; m += step.mantissa)
    if (!add_value (p, quantity_text (m, n_decimals, to.unit), error))
      return FALSE;
  return TRUE;
}

/* A path of a file has two dots as well: a range is one where numbers are taken. */
static gboolean
add_item (Parsing *p, const char *item, GError **error)
{
  g_auto (GStrv) ends = g_strsplit (item, "..", -1);
  const SsValueKind *kind = p->attribute->kind;

  if (ends[0] == NULL || ends[1] == NULL || kind->words != NULL || kind == &ss_value_text)
    return add_value (p, g_strdup (item), error);
  return add_range (p, ends, error);
}

/* At commas that no backslash stands before. */
static GPtrArray *
split_items (const char *text)
{
  GPtrArray *items = g_ptr_array_new_with_free_func (g_free);
  GString *item = g_string_new (NULL);

  for (const char *c = text; *c != '\0'; c++)
    {
      if (c[0] == '\\' && c[1] == ',')
        g_string_append_c (item, *++c);
      else if (*c == ',')
        {
          g_ptr_array_add (items, g_strdup (item->str));
          g_string_truncate (item, 0);
        }
      else
        g_string_append_c (item, *c);
    }
  g_ptr_array_add (items, g_string_free (item, FALSE));
  return items;
}

/* ---- the attribute ---- */

static const SsAttribute *
find_attribute (const Parsing *p, const char *path, GError **error)
{
  g_auto (GStrv) pieces = g_strsplit (path, "/", 2), paths = NULL;
  g_autoptr (GString) same = g_string_new (NULL);
  g_autofree char *known = NULL;
  guint n, n_elements;
  const SsAttribute *attributes = ss_scenario_attributes (&n), *found = NULL;
  const char *name = pieces[0] != NULL && pieces[1] != NULL ? pieces[1] : path;

  if (pieces[0] != NULL)
    found = pieces[1] != NULL
              ? ss_scenario_attribute_find (pieces[0], pieces[1])
              : ss_scenario_attribute_find (ss_scenario_elements (&n_elements)->name, pieces[0]);
  if (found != NULL)
    return found;
  paths = ss_scenario_attribute_paths ();
  for (guint i = 0; i < n; i++)
    if (g_str_equal (attributes[i].name, name))
      g_string_append_printf (same, "%s%s", same->len > 0 ? ", " : "near: ", paths[i]);
  known = ss_problems_suggest (path, (const char *const *) paths);
  fail (p, error, "no attribute \"%s\"; %s", path, same->len > 0 ? same->str : known);
  return NULL;
}

static gboolean
is_whole_number (const SsAttribute *attribute)
{
  return attribute->kind == &ss_value_count || attribute->kind == &ss_value_small
         || attribute->kind == &ss_value_layers || attribute->kind == &ss_value_policy_count;
}

static gboolean
set_max (Parsing *p, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  p->axis->is_max = p->axis->is_numeric = TRUE;
  p->axis->min = p->attribute->min;
  p->axis->max = p->attribute->max;
  if (is_whole_number (p->attribute))
    return TRUE;
  for (guint i = 0; i < n; i++)
    if (is_whole_number (&attributes[i]))
      g_string_append_printf (known, "%s%s/%s", known->len > 0 ? ", " : "", attributes[i].element,
                              attributes[i].name);
  return fail (p, error, "max wants an attribute that counts something; known: %s", known->str);
}

static gboolean
are_numbers (const GPtrArray *values)
{
  const char *unit, *first_unit = NULL;
  double number;

  for (guint i = 0; i < values->len; i++)
    {
      if (!ss_sweep_number (g_ptr_array_index (values, i), &number, &unit))
        return FALSE;
      if (first_unit != NULL && !g_str_equal (unit, first_unit))
        return FALSE;
      first_unit = unit;
    }
  return TRUE;
}

/* The name is nobody's business; of the device the trace may see the target, by which programs are
 * told apart anyway. */
static gboolean
is_traced (const SsAttribute *attribute)
{
  return !g_str_equal (attribute->element, "hardware")
         && !g_str_equal (attribute->element, "allocator")
         && !g_str_equal (attribute->element, "scenario");
}

static gboolean
add_items (Parsing *p, const char *values, GError **error)
{
  g_autoptr (GPtrArray) items = split_items (values);

  for (guint i = 0; i < items->len; i++)
    if (!add_item (p, g_ptr_array_index (items, i), error))
      return FALSE;
  p->axis->is_numeric = are_numbers (p->axis->values);
  return TRUE;
}

SsSweepAxis *
ss_sweep_axis_parse (const char *text, const SsScenario *base, GError **error)
{
  g_autoptr (SsSweepAxis) axis = g_new0 (SsSweepAxis, 1);
  g_autoptr (SsScenario) scratch = NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Parsing p = { .axis = axis, .text = text, .seen = seen };
  g_autofree char *path = NULL;
  const char *equals;

  g_return_val_if_fail (text != NULL && base != NULL, NULL);
  axis->values = g_ptr_array_new_with_free_func (g_free);
  equals = strchr (text, '=');
  if (equals == NULL || !g_utf8_validate (text, -1, NULL))
    {
      fail (&p, error, equals != NULL ? "is not UTF-8" : "has no =; wanted PATH=VALUES");
      return NULL;
    }
  path = g_strndup (text, (gsize) (equals - text));
  p.attribute = find_attribute (&p, path, error);
  if (p.attribute == NULL)
    return NULL;
  axis->path = ss_scenario_attribute_path (p.attribute);
  axis->is_traced = is_traced (p.attribute);
  if (g_str_equal (equals + 1, "max"))
    return set_max (&p, error) ? g_steal_pointer (&axis) : NULL;
  scratch = p.scratch = ss_scenario_derive (base, NULL, error);
  if (scratch == NULL || !add_items (&p, equals + 1, error))
    return NULL;
  return g_steal_pointer (&axis);
}
