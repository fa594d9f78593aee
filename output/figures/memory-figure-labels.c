/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "output/verdict.h"
#include "output/figures/memory-figure-page.h"
#include "output/figures/text-width.h"

#define LINE_PX 20               /* from one line of text to the next */
#define GAP_PX 4                 /* between a label and the curve below it, or another label */
#define REACH_PX 260             /* a pointer longer than this says little */
#define DIVE_PX 20.0             /* how far it may run through other areas */
#define MAX_MARGIN (SS_N_BANDS + 2)

#define POINTER_REACH_PX 8       /* how far a pointer from the margin enters the plot */

/* A band must be this thick to be worth a pointer; the context, which nobody can change, so thick
 * that it is seen as a band of its own. */
#define POINTER_PX 2.5
#define CONTEXT_PX 5
#define NEARLY 0.9

/* Labels of the right margin, placed when all are known. */
typedef struct
{
  char *lines[2];                /* the second may be NULL */
  const char *colour;
  gboolean is_bold;
  gboolean has_pointer;
  SsPoint target;
  double wanted_y;
  double weight;                 /* the lightest go first when there is no room */
} Margin;

typedef struct
{
  SsFigure *figure;
  Margin margin[MAX_MARGIN];
  guint n_margin;
} Labels;

static void
put_label (SsFigure *self, const SsRect *place, const char *text, double size_px,
           const char *colour)
{
  SsTextLook look = { .size_px = size_px, .colour = colour, .align = SS_ALIGN_CENTRE };
  SsPoint middle = { (place->left + place->right) / 2, (place->top + place->bottom) / 2 };

  SsRect around = { place->left - GAP_PX, place->top - GAP_PX, place->right + GAP_PX,
                    place->bottom + GAP_PX };

  ss_canvas_text (self->canvas, middle, &look, text);
  ss_obstacles_add_rect (self->obstacles, &around);
}

static gboolean
put_inside (SsFigure *self, const double *upper, const double *lower, const char *text,
            const char *colour)
{
  static const double sizes[] = { SS_TEXT_PX, SS_SMALL_TEXT_PX };
  SsOutline area = { SS_PLOT_LEFT, self->timeline->n_columns, upper, lower };
  SsRect place;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (ss_label_place_inside (&area, ss_text_width (text, sizes[i], FALSE) + 8, sizes[i],
                               self->obstacles, &place))
      {
        put_label (self, &place, text, sizes[i], colour);
        return TRUE;
      }
  return FALSE;
}

/* In the space above the curve, with a pointer where it stands off. */
static gboolean
put_near (SsFigure *self, SsPoint target, const char *text, const char *colour, double reach,
          double dive)
{
  guint n_columns = self->timeline->n_columns;
  g_autofree double *upper = g_new (double, n_columns), *lower = g_new (double, n_columns);
  SsOutline space = { SS_PLOT_LEFT, n_columns, upper, lower };
  SsLineLook pointer = { .colour = colour, .width_px = 1.4, .has_head = TRUE };
  SsPoint start;
  SsRect place;

  for (guint i = 0; i < n_columns; i++)
    {
      upper[i] = SS_PLOT_HEAD - 2;
      lower[i] = self->edges[SS_N_BANDS][i] - GAP_PX;
    }
  if (!ss_label_place_near (&space, target, ss_text_width (text, SS_TEXT_PX, FALSE) + 4,
                            SS_TEXT_PX + 2, reach, dive, self->obstacles, &place))
    return FALSE;
  put_label (self, &place, text, SS_TEXT_PX, colour);
  start = ss_label_pointer_start (&place, target);
  if (hypot (start.x - target.x, start.y - target.y) > 4 * GAP_PX)
    {
      ss_canvas_line (self->canvas, SS_LAYER_FRONT, start, target, &pointer);
      ss_obstacles_add_line (self->obstacles, start, target);
    }
  return TRUE;
}

/* ---- the margin ---- */

