/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "cli-fixture.h"
#include "output/film/animation-frame.h"
#include "output/film/animation-page.h"
#include "output/film/film.h"
#include "recording-fixture.h"
#include "text-boxes.h"

#define PAGE_LIMIT 400000

static const SsKeyframe *
at (const SsKeyframes *keyframes, guint i)
{
  return &g_array_index (keyframes->items, SsKeyframe, i);
}

/* The letters of the states of all layers. */
static char *
letters (const SsKeyframes *keyframes, const SsKeyframe *keyframe)
{
  GString *text = g_string_new (NULL);

  for (guint l = 0; l < keyframes->n_layers; l++)
    g_string_append_c (text, ss_layer_state_letter ((SsLayerState) keyframe->layers[l]));
  return g_string_free (text, FALSE);
}

static const SsKeyframe *
find (const SsKeyframes *keyframes, const char *words)
{
  for (guint i = 0; i < keyframes->items->len; i++)
    if (strstr (at (keyframes, i)->sentence, words) != NULL)
      return at (keyframes, i);
  cr_expect (words == NULL, "no moment says \"%s\"", words);
  return at (keyframes, 0);
}

/* ---- moments ---- */

/* Four layers are few: each is a stop, forward and backward, in both steps. */
Test (keyframes, every_layer_of_few_is_a_stop)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsKeyframes) keyframes = ss_keyframes_new (recording, SS_MEMORY_GIB);
  guint n_forward[4] = { 0 }, n_backward[4] = { 0 };

  for (guint i = 0; i < keyframes->items->len; i++)
    {
      const SsKeyframe *keyframe = at (keyframes, i);

      if (keyframe->layer >= 0 && !keyframe->is_peak)
        (keyframe->is_backward ? n_backward : n_forward)[keyframe->layer]++;
    }
  for (guint l = 0; l < 4; l++)
    {
      cr_expect (eq (uint, n_forward[l], 2), "layer %u", l);
      cr_expect (eq (uint, n_backward[l], 2), "layer %u", l);
    }
}

Test (keyframes, layers_fill_and_empty_as_memory_does)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsKeyframes) keyframes = ss_keyframes_new (recording, SS_MEMORY_GIB);
  static const struct
  {
    const char *words, *letters;
  } rows[] = {
    { "the model is loaded", "eeee" },
    { "forward, layer 0: its activations are kept for backward", "heee" },
    { "forward, layer 3: its activations are kept", "hhhh" },
    { "backward, layer 3: its activations go, its gradients come", "hhhg" },
    { "backward, layer 0: its activations go, its gradients come", "gggg" },
    { "the first update makes the optimizer states", "gggg" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *states = letters (keyframes, find (keyframes, rows[i].words));

      cr_expect (eq (str, states, (char *) rows[i].letters), "%s", rows[i].words);
    }
}

/* What a moment shows is what the recording had after that event; moments never go back in time. */
Test (keyframes, they_are_states_that_were_in_order)
{
  for (guint f = 0; f < ss_n_fixture_gallery; f++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_gallery[f]);
      g_autoptr (SsKeyframes) keyframes = ss_keyframes_new (recording, SS_MEMORY_GIB);
      const char *name = recording->scenario_name;

      cr_expect (le (uint, keyframes->items->len, 320), "%s: %u", name, keyframes->items->len);
      for (guint i = 0; i < keyframes->items->len; i++)
        {
          const SsKeyframe *keyframe = at (keyframes, i);
          guint64 allocated
            = keyframe->n_events == 0
                ? 0
                : g_array_index (recording->memory, SsMemoryEvent, keyframe->n_events - 1)
                    .allocated_bytes;

          cr_assert (eq (u64, keyframe->state.total_bytes, allocated + recording->context_bytes),
                     "%s: %u", name, i);
          cr_assert (keyframe->at >= 0 && keyframe->at <= 1, "%s: %u", name, i);
          if (i > 0)
            cr_assert (keyframe->n_events >= keyframe[-1].n_events
                         && keyframe->at >= keyframe[-1].at,
                       "%s: %u", name, i);
        }
      /* four seconds of 0.18 s each */
      cr_expect (eq (uint, at (keyframes, keyframes->items->len - 1)->n_frames, 23), "%s", name);
    }
}

Test (keyframes, every_phase_of_a_short_run_has_one_and_so_has_the_peak)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsKeyframes) keyframes = ss_keyframes_new (recording, SS_MEMORY_GIB);

  for (guint p = 0; p < recording->phases->len; p++)
    {
      gboolean is_there = FALSE;

      for (guint i = 0; i < keyframes->items->len; i++)
        is_there |= at (keyframes, i)->phase == p;
      cr_expect (is_there, "phase %u", p);
    }
  cr_expect (eq (u64, find (keyframes, "(the most of the run)")->state.total_bytes,
                 recording->peak.allocated_bytes + recording->context_bytes));
}

