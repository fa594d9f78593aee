/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "output/film/animation-frame-private.h"
#include "output/figures/text-width.h"

#define TOP 48
#define HEIGHT 32                /* of all rows */
#define MOST_IN_ROW 64
#define WIDEST 64
#define LEGEND_Y 92
#define SWATCH_PX 12

typedef struct
{
  guint n_rows, n_in_row;
  double width, height;          /* of a square with the gap after it */
  double gap;
} Grid;

static Grid
grid_of (guint n_layers)
{
  Grid grid = { .n_rows = (n_layers + MOST_IN_ROW - 1) / MOST_IN_ROW };

  grid.n_in_row = (n_layers + grid.n_rows - 1) / grid.n_rows;
  grid.width = MIN ((double) (SS_FRAME_RIGHT - SS_FRAME_LEFT) / grid.n_in_row, WIDEST);
  grid.height = (double) HEIGHT / grid.n_rows;
  grid.gap = grid.width > 20 ? 3 : 2;
  return grid;
}

static void
draw_box (SsAnimationFrame *self, const SsRect *rect, const char *colour)
{
  SsRect whole = { round (rect->left), round (rect->top), round (rect->right),
                   round (rect->bottom) };

  ss_canvas_box (self->canvas, SS_LAYER_FRONT, &whole, colour);
}

/* A square is filled as far as its layer holds activations; a dark bar says that they were computed
 * again. */
static void
draw_square (SsAnimationFrame *self, const SsRect *rect, SsLayerState state, guint tenths)
{
  double height = rect->bottom - rect->top;
  SsRect inside = { rect->left + 1, rect->top + 1, rect->right - 1, rect->bottom - 1 },
         level = inside;

  draw_box (self, rect, "#c4c4c4");
  draw_box (self, &inside,
            state == SS_LAYER_STATE_GRADIENT ? ss_band_look (SS_BAND_GRADIENTS)->area_colour
                                             : "#f4f4f4");
  if (state == SS_LAYER_STATE_GRADIENT || state == SS_LAYER_STATE_EMPTY)
    return;
  level.top = inside.bottom - (inside.bottom - inside.top) * MAX (tenths, 2) / 10;
  draw_box (self, &level, ss_band_look (SS_BAND_ACTIVATIONS)->area_colour);
  if (state == SS_LAYER_STATE_RECOMPUTED)
    draw_box (self,
              &(SsRect) { rect->left + 2, rect->top + height / 2 - 2, rect->right - 2,
                          rect->top + height / 2 + 1 },
              SS_FRAME_INK);
}

static void
draw_outline (SsAnimationFrame *self, const SsRect *rect, const char *colour)
{
  SsLineLook look = { .colour = colour, .width_px = 2 };
  SsPoint corners[] = { { rect->left, rect->top }, { rect->right, rect->top },
                        { rect->right, rect->bottom }, { rect->left, rect->bottom },
                        { rect->left, rect->top } };

  for (guint i = 0; i + 1 < G_N_ELEMENTS (corners); i++)
    ss_canvas_line (self->canvas, SS_LAYER_FRONT, corners[i], corners[i + 1], &look);
}

/* What the squares mean, only what occurs; first how many there are. */
static void
draw_legend (SsAnimationFrame *self)
{
  const SsKeyframes *keyframes = self->animation->keyframes;
  SsTextLook look = { .size_px = 13, .colour = SS_FRAME_SOFT };
  g_autofree char *count
    = keyframes->n_layers == 1 ? g_strdup ("1 layer")
                             : g_strdup_printf ("%u layers, 0 to %u", keyframes->n_layers,
                                                keyframes->n_layers - 1);
  double x = SS_FRAME_LEFT;

  ss_canvas_text (self->canvas, (SsPoint) { x, LEGEND_Y }, &look, count);
  x += ss_text_width (count, look.size_px, FALSE) + 18;
  for (guint i = 0; i < SS_N_LAYER_STATES; i++)
    {
      const char *label = ss_layer_state_label ((SsLayerState) i);
      SsRect swatch = { x, LEGEND_Y - SWATCH_PX / 2, x + SWATCH_PX, LEGEND_Y + SWATCH_PX / 2 };

      if (!keyframes->has_state[i])
        continue;
      draw_square (self, &swatch, (SsLayerState) i, i == SS_LAYER_STATE_INPUT ? 2 : 10);
      ss_canvas_text (self->canvas, (SsPoint) { x + SWATCH_PX + 5, LEGEND_Y }, &look, label);
      x += SWATCH_PX + 5 + ss_text_width (label, look.size_px, FALSE) + 14;
    }
}

void
ss_frame_draw_layers (SsAnimationFrame *self)
{
  guint n_layers = self->animation->keyframes->n_layers;
  Grid grid;

  if (n_layers == 0)
    return;
  grid = grid_of (n_layers);
  for (guint l = 0; l < n_layers; l++)
    {
      double left = SS_FRAME_LEFT + l % grid.n_in_row * grid.width,
             top = TOP + l / grid.n_in_row * grid.height;
      SsRect rect = { left, top, left + grid.width - grid.gap, top + grid.height - grid.gap };

      draw_square (self, &rect, (SsLayerState) self->keyframe->layers[l],
                   self->keyframe->tenths[l]);
      if ((gint) l == self->keyframe->layer)
        draw_outline (self, &rect, self->keyframe->is_oom ? SS_COLOUR_LIMIT : SS_FRAME_INK);
    }
  draw_legend (self);
}
