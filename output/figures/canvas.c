/* SPDX-License-Identifier: MIT */
#include "output/figures/canvas.h"

#include "output/figures/gnuplot.h"
#include "output/figures/text-width.h"

/* Points per pixel in the cairo terminal, which draws at 96 dots an inch; svg counts in pixels. */
#define POINTS_PER_PIXEL 0.75

typedef struct
{
  SsPoint at;
  SsTextLook look;
  gboolean is_upwards;
  char *quoted;
} Text;

struct _SsCanvas
{
  guint width_px, height_px;
  guint n_arrows, n_objects, n_blocks;
  GString *shapes;               /* `set arrow`, `set object` */
  GString *blocks;               /* the data of areas and curves */
  GString *plots;                /* the elements of the plot command, in order */
  GArray *texts;                 /* Text */
};

static void
clear_text (gpointer data)
{
  g_free (((Text *) data)->quoted);
}

SsCanvas *
ss_canvas_new (guint width_px, guint height_px)
{
  SsCanvas *self = g_new0 (SsCanvas, 1);

  self->width_px = width_px;
  self->height_px = height_px;
  self->shapes = g_string_new (NULL);
  self->blocks = g_string_new (NULL);
  self->plots = g_string_new (NULL);
  self->texts = g_array_new (FALSE, FALSE, sizeof (Text));
  g_array_set_clear_func (self->texts, clear_text);
  return self;
}

void
ss_canvas_free (SsCanvas *self)
{
  if (self == NULL)
    return;
  g_string_free (self->shapes, TRUE);
  g_string_free (self->blocks, TRUE);
  g_string_free (self->plots, TRUE);
  g_array_unref (self->texts);
  g_free (self);
}

/* Two decimals without trailing zeros: less to write, and a hundredth of a pixel is not seen. */
static void
put_number (GString *script, double value)
{
  ss_append_fixed (script, value, 2);
  while (script->str[script->len - 1] == '0')
    g_string_truncate (script, script->len - 1);
  if (script->str[script->len - 1] == '.')
    g_string_truncate (script, script->len - 1);
}

static void
put_point (GString *script, SsPoint point)
{
  put_number (script, point.x);
  g_string_append_c (script, ',');
  put_number (script, point.y);
}

static void
add_text (SsCanvas *self, SsPoint at, const SsTextLook *look, gboolean is_upwards, const char *text)
{
  Text item
      = { .at = at, .look = *look, .is_upwards = is_upwards, .quoted = ss_gnuplot_quote (text) };

  g_array_append_val (self->texts, item);
}

void
ss_canvas_text (SsCanvas *self, SsPoint at, const SsTextLook *look, const char *text)
{
  add_text (self, at, look, FALSE, text);
}

void
ss_canvas_text_upwards (SsCanvas *self, SsPoint at, const SsTextLook *look, const char *text)
{
  add_text (self, at, look, TRUE, text);
}

static void
put_line_look (GString *script, const SsLineLook *look)
{
  g_string_append_printf (script, " lc rgb '%s' lw ", look->colour);
  put_number (script, look->width_px);
  if (look->is_dashed)
    g_string_append (script, " dt (4,4)");
}

void
ss_canvas_line (SsCanvas *self, SsLayer layer, SsPoint from, SsPoint to, const SsLineLook *look)
{
  g_string_append_printf (self->shapes, "set arrow %u from ", ++self->n_arrows);
  put_point (self->shapes, from);
  g_string_append (self->shapes, " to ");
  put_point (self->shapes, to);
  /* the head's length is in units of the x axis, which are pixels */
  g_string_append (self->shapes, look->has_head ? " head size 7,20 filled" : " nohead");
  put_line_look (self->shapes, look);
  g_string_append (self->shapes, layer == SS_LAYER_FRONT ? " front\n" : " back\n");
}

static void
put_rect (SsCanvas *self, const SsRect *rect)
{
  g_string_append_printf (self->shapes, "set object %u rect from ", ++self->n_objects);
  put_point (self->shapes, (SsPoint) { rect->left, rect->top });
  g_string_append (self->shapes, " to ");
  put_point (self->shapes, (SsPoint) { rect->right, rect->bottom });
}

void
ss_canvas_box (SsCanvas *self, SsLayer layer, const SsRect *rect, const char *colour)
{
  put_rect (self, rect);
  g_string_append_printf (self->shapes, " %s fc rgb '%s' fs solid noborder\n",
                          layer == SS_LAYER_FRONT ? "front" : "behind", colour);
}

void
ss_canvas_hatched_box (SsCanvas *self, const SsRect *rect, const char *colour)
{
  put_rect (self, rect);
  g_string_append_printf (self->shapes,
                          " front fc rgb '%s' fs transparent pattern 4 border lc rgb '%s' lw 1.8\n",
                          colour, colour);
}

void
ss_canvas_dot (SsCanvas *self, SsPoint at, double radius_px, const char *colour,
               gboolean is_filled)
{
  g_string_append_printf (self->shapes, "set object %u circle at ", ++self->n_objects);
  put_point (self->shapes, at);
  /* in units of the x axis, which are pixels */
  g_string_append (self->shapes, " size ");
  put_number (self->shapes, radius_px);
  g_string_append_printf (self->shapes, " front fc rgb '%s' fs solid border lc rgb '%s' lw 2.2\n",
                          is_filled ? colour : "#ffffff", colour);
}

static void
put_data (GString *blocks, SsPoint point)
{
  put_number (blocks, point.x);
  g_string_append_c (blocks, ' ');
  put_number (blocks, point.y);
  g_string_append_c (blocks, '\n');
}