Test (keyframes, the_failure_is_the_last)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsKeyframes) keyframes = ss_keyframes_new (recording, SS_MEMORY_GIB);
  const SsKeyframe *last = at (keyframes, keyframes->items->len - 1);

  cr_expect (last->is_oom);
  cr_expect (eq (uint, ss_keyframe_step (recording, last), 2));
  cr_expect (g_str_has_prefix (last->sentence, "OUT OF MEMORY at layer "), "%s", last->sentence);
  cr_expect (ne (ptr, strstr (last->sentence, " asks for "), NULL));
  for (guint i = 0; i + 1 < keyframes->items->len; i++)
    cr_expect (not (at (keyframes, i)->is_oom));
}

Test (keyframes, an_empty_recording_has_one)
{
  g_autoptr (SsRecording) recording = ss_recording_new ();
  g_autoptr (SsKeyframes) keyframes = ss_keyframes_new (recording, SS_MEMORY_GIB);

  cr_assert (eq (uint, keyframes->items->len, 1));
  cr_expect (eq (u64, at (keyframes, 0)->state.total_bytes, 0));
}

/* ---- frames ---- */

Test (animation, no_text_of_a_frame_touches_another)
{
  for (guint f = 0; f < ss_n_fixture_gallery; f++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_gallery[f]);
      g_autoptr (SsAnimation) animation
        = ss_animation_new (recording, f % 2 ? SS_MEMORY_GB : SS_MEMORY_GIB, SS_FRAME_COLUMNS,
                            SS_FRAME_BINS);
      guint n = animation->keyframes->items->len;

      for (guint i = 0; i < n; i += MAX (n / 8, 1))
        {
          g_autoptr (SsCanvas) canvas = ss_animation_frame (animation, i);
          g_autofree char *script = ss_canvas_script (canvas, SS_CANVAS_SVG);
          g_autofree char *name = g_strdup_printf ("%s, %u", recording->scenario_name, i);

          ss_expect_texts_clear (name, script, SS_FRAME_WIDTH, SS_FRAME_HEIGHT);
          cr_expect (eq (ptr, strstr (script, "nan"), NULL), "%s", name);
        }
    }
}

Test (animation, texts_of_a_scenario_run_nothing_in_gnuplot)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsAnimation) animation = NULL;
  g_autoptr (SsCanvas) canvas = NULL;
  g_autofree char *script = NULL;
  SsCanvasPage page;

  g_free (recording->model_name);
  recording->model_name = g_strdup ("it's `touch X` \n\"set output 'y'\"");
  animation = ss_animation_new (recording, SS_MEMORY_GIB, SS_FRAME_COLUMNS, SS_FRAME_BINS);
  canvas = ss_animation_frame (animation, 0);
  page = (SsCanvasPage) { canvas, 1 };
  script = ss_canvas_gif_script (&page, 1, 18);
  cr_expect (ne (ptr, strstr (script, "'it\xe2\x80\x99s `touch X` \"set output \xe2\x80\x99y"),
                 NULL), "%s", script);
}

/* ---- the page ---- */

static char *
page_of (const SsRecording *recording)
{
  const SsOutputSettings settings = { SS_MEMORY_GIB };
  g_autoptr (GBytes) bytes = ss_animation_page (recording, &settings, NULL);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

Test (animation, pages_are_small_repeat_and_ask_for_nothing)
{
  for (guint f = 0; f < ss_n_fixture_gallery; f++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_gallery[f]);
      g_autofree char *page = page_of (recording), *again = page_of (recording);

      cr_expect (eq (str, page, again), "%s", recording->scenario_name);
      cr_expect (lt (sz, strlen (page), PAGE_LIMIT), "%s", recording->scenario_name);
      cr_expect (eq (ptr, strstr (page, "http://"), NULL));
      cr_expect (eq (ptr, strstr (page, "https://"), NULL));
      cr_expect (eq (ptr, strstr (page, "src="), NULL));
      cr_expect (eq (ptr, strstr (page, "nan"), NULL));
    }
}

Test (animation, texts_of_a_scenario_are_only_texts_in_a_page)
{
  static const char text[] = "</script><script>alert(1)</script><img src=x onerror='y'>\" & \\";
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autofree char *page = NULL;

  g_free (recording->scenario_name);
  g_free (recording->model_name);
  g_free (recording->summary);
  recording->scenario_name = g_strdup (text);
  recording->model_name = g_strdup (text);
  recording->summary = g_strdup (text);
  page = page_of (recording);
  cr_expect (eq (ptr, strstr (page, "<img"), NULL));
  cr_expect (eq (ptr, strstr (page, "<script>alert"), NULL));
  cr_expect (ne (ptr, strstr (page, "<title>&lt;/script&gt;&lt;script&gt;alert(1)"), NULL));
}