static Margin *
add_margin (Labels *labels, const char *first, const char *second, const char *colour,
            double wanted_y)
{
  Margin *margin = &labels->margin[labels->n_margin++];

  g_assert (labels->n_margin <= MAX_MARGIN);
  *margin = (Margin) { .lines = { g_strdup (first), g_strdup (second) }, .colour = colour,
                       .wanted_y = wanted_y, .weight = HUGE_VAL };
  return margin;
}

static void
drop_lightest (Labels *labels)
{
  guint lightest = 0;

  for (guint i = 1; i < labels->n_margin; i++)
    if (labels->margin[i].weight < labels->margin[lightest].weight)
      lightest = i;
  g_free (labels->margin[lightest].lines[0]);
  g_free (labels->margin[lightest].lines[1]);
  labels->margin[lightest] = labels->margin[--labels->n_margin];
}

static void
draw_margin (SsFigure *self, const Margin *margin, double y)
{
  double width = SS_PAGE_WIDTH - SS_MARGIN_LEFT - 4,
         top = y - (margin->lines[1] != NULL ? LINE_PX / 2.0 : 0);
  SsLineLook pointer = { .colour = margin->colour, .width_px = 1.4, .has_head = TRUE };

  for (guint i = 0; i < 2 && margin->lines[i] != NULL; i++)
    {
      SsTextLook look = { .size_px = SS_TEXT_PX,
                          .colour = margin->colour,
                          .is_bold = margin->is_bold && i == 0 };

      while (look.size_px > 11
             && ss_text_width (margin->lines[i], look.size_px, look.is_bold) > width)
        look.size_px -= 1;
      ss_canvas_text (self->canvas, (SsPoint){ SS_MARGIN_LEFT, top + i * LINE_PX }, &look,
                      margin->lines[i]);
    }
  if (margin->has_pointer)
    ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint){ SS_MARGIN_LEFT - 4, y },
                    margin->target, &pointer);
}

static void
draw_margins (Labels *labels)
{
  SsMarginLabel places[MAX_MARGIN];
  gboolean is_placed = FALSE;

  while (!is_placed)
    {
      for (guint i = 0; i < labels->n_margin; i++)
        places[i] = (SsMarginLabel){ .wanted_y = labels->margin[i].wanted_y,
                                     .height = labels->margin[i].lines[1] != NULL ? 2 * LINE_PX
                                                                                  : LINE_PX };
      is_placed
          = ss_label_place_margin (places, labels->n_margin, SS_PLOT_TOP - 20, SS_PLOT_BOTTOM);
      if (!is_placed)
        drop_lightest (labels);
    }
  for (guint i = 0; i < labels->n_margin; i++)
    draw_margin (labels->figure, &labels->margin[i], places[i].y);
  while (labels->n_margin > 0)
    drop_lightest (labels);
}

/* ---- what is labelled ---- */

/* The column in which a band is thickest; of equal ones the first. */
static guint
thickest_column (const SsFigure *self, guint band)
{
  guint best = 0;

  for (guint i = 1; i < self->timeline->n_columns; i++)
    if (self->timeline->columns[i].bands[band] > self->timeline->columns[best].bands[band])
      best = i;
  return best;
}

/* In the middle of a thin band, just inside a thick one. */
static SsPoint
point_in_band (const SsFigure *self, guint band, guint column)
{
  double upper = self->edges[band + 1][column], lower = self->edges[band][column];

  return (SsPoint) { SS_PLOT_LEFT + column + 0.5, MIN ((upper + lower) / 2, upper + DIVE_PX / 2) };
}

/* A pointer from the margin, if the band lasts to the end and the way there is clear. */
static gboolean
point_from_margin (Labels *labels, guint band, const char *text)
{
  SsFigure *self = labels->figure;
  guint last = self->timeline->n_columns - 1;
  double thickness = self->edges[band][last] - self->edges[band + 1][last];
  SsPoint target = { self->right - POINTER_REACH_PX,
                     (self->edges[band][last] + self->edges[band + 1][last]) / 2 };
  SsPoint start = { SS_MARGIN_LEFT - 4, target.y };
  Margin *margin;

  if (thickness < POINTER_PX || ss_obstacles_touch_line (self->obstacles, start, target))
    return FALSE;
  margin = add_margin (labels, text, NULL, ss_band_look ((SsBand) band)->beside_colour, target.y);
  margin->has_pointer = TRUE;
  margin->target = target;
  margin->weight = thickness;
  return TRUE;
}

