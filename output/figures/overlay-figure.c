/* SPDX-License-Identifier: MIT
 *
 * The picture of an overlay: both courses over the events, one after the other, and under them the
 * difference in a scale of its own.
 */
#include <math.h>
#include <string.h>

#include "output/figures/label-place.h"
#include "output/figures/memory-figure-page.h"
#include "output/figures/overlay.h"
#include "output/figures/text-width.h"

#define PHASE_BOTTOM (SS_PLOT_TOP + 26)
#define MAIN_BOTTOM 520
#define STRIP_TOP 570
#define STRIP_BOTTOM 670
#define N_COLUMNS (SS_PLOT_RIGHT - SS_PLOT_LEFT)

#define SIM_AREA "#56B4E9"
#define SIM_TEXT "#1f6f9f"
#define REAL_LINE "#222222"
#define AXIS "#777777"
#define GRID "#dddddd"
#define APART "#B00020"

typedef struct
{
  double allocated[N_COLUMNS], reserved[N_COLUMNS];   /* the most of each column; below 0: none */
} Columns;

typedef struct
{
  const SsOverlay *overlay;
  SsMemoryUnits units;
  SsCanvas *canvas;
  Columns sim, real;
  double width;                  /* events, of the longer run in each piece */
  double axis_bytes;
  SsByteScale scale;
} Picture;

static double
x_of (const Picture *self, double at)
{
  return SS_PLOT_LEFT + at / self->width * N_COLUMNS;
}

static double
y_of (const Picture *self, double bytes)
{
  return MAIN_BOTTOM - bytes / self->axis_bytes * (MAIN_BOTTOM - PHASE_BOTTOM - 8);
}

/* ---- from events to columns ---- */

static guint
n_sim (const SsOverlayPiece *piece)
{
  return piece->sim_end - piece->sim_first;
}

static guint
n_real (const SsOverlayPiece *piece)
{
  return piece->real_end - piece->real_first;
}

static guint
piece_width (const SsOverlayPiece *piece)
{
  return MAX (n_sim (piece), n_real (piece));
}

static void
set_width (Picture *self)
{
  GArray *pieces = self->overlay->pieces;

  for (guint i = 0; i < pieces->len; i++)
    self->width += piece_width (&g_array_index (pieces, SsOverlayPiece, i));
  self->width = MAX (self->width, 1);
}

/* Where in a piece the event k of n of one run lies: those alike from both ends side by side, what
 * is between them stretched. */
static double
place_in_piece (const SsOverlayPiece *piece, guint k, guint n)
{
  double width = piece_width (piece), head = piece->n_head, tail = piece->n_tail;

  if (k < piece->n_head || n == 0)
    return k;
  if (k + piece->n_tail >= n)
    return width - (n - k);
  return head + (k - head) * (width - head - tail) / (n - head - tail);
}

/* Where on the axis an event of the simulated run lies. */
static double
place_of (const Picture *self, guint event)
{
  GArray *pieces = self->overlay->pieces;
  double at = 0;

  for (guint i = 0; i < pieces->len; i++)
    {
      const SsOverlayPiece *piece = &g_array_index (pieces, SsOverlayPiece, i);

      if (event < piece->sim_end)
        return at + place_in_piece (piece, event - MIN (event, piece->sim_first), n_sim (piece));
      at += piece_width (piece);
    }
  return at;
}

typedef struct
{
  Columns *columns;
  gint column;
  double allocated, reserved;
} Pen;

/* The state holds up to the column, and what it becomes there counts if it is more. */
static void
move_pen (const Picture *picture, Pen *pen, double at, guint64 allocated, guint64 reserved)
{
  gint column = (gint) (at / picture->width * N_COLUMNS);

  column = CLAMP (column, 0, N_COLUMNS - 1);
  for (gint i = pen->column + 1; i <= column; i++)
    {
      pen->columns->allocated[i] = pen->allocated;
      pen->columns->reserved[i] = pen->reserved;
    }
  pen->column = MAX (pen->column, column);
  pen->allocated = (double) allocated;
  pen->reserved = (double) reserved;
  pen->columns->allocated[column] = MAX (pen->columns->allocated[column], pen->allocated);
  pen->columns->reserved[column] = MAX (pen->columns->reserved[column], pen->reserved);
}

