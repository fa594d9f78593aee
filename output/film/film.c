/* SPDX-License-Identifier: MIT */
#include "output/film/film.h"

#include <glib/gstdio.h>
#include <string.h>

#include "output/film/animation-frame.h"
#include "output/figures/gnuplot.h"
#include "output/helper-program.h"

#define FRAME_CS 18              /* of one frame, in hundredths of a second */
#define FRAMES_PER_SECOND "100/18"
#define BATCH 8                  /* frames drawn between two words of progress */
#define FFMPEG_MISSING                                                                             \
  "ffmpeg is not installed: MP4 needs the package ffmpeg (GIF and HTML do without)"

typedef struct
{
  SsCanvasPage *pages;
  guint n_pages, n_frames;
} Reel;

static void
reel_clear (Reel *self)
{
  for (guint i = 0; i < self->n_pages; i++)
    ss_canvas_free (self->pages[i].canvas);
  g_free (self->pages);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reel, reel_clear)

static Reel
reel_of (const SsRecording *recording, const SsOutputSettings *settings)
{
  g_autoptr (SsAnimation) animation
    = ss_animation_new (recording, settings->units, SS_FRAME_COLUMNS, SS_FRAME_BINS);
  Reel reel = { .n_pages = animation->keyframes->items->len };

  reel.pages = g_new (SsCanvasPage, reel.n_pages);
  for (guint i = 0; i < reel.n_pages; i++)
    {
      reel.pages[i] = (SsCanvasPage) { ss_animation_frame (animation, i),
                                       ss_animation_moment (animation, i)->n_frames };
      reel.n_frames += reel.pages[i].n_frames;
    }
  return reel;
}

/* ---- frames as PNG files, one behind the other ---- */

/* Length of the PNG file at the start of `data`: chunks up to IEND, each a length, a name, that
 * many bytes and a checksum (PNG specification, section 5.3). 0: it is none. */
static gsize
png_length (const guint8 *data, gsize size)
{
  gsize at = 8;

  while (at + 12 <= size)
    {
      gsize length = (gsize) data[at] << 24 | (gsize) data[at + 1] << 16
                     | (gsize) data[at + 2] << 8 | data[at + 3];
      gboolean is_last = memcmp (data + at + 4, "IEND", 4) == 0;

      if (length > size - at - 12)
        return 0;
      at += 12 + length;
      if (is_last)
        return at;
    }
  return 0;
}

/* Adds each picture as often as its page stands. */
static gboolean
add_pictures (GByteArray *stream, GBytes *pictures, const SsCanvasPage *pages, guint n_pages)
{
  gsize size, at = 0;
  const guint8 *data = g_bytes_get_data (pictures, &size);

  for (guint i = 0; i < n_pages; i++)
    {
      gsize length = png_length (data + at, size - at);

      if (length == 0 || length > G_MAXUINT)
        return FALSE;
      for (guint n = 0; n < pages[i].n_frames; n++)
        g_byte_array_append (stream, data + at, (guint) length);
      at += length;
    }
  return at == size;
}

static GBytes *
draw_frames (const Reel *reel, SsFilmProgress progress, gpointer user_data, GError **error)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  for (guint i = 0; i < reel->n_pages; i += BATCH)
    {
      guint n = MIN (BATCH, reel->n_pages - i);
      g_autofree char *script = ss_canvas_pngs_script (reel->pages + i, n);
      g_autoptr (GBytes) pictures = NULL;

      if (progress != NULL)
        progress (i, reel->n_pages, user_data);
      pictures = ss_gnuplot_run (script, error);
      if (pictures == NULL)
        return NULL;
      if (!add_pictures (stream, pictures, reel->pages + i, n))
        {
          g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM,
                       "gnuplot drew something else than %u pictures", n);
          return NULL;
        }
    }
  return g_byte_array_free_to_bytes (g_steal_pointer (&stream));
}

/* ---- GIF ---- */

static GBytes *
gif_by_gnuplot (const Reel *reel, GError **error)
{
  g_autofree char *script = ss_canvas_gif_script (reel->pages, reel->n_pages, FRAME_CS);

  return ss_gnuplot_run (script, error);
}

