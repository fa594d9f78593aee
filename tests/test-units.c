/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

#include "hw/units.h"

/* GiB = 2^30: 79.25 * 1073741824 = 85,094,039,552; 139.80 * 1073741824 = 150,109,106,995.2;
 * 7.999999999999 TiB = 2^43 - 1e-12 * 2^40 = 8,796,093,022,208 - 1.0995 */
Test (units, bytes_are_exact_and_rounded_to_whole_ones)
{
  static const struct
  {
    const char *text;
    guint64 bytes;
  } rows[] = {
    { "80 GiB", G_GUINT64_CONSTANT (85899345920) },
    { "80GiB", G_GUINT64_CONSTANT (85899345920) },
    { "79.25 GiB", G_GUINT64_CONSTANT (85094039552) },
    { "139.80 GiB", G_GUINT64_CONSTANT (150109106995) },
    { "0.5 kB", 500 },
    { "0 B", 0 },
    { "1 TB", G_GUINT64_CONSTANT (1000000000000) },
    { "9223372036854775807 B", G_MAXINT64 },
    { "7.999999999999 TiB", G_GUINT64_CONSTANT (8796093022207) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 bytes = 1;
      g_autofree char *problem = NULL;

      cr_assert (ss_units_bytes (rows[i].text, &bytes, &problem), "%s: %s", rows[i].text, problem);
      cr_assert (eq (u64, bytes, rows[i].bytes), "%s", rows[i].text);
    }
}

Test (units, bad_sizes_say_what_is_wrong)
{
  static const struct
  {
    const char *text, *problem;
  } rows[] = {
    { "80", "\"80\" has no unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB" },
    { "80 ", "\"80 \" has no unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB" },
    { "80 GiBB",
      "\"80 GiBB\" has an unknown unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB" },
    { "80  GiB",
      "\"80  GiB\" has an unknown unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB" },
    { "80 gib",
      "\"80 gib\" has an unknown unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB" },
    { "1e9 B", "\"1e9 B\" has an exponent; write the digits out" },
    { "-1 GiB", "\"-1 GiB\" has a sign; a plain number is expected" },
    { "+1 GiB", "\"+1 GiB\" has a sign; a plain number is expected" },
    { "", "\"\" is empty" },
    { "GiB", "\"GiB\" does not begin with a number like 80 or 0.5" },
    { "nan GiB", "\"nan GiB\" does not begin with a number like 80 or 0.5" },
    { ".5 GiB", "\".5 GiB\" does not begin with a number like 80 or 0.5" },
    { "5. GiB", "\"5. GiB\" does not begin with a number like 80 or 0.5" },
    { "1,5 GiB",
      "\"1,5 GiB\" has an unknown unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB" },
    { "1.5 B", "\"1.5 B\" is not a whole number of bytes" },
    { "99999999999 TiB", "\"99999999999 TiB\" is too large; at most 2^63 - 1 bytes" },
    { "9223372036854775808 B", "\"9223372036854775808 B\" is too large; at most 2^63 - 1 bytes" },
    { "99999999999999999999999999 B",
      "\"99999999999999999999999999 B\" is too large; at most 2^63 - 1 bytes" },
    { "0.1234567890123456 GiB", "\"0.1234567890123456 GiB\" has more than 15 decimals" },
    { "%s%n", "\"%s%n\" does not begin with a number like 80 or 0.5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 bytes;
      g_autofree char *problem = NULL;

      cr_assert (not (ss_units_bytes (rows[i].text, &bytes, &problem)), "%s", rows[i].text);
      cr_assert (eq (str, problem, (char *) rows[i].problem), "%s", rows[i].text);
    }
}

Test (units, rates_and_times_come_out_in_base_units)
{
  double value = 0, tiny = 0, billion = 0;
  g_autofree char *a = NULL, *b = NULL, *c = NULL, *d = NULL;

  cr_assert (ss_units_bytes_per_s ("3.35 TB/s", &value, NULL));
  cr_assert (eq (dbl, value, 3.35e12));
  cr_assert (ss_units_flop_per_s ("989.4 TFLOP/s", &value, NULL));
  cr_assert (eq (dbl, value, 989.4e12));
  cr_assert (ss_units_flop_per_s ("2.25 PFLOP/s", &value, NULL));
  cr_assert (eq (dbl, value, 2.25e15));
  cr_assert (ss_units_seconds ("2.4 us", &value, NULL));
  cr_assert (epsilon_eq (dbl, value, 2.4e-6, 1e-20));
  cr_assert (ss_units_seconds ("500 ns", &tiny, NULL) && ss_units_seconds ("2s", &billion, NULL));
  cr_assert (epsilon_eq (dbl, tiny, 5e-7, 1e-20));
  cr_assert (eq (dbl, billion, 2.0));

  cr_assert (not (ss_units_bytes_per_s ("3.35 TiB/s", &value, &a)));
  cr_assert (
      eq (str, a, "\"3.35 TiB/s\" has an unknown unit; expected B/s, kB/s, MB/s, GB/s or TB/s"));
  cr_assert (not (ss_units_flop_per_s ("0 TFLOP/s", &value, &b)));
  cr_assert (eq (str, b, "\"0 TFLOP/s\" is zero; a rate is positive"));
  cr_assert (not (ss_units_flop_per_s ("99999 PFLOP/s", &value, &c)));
  cr_assert (eq (str, c, "\"99999 PFLOP/s\" is too large"));
  cr_assert (not (ss_units_seconds ("2.4", &value, &d)));
  cr_assert (eq (str, d, "\"2.4\" has no unit; expected ns, us, ms or s"));
}

Test (units, counts_are_whole_and_in_range)
{
  static const struct
  {
    const char *text, *problem;
  } rows[] = {
    { "two", "\"two\" is not a whole number" },
    { "", "\"\" is not a whole number" },
    { "-", "\"-\" is not a whole number" },
    { "2.0", "\"2.0\" is not a whole number" },
    { " 2", "\" 2\" is not a whole number" },
    { "0", "\"0\" is not between 1 and 100" },
    { "-3", "\"-3\" is not between 1 and 100" },
    { "18446744073709551617", "\"18446744073709551617\" is not between 1 and 100" },
  };
  gint64 count = 0;
  g_autofree char *low = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *problem = NULL;

      cr_assert (not (ss_units_count (rows[i].text, 1, 100, &count, &problem)), "%s", rows[i].text);
      cr_assert (eq (str, problem, (char *) rows[i].problem));
    }
  cr_assert (ss_units_count ("100", 1, 100, &count, NULL));
  cr_assert (eq (i64, count, 100));
  cr_assert (ss_units_count ("-2", -5, 5, &count, NULL));
  cr_assert (eq (i64, count, -2));
  cr_assert (not (ss_units_count ("0", 1, G_MAXINT64, &count, &low)));
  cr_assert (eq (str, low, "\"0\" is too small; at least 1"));
}

Test (units, fractions_end_at_one)
{
  double value = 0;
  g_autofree char *a = NULL, *b = NULL;

  cr_assert (ss_units_fraction ("0.865", &value, NULL));
  cr_assert (epsilon_eq (dbl, value, 0.865, 1e-15));
  cr_assert (ss_units_fraction ("1", &value, NULL));
  cr_assert (not (ss_units_fraction ("1.041", &value, &a)));
  cr_assert (eq (str, a, "\"1.041\" is not between 0 and 1"));
  cr_assert (not (ss_units_fraction ("86 %", &value, &b)));
  cr_assert (eq (str, b, "\"86 %\" is not a plain number between 0 and 1"));
}

Test (units, sizes_print_in_one_unit_at_every_scale)
{
  g_autofree char *a = ss_units_format_bytes (84929347584, SS_UNITS_GIB, 2);
  g_autofree char *b = ss_units_format_bytes (84929347584, SS_UNITS_GB, 1);
  g_autofree char *c = ss_units_format_bytes (512, SS_UNITS_GIB, 2);

  cr_assert (eq (str, a, "79.10 GiB"));
  cr_assert (eq (str, b, "84.9 GB"));
  cr_assert (eq (str, c, "0.00 GiB"));
}
