/* SPDX-License-Identifier: MIT
 *
 * SsCanvas: a page of pixels, x to the right and y down, that gnuplot draws: boxes and lines
 * behind, areas and curves in the order they are added, then lines, boxes and texts in front. It
 * knows nothing of memory.  The creator owns it; texts may come from anywhere and are drawn as they
 * are.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

typedef struct _SsCanvas SsCanvas;

typedef enum
{
  SS_CANVAS_PNG,
  SS_CANVAS_SVG
} SsCanvasFormat;

typedef enum
{
  SS_ALIGN_LEFT,
  SS_ALIGN_CENTRE,
  SS_ALIGN_RIGHT
} SsAlign;

typedef enum
{
  SS_LAYER_BEHIND,
  SS_LAYER_FRONT
} SsLayer;

typedef struct
{
  double x, y;
} SsPoint;

typedef struct
{
  double left, top, right, bottom;
} SsRect;

typedef struct
{
  double size_px;
  const char *colour;            /* "#222222" */
  gboolean is_bold;
  SsAlign align;
} SsTextLook;

typedef struct
{
  const char *colour;
  double width_px;
  gboolean is_dashed;
  gboolean has_head;             /* an arrow that points at its end */
} SsLineLook;

/* One of the pages of a film, and how long it stands. */
typedef struct
{
  SsCanvas *canvas;
  guint n_frames;
} SsCanvasPage;

SsCanvas *ss_canvas_new (guint width_px, guint height_px);
void ss_canvas_free (SsCanvas *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsCanvas, ss_canvas_free)

/* `at` is the middle of the line's height, and its left end, middle or right end. */
void ss_canvas_text (SsCanvas *self, SsPoint at, const SsTextLook *look, const char *text);
/* The same, reading upwards, centred. */
void ss_canvas_text_upwards (SsCanvas *self, SsPoint at, const SsTextLook *look, const char *text);
void ss_canvas_line (SsCanvas *self, SsLayer layer, SsPoint from, SsPoint to,
                     const SsLineLook *look);
void ss_canvas_box (SsCanvas *self, SsLayer layer, const SsRect *rect, const char *colour);
/* Hatched, with a border, in front. */
void ss_canvas_hatched_box (SsCanvas *self, const SsRect *rect, const char *colour);
/* A round point in front, filled or a ring on white. */
void ss_canvas_dot (SsCanvas *self, SsPoint at, double radius_px, const char *colour,
                    gboolean is_filled);
/* Filled from the points (SsPoint, x never falling) down to base_y; opacity 0 to 1. */
void ss_canvas_area (SsCanvas *self, const GArray *points, double base_y, const char *colour,
                     double opacity);
void ss_canvas_curve (SsCanvas *self, const GArray *points, const SsLineLook *look);

/* What gnuplot is fed. (transfer full) */
char *ss_canvas_script (const SsCanvas *self, SsCanvasFormat format);
/* Pages one behind the other, at least one and all of one size: as one moving picture that begins
 * again at its end, each page for its frames of `frame_cs` hundredths of a second; or as PNG files
 * that follow each other, one a page. (transfer full) */
char *ss_canvas_gif_script (const SsCanvasPage *pages, guint n_pages, guint frame_cs);
char *ss_canvas_pngs_script (const SsCanvasPage *pages, guint n_pages);
/* SS_OUTPUT_ERROR_PROGRAM. (transfer full) */
GBytes *ss_canvas_draw (const SsCanvas *self, SsCanvasFormat format, GError **error);

G_END_DECLS
