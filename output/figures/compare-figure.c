/* SPDX-License-Identifier: MIT */
#include "output/figures/compare.h"

#include <math.h>

#include "output/film/animation.h"
#include "output/figures/byte-axis.h"
#include "output/verdict.h"
#include "output/figures/stair.h"
#include "output/figures/text-width.h"

#define WIDTH 1280
#define HEIGHT 760
#define LEFT 90
#define RIGHT 1000
#define PANEL_HEIGHT 240
#define TOP_1 118
#define TOP_2 434
#define LIST_LEFT 1016
#define LIST_LINE 23
#define TICK_Y 694
#define MAX_COLUMNS 200000       /* of the whole run; only a step's part of them is drawn */
#define INK "#222222"
#define SOFT "#666666"
#define AXIS "#999999"

/* One of the two, with its place on the page. */
typedef struct
{
  const SsCompareSide *side;
  SsMemoryTimeline *timeline;
  const SsTimelineState *columns;  /* those of the side */
  guint n_columns;
  double top, bottom;
  double column_px;
} Panel;

typedef struct
{
  SsCanvas *canvas;
  SsByteAxis axis;
  SsMemoryUnits units;
  gint64 longest_ns;
  Panel panels[2];
} Figure;

static double
y_of (const Figure *self, const Panel *panel, double bytes)
{
  return panel->bottom - ss_byte_axis_height (&self->axis, bytes) * (panel->bottom - panel->top);
}

static gint64
length_ns (const SsCompareSide *side)
{
  return MAX (side->end_ns - side->start_ns, 1);
}

/* Columns of about a pixel: the part of the whole run's that is compared, none that the step before
 * shares. */
static void
set_panel (Panel *panel, const SsCompareSide *side, double top, gint64 longest_ns)
{
  double width = MAX ((double) (RIGHT - LEFT) * (double) length_ns (side) / (double) longest_ns, 1);
  double share = side->step > 0
                   ? (double) length_ns (side)
                       / (double) MAX (ss_recording_end_ns (side->recording), 1)
                   : 1;
  guint n_all = (guint) CLAMP (width / share, 1, MAX_COLUMNS), first = 0;

  *panel = (Panel) { .side = side, .top = top, .bottom = top + PANEL_HEIGHT };
  panel->timeline = ss_memory_timeline_new (side->recording, n_all);
  if (side->step > 0)
    first = (guint) ceil ((double) side->start_ns / (double) MAX (panel->timeline->end_ns, 1)
                          * n_all);
  first = MIN (first, n_all - 1);
  panel->n_columns = (guint) CLAMP (share * n_all, 1, n_all - first);
  panel->columns = panel->timeline->columns + first;
  panel->column_px = width / panel->n_columns;
}

/* Limits that differ are each drawn in its own panel; the axis holds the larger. */
static void
set_axis (Figure *self)
{
  const SsCompareSide *a = self->panels[0].side, *b = self->panels[1].side;
  guint64 limit_a = a->recording->capacity_bytes, limit_b = b->recording->capacity_bytes,
          used = 1, limit = MAX (limit_a, limit_b);

  if (limit >= G_MAXINT64)
    limit = MIN (limit_a, limit_b);
  for (guint p = 0; p < 2; p++)
    for (guint i = 0; i < self->panels[p].n_columns; i++)
      used = MAX (used, MAX (self->panels[p].columns[i].total_bytes,
                             self->panels[p].columns[i].reserved_bytes));
  self->axis = ss_byte_axis (used, limit,
                             MAX (a->is_oom ? ss_verdict_short_bytes (a->recording) : 0,
                                  b->is_oom ? ss_verdict_short_bytes (b->recording) : 0),
                             self->units);
}

static void
draw_axis (Figure *self, const Panel *panel)
{
  SsLineLook axis = { .colour = AXIS, .width_px = 1 };
  SsLineLook grid = { .colour = "#dddddd", .width_px = 1 };
  SsTextLook look = { .size_px = 16, .colour = INK, .align = SS_ALIGN_RIGHT };

  for (guint i = 0; i < self->axis.n_ticks; i++)
    {
      double y = y_of (self, panel, i * self->axis.tick_bytes);
      g_autofree char *text = ss_byte_axis_tick (&self->axis, i);

      ss_canvas_line (self->canvas, i == 0 ? SS_LAYER_FRONT : SS_LAYER_BEHIND,
                      (SsPoint) { LEFT - 6, y }, (SsPoint) { RIGHT, y }, i == 0 ? &axis : &grid);
      ss_canvas_text (self->canvas, (SsPoint) { LEFT - 11, y }, &look, text);
    }
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { LEFT, panel->top },
                  (SsPoint) { LEFT, panel->bottom }, &axis);
  ss_canvas_text (self->canvas, (SsPoint) { LEFT - 11, panel->top - 17 }, &look,
                  self->axis.scale.name);
}

static void
set_heights (const Figure *self, const Panel *panel, const Panel *at, guint n_bands, double *y)
{
  for (guint i = 0; i < panel->n_columns; i++)
    {
      double sum = 0;

      for (guint b = 0; b < n_bands; b++)
        sum += (double) panel->columns[i].bands[b];
      y[i] = y_of (self, at, sum);
    }
}

