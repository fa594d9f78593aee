/* SPDX-License-Identifier: MIT */
#include "output/film/animation-page-private.h"

/* The drawing's own units upwards: fine enough for a projector. */
#define HEIGHT 2000
#define STRIP_HEIGHT 100

/* A closed outline of a stair down to the base, in whole units and steps from point to point. */
static void
put_path (GString *page, const char *klass, const double *heights, guint n_columns, guint units)
{
  gint last_x = 0, last_y = (gint) units - (gint) (heights[0] * units + 0.5);

  g_string_append_printf (page, "<path class=\"%s\" d=\"M0 %uV%d", klass, units, last_y);
  for (guint i = 1; i < n_columns; i++)
    {
      gint y = (gint) units - (gint) (heights[i] * units + 0.5);

      if (y == last_y)
        continue;
      g_string_append_printf (page, "h%dv%d", (gint) i - last_x, y - last_y);
      last_x = (gint) i;
      last_y = y;
    }
  g_string_append_printf (page, "h%dV%uz\"/>\n", (gint) n_columns - last_x, units);
}

static void
begin_drawing (GString *page, const char *klass, guint n_columns, guint units)
{
  g_string_append_printf (page,
                          "<svg%s viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" "
                          "aria-hidden=\"true\">\n",
                          klass, n_columns, units);
}

static void
set_heights (const SsAnimation *animation, guint n_bands, double *heights)
{
  const SsMemoryTimeline *timeline = animation->timeline;

  for (guint i = 0; i < timeline->n_columns; i++)
    {
      double sum = 0;

      for (guint b = 0; b < n_bands; b++)
        sum += (double) timeline->columns[i].bands[b];
      heights[i] = ss_byte_axis_height (&animation->axis, sum);
    }
}

static void
put_course (GString *page, const SsAnimation *animation)
{
  guint n_columns = animation->timeline->n_columns;
  g_autofree double *heights = g_new (double, n_columns);
  g_autofree double *below = g_new (double, n_columns);

  begin_drawing (page, "", n_columns, HEIGHT);
  set_heights (animation, SS_N_BANDS, heights);
  put_path (page, "pale", heights, n_columns, HEIGHT);
  g_string_append (page, "</svg>\n");
  begin_drawing (page, " class=\"past\"", n_columns, HEIGHT);
  for (guint b = SS_N_BANDS; b-- > 0;)
    {
      char klass[] = "band b0";
      gboolean is_there = FALSE;

      set_heights (animation, b + 1, heights);
      set_heights (animation, b, below);
      for (guint i = 0; i < n_columns && !is_there; i++)
        is_there = heights[i] - below[i] > 0.5 / HEIGHT;
      klass[sizeof klass - 2] = (char) ('0' + b);
      if (is_there)
        put_path (page, klass, heights, n_columns, HEIGHT);
    }
  g_string_append (page, "</svg>\n");
}

/* ---- axes ---- */

static void
put_percent (GString *page, const char *property, double share)
{
  g_string_append_printf (page, "%s:", property);
  ss_page_put_number (page, 100 * share);
  g_string_append_c (page, '%');
}

static void
put_byte_ticks (GString *page, const SsByteAxis *axis)
{
  g_string_append_printf (page, "<span class=\"unit\">%s</span>\n", axis->scale.name);
  for (guint i = 0; i < axis->n_ticks; i++)
    {
      g_autofree char *text = ss_byte_axis_tick (axis, i);
      double height = ss_byte_axis_height (axis, i * axis->tick_bytes);

      g_string_append (page, "<span class=\"tick\" style=\"");
      put_percent (page, "bottom", height);
      g_string_append_printf (page, "\">%s</span>", text);
      if (i == 0)
        continue;
      g_string_append (page, "<span class=\"grid\" style=\"");
      put_percent (page, "bottom", height);
      g_string_append (page, "\"></span>");
    }
  g_string_append_c (page, '\n');
}

static void
put_limit (GString *page, const SsAnimation *animation, gboolean has_label)
{
  const SsByteAxis *axis = &animation->axis;
  g_autofree char *bytes
    = ss_format_bytes (animation->recording->capacity_bytes, animation->units, 1);

  if (axis->limit_height < 0)
    return;
  g_string_append_printf (page, "<div class=\"limit%s\" style=\"",
                          axis->is_broken ? " far" : "");
  put_percent (page, "bottom", axis->limit_height);
  g_string_append (page, "\">");
  if (has_label)
    g_string_append_printf (page, "<span>capacity %s%s</span>", bytes,
                            axis->is_broken ? " (not to scale)" : "");
  g_string_append (page, "</div>\n");
}

