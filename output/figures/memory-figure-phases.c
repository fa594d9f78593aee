/* SPDX-License-Identifier: MIT */
#include "output/figures/memory-figure-page.h"
#include "output/figures/text-width.h"

#define STEP_ROW_Y 110
#define PHASE_ROW_Y 143
#define MIN_SPAN_PX 1
#define WIDE_STEP_PX 150

/* A stretch of time with a name, and a shorter one where it does not fit. */
typedef struct
{
  double left, right;
  char name[32], short_name[32];
  gboolean is_shaded;
} Span;

static void
set_names (Span *span, const char *phase)
{
  static const struct
  {
    const char *phase, *name, *short_name;
    gboolean is_shaded;
  } rows[] = {
    { "forward", "forward", "fwd", FALSE },
    { "loss", "loss", "loss", TRUE },
    { "backward", "backward", "bwd", FALSE },
    { "optimizer", "optimizer", "opt.", TRUE },
    { "zero_grad", "clear", "clear", FALSE },
  };

  g_strlcpy (span->name, phase, sizeof span->name);
  g_strlcpy (span->short_name, phase, sizeof span->short_name);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_strcmp0 (phase, rows[i].phase) == 0)
      {
        g_strlcpy (span->name, rows[i].name, sizeof span->name);
        g_strlcpy (span->short_name, rows[i].short_name, sizeof span->short_name);
        span->is_shaded = rows[i].is_shaded;
      }
}

/* Micro-batches of a step become one span: their phases would be too narrow for names. */
static GArray *
spans_of (const SsFigure *self)
{
  GArray *phases = self->recording->phases, *spans = g_array_new (FALSE, TRUE, sizeof (Span));

  for (guint i = 0; i < phases->len; i++)
    {
      const SsPhaseRecord *phase = &g_array_index (phases, SsPhaseRecord, i);
      guint last = i;
      Span span = { .left = ss_figure_x (self, phase->start_ns) };

      if (phase->step == 0)
        continue;
      set_names (&span, phase->name);
      while (phase->micro_batch > 0 && last + 1 < phases->len
             && g_array_index (phases, SsPhaseRecord, last + 1).step == phase->step
             && g_array_index (phases, SsPhaseRecord, last + 1).micro_batch > 0)
        last++;
      if (g_array_index (phases, SsPhaseRecord, last).micro_batch > 1)
        {
          guint n = g_array_index (phases, SsPhaseRecord, last).micro_batch;

          g_snprintf (span.name, sizeof span.name, "%u micro-batches", n);
          g_snprintf (span.short_name, sizeof span.short_name, "%u x", n);
          span.is_shaded = FALSE;
          i = last;
        }
      span.right = ss_figure_x (self, g_array_index (phases, SsPhaseRecord, i).end_ns);
      g_array_append_val (spans, span);
    }
  return spans;
}

static void
draw_span (SsFigure *self, const Span *span)
{
  const char *const names[] = { span->name, span->short_name };
  SsTextLook look = { .size_px = 16, .colour = SS_SOFT, .align = SS_ALIGN_CENTRE };

  if (span->right - span->left < MIN_SPAN_PX)
    return;
  if (span->is_shaded)
    ss_canvas_box (self->canvas, SS_LAYER_BEHIND,
                   &(SsRect) { span->left, SS_PLOT_TOP, span->right, SS_PLOT_BOTTOM }, SS_SHADE);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      if (ss_text_width (names[i], look.size_px, FALSE) > span->right - span->left)
        continue;
      ss_canvas_text (self->canvas, (SsPoint){ (span->left + span->right) / 2, PHASE_ROW_Y }, &look,
                      names[i]);
      return;
    }
}

/* "step 1", or where many stand close together only numbers, and not all of them. */
static void
draw_step_name (SsFigure *self, guint step, double left, double right, double *free_from)
{
  SsTextLook look = { .size_px = 18, .colour = SS_INK, .is_bold = TRUE, .align = SS_ALIGN_CENTRE };
  g_autofree char *name = g_strdup_printf ("step %u", step), *number = g_strdup_printf ("%u", step);
  double width = ss_text_width (name, look.size_px, TRUE), middle = (left + right) / 2;
  const char *text = width < right - left ? name : number;

  width = ss_text_width (text, look.size_px, TRUE) + 4;
  if (middle - width / 2 < *free_from || middle + width / 2 > SS_PLOT_RIGHT + width / 2)
    return;
  ss_canvas_text (self->canvas, (SsPoint) { middle, STEP_ROW_Y }, &look, text);
  *free_from = middle + width / 2;
}

/* Few steps are parted by lines through the page, which labels avoid; many only in the row of their
 * names. */
static void
draw_steps (SsFigure *self)
{
  GArray *steps = self->recording->steps;
  SsLineLook line = { .colour = SS_INK, .width_px = 1, .is_dashed = TRUE };
  gboolean are_wide = (self->right - SS_PLOT_LEFT) / MAX (steps->len, 1) >= WIDE_STEP_PX;
  double free_from = 0, last_line = SS_PLOT_LEFT;

  for (guint i = 0; i < steps->len; i++)
    {
      const SsStepRecord *step = &g_array_index (steps, SsStepRecord, i);
      double left = ss_figure_x (self, step->start_ns), right = ss_figure_x (self, step->end_ns);
      SsPoint top = { left, SS_PLOT_TOP - 28 };
      SsPoint bottom = { left, are_wide ? SS_STRIP_2_TOP + SS_STRIP_HEIGHT : SS_PLOT_TOP };

      draw_step_name (self, step->step, left, right, &free_from);
      if (left - last_line < 4)
        continue;
      ss_canvas_line (self->canvas, SS_LAYER_FRONT, top, bottom, &line);
      ss_obstacles_add_line (self->obstacles, top, bottom);
      last_line = left;
    }
}

void
ss_figure_draw_phases (SsFigure *self)
{
  g_autoptr (GArray) spans = spans_of (self);

  if (self->timeline->is_by_event)
    return;
  for (guint i = 0; i < spans->len; i++)
    draw_span (self, &g_array_index (spans, Span, i));
  draw_steps (self);
}
