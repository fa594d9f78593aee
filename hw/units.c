/* SPDX-License-Identifier: MIT */
#include "hw/units.h"

#include <string.h>

/* Decimals beyond this are refused: with them every product below still fits into 128 bits. */
#define MAX_DECIMALS 15
#define MAX_QUOTED 60

__extension__ typedef unsigned __int128 Wide;

typedef struct
{
  const char *name;
  guint64 factor;                /* to the base unit; for seconds: units per second */
} Unit;

/* A plain decimal number: whole + fraction / scale. */
typedef struct
{
  guint64 whole, fraction, scale;
  gboolean is_too_large;
} Decimal;

static const Unit byte_units[] = {
  { "B", 1 },
  { "KiB", G_GUINT64_CONSTANT (1) << 10 },
  { "MiB", G_GUINT64_CONSTANT (1) << 20 },
  { "GiB", G_GUINT64_CONSTANT (1) << 30 },
  { "TiB", G_GUINT64_CONSTANT (1) << 40 },
  { "kB", 1000 },
  { "MB", 1000000 },
  { "GB", 1000000000 },
  { "TB", G_GUINT64_CONSTANT (1000000000000) },
};

static const Unit byte_rate_units[] = {
  { "B/s", 1 },
  { "kB/s", 1000 },
  { "MB/s", 1000000 },
  { "GB/s", 1000000000 },
  { "TB/s", G_GUINT64_CONSTANT (1000000000000) },
};

static const Unit flop_rate_units[] = {
  { "GFLOP/s", 1000000000 },
  { "TFLOP/s", G_GUINT64_CONSTANT (1000000000000) },
  { "PFLOP/s", G_GUINT64_CONSTANT (1000000000000000) },
};

static const Unit clock_units[] = {
  { "MHz", 1000000 },
  { "GHz", 1000000000 },
};

static const Unit time_units[] = {
  { "ns", 1000000000 },
  { "us", 1000000 },
  { "ms", 1000 },
  { "s", 1 },
};

static gboolean refuse (char **problem, const char *text, const char *format, ...)
  G_GNUC_PRINTF (3, 4);

/* The clause `"text" what`, with a very long text cut. */
static gboolean
refuse (char **problem, const char *text, const char *format, ...)
{
  g_autofree char *what = NULL, *quoted = NULL;
  va_list arguments;

  if (problem == NULL)
    return FALSE;
  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  quoted = strlen (text) > MAX_QUOTED ? g_strdup_printf ("%.*s...", MAX_QUOTED, text)
                                      : g_strdup (text);
  *problem = g_strdup_printf ("\"%s\" %s", quoted, what);
  return FALSE;
}