/* Columns where a band is nearly as thick as it gets, evenly chosen of all of them. */
static void
thick_columns (const SsFigure *self, guint band, guint *columns, guint n)
{
  g_autoptr (GArray) thick = g_array_new (FALSE, FALSE, sizeof (guint));
  double most = (double) self->timeline->columns[thickest_column (self, band)].bands[band];

  for (guint i = 0; i < self->timeline->n_columns; i++)
    if ((double) self->timeline->columns[i].bands[band] >= NEARLY * most)
      g_array_append_val (thick, i);
  for (guint i = 0; i < n; i++)
    columns[i] = g_array_index (thick, guint, (guint64) (thick->len - 1) * i / (n - 1));
}

/* Too thin for a text: a pointer from the margin or from free space, as short as can be. */
static void
point_at_band (Labels *labels, guint band, const char *text)
{
  static const double reaches[] = { 4 * GAP_PX, 60, 120, REACH_PX, HUGE_VAL };
  SsFigure *self = labels->figure;
  const char *colour = ss_band_look ((SsBand) band)->beside_colour;
  guint columns[5], thickest = thickest_column (self, band);
  double thickness = self->edges[band][thickest] - self->edges[band + 1][thickest];

  if (thickness < (band == SS_BAND_CONTEXT ? CONTEXT_PX : POINTER_PX)
      || point_from_margin (labels, band, text))
    return;
  thick_columns (self, band, columns, G_N_ELEMENTS (columns));
  for (guint r = 0; r < G_N_ELEMENTS (reaches); r++)
    for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
      if (put_near (self, point_in_band (self, band, columns[(i + 2) % 5]), text, colour,
                    reaches[r], reaches[r] < HUGE_VAL ? DIVE_PX : HUGE_VAL))
        return;
}

static void
label_bands (Labels *labels)
{
  SsFigure *self = labels->figure;
  gboolean is_done[SS_N_BANDS] = { FALSE };
  char *texts[SS_N_BANDS];

  for (guint b = 0; b < SS_N_BANDS; b++)
    {
      const SsBandLook *look = ss_band_look ((SsBand) b);
      guint64 most = self->timeline->most_bytes[b];
      g_autofree char *number = ss_figure_number (self, most);

      texts[b] = g_strdup_printf ("%s %s", look->label, number);
      is_done[b]
          = most == 0
            || put_inside (self, self->edges[b + 1], self->edges[b], texts[b], look->inside_colour);
    }
  for (guint b = 0; b < SS_N_BANDS; b++)
    {
      if (!is_done[b])
        point_at_band (labels, b, texts[b]);
      g_free (texts[b]);
    }
}

/* The column of a step in which the device shows most; the first of them. */
static guint
fullest_column (const SsFigure *self, const SsStepRecord *step)
{
  const SsTimelineState *columns = self->timeline->columns;
  guint best = 0;

  for (guint i = 0; i < self->timeline->n_columns; i++)
    {
      double x = SS_PLOT_LEFT + i + 0.5;

      if (x < ss_figure_x (self, step->start_ns) || x > ss_figure_x (self, step->end_ns) + 1)
        continue;
      if (best == 0 || columns[i].reserved_bytes > columns[best].reserved_bytes)
        best = i;
    }
  return best;
}

static void
label_peak (SsFigure *self)
{
  const SsRecording *recording = self->recording;
  const SsStepRecord *step = NULL;
  g_autofree char *number = NULL, *text = NULL;
  guint best;

  for (guint i = 0; i < recording->steps->len; i++)
    {
      const SsStepRecord *s = &g_array_index (recording->steps, SsStepRecord, i);

      if (s->is_complete && (step == NULL || s->peak_reserved_bytes > step->peak_reserved_bytes))
        step = s;
    }
  if (step == NULL || self->timeline->is_by_event)
    return;
  best = fullest_column (self, step);
  number = ss_figure_number (self, recording->context_bytes + step->peak_reserved_bytes);
  text = recording->steps->len == 1 ? g_strdup_printf ("peak %s", number)
                                    : g_strdup_printf ("peak of step %u: %s", step->step, number);
  /* a little below the top, which may be at the limit */
  put_near (self, (SsPoint){ SS_PLOT_LEFT + best + 0.5, self->reserved_y[best] + 6 }, text,
            SS_INK, REACH_PX, DIVE_PX);
}