/* One palette for all frames, and only the rectangle that has changed. */
static GBytes *
gif_by_ffmpeg (const Reel *reel, SsFilmProgress progress, gpointer user_data)
{
  static const char *const argv[] = {
    "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-f", "image2pipe",
    "-framerate", FRAMES_PER_SECOND, "-c:v", "png", "-i", "pipe:0", "-filter_complex",
    "split[a][b];[a]palettegen=max_colors=96[p];[b][p]paletteuse=dither=none:diff_mode=rectangle",
    "-loop", "0", "-fflags", "+bitexact", "-f", "gif", "pipe:1", NULL,
  };
  g_autofree char *path = g_find_program_in_path ("ffmpeg");
  g_autoptr (GBytes) frames = NULL;

  if (path == NULL)
    return NULL;
  frames = draw_frames (reel, progress, user_data, NULL);
  return frames != NULL ? ss_helper_program_run (argv, frames, FFMPEG_MISSING, NULL, NULL) : NULL;
}

static gboolean
fill_film (SsFilm *film, const Reel *reel, GBytes *bytes)
{
  if (bytes == NULL)
    return FALSE;
  *film = (SsFilm) { bytes, reel->n_frames, reel->n_frames * FRAME_CS / 100.0 };
  return TRUE;
}

gboolean
ss_film_gif (const SsRecording *recording, const SsOutputSettings *settings,
             SsFilmProgress progress, gpointer user_data, SsFilm *film, GError **error)
{
  g_auto (Reel) reel = reel_of (recording, settings);
  g_autoptr (GBytes) plain = gif_by_gnuplot (&reel, error), smooth = NULL;

  if (plain == NULL)
    return FALSE;
  smooth = gif_by_ffmpeg (&reel, progress, user_data);
  if (smooth != NULL && g_bytes_get_size (smooth) > 0
      && g_bytes_get_size (smooth) < g_bytes_get_size (plain))
    return fill_film (film, &reel, g_steal_pointer (&smooth));
  return fill_film (film, &reel, g_steal_pointer (&plain));
}

/* ---- MP4 ---- */

/* Through a file: the format's head is written last.  One thread: the number of them shows in the
 * result. */
static GBytes *
encode_mp4 (GBytes *frames, const char *path, GError **error)
{
  const char *const argv[] = {
    "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y", "-f", "image2pipe",
    "-framerate", FRAMES_PER_SECOND, "-c:v", "png", "-i", "pipe:0", "-c:v", "libx264",
    "-pix_fmt", "yuv420p", "-crf", "23", "-threads", "1", "-fflags", "+bitexact", "-flags:v",
    "+bitexact", "-map_metadata", "-1", "-movflags", "+faststart", "-f", "mp4", path, NULL,
  };
  g_autoptr (GBytes) nothing
    = ss_helper_program_run (argv, frames, FFMPEG_MISSING, NULL, error);
  g_autoptr (GError) cause = NULL;
  char *contents;
  gsize length;

  if (nothing == NULL)
    return NULL;
  if (g_file_get_contents (path, &contents, &length, &cause))
    return g_bytes_new_take (contents, length);
  g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "ffmpeg wrote nothing: %s",
               cause->message);
  return NULL;
}

gboolean
ss_film_mp4 (const SsRecording *recording, const SsOutputSettings *settings,
             SsFilmProgress progress, gpointer user_data, SsFilm *film, GError **error)
{
  g_autofree char *program = g_find_program_in_path ("ffmpeg"), *folder = NULL, *path = NULL;
  g_auto (Reel) reel = { 0 };
  g_autoptr (GBytes) frames = NULL, bytes = NULL;
  g_autoptr (GError) cause = NULL;

  if (program == NULL)
    {
      g_set_error_literal (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, FFMPEG_MISSING);
      return FALSE;
    }
  reel = reel_of (recording, settings);
  frames = draw_frames (&reel, progress, user_data, error);
  if (frames == NULL)
    return FALSE;
  folder = g_dir_make_tmp ("stepsim-XXXXXX", &cause);
  if (folder == NULL)
    {
      g_set_error_literal (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_WRITE, cause->message);
      return FALSE;
    }
  path = g_build_filename (folder, "film.mp4", NULL);
  bytes = encode_mp4 (frames, path, error);
  g_unlink (path);
  g_rmdir (folder);
  return fill_film (film, &reel, g_steal_pointer (&bytes));
}

void
ss_film_clear (SsFilm *self)
{
  g_clear_pointer (&self->bytes, g_bytes_unref);
}