/* "B, KiB or MiB" */
static char *
unit_names (const Unit *units, gsize n)
{
  GString *names = g_string_new (NULL);

  for (gsize i = 0; i < n; i++)
    g_string_append_printf (names, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", units[i].name);
  return g_string_free (names, FALSE);
}

/* Reads digits into *value and returns how many; *is_too_large if they do not fit into 64 bits. */
static gsize
read_digits (const char *text, guint64 *value, gboolean *is_too_large)
{
  gsize n = 0;

  *value = 0;
  for (; g_ascii_isdigit (text[n]); n++)
    if (!g_uint64_checked_mul (value, *value, 10)
        || !g_uint64_checked_add (value, *value, (guint64) (text[n] - '0')))
      {
        *is_too_large = TRUE;
        *value = 0;
      }
  return n;
}

/* Reads "12" or "12.5" from the start of `text`; *end is what follows. */
static gboolean
read_decimal (const char *text, Decimal *number, const char **end, char **problem)
{
  gboolean ignored = FALSE;
  gsize n, decimals = 0;

  *number = (Decimal) { .scale = 1 };
  if (text[0] == '\0')
    return refuse (problem, text, "is empty");
  if (text[0] == '-' || text[0] == '+')
    return refuse (problem, text, "has a sign; a plain number is expected");
  n = read_digits (text, &number->whole, &number->is_too_large);
  if (n > 0 && text[n] == '.')
    {
      decimals = read_digits (text + n + 1, &number->fraction, &ignored);
      if (decimals > MAX_DECIMALS)
        return refuse (problem, text, "has more than %d decimals", MAX_DECIMALS);
      n += decimals + 1;
    }
  if (n == 0 || text[n - 1] == '.')
    return refuse (problem, text, "does not begin with a number like 80 or 0.5");
  for (gsize i = 0; i < decimals; i++)
    number->scale *= 10;
  if ((text[n] == 'e' || text[n] == 'E')
      && (g_ascii_isdigit (text[n + 1]) || strchr ("+-", text[n + 1]) != NULL))
    return refuse (problem, text, "has an exponent; write the digits out");
  *end = text + n;
  return TRUE;
}

/* A number, at most one space, one of `units`. */
static gboolean
read_quantity (const char *text,
               const Unit *units,
               gsize n_units,
               Decimal *number,
               const Unit **unit,
               char **problem)
{
  g_autofree char *names = NULL;
  const char *rest;

  if (!read_decimal (text, number, &rest, problem))
    return FALSE;
  if (*rest == ' ')
    rest++;
  for (gsize i = 0; i < n_units; i++)
    if (g_str_equal (rest, units[i].name))
      {
        *unit = &units[i];
        return TRUE;
      }
  names = unit_names (units, n_units);
  if (*rest == '\0')
    return refuse (problem, text, "has no unit; expected %s", names);
  return refuse (problem, text, "has an unknown unit; expected %s", names);
}

/* The quantity in base units to the nearest whole one; FALSE if above `max`. */
static gboolean
scale (const Decimal *number, guint64 factor, guint64 max, guint64 *value)
{
  Wide sum = (Wide) number->whole * factor
             + ((Wide) number->fraction * factor + number->scale / 2) / number->scale;

  if (number->is_too_large || sum > max)
    return FALSE;
  *value = (guint64) sum;
  return TRUE;
}

gboolean
ss_units_bytes (const char *text, guint64 *bytes, char **problem)
{
  Decimal number;
  const Unit *unit;

  if (!read_quantity (text, byte_units, G_N_ELEMENTS (byte_units), &number, &unit, problem))
    return FALSE;
  if (unit->factor == 1 && number.fraction != 0)
    return refuse (problem, text, "is not a whole number of bytes");
  if (!scale (&number, unit->factor, G_MAXINT64, bytes))
    return refuse (problem, text, "is too large; at most 2^63 - 1 bytes");
  return TRUE;
}

static gboolean
read_rate (const char *text, const Unit *units, gsize n_units, double *rate, char **problem)
{
  Decimal number;
  const Unit *unit;
  guint64 value;

  if (!read_quantity (text, units, n_units, &number, &unit, problem))
    return FALSE;
  if (!scale (&number, unit->factor, G_MAXUINT64, &value))
    return refuse (problem, text, "is too large");
  if (value == 0)
    return refuse (problem, text, "is zero; a rate is positive");
  *rate = (double) value;
  return TRUE;
}

gboolean
ss_units_bytes_per_s (const char *text, double *bytes_per_s, char **problem)
{
  return read_rate (text, byte_rate_units, G_N_ELEMENTS (byte_rate_units), bytes_per_s, problem);
}

gboolean
ss_units_flop_per_s (const char *text, double *flop_per_s, char **problem)
{
  return read_rate (text, flop_rate_units, G_N_ELEMENTS (flop_rate_units), flop_per_s, problem);
}

gboolean
ss_units_hertz (const char *text, double *hertz, char **problem)
{
  return read_rate (text, clock_units, G_N_ELEMENTS (clock_units), hertz, problem);
}

gboolean
ss_units_seconds (const char *text, double *seconds, char **problem)
{
  Decimal number;
  const Unit *unit;

  if (!read_quantity (text, time_units, G_N_ELEMENTS (time_units), &number, &unit, problem))
    return FALSE;
  if (number.is_too_large)
    return refuse (problem, text, "is too large");
  *seconds = ((double) number.whole + (double) number.fraction / (double) number.scale)
             / (double) unit->factor;
  return TRUE;
}

gboolean
ss_units_count (const char *text, gint64 min, gint64 max, gint64 *count, char **problem)
{
  gboolean is_negative = text[0] == '-', is_too_large = FALSE;
  guint64 value;
  gsize n = read_digits (text + is_negative, &value, &is_too_large);
  gint64 met;

  if (n == 0 || text[n + (gsize) is_negative] != '\0')
    return refuse (problem, text, "is not a whole number");
  is_too_large |= value > G_MAXINT64;
  met = is_too_large ? 0 : is_negative ? -(gint64) value : (gint64) value;
  if (!is_too_large && met >= min && met <= max)
    {
      *count = met;
      return TRUE;
    }
  if (max == G_MAXINT64 && !is_too_large)
    return refuse (problem, text, "is too small; at least %" G_GINT64_FORMAT, min);
  return refuse (problem, text, "is not between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, min,
                 max);
}

gboolean
ss_units_number (const char *text, double *number, char **problem)
{
  Decimal met;
  const char *rest;

  if (!read_decimal (text, &met, &rest, problem))
    return FALSE;
  if (*rest != '\0')
    return refuse (problem, text, "is not a plain number");
  if (met.is_too_large)
    return refuse (problem, text, "is too large");
  *number = (double) met.whole + (double) met.fraction / (double) met.scale;
  return TRUE;
}

gboolean
ss_units_fraction (const char *text, double *fraction, char **problem)
{
  Decimal number;
  const char *rest;

  if (!read_decimal (text, &number, &rest, problem))
    return FALSE;
  if (*rest != '\0')
    return refuse (problem, text, "is not a plain number between 0 and 1");
  if (number.is_too_large || number.whole > 1 || (number.whole == 1 && number.fraction > 0))
    return refuse (problem, text, "is not between 0 and 1");
  *fraction = (double) number.whole + (double) number.fraction / (double) number.scale;
  return TRUE;
}

char *
ss_units_format_bytes (guint64 bytes, SsByteUnit unit, guint decimals)
{
  double size = unit == SS_UNITS_GIB ? 1073741824.0 : 1e9;
  char format[16], number[64];

  g_snprintf (format, sizeof format, "%%.%uf", MIN (decimals, 9));
  g_ascii_formatd (number, sizeof number, format, (double) bytes / size);
  return g_strdup_printf ("%s %s", number, unit == SS_UNITS_GIB ? "GiB" : "GB");
}
