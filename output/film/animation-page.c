/* SPDX-License-Identifier: MIT */
#include "output/film/animation-page.h"

#include "output/film/animation-page-private.h"
#include "output/verdict.h"
#include "output/formats/json-text.h"

#define STYLE "/stepsim/page/lesson.css"
#define SCRIPT "/stepsim/page/lesson.js"

char *
ss_html_escape (const char *text)
{
  g_autofree char *clean = ss_clean_text (text);

  return g_markup_escape_text (clean, -1);
}

char *
ss_json_quote (const char *text)
{
  g_autofree char *clean = ss_clean_text (text);
  GString *json = g_string_new (NULL);

  ss_json_append_text (json, clean);
  g_string_replace (json, "<", "\\u003c", 0);
  g_string_replace (json, ">", "\\u003e", 0);
  g_string_replace (json, "&", "\\u0026", 0);
  return g_string_free (json, FALSE);
}

void
ss_page_put_number (GString *page, double value)
{
  ss_append_fixed (page, value, 2);
  while (page->str[page->len - 1] == '0')
    g_string_truncate (page, page->len - 1);
  if (page->str[page->len - 1] == '.')
    g_string_truncate (page, page->len - 1);
}

static void
put_resource (GString *page, const char *path)
{
  g_autoptr (GBytes) bytes
    = g_resource_lookup_data (ss_page_get_resource (), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  gsize size;
  const char *data;

  g_assert (bytes != NULL);
  data = g_bytes_get_data (bytes, &size);
  g_string_append_len (page, data, (gssize) size);
}

/* `.b0 { fill: ..; background: .. }`: the bands, and after them what is cached. */
static void
put_colours (GString *page)
{
  for (guint b = 0; b < SS_N_BANDS; b++)
    g_string_append_printf (page, ".b%u{fill:%s;background:%s}", b,
                            ss_band_look ((SsBand) b)->area_colour,
                            ss_band_look ((SsBand) b)->area_colour);
  g_string_append_printf (page, ".b%u{background:var(--cached)}\n", SS_N_BANDS);
}

/* No page, picture, font or script of elsewhere is ever asked for. */
static void
put_head (GString *page, const char *title)
{
  g_string_append_printf (
      page,
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
      "form-action 'none'\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>%s</title>\n<style>\n", title);
  put_resource (page, STYLE);
  put_colours (page);
  g_string_append (page, "</style>\n</head>\n");
}

static void
put_controls (GString *page)
{
  g_string_append (
      page,
      "<div class=\"controls\" id=\"controls\" role=\"group\" aria-label=\"Playback\" hidden>\n"
      "<button id=\"play\" type=\"button\">Play</button>\n"
      "<button id=\"first\" type=\"button\" aria-label=\"First moment\">&laquo;</button>\n"
      "<button id=\"back\" type=\"button\" aria-label=\"One moment back\">&lsaquo;"
      "</button>\n"
      "<button id=\"next\" type=\"button\" aria-label=\"One moment on\">&rsaquo;</button>\n"
      "<button id=\"last\" type=\"button\" aria-label=\"Last moment\">&raquo;</button>\n"
      "<input id=\"scrub\" type=\"range\" min=\"0\" value=\"0\" step=\"1\" aria-label=\"Moment\">\n"
      "<span id=\"count\"></span>\n"
      "<label>speed <select id=\"speed\"><option value=\"0.5\">half</option>"
      "<option value=\"1\" selected>normal</option><option value=\"2\">double</option>"
      "<option value=\"4\">fourfold</option></select></label>\n</div>\n");
}

static void
put_layers (GString *page, const SsKeyframes *keyframes)
{
  g_string_append_printf (page,
                          "<div id=\"layers\" role=\"img\" aria-label=\"Layers\" "
                          "style=\"--n:%u\"></div>\n<p class=\"legend\"><span>%u layer%s</span>",
                          MAX (keyframes->n_layers, 1), keyframes->n_layers,
                          keyframes->n_layers == 1 ? "" : "s");
  for (guint i = 0; i < SS_N_LAYER_STATES; i++)
    if (keyframes->has_state[i])
      g_string_append_printf (page,
                              "<span><span class=\"sq %c\" style=\"--fill:%u%%\"></span>%s</span>",
                              ss_layer_state_letter ((SsLayerState) i),
                              i == SS_LAYER_STATE_INPUT ? 20 : 100,
                              ss_layer_state_label ((SsLayerState) i));
  g_string_append (page, "</p>\n");
}

static void
put_foot (GString *page)
{
  g_string_append (
      page,
      "<details open><summary>In memory at this moment</summary><div id=\"values\"></div>"
      "</details>\n"
      "<p class=\"help\"><kbd>space</kbd> plays and pauses, <kbd>&larr;</kbd> <kbd>&rarr;</kbd> "
      "one moment, <kbd>home</kbd> <kbd>end</kbd> first and last; a click on the curve goes there, "
      "the pointer on it tells exact values.</p>\n"
      "<noscript><p>The curve is complete; stepping through it needs JavaScript.</p></noscript>\n"
      "<div id=\"tip\" hidden></div>\n</main>\n");
}

GBytes *
ss_animation_page (const SsRecording *recording, const SsOutputSettings *settings,
                   guint *n_moments)
{
  g_autoptr (SsAnimation) animation
    = ss_animation_new (recording, settings->units, SS_PAGE_COLUMNS, SS_PAGE_BINS);
  g_autofree char *name = ss_html_escape (recording->scenario_name);
  g_autofree char *subject_text = ss_animation_subject (recording);
  g_autofree char *subject = ss_html_escape (subject_text);
  g_autofree char *finding_text = ss_verdict_headline (recording, settings->units);
  g_autofree char *finding = ss_html_escape (finding_text);
  GString *page = g_string_new (NULL);

  put_head (page, name);
  g_string_append_printf (page,
                          "<body>\n<main>\n<h1>%s</h1>\n<p class=\"subject\">%s. %s.</p>\n"
                          "<p id=\"now\" role=\"status\" aria-live=\"polite\"><b id=\"step\"></b>"
                          "<span id=\"sentence\">%s</span></p>\n",
                          name, subject, finding, finding);
  put_controls (page);
  put_layers (page, animation->keyframes);
  ss_page_put_stage (page, animation);
  put_foot (page);
  g_string_append (page, "<script type=\"application/json\" id=\"data\">\n");
  ss_page_put_data (page, animation);
  g_string_append (page, "</script>\n<script>\n");
  put_resource (page, SCRIPT);
  g_string_append (page, "</script>\n</body>\n</html>\n");
  if (n_moments != NULL)
    *n_moments = animation->keyframes->items->len;
  return g_string_free_to_bytes (page);
}
