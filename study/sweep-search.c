/* SPDX-License-Identifier: MIT */
#include "study/sweep-search.h"

/* Kernels pad and align to powers of two up to this. */
#define MAX_ALIGNMENT 1024
/* As many values right above what was found are tried one by one. */
#define N_ABOVE 8

typedef struct
{
  gint64 value;
  SsTrial trial;
} Tried;

typedef struct
{
  gint64 min, max;
  SsTrialFunc trial;
  gpointer user_data;
  GArray *tried;                 /* Tried, in the order of values */
  char *problem;                 /* of the smallest refused value */
  gint64 refused;
  gboolean is_long;
} Search;

/* The place of a value in the list: its own, or where it belongs. */
static guint
place_of (const Search *s, gint64 value)
{
  guint first = 0, after = s->tried->len;

  while (first < after)
    {
      guint middle = (first + after) / 2;

      if (g_array_index (s->tried, Tried, middle).value < value)
        first = middle + 1;
      else
        after = middle;
    }
  return first;
}

static gboolean
fits (Search *s, gint64 value)
{
  guint place = place_of (s, value);
  Tried tried = { .value = value };
  g_autofree char *problem = NULL;

  if (place < s->tried->len && g_array_index (s->tried, Tried, place).value == value)
    tried = g_array_index (s->tried, Tried, place);
  else
    {
      tried.trial = s->trial (value, &problem, s->user_data);
      g_array_insert_val (s->tried, place, tried);
    }
  if (tried.trial == SS_TRIAL_REFUSED && problem != NULL
      && (s->problem == NULL || value < s->refused))
    {
      g_free (s->problem);
      s->problem = g_steal_pointer (&problem);
      s->refused = value;
    }
  if (tried.trial == SS_TRIAL_LONG)
    {
      s->is_long = TRUE;
      s->max = MIN (s->max, value);
    }
  return tried.trial == SS_TRIAL_FITS || tried.trial == SS_TRIAL_LONG;
}

/* Downwards to a value that fits. FALSE: not even the smallest does. */
static gboolean
find_low (Search *s, gint64 from, gint64 *low)
{
  *low = from;
  while (!fits (s, *low))
    {
      if (*low == s->min)
        return FALSE;
      *low = MAX (s->min, *low / 2);
    }
  return TRUE;
}

/* From a value that fits upwards to one that does not, or to max, which may come down meanwhile. */
static gint64
find_high (Search *s, gint64 low)
{
  gint64 high = low;

  while (high < s->max)
    {
      high = high > s->max / 2 ? s->max : MAX (high * 2, 1);
      if (!fits (s, high))
        return high;
    }
  return s->max;
}

/* The largest that fits of [low, high), as far as there is one border: low fits, high does not. */
static gint64
bisect (Search *s, gint64 low, gint64 high)
{
  while (high - low > 1)
    {
      gint64 middle = low + (high - low) / 2;

      if (fits (s, middle))
        low = middle;
      else
        high = middle;
    }
  return low;
}

/* The largest of the values above that fits; 0 if none does. */
static gint64
try_above (Search *s, gint64 value, SsSweepSearch *found)
{
  gint64 largest = 0, above;

  found->n_above = 0;
  found->above = value;
  for (gint64 i = 1; i <= N_ABOVE && value + i <= s->max; i++)
    {
      found->n_above++;
      found->above = value + i;
      if (fits (s, value + i))
        largest = value + i;
    }
  for (gint64 power = 2; power <= MAX_ALIGNMENT && power <= value; power *= 2)
    {
      above = (value / power + 1) * power;
      if (above <= found->above || above > s->max)
        continue;
      found->n_above++;
      found->above = above;
      if (fits (s, above))
        largest = above;
    }
  return largest;
}

/* Three between a half and the value: where it has holes is only said. */
static void
try_below (Search *s, gint64 value)
{
  for (gint64 eighths = 5; eighths <= 7; eighths++)
    {
      gint64 below = value / 8 * eighths + value % 8 * eighths / 8;

      if (below >= s->min && below < value)
        fits (s, below);
    }
  if (value > s->min)
    fits (s, value - 1);
}

/* Of all values that were tried. */
static void
count_below (const Search *s, SsSweepSearch *found)
{
  for (guint i = place_of (s, found->value); i-- > 0;)
    {
      const Tried *tried = &g_array_index (s->tried, Tried, i);

      found->n_below++;
      found->below = tried->value;
      if (tried->trial == SS_TRIAL_FITS || tried->trial == SS_TRIAL_LONG)
        continue;
      if (found->n_holes++ == 0)
        found->hole = tried->value;
    }
}

/* A larger value that fits after all moves the search up. */
static void
climb (Search *s, gint64 low, SsSweepSearch *found)
{
  gint64 larger = low;

  do
    {
      gint64 high = find_high (s, larger);

      found->value = high == s->max && fits (s, high) ? high : bisect (s, larger, high);
      larger = try_above (s, found->value, found);
    }
  while (larger > 0);
  try_below (s, found->value);
}

void
ss_sweep_search (gint64 min, gint64 max, gint64 start, SsTrialFunc trial, gpointer user_data,
                 SsSweepSearch *found)
{
  Search s = { .min = min, .max = max, .trial = trial, .user_data = user_data };
  gint64 low;

  g_return_if_fail (min >= 0 && min <= max && trial != NULL && found != NULL);
  *found = (SsSweepSearch) { .value = min };
  s.tried = g_array_new (FALSE, FALSE, sizeof (Tried));
  found->has_fit = find_low (&s, CLAMP (start, min, max), &low);
  if (found->has_fit)
    {
      climb (&s, low, found);
      count_below (&s, found);
      found->is_limit = found->value >= s.max;
      found->is_long = found->is_limit && s.is_long;
      found->next_is_refused = !found->is_limit && s.problem != NULL
                               && s.refused == found->value + 1;
    }
  else
    found->next_is_refused = s.problem != NULL && s.refused == min;
  if (found->next_is_refused)
    found->next_problem = g_steal_pointer (&s.problem);
  for (guint i = 0; i < s.tried->len; i++)
    found->n_runs += g_array_index (s.tried, Tried, i).trial != SS_TRIAL_REFUSED ? 1 : 0;
  g_free (s.problem);
  g_array_unref (s.tried);
}

void
ss_sweep_search_clear (SsSweepSearch *self)
{
  g_clear_pointer (&self->next_problem, g_free);
}