/* From the top down, each filled to the axis. */
static void
draw_areas (Figure *self, const Panel *panel)
{
  g_autofree double *upper = g_new (double, panel->n_columns);
  g_autofree double *lower = g_new (double, panel->n_columns);
  SsLineLook edge = { .colour = INK, .width_px = 1.4 };
  g_autoptr (GArray) total = NULL;

  for (guint b = SS_N_BANDS; b-- > 0;)
    {
      g_autoptr (GArray) points = NULL;

      set_heights (self, panel, panel, b + 1, upper);
      set_heights (self, panel, panel, b, lower);
      if (!ss_stair_is_seen (upper, lower, panel->n_columns))
        continue;
      points = ss_stair (upper, panel->n_columns, LEFT, panel->column_px);
      ss_canvas_area (self->canvas, points, panel->bottom, ss_band_look ((SsBand) b)->area_colour,
                      1);
    }
  set_heights (self, panel, panel, SS_N_BANDS, upper);
  total = ss_stair (upper, panel->n_columns, LEFT, panel->column_px);
  ss_canvas_curve (self->canvas, total, &edge);
}

/* The other course's total, as a line over this one. */
static void
draw_other (Figure *self, const Panel *panel, const Panel *other)
{
  g_autofree double *y = g_new (double, other->n_columns);
  SsLineLook look = { .colour = "#555555", .width_px = 1.4, .is_dashed = TRUE };
  g_autoptr (GArray) points = NULL;

  set_heights (self, other, panel, SS_N_BANDS, y);
  points = ss_stair (y, other->n_columns, LEFT, other->column_px);
  ss_canvas_curve (self->canvas, points, &look);
}

/* Its name is level with it, but not below `lowest_y`, where other names stand. */
static void
draw_limit (Figure *self, const Panel *panel, double lowest_y)
{
  guint64 capacity_bytes = panel->side->recording->capacity_bytes;
  gboolean is_broken = self->axis.is_broken;
  double y = is_broken ? panel->bottom - self->axis.limit_height * (panel->bottom - panel->top)
                       : y_of (self, panel, (double) capacity_bytes);
  SsLineLook line = { .colour = SS_COLOUR_LIMIT, .width_px = 2.5 };
  SsTextLook look = { .size_px = 15, .colour = SS_COLOUR_LIMIT };
  g_autofree char *bytes = ss_format_bytes (capacity_bytes, self->units, 1);
  g_autofree char *text
    = g_strdup_printf ("capacity %s%s", bytes, is_broken ? " (not to scale)" : "");

  if (capacity_bytes >= G_MAXINT64)
    return;
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { LEFT, y }, (SsPoint) { RIGHT, y },
                  &line);
  ss_canvas_text (self->canvas, (SsPoint) { LIST_LEFT, MIN (y, lowest_y) }, &look, text);
}

static void
draw_request (Figure *self, const Panel *panel)
{
  const SsRecording *recording = panel->side->recording;
  double base = (double) (recording->context_bytes + recording->oom.at.reserved_bytes);
  double right = LEFT + panel->n_columns * panel->column_px;
  SsRect box = { MAX (right - 12, LEFT),
                 MAX (y_of (self, panel, base + (double) recording->oom.requested_bytes),
                      panel->top), right, y_of (self, panel, base) };

  if (!panel->side->is_oom)
    return;
  if (box.bottom - box.top < 7)
    box.top = box.bottom - 7;
  ss_canvas_hatched_box (self->canvas, &box, SS_COLOUR_LIMIT);
}

/* What was in memory at the peak, in the second panel also how much more or less than in the
 * first: from the bottom up to the y that is returned. */
static double
draw_list (Figure *self, const Panel *panel, const SsCompareSide *before)
{
  const SsCompareSide *side = panel->side;
  double y = panel->bottom - 4;

  for (guint b = 0; b < SS_N_BANDS; b++)
    {
      const SsBandLook *look = ss_band_look ((SsBand) b);
      guint64 bytes = side->at_peak.bands[b],
              was = before != NULL ? before->at_peak.bands[b] : bytes;
      g_autofree char *number = ss_format_scaled (bytes, self->axis.scale, 1);
      g_autofree char *more
        = ss_format_scaled (bytes > was ? bytes - was : was - bytes, self->axis.scale, 1);
      g_autofree char *text
        = g_str_equal (more, "0.0")
            ? g_strdup_printf ("%s %s", look->label, number)
            : g_strdup_printf ("%s %s (%s%s)", look->label, number, bytes > was ? "+" : "-", more);
      SsTextLook words = { .size_px = 15, .colour = look->beside_colour };

      if (g_str_equal (number, "0.0") && g_str_equal (more, "0.0"))
        continue;
      while (words.size_px > 10
             && ss_text_width (text, words.size_px, FALSE) > WIDTH - LIST_LEFT - 20)
        words.size_px -= 1;
      ss_canvas_box (self->canvas, SS_LAYER_FRONT,
                     &(SsRect) { LIST_LEFT, y - 6, LIST_LEFT + 12, y + 6 }, look->area_colour);
      ss_canvas_text (self->canvas, (SsPoint) { LIST_LEFT + 18, y }, &words, text);
      y -= LIST_LINE;
    }
  return y;
}