static void
draw_into (Picture *self, Pen *sim, Pen *real)
{
  const SsOverlay *overlay = self->overlay;
  double at = 0;

  for (guint i = 0; i < overlay->pieces->len; i++)
    {
      const SsOverlayPiece *piece = &g_array_index (overlay->pieces, SsOverlayPiece, i);

      for (guint k = 0; k < n_sim (piece); k++)
        {
          const SsOverlayEvent *event
            = &g_array_index (overlay->events, SsOverlayEvent, piece->sim_first + k);

          move_pen (self, sim, at + place_in_piece (piece, k, n_sim (piece)),
                    event->allocated_bytes, event->reserved_bytes);
        }
      for (guint k = 0; k < n_real (piece); k++)
        {
          const SsRealEvent *event
            = &g_array_index (overlay->real->events, SsRealEvent, piece->real_first + k);

          move_pen (self, real, at + place_in_piece (piece, k, n_real (piece)),
                    event->allocated_bytes, event->reserved_bytes);
        }
      at += piece_width (piece);
    }
  move_pen (self, sim, self->width, (guint64) sim->allocated, (guint64) sim->reserved);
  move_pen (self, real, self->width, (guint64) real->allocated, (guint64) real->reserved);
}

static void
set_columns (Picture *self)
{
  const SsRealRun *run = self->overlay->real;
  Pen sim = { .columns = &self->sim, .column = -1 };
  Pen real = { .columns = &self->real, .column = -1,
               .allocated = (double) run->start_allocated_bytes,
               .reserved = (double) run->start_reserved_bytes };

  draw_into (self, &sim, &real);
}

static void
set_axis (Picture *self)
{
  const SsRecording *recording = self->overlay->recording;
  double most = 1;

  for (guint i = 0; i < N_COLUMNS; i++)
    most = MAX (most, MAX (MAX (self->sim.reserved[i], self->sim.allocated[i]),
                           MAX (self->real.reserved[i], self->real.allocated[i])));
  if (recording->capacity_bytes < G_MAXINT64
      && (double) (recording->capacity_bytes - recording->context_bytes) < 1.5 * most)
    most = MAX (most, (double) (recording->capacity_bytes - recording->context_bytes));
  self->axis_bytes = 1.06 * most;
  self->scale = ss_byte_scale (self->units, (guint64) most);
}

/* ---- drawing ---- */

static char *
number_text (double value, double step)
{
  GString *text = g_string_new (NULL);

  ss_append_fixed (text, value, step >= 1 ? 0 : (guint) ceil (-log10 (step) - 1e-9));
  return g_string_free (text, FALSE);
}

static void
draw_byte_axis (Picture *self)
{
  SsLineLook axis = { .colour = AXIS, .width_px = 1 }, grid = { .colour = GRID, .width_px = 1 };
  SsTextLook look = { .size_px = SS_TEXT_PX, .colour = SS_INK, .align = SS_ALIGN_RIGHT };
  SsTextLook title = { .size_px = SS_TEXT_PX, .colour = SS_INK, .align = SS_ALIGN_CENTRE };
  g_autofree char *name = g_strdup_printf ("PyTorch's allocator (%s)", self->scale.name);
  double top = self->axis_bytes / self->scale.bytes, step = ss_nice_step (top, 7);

  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_PLOT_LEFT, PHASE_BOTTOM },
                  (SsPoint) { SS_PLOT_LEFT, MAIN_BOTTOM }, &axis);
  for (guint i = 0; i * step <= top; i++)
    {
      double y = y_of (self, i * step * self->scale.bytes);
      g_autofree char *text = number_text (i * step, step);

      if (i > 0)
        ss_canvas_line (self->canvas, SS_LAYER_BEHIND, (SsPoint) { SS_PLOT_LEFT, y },
                        (SsPoint) { SS_PLOT_RIGHT, y }, &grid);
      ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT - 8, y }, &look, text);
    }
  ss_canvas_text_upwards (self->canvas, (SsPoint) { 22, (PHASE_BOTTOM + MAIN_BOTTOM) / 2.0 },
                          &title, name);
}

static void
draw_event_axis (Picture *self)
{
  SsLineLook axis = { .colour = AXIS, .width_px = 1 };
  SsTextLook look = { .size_px = SS_SMALL_TEXT_PX, .colour = SS_INK, .align = SS_ALIGN_CENTRE };
  double step = MAX (ss_nice_step (self->width, 8), 1);

  for (guint i = 0; i * step <= self->width; i++)
    {
      double x = x_of (self, i * step);
      g_autofree char *text = number_text (i * step, step);

      ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { x, STRIP_BOTTOM },
                      (SsPoint) { x, STRIP_BOTTOM + 6 }, &axis);
      ss_canvas_text (self->canvas, (SsPoint) { x, STRIP_BOTTOM + 18 }, &look, text);
    }
  ss_canvas_text (self->canvas,
                  (SsPoint) { (SS_PLOT_LEFT + SS_PLOT_RIGHT) / 2.0, STRIP_BOTTOM + 42 }, &look,
                  "requests and releases, one after the other");
}

