/* SPDX-License-Identifier: MIT
 *
 * The frames of a run as a moving picture: GIF by gnuplot, smaller and smoother where ffmpeg is
 * there, and MP4 by ffmpeg.  It knows no path and no terminal.
 */
#pragma once

#include "output/film/animation.h"

G_BEGIN_DECLS

/* `n_done` of `n` frames are drawn. */
typedef void (*SsFilmProgress) (guint n_done, guint n, gpointer user_data);

typedef struct
{
  GBytes *bytes;
  guint n_frames;                /* shown, held ones counted as often as they stand */
  double duration_s;
} SsFilm;

void ss_film_clear (SsFilm *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsFilm, ss_film_clear)

/* `progress` may be NULL. SS_OUTPUT_ERROR_PROGRAM: gnuplot, or for MP4 ffmpeg, is missing (the
 * message names the package) or failed; SS_OUTPUT_ERROR_WRITE: no temporary file for MP4. */
gboolean ss_film_gif (const SsRecording *recording, const SsOutputSettings *settings,
                      SsFilmProgress progress, gpointer user_data, SsFilm *film, GError **error);
gboolean ss_film_mp4 (const SsRecording *recording, const SsOutputSettings *settings,
                      SsFilmProgress progress, gpointer user_data, SsFilm *film, GError **error);

G_END_DECLS