/* Names only of steps that are wide enough on a telephone. */
static void
put_steps (GString *page, const SsAnimation *animation)
{
  GArray *steps = animation->recording->steps;
  double end_ns = (double) animation->timeline->end_ns;

  for (guint i = 0; i < steps->len && !animation->timeline->is_by_event; i++)
    {
      const SsStepRecord *step = &g_array_index (steps, SsStepRecord, i);
      double left = (double) step->start_ns / end_ns, right = (double) step->end_ns / end_ns;

      if (i > 0 && right - left > 0.01)
        {
          g_string_append (page, "<div class=\"mark\" style=\"");
          put_percent (page, "left", left);
          g_string_append (page, "\"></div>");
        }
      if (right - left < 0.12)
        continue;
      g_string_append (page, "<span class=\"name\" style=\"");
      put_percent (page, "left", (left + right) / 2);
      g_string_append_printf (page, "\">step %u</span>\n", step->step);
    }
}

static void
put_times (GString *page, const SsAnimation *animation)
{
  gint64 end_ns = animation->timeline->end_ns;
  SsTimeTicks ticks = ss_time_ticks (end_ns, 5);

  g_string_append (page, "<div class=\"times\" aria-hidden=\"true\">");
  for (guint i = 0; i < ticks.n_ticks; i++)
    {
      g_autofree char *text = ss_time_tick (&ticks, i);

      double at = i * ticks.step_ns / (double) end_ns;

      g_string_append_printf (page, "<span%s style=\"", at > 0.93 ? " class=\"end\"" : "");
      put_percent (page, "left", at);
      g_string_append_printf (page, "\">%s %s</span>", text, ticks.unit);
    }
  g_string_append (page, "</div>\n");
}

static void
put_strip (GString *page, const double *share, guint n_bins, guint id, const char *name)
{
  g_autofree double *heights = g_new (double, n_bins);
  char klass[] = "s0";
  double sum = 0;

  klass[1] = (char) ('0' + id);
  for (guint i = 0; i < n_bins; i++)
    {
      heights[i] = MIN (share[i], 1);
      sum += share[i];
    }
  g_string_append_printf (page,
                          "<div class=\"strip\" role=\"img\" aria-label=\"%s: %.0f %% on average\">"
                          "<p class=\"s%u\">%s, %.0f %% on average</p>\n",
                          name, 100 * sum / n_bins, id, name, 100 * sum / n_bins);
  begin_drawing (page, "", n_bins, STRIP_HEIGHT);
  put_path (page, "pale", heights, n_bins, STRIP_HEIGHT);
  g_string_append (page, "</svg>\n");
  begin_drawing (page, " class=\"past\"", n_bins, STRIP_HEIGHT);
  put_path (page, klass, heights, n_bins, STRIP_HEIGHT);
  g_string_append (page, "</svg>\n</div>\n");
}

static void
put_tank (GString *page, const SsAnimation *animation)
{
  g_string_append (page,
                   "<figure class=\"tank\" aria-label=\"In memory now\">\n"
                   "<div class=\"frame\" id=\"tank\">\n");
  put_byte_ticks (page, &animation->axis);
  g_string_append (page,
                   "<div id=\"bars\"></div><div id=\"request\" hidden></div>"
                   "<div id=\"labels\"></div>\n");
  put_limit (page, animation, FALSE);
  g_string_append (page, "</div>\n<p id=\"total\"></p>\n</figure>\n");
}

void
ss_page_put_stage (GString *page, const SsAnimation *animation)
{
  gboolean has_time = !animation->timeline->is_by_event;

  g_string_append (page, "<div class=\"stage\" id=\"stage\">\n");
  put_tank (page, animation);
  g_string_append (page,
                   "<figure class=\"course\" aria-label=\"Memory over time\">\n"
                   "<div class=\"frame\" id=\"plot\">\n");
  put_byte_ticks (page, &animation->axis);
  put_course (page, animation);
  put_steps (page, animation);
  put_limit (page, animation, TRUE);
  g_string_append (page, "<div class=\"cursor\"></div>\n</div>\n");
  if (has_time)
    {
      put_strip (page, animation->matmul, animation->n_bins, 1, "matrix units");
      put_strip (page, animation->bandwidth, animation->n_bins, 2, "memory bandwidth");
      put_times (page, animation);
    }
  else
    g_string_append (page, "<p class=\"below\">allocations while the model is loaded, one after "
                           "the other</p>\n");
  g_string_append (page, "</figure>\n</div>\n");
}