/* Every second phase is shaded, and named where there is room. */
static void
draw_phases (Picture *self)
{
  const SsOverlay *overlay = self->overlay;
  SsTextLook look = { .size_px = SS_SMALL_TEXT_PX, .colour = SS_SOFT, .align = SS_ALIGN_CENTRE };
  guint end = 0;

  for (guint i = 0; i < overlay->phases->len; i++)
    {
      guint32 phase = g_array_index (overlay->phases, SsOverlayPhase, i).phase;
      const SsPhaseRecord *record
        = &g_array_index (overlay->recording->phases, SsPhaseRecord, phase);
      g_autofree char *full = g_strdup_printf (record->step > 0 ? "%s %u" : "%s", record->name,
                                               record->step);
      guint first = end;
      double left, right;

      while (end < overlay->events->len
             && g_array_index (overlay->events, SsOverlayEvent, end).phase <= phase)
        end++;
      left = x_of (self, place_of (self, first));
      right = x_of (self, place_of (self, end));
      if (i % 2 == 1 && right > left)
        ss_canvas_box (self->canvas, SS_LAYER_BEHIND,
                       &(SsRect) { left, SS_PLOT_TOP, right, STRIP_BOTTOM }, SS_SHADE);
      if (ss_text_width (full, look.size_px, FALSE) < right - left)
        ss_canvas_text (self->canvas, (SsPoint) { (left + right) / 2, SS_PLOT_TOP + 13 }, &look,
                        full);
    }
}

static GArray *
points_of (const Picture *self, const double *columns)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (SsPoint));

  for (guint i = 0; i < N_COLUMNS; i++)
    {
      SsPoint left = { SS_PLOT_LEFT + (double) i, y_of (self, columns[i]) };
      SsPoint right = { left.x + 1, left.y };

      if (i > 0 && i + 1 < N_COLUMNS && columns[i] == columns[i - 1]
          && columns[i] == columns[i + 1])
        continue;
      g_array_append_val (points, left);
      g_array_append_val (points, right);
    }
  return points;
}

static void
draw_curves (Picture *self)
{
  g_autoptr (GArray) sim = points_of (self, self->sim.allocated);
  g_autoptr (GArray) sim_reserved = points_of (self, self->sim.reserved);
  g_autoptr (GArray) real = points_of (self, self->real.allocated);
  g_autoptr (GArray) real_reserved = points_of (self, self->real.reserved);
  SsLineLook wide = { .colour = SIM_AREA, .width_px = 5 };
  SsLineLook wide_dashed = { .colour = "#b9dff5", .width_px = 5 };
  SsLineLook thin = { .colour = REAL_LINE, .width_px = 1.4 };
  SsLineLook thin_dashed = { .colour = REAL_LINE, .width_px = 1.2, .is_dashed = TRUE };

  ss_canvas_area (self->canvas, sim, MAIN_BOTTOM, SIM_AREA, 0.25);
  ss_canvas_curve (self->canvas, sim_reserved, &wide_dashed);
  ss_canvas_curve (self->canvas, sim, &wide);
  ss_canvas_curve (self->canvas, real_reserved, &thin_dashed);
  ss_canvas_curve (self->canvas, real, &thin);
}

static void
draw_limit (Picture *self, double *y)
{
  const SsRecording *recording = self->overlay->recording;
  SsLineLook look = { .colour = SS_COLOUR_LIMIT, .width_px = 2 };

  *y = -1;
  if (recording->capacity_bytes >= G_MAXINT64
      || (double) (recording->capacity_bytes - recording->context_bytes) > self->axis_bytes)
    return;
  *y = y_of (self, (double) (recording->capacity_bytes - recording->context_bytes));
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_PLOT_LEFT, *y },
                  (SsPoint) { SS_PLOT_RIGHT, *y }, &look);
}

/* Each label stands beside the end of its curve; a line leads there. */
static void
draw_labels (Picture *self, double limit_y)
{
  const struct
  {
    const char *text, *colour;
    double y;
  } labels[] = {
    { "limit less context", SS_COLOUR_LIMIT, limit_y },
    { "reserved, real", REAL_LINE, y_of (self, self->real.reserved[N_COLUMNS - 1]) },
    { "reserved, simulated", SIM_TEXT, y_of (self, self->sim.reserved[N_COLUMNS - 1]) },
    { "allocated, real", REAL_LINE, y_of (self, self->real.allocated[N_COLUMNS - 1]) },
    { "allocated, simulated", SIM_TEXT, y_of (self, self->sim.allocated[N_COLUMNS - 1]) },
  };
  SsMarginLabel places[G_N_ELEMENTS (labels)];
  guint first = limit_y < 0 ? 1 : 0, n = G_N_ELEMENTS (labels) - first;

  for (guint i = 0; i < n; i++)
    places[i] = (SsMarginLabel) { .wanted_y = labels[first + i].y, .height = 22 };
  if (!ss_label_place_margin (places, n, SS_PLOT_TOP, STRIP_BOTTOM))
    return;
  for (guint i = 0; i < n; i++)
    {
      SsTextLook look = { .size_px = SS_SMALL_TEXT_PX, .colour = labels[first + i].colour };
      SsLineLook line = { .colour = AXIS, .width_px = 1 };

      ss_canvas_line (self->canvas, SS_LAYER_FRONT,
                      (SsPoint) { SS_PLOT_RIGHT + 2, places[i].wanted_y },
                      (SsPoint) { SS_MARGIN_LEFT + 14, places[i].y }, &line);
      ss_canvas_text (self->canvas, (SsPoint) { SS_MARGIN_LEFT + 18, places[i].y }, &look,
                      labels[first + i].text);
    }
}