static void
draw_names (Figure *self, const Panel *panel)
{
  const SsCompareSide *side = panel->side;
  g_autofree char *peak = ss_format_bytes (side->peak_bytes, self->units, 1);
  g_autofree char *time = ss_format_time (side->step_ns);
  g_autofree char *pace = side->step_ns > 0 ? g_strconcat (", ", time, " a step", NULL) : NULL;
  g_autofree char *facts = g_strdup_printf ("%s, peak %s in %s%s", side->verdict, peak,
                                            side->peak_words, pace != NULL ? pace : "");
  SsTextLook bold = { .size_px = 18, .colour = INK, .is_bold = TRUE };
  SsTextLook look = { .size_px = 16,
                      .colour = side->is_oom ? SS_COLOUR_LIMIT : SOFT };
  double width = ss_text_width (facts, look.size_px, FALSE);
  /* the facts stand whole, the name takes what they leave */
  g_autofree char *name = ss_text_fit (side->name, 18, TRUE, WIDTH - LEFT - 14 - width - 16);
  double x = LEFT + ss_text_width (name, 18, TRUE) + 14;

  ss_canvas_text (self->canvas, (SsPoint) { LEFT, panel->top - 17 }, &bold, name);
  ss_canvas_text (self->canvas, (SsPoint) { x, panel->top - 17 }, &look, facts);
}

static void
draw_time (Figure *self)
{
  SsTimeTicks ticks = ss_time_ticks (self->longest_ns, 10);
  SsLineLook line = { .colour = AXIS, .width_px = 1 };
  SsTextLook look = { .size_px = 16, .colour = INK, .align = SS_ALIGN_CENTRE };

  for (guint i = 0; i < ticks.n_ticks; i++)
    {
      double x = LEFT + i * ticks.step_ns / (double) self->longest_ns * (RIGHT - LEFT);
      g_autofree char *text = ss_time_tick (&ticks, i);
      g_autofree char *words = g_strdup_printf ("%s %s", text, ticks.unit);

      for (guint p = 0; p < 2; p++)
        ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { x, self->panels[p].bottom },
                        (SsPoint) { x, self->panels[p].bottom + 6 }, &line);
      ss_canvas_text (self->canvas, (SsPoint) { x, TICK_Y }, &look, words);
    }
}

static void
draw_words (Figure *self)
{
  const SsCompareSide *a = self->panels[0].side, *b = self->panels[1].side;
  g_autofree char *headline = ss_compare_headline (a, b, self->units);
  g_autofree char *subject = ss_animation_subject (b->recording);
  g_autofree char *foot = ss_text_fit (subject, 14, FALSE, WIDTH - LEFT - 16);
  SsTextLook head_look = { .size_px = 25, .colour = INK, .is_bold = TRUE };
  SsTextLook sub_look = { .size_px = 16, .colour = SOFT };
  SsTextLook foot_look = { .size_px = 14, .colour = SOFT, .align = SS_ALIGN_RIGHT };

  while (head_look.size_px > 16
         && ss_text_width (headline, head_look.size_px, TRUE) > WIDTH - LEFT - 16)
    head_look.size_px -= 1;
  ss_canvas_text (self->canvas, (SsPoint) { LEFT, 34 }, &head_look, headline);
  ss_canvas_text (self->canvas, (SsPoint) { LEFT, 66 }, &sub_look,
                  "Both on one scale, the CUDA context included; the dashed line is the other "
                  "one's total.  Beside: what is in memory at the peak.");
  ss_canvas_text (self->canvas, (SsPoint) { WIDTH - 16, HEIGHT - 18 }, &foot_look, foot);
}

SsCanvas *
ss_compare_figure (const SsCompareSide *a, const SsCompareSide *b, SsMemoryUnits units)
{
  Figure figure = { .canvas = ss_canvas_new (WIDTH, HEIGHT), .units = units,
                    .longest_ns = MAX (length_ns (a), length_ns (b)) };

  set_panel (&figure.panels[0], a, TOP_1, figure.longest_ns);
  set_panel (&figure.panels[1], b, TOP_2, figure.longest_ns);
  set_axis (&figure);
  draw_words (&figure);
  for (guint p = 0; p < 2; p++)
    {
      const Panel *panel = &figure.panels[p];

      draw_axis (&figure, panel);
      draw_areas (&figure, panel);
      draw_other (&figure, panel, &figure.panels[1 - p]);
      draw_request (&figure, panel);
      draw_names (&figure, panel);
      draw_limit (&figure, panel, draw_list (&figure, panel, p == 1 ? a : NULL));
    }
  draw_time (&figure);
  for (guint p = 0; p < 2; p++)
    ss_memory_timeline_free (figure.panels[p].timeline);
  return figure.canvas;
}