/* Between what is reserved and what is in use, and between the most ever reserved and the limit. */
static void
label_free (SsFigure *self)
{
  double highest = SS_PLOT_BOTTOM;
  guint n_columns = self->timeline->n_columns;
  g_autofree double *limit = g_new (double, n_columns), *reserved = g_new (double, n_columns);
  g_autofree char *headroom = ss_verdict_headroom (self->recording, self->units);
  g_autofree char *text = g_strdup_printf ("headroom %s", headroom);

  put_inside (self, self->reserved_y, self->edges[SS_N_BANDS], "cached, not in use", "#5a5a5a");
  if (self->limit_y < 0 || self->is_broken || self->recording->is_oom)
    return;
  for (guint i = 0; i < n_columns; i++)
    highest = MIN (highest, MIN (self->reserved_y[i], self->edges[SS_N_BANDS][i]));
  for (guint i = 0; i < n_columns; i++)
    {
      limit[i] = self->limit_y + GAP_PX;
      reserved[i] = highest - GAP_PX;
    }
  put_inside (self, limit, reserved, text, "#333333");
}

/* "224 MiB", "3.91 GiB". (transfer full) */
static char *
exact_bytes (const SsFigure *self, guint64 bytes)
{
  SsByteScale scale = ss_byte_scale (self->units, bytes);

  return ss_format_bytes (bytes, self->units, bytes % (guint64) scale.bytes == 0 ? 0 : 2);
}

/* The request stands on what the allocator holds, crosses the limit by what was missing, and may be
 * cut off at the top of the plot. */
static void
label_request (Labels *labels)
{
  SsFigure *self = labels->figure;
  const SsOomRecord *oom = &self->recording->oom;
  double base = (double) (self->recording->context_bytes + oom->at.reserved_bytes);
  SsRect box = { self->right - 12,
                 MAX (ss_figure_y (self, base + (double)oom->requested_bytes), SS_PLOT_HEAD - 4),
                 SS_PLOT_RIGHT - 4, ss_figure_y (self, base) };
  g_autofree char *asks = exact_bytes (self, oom->requested_bytes);
  g_autofree char *free_text = exact_bytes (self, oom->free_bytes);
  g_autofree char *first = g_strdup_printf ("OOM: asks %s", asks);
  g_autofree char *second = oom->free_bytes == 0 ? g_strdup ("with nothing free")
                                                 : g_strdup_printf ("with %s free", free_text);

  /* a small request would be less than a line */
  if (box.bottom - box.top < 7)
    box.top = box.bottom - 7;
  ss_canvas_hatched_box (self->canvas, &box, SS_COLOUR_LIMIT);
  ss_obstacles_add_rect (self->obstacles, &box);
  add_margin (labels, first, second, SS_COLOUR_LIMIT, box.top - LINE_PX)->is_bold = TRUE;
}

static void
label_limit (Labels *labels)
{
  SsFigure *self = labels->figure;
  g_autofree char *capacity = ss_format_bytes (self->recording->capacity_bytes, self->units, 1);
  g_autofree char *text = g_strdup_printf ("capacity %s", capacity);

  if (self->limit_y >= 0)
    add_margin (labels, text, self->is_broken ? "(not to scale)" : NULL, SS_COLOUR_LIMIT,
                self->limit_y);
}

void
ss_figure_draw_labels (SsFigure *self)
{
  Labels labels = { .figure = self };

  if (self->recording->is_oom)
    label_request (&labels);
  label_limit (&labels);
  label_peak (self);
  label_bands (&labels);
  label_free (self);
  draw_margins (&labels);
}