/* ---- the difference ---- */

static double
most_apart (const Picture *self)
{
  double most = 0;

  for (guint i = 0; i < N_COLUMNS; i++)
    most = MAX (most, fabs (self->sim.allocated[i] - self->real.allocated[i]));
  return most;
}

static void
draw_difference (Picture *self)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (SsPoint));
  double most = most_apart (self), middle = (STRIP_TOP + STRIP_BOTTOM) / 2.0;
  double half = (STRIP_BOTTOM - STRIP_TOP) / 2.0 - 4;
  g_autofree char *amount = ss_format_bytes ((guint64) most, self->units, 1);
  g_autofree char *above = most > 0 ? g_strconcat ("+", amount, NULL) : g_strdup ("");
  g_autofree char *below = most > 0 ? g_strconcat ("-", amount, NULL) : g_strdup ("");
  SsTextLook title = { .size_px = SS_SMALL_TEXT_PX, .colour = SS_SOFT };
  SsTextLook look = { .size_px = 13, .colour = SS_INK, .align = SS_ALIGN_RIGHT };
  SsLineLook line = { .colour = APART, .width_px = 1.5 }, zero = { .colour = AXIS, .width_px = 1 };

  for (guint i = 0; i < N_COLUMNS; i++)
    {
      double apart = self->sim.allocated[i] - self->real.allocated[i];
      SsPoint point = { SS_PLOT_LEFT + (double) i, middle - (most > 0 ? apart / most * half : 0) };

      g_array_append_val (points, point);
    }
  ss_canvas_line (self->canvas, SS_LAYER_BEHIND, (SsPoint) { SS_PLOT_LEFT, middle },
                  (SsPoint) { SS_PLOT_RIGHT, middle }, &zero);
  ss_canvas_curve (self->canvas, points, &line);
  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT, STRIP_TOP - 16 }, &title,
                  most > 0 ? "allocated, simulated less real, in a scale of its own"
                           : "allocated, simulated less real: nothing anywhere");
  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT - 8, STRIP_TOP + 4 }, &look, above);
  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT - 8, middle }, &look, "0");
  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT - 8, STRIP_BOTTOM - 4 }, &look, below);
}

static void
draw_words (Picture *self, const char *name)
{
  double width = SS_PAGE_WIDTH - SS_PLOT_LEFT - 16;
  g_autofree char *headline = ss_overlay_headline (self->overlay, self->units);
  g_autofree char *alignment = ss_overlay_alignment (self->overlay);
  g_autofree char *both = g_strdup_printf ("%s over %s", name,
                                           self->overlay->recording->scenario_name);
  g_autofree char *clean = ss_clean_text (both);
  g_autofree char *head = ss_text_fit (headline, 27, TRUE, width);
  g_autofree char *sub = ss_text_fit (clean, SS_TEXT_PX, FALSE, width);
  g_autofree char *how = ss_text_fit (alignment, SS_SMALL_TEXT_PX, FALSE, width);
  SsTextLook head_look = { .size_px = 27, .colour = SS_INK, .is_bold = TRUE };
  SsTextLook sub_look = { .size_px = SS_TEXT_PX, .colour = "#555555" };
  SsTextLook how_look = { .size_px = SS_SMALL_TEXT_PX, .colour = SS_SOFT };

  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT, 34 }, &head_look, head);
  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT, 67 }, &sub_look, sub);
  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT, 94 }, &how_look, how);
}

SsCanvas *
ss_overlay_figure (const SsOverlay *self, const char *name, SsMemoryUnits units)
{
  g_autofree Picture *picture = g_new0 (Picture, 1);
  double limit_y;

  picture->overlay = self;
  picture->units = units;
  picture->canvas = ss_canvas_new (SS_PAGE_WIDTH, SS_PAGE_HEIGHT);
  set_width (picture);
  set_columns (picture);
  set_axis (picture);
  draw_words (picture, name);
  draw_phases (picture);
  draw_byte_axis (picture);
  draw_event_axis (picture);
  draw_limit (picture, &limit_y);
  draw_curves (picture);
  draw_difference (picture);
  draw_labels (picture, limit_y);
  return picture->canvas;
}
