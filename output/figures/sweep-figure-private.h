/* SPDX-License-Identifier: MIT
 *
 * SsSweepFigure: the picture under way, and SsSweepPlot, one of its fields of points.
 */
#pragma once

#include "output/figures/label-place.h"
#include "output/figures/sweep-figure.h"

G_BEGIN_DECLS

#define SS_SWEEP_WIDTH 1000
#define SS_SWEEP_HEIGHT 640      /* of one plot with its words */
#define SS_SWEEP_DOWN 575        /* from one plot to the next */
#define SS_SWEEP_LEFT 115
#define SS_SWEEP_RIGHT 970
#define SS_SWEEP_TOP 96
#define SS_SWEEP_BOTTOM 535

#define SS_SWEEP_TEXT_PX 16
#define SS_SWEEP_INK "#222222"
#define SS_SWEEP_SOFT "#555555"
#define SS_SWEEP_FOOT "#666666"
#define SS_SWEEP_FITS "#0072B2"
#define SS_SWEEP_LIMIT "#B00020"
#define SS_SWEEP_SHADE "#fbe9ec"
#define SS_SWEEP_TRAIL "#aaaaaa"

typedef struct
{
  const SsSweepTable *table;
  SsMemoryUnits units;
  SsByteScale scale;             /* of every number of bytes in the picture */
  SsCanvas *canvas;              /* not owned */
  const GArray *curve;           /* SsSweepCurvePoint, or NULL */
  const char *curve_name;
  guint fastest;                 /* index of a row, or G_MAXUINT */
  guint lowest;                  /* the one with the lowest peak, context included */
  gboolean is_checkpointing;     /* nothing but checkpointing is swept */
  gint along;                    /* the path whose numbers make a line, or -1 */
  guint64 capacity_bytes;        /* of all runs; 0: they differ, or have no limit */
} SsSweepFigure;

typedef struct
{
  SsSweepFigure *figure;
  SsRect area;
  double x_min, x_max, y_min, y_max;
  gboolean is_log_x, is_whole_x; /* whole: there is nothing between two whole numbers */
  GArray *dots;                  /* SsPoint */
  SsObstacles *obstacles;        /* all that labels keep clear of */
  SsObstacles *marks;            /* of that the points and texts, which nothing may ever cover */
} SsSweepPlot;

/* Where a label may stand. */
typedef enum
{
  SS_BESIDE,                     /* right beside its point, and nearer to it than to another */
  SS_NEAR,                       /* or with a pointer to it */
  SS_ANYWHERE                    /* or over lines */
} SsLabelPlace;

/* Runs that are drawn as one point. */
typedef struct
{
  SsPoint at;
  gboolean fits;
  GArray *rows;                  /* guint: indices */
  guint rank;                    /* the lower, the sooner it is labelled */
} SsSweepCluster;

typedef struct
{
  SsSweepFigure *figure;
  SsSweepPlot plot;
  GArray *clusters;              /* SsSweepCluster */
  double per_tick;               /* cost of one of the axis: ns of a ms, or of a ms for 1000 */
} SsSweepCost;

void ss_sweep_plot_init (SsSweepPlot *self, SsSweepFigure *figure, double top);
void ss_sweep_plot_clear (SsSweepPlot *self);
/* What nothing may cover. */
void ss_sweep_plot_add_mark (SsSweepPlot *self, const SsRect *rect);

SsPoint ss_sweep_plot_at (const SsSweepPlot *self, double x, double y);
/* Border, grid, ticks and titles. */
void ss_sweep_plot_draw_axes (SsSweepPlot *self, const char *x_title, const char *y_title);
/* A round point, filled if the run fits, and what labels must keep clear of. */
void ss_sweep_plot_draw_dot (SsSweepPlot *self, SsPoint at, gboolean fits);
/* A dotted line that labels keep clear of. */
void ss_sweep_plot_draw_trail (SsSweepPlot *self, SsPoint from, SsPoint to);
double ss_sweep_plot_dot_px (const SsSweepPlot *self);

/* A label of a point, of one line or two. FALSE: there is no place. */
gboolean ss_sweep_plot_label (SsSweepPlot *self, SsPoint target, const char *first,
                              const char *second, const SsTextLook *look, SsLabelPlace where);

/* "every 4", "block, layers 8"; where `is_short` only the number that makes a line. (transfer
 * full) */
char *ss_sweep_figure_name (const SsSweepFigure *self, const SsSweepRow *row, gboolean is_short);
/* The same without the number of the path that makes a line; "" if there is no more. (transfer
 * full) */
char *ss_sweep_figure_series (const SsSweepFigure *self, const SsSweepRow *row);
/* A number of the scale with one decimal. (transfer full) */
char *ss_sweep_figure_number (const SsSweepFigure *self, double bytes);

void ss_sweep_figure_draw_cost (SsSweepFigure *self);
/* The points are drawn, and all else that labels keep clear of. */
void ss_sweep_cost_draw_labels (SsSweepCost *self);
void ss_sweep_figure_draw_values (SsSweepFigure *self);

G_END_DECLS