Test (animation, quoting)
{
  g_autofree char *json = ss_json_quote ("a\"b\\c</script>\n&\x01\xff");
  g_autofree char *html = ss_html_escape ("<a b='c' d=\"e\">&\x01");

  cr_expect (eq (str, json, "\"a\\\"b\\\\c\\u003c/script\\u003e\\u0026\xef\xbf\xbd\""));
  cr_expect (eq (str, html, "&lt;a b=&apos;c&apos; d=&quot;e&quot;&gt;&amp;"));
}

/* ---- films ---- */

static gboolean
has_program (const char *name)
{
  g_autofree char *path = g_find_program_in_path (name);

  return path != NULL;
}

typedef gboolean (*DrawFilm) (const SsRecording *, const SsOutputSettings *, SsFilmProgress,
                              gpointer, SsFilm *, GError **);

static void
expect_film (DrawFilm draw, const char *magic, gsize offset)
{
  const SsOutputSettings settings = { SS_MEMORY_GIB };
  SsFixture fixture = ss_fixture_oom;
  g_autoptr (SsRecording) recording = NULL;
  g_auto (SsFilm) film = { 0 }, again = { 0 };
  g_autoptr (GError) error = NULL;

  fixture.n_layers = 2;
  recording = ss_fixture_record (&fixture);
  cr_assert (draw (recording, &settings, NULL, NULL, &film, &error), "%s",
             error != NULL ? error->message : "");
  cr_assert (draw (recording, &settings, NULL, NULL, &again, NULL));
  cr_expect (g_bytes_equal (film.bytes, again.bytes));
  cr_assert (gt (sz, g_bytes_get_size (film.bytes), 1000));
  cr_expect (eq (int, memcmp ((const char *) g_bytes_get_data (film.bytes, NULL) + offset, magic,
                              strlen (magic)), 0));
  cr_expect (gt (uint, film.n_frames, 20));
}

Test (animation, a_gif_repeats_byte_for_byte, .timeout = 300)
{
  if (!has_program ("gnuplot"))
    cr_skip_test ("no gnuplot");
  expect_film (ss_film_gif, "GIF89a", 0);
}

Test (animation, an_mp4_repeats_byte_for_byte, .timeout = 300)
{
  if (!has_program ("gnuplot") || !has_program ("ffmpeg"))
    cr_skip_test ("no gnuplot or no ffmpeg");
  expect_film (ss_film_mp4, "ftyp", 4);
}

/* ---- the command ---- */

TestSuite (cli_animate, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder, .timeout = 300);

Test (cli_animate, writes_a_page_and_says_so)
{
  g_auto (SsCliResult) result = RUN ("animate", SS_TEACHING, "-o", "two-steps.html");
  g_autofree char *page = ss_cli_read ("two-steps.html");

  cr_expect (eq (int, result.status, 0));
  cr_expect (g_str_has_prefix (result.out, "two-steps.html: "), "%s", result.out);
  cr_expect (ne (ptr, strstr (result.out, " moments, opens in any browser, no network, "), NULL));
  cr_expect (eq (str, result.err, ""));
  cr_assert (ne (ptr, page, NULL));
  cr_expect (g_str_has_prefix (page, "<!doctype html>"));
}

Test (cli_animate, a_run_that_dies_says_where_it_ends)
{
  g_auto (SsCliResult) result
    = RUN ("animate", SS_TEACHING, "-o", "x.html", "--capacity=15 GiB");

  cr_expect (eq (int, result.status, 1));
  cr_expect (g_str_has_prefix (result.out, "The run ends out of memory in step 2; the animation "
                                           "ends there.\n"), "%s", result.out);
}

Test (cli_animate, refuses_what_it_cannot_do)
{
  static const struct
  {
    const char *line, *said;
    int status;
  } rows[] = {
    { "$S animate $F -o x.avi", "x.avi: an animation is a file .gif, .mp4 or .html", 2 },
    { "$S animate -o x.gif", "stepsim animate wants FILE", 2 },
    { "touch x.html; $S animate $F -o x.html", "x.html: exists already; -f replaces it", 3 },
    { "PATH=/nowhere; $S animate $F -o x.mp4", "MP4 needs the package ffmpeg", 3 },
    { "PATH=/nowhere; $S animate $F -o x.gif", "pictures need the package gnuplot", 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (rows[i].line);

      cr_expect (eq (int, result.status, rows[i].status), "%s", rows[i].line);
      cr_expect (ne (ptr, strstr (result.err, rows[i].said), NULL), "%s: %s", rows[i].line,
                 result.err);
      cr_expect (ss_cli_lines_are_ours (result.err));
    }
}