static void
begin_block (SsCanvas *self, const GArray *points)
{
  g_string_append_printf (self->blocks, "$d%u << EOD\n", ++self->n_blocks);
  for (guint i = 0; i < points->len; i++)
    put_data (self->blocks, g_array_index (points, SsPoint, i));
  g_string_append_printf (self->plots, "%s$d%u ", self->plots->len > 0 ? ", \\\n  " : "",
                          self->n_blocks);
}

/* Closed by hand: gnuplot's own way down to a base line doubles every point. */
void
ss_canvas_area (SsCanvas *self, const GArray *points, double base_y, const char *colour,
                double opacity)
{
  if (points->len < 2)
    return;
  begin_block (self, points);
  put_data (self->blocks, (SsPoint) { g_array_index (points, SsPoint, points->len - 1).x, base_y });
  put_data (self->blocks, (SsPoint) { g_array_index (points, SsPoint, 0).x, base_y });
  g_string_append (self->blocks, "EOD\n");
  g_string_append_printf (self->plots, "w filledcurves closed fc rgb '%s' fs solid ", colour);
  put_number (self->plots, opacity);
  g_string_append (self->plots, " noborder notitle");
}

void
ss_canvas_curve (SsCanvas *self, const GArray *points, const SsLineLook *look)
{
  if (points->len < 2)
    return;
  begin_block (self, points);
  g_string_append (self->blocks, "EOD\n");
  g_string_append (self->plots, "w l");
  put_line_look (self->plots, look);
  g_string_append (self->plots, " notitle");
}

static void
put_text (GString *script, const Text *text, guint id, double size_factor)
{
  static const char *const alignments[] = {
    [SS_ALIGN_LEFT] = "left", [SS_ALIGN_CENTRE] = "center", [SS_ALIGN_RIGHT] = "right",
  };

  g_string_append_printf (script, "set label %u %s at ", id, text->quoted);
  put_point (script, text->at);
  g_string_append_printf (script, " %s%s noenhanced front textcolor rgb '%s' font '" SS_FONT "%s,",
                          alignments[text->look.align], text->is_upwards ? " rotate by 90" : "",
                          text->look.colour, text->look.is_bold ? " Bold" : "");
  put_number (script, text->look.size_px * size_factor);
  g_string_append (script, "'\n");
}

static void
put_page (GString *script, const SsCanvas *self, double size_factor)
{
  g_string_append_printf (script, "set xrange [0:%u]\nset yrange [%u:0]\n", self->width_px,
                          self->height_px);
  g_string_append (script, self->shapes->str);
  for (guint i = 0; i < self->texts->len; i++)
    put_text (script, &g_array_index (self->texts, Text, i), i + 1, size_factor);
  g_string_append (script, self->blocks->str);
  /* without a curve gnuplot draws neither boxes nor texts */
  g_string_append_printf (script, "plot %s\n",
                          self->plots->len > 0 ? self->plots->str : "NaN notitle");
}

static GString *
begin_script (const SsCanvas *self, const char *terminal)
{
  GString *script = g_string_new ("set encoding utf8\n");

  g_string_append_printf (
      script, "set terminal %s size %u,%u noenhanced font '" SS_FONT ",12' background '#ffffff'\n",
      terminal, self->width_px, self->height_px);
  g_string_append (script, "set margins 0,0,0,0\nunset border\nunset tics\nunset key\n");
  return script;
}

char *
ss_canvas_script (const SsCanvas *self, SsCanvasFormat format)
{
  gboolean is_png = format == SS_CANVAS_PNG;
  GString *script = begin_script (self, is_png ? "pngcairo" : "svg");

  put_page (script, self, is_png ? POINTS_PER_PIXEL : 1);
  return g_string_free (script, FALSE);
}

static void
put_pages (GString *script, const SsCanvasPage *pages, guint n_pages, gboolean repeats)
{
  for (guint i = 0; i < n_pages; i++)
    {
      g_string_append (script, "unset label\nunset arrow\nunset object\n");
      put_page (script, pages[i].canvas, POINTS_PER_PIXEL);
      for (guint n = 1; repeats && n < pages[i].n_frames; n++)
        g_string_append (script, "replot\n");
    }
}

char *
ss_canvas_gif_script (const SsCanvasPage *pages, guint n_pages, guint frame_cs)
{
  g_autofree char *terminal
    = g_strdup_printf ("gif animate delay %u loop 0 optimize", frame_cs);
  GString *script = begin_script (pages[0].canvas, terminal);

  put_pages (script, pages, n_pages, TRUE);
  return g_string_free (script, FALSE);
}

char *
ss_canvas_pngs_script (const SsCanvasPage *pages, guint n_pages)
{
  GString *script = begin_script (pages[0].canvas, "pngcairo");

  put_pages (script, pages, n_pages, FALSE);
  return g_string_free (script, FALSE);
}

/* Where the face is missing a browser would take one with serifs; gnuplot cannot name a second
 * choice. */
static GBytes *
with_other_faces (GBytes *svg)
{
  gsize size;
  const char *data = g_bytes_get_data (svg, &size);
  GString *text = g_string_new_len (data, (gssize) size);

  g_string_replace (text, "font-family=\"" SS_FONT "\"",
                    "font-family=\"" SS_FONT ", Verdana, sans-serif\"", 0);
  return g_string_free_to_bytes (text);
}

GBytes *
ss_canvas_draw (const SsCanvas *self, SsCanvasFormat format, GError **error)
{
  g_autofree char *script = ss_canvas_script (self, format);
  g_autoptr (GBytes) picture = ss_gnuplot_run (script, error);

  if (picture == NULL || format == SS_CANVAS_PNG)
    return g_steal_pointer (&picture);
  return with_other_faces (picture);
}
