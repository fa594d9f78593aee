/* SPDX-License-Identifier: MIT */
#include "output/film/animation-page-private.h"
#include "output/verdict.h"

static void
put_quoted (GString *page, const char *text)
{
  g_autofree char *quoted = ss_json_quote (text);

  g_string_append (page, quoted);
}

static void
put_moment (GString *page, const SsAnimation *animation, const SsKeyframe *keyframe)
{
  g_string_append (page, "{\"at\":");
  ss_append_fixed (page, keyframe->at, 5);
  g_string_append_printf (page, ",\"step\":%u,\"layer\":%d,\"frames\":%u,\"oom\":%s,\"bands\":[",
                          ss_keyframe_step (animation->recording, keyframe), keyframe->layer,
                          keyframe->n_frames, keyframe->is_oom ? "true" : "false");
  for (guint b = 0; b < SS_N_BANDS; b++)
    g_string_append_printf (page, "%s%" G_GUINT64_FORMAT, b > 0 ? "," : "",
                            keyframe->state.bands[b]);
  g_string_append_printf (page, "],\"reserved\":%" G_GUINT64_FORMAT ",\"layers\":\"",
                          keyframe->state.reserved_bytes);
  for (guint l = 0; l < animation->keyframes->n_layers; l++)
    g_string_append_c (page, ss_layer_state_letter ((SsLayerState) keyframe->layers[l]));
  g_string_append (page, "\",\"tenths\":\"");
  for (guint l = 0; l < animation->keyframes->n_layers; l++)
    g_string_append_printf (page, "%x", keyframe->tenths[l]);
  g_string_append (page, "\",\"words\":");
  put_quoted (page, keyframe->sentence);
  g_string_append_c (page, '}');
}

static guint64
column_bytes (const SsMemoryTimeline *timeline, guint column, guint band)
{
  return band < SS_N_BANDS ? timeline->columns[column].bands[band]
                           : timeline->columns[column].reserved_bytes;
}

/* Pairs of the first column of an amount and the amount. */
static void
put_columns (GString *page, const SsMemoryTimeline *timeline, guint band)
{
  g_string_append_printf (page, "[0,%" G_GUINT64_FORMAT, column_bytes (timeline, 0, band));
  for (guint i = 1; i < timeline->n_columns; i++)
    if (column_bytes (timeline, i, band) != column_bytes (timeline, i - 1, band))
      g_string_append_printf (page, ",%u,%" G_GUINT64_FORMAT, i, column_bytes (timeline, i, band));
  g_string_append_c (page, ']');
}

static void
put_phases (GString *page, const SsRecording *recording)
{
  g_string_append (page, ",\n\"phases\":[");
  for (guint i = 0; i < recording->phases->len; i++)
    {
      const SsPhaseRecord *phase = &g_array_index (recording->phases, SsPhaseRecord, i);

      g_string_append_printf (page, "%s[%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%u,%u,",
                              i > 0 ? "," : "", phase->start_ns, phase->end_ns, phase->step,
                              phase->micro_batch);
      put_quoted (page, phase->name);
      g_string_append_c (page, ']');
    }
  g_string_append_c (page, ']');
}

static void
put_words (GString *page)
{
  g_string_append (page, "\"bands\":[");
  for (guint b = 0; b < SS_N_BANDS; b++)
    g_string_append_printf (page, "%s\"%s\"", b > 0 ? "," : "", ss_band_look ((SsBand) b)->label);
  g_string_append (page, "],\n\"states\":{");
  for (guint i = 0; i < SS_N_LAYER_STATES; i++)
    g_string_append_printf (page, "%s\"%c\":\"%s\"", i > 0 ? "," : "",
                            ss_layer_state_letter ((SsLayerState) i),
                            ss_layer_state_label ((SsLayerState) i));
  g_string_append (page, "},\n");
}

void
ss_page_put_data (GString *page, const SsAnimation *animation)
{
  const SsRecording *recording = animation->recording;
  const SsMemoryTimeline *timeline = animation->timeline;
  double top = animation->axis.top_bytes / animation->axis.scale.bytes;

  g_string_append_c (page, '{');
  put_words (page);
  g_string_append_printf (page, "\"unit\":\"%s\",\"scale\":", animation->axis.scale.name);
  ss_append_fixed (page, animation->axis.scale.bytes, 0);
  g_string_append_printf (page, ",\"digits\":%d,\"top\":", top < 10 ? 2 : 1);
  ss_append_fixed (page, animation->axis.top_bytes, 0);
  g_string_append_printf (page,
                          ",\"n_layers\":%u,\"request\":%" G_GUINT64_FORMAT
                          ",\"end_ns\":%" G_GINT64_FORMAT ",\"n_columns\":%u,\n\"columns\":[",
                          animation->keyframes->n_layers,
                          recording->is_oom ? recording->oom.requested_bytes : 0,
                          timeline->is_by_event ? 0 : timeline->end_ns, timeline->n_columns);
  for (guint b = 0; b <= SS_N_BANDS; b++)
    {
      if (b > 0)
        g_string_append (page, ",\n");
      put_columns (page, timeline, b);
    }
  g_string_append_c (page, ']');
  put_phases (page, recording);
  g_string_append (page, ",\n\"moments\":[\n");
  for (guint i = 0; i < animation->keyframes->items->len; i++)
    {
      if (i > 0)
        g_string_append (page, ",\n");
      put_moment (page, animation, ss_animation_moment (animation, i));
    }
  g_string_append (page, "\n]}\n");
}
