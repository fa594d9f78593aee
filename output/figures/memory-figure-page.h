/* SPDX-License-Identifier: MIT
 *
 * SsFigure: the picture under way: where time and bytes lie on the page, and what labels must keep
 * clear of.
 */
#pragma once

#include "output/figures/label-place.h"
#include "output/figures/memory-timeline.h"
#include "output/figures/memory-figure.h"

G_BEGIN_DECLS

/* The page in pixels, y down.  The margin to the right of the plot holds labels. */
#define SS_PAGE_WIDTH 1280
#define SS_PAGE_HEIGHT 760
#define SS_PLOT_LEFT 90
#define SS_PLOT_RIGHT 1050
#define SS_PLOT_TOP 126          /* of the bands of steps and phases */
#define SS_PLOT_HEAD 162         /* of the curve and the limit */
#define SS_PLOT_BOTTOM 545
#define SS_MARGIN_LEFT 1058
#define SS_STRIP_HEIGHT 44
#define SS_STRIP_1_TOP 565
#define SS_STRIP_2_TOP 623

#define SS_TEXT_PX 17
#define SS_SMALL_TEXT_PX 15
#define SS_INK "#222222"
#define SS_SOFT "#666666"
#define SS_SHADE "#f1f1f1"

typedef struct
{
  const SsRecording *recording;
  SsMemoryUnits units;
  SsCanvas *canvas;              /* not owned */
  SsMemoryTimeline *timeline;
  SsObstacles *obstacles;
  SsByteScale scale;             /* of the axis and of every number in the picture */
  double right;                  /* x of the run's end */
  double bytes_at_top;           /* what SS_PLOT_TOP would be on the axis */
  double axis_bytes;             /* the axis ends here */
  double limit_y;                /* of the capacity; negative: without limit */
  gboolean is_broken;            /* the limit is far off: drawn above a break of the axis */
  /* by column, one a pixel from SS_PLOT_LEFT: y of the lower edge of each band, and above the last
   * the total */
  double *edges[SS_N_BANDS + 1];
  double *reserved_y;
} SsFigure;

double ss_figure_x (const SsFigure *self, gint64 ns);
double ss_figure_y (const SsFigure *self, double bytes);
/* The number of an amount in the figure's scale, with the decimals that the axis makes worth
 * reading. (transfer full) */
char *ss_figure_number (const SsFigure *self, guint64 bytes);
/* A round step that divides `range` into at most `n_most` parts: 1, 2 or 5 times a power of ten. */
double ss_nice_step (double range, guint n_most);

/* How many points the areas take. */
guint ss_figure_n_points (const SsFigure *self);

void ss_figure_draw_axes (SsFigure *self);
void ss_figure_draw_phases (SsFigure *self);
void ss_figure_draw_areas (SsFigure *self);
void ss_figure_draw_strips (SsFigure *self);
void ss_figure_draw_labels (SsFigure *self);

G_END_DECLS
