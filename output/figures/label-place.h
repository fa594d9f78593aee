/* SPDX-License-Identifier: MIT
 *
 * Where labels can stand without touching anything: inside an area, in free space near a point, or
 * in a margin.  Pure geometry in pixels, y down, one column of an outline a pixel.  It knows no
 * memory and no plot.
 */
#pragma once

#include "output/figures/canvas.h"

G_BEGIN_DECLS

/* What labels must keep clear of: boxes, and lines that are only so thick as drawn. */
typedef struct
{
  GArray *rects;                 /* SsRect */
  GArray *lines;                 /* pairs of SsPoint */
} SsObstacles;

/* Two heights by column: nothing else is drawn between them.  Column i spans left + i to left + i
 * + 1. */
typedef struct
{
  double left;
  guint n_columns;
  const double *upper;           /* y of the upper edge */
  const double *lower;           /* y of the lower edge */
} SsOutline;

/* An area holds a label when it is this many text heights high (cli conventions, picture rules). */
#define SS_LABEL_ROOM 1.4

SsObstacles *ss_obstacles_new (void);
void ss_obstacles_free (SsObstacles *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsObstacles, ss_obstacles_free)
void ss_obstacles_add_rect (SsObstacles *self, const SsRect *rect);
void ss_obstacles_add_line (SsObstacles *self, SsPoint from, SsPoint to);
gboolean ss_obstacles_touch_rect (const SsObstacles *self, const SsRect *rect);
/* A line touches boxes and other lines. */
gboolean ss_obstacles_touch_line (const SsObstacles *self, SsPoint from, SsPoint to);

/* The middle of the widest stretch of the area where a text of that size has SS_LABEL_ROOM and
 * touches no obstacle.  FALSE: there is none. */
gboolean ss_label_place_inside (const SsOutline   *area,
                                double             width,
                                double             height,
                                const SsObstacles *obstacles,
                                SsRect            *place);

/* The place nearest to `target` in the free space of the outline, at most `reach` away; neither the
 * place nor a straight pointer from it to the target touches an obstacle, and the pointer leaves
 * the free space for its last `dive` pixels at most.  FALSE: there is none. */
gboolean ss_label_place_near (const SsOutline   *space,
                              SsPoint            target,
                              double             width,
                              double             height,
                              double             reach,
                              double             dive,
                              const SsObstacles *obstacles,
                              SsRect            *place);
/* Where a pointer to `target` leaves the place: the nearest point of its edge. */
SsPoint ss_label_pointer_start (const SsRect *place, SsPoint target);

typedef struct
{
  double wanted_y;               /* where its middle should be */
  double height;
  double y;                      /* where it is */
} SsMarginLabel;

/* Moves labels of a column apart so that none touch and all lie between top and bottom; the order
 * of wanted_y is kept (equal: that of the array), moves are small.  FALSE: they are too many;
 * nothing is set. */
gboolean ss_label_place_margin (SsMarginLabel *labels, guint n_labels, double top, double bottom);

G_END_DECLS
