/* SPDX-License-Identifier: MIT
 *
 * SsOverlay: a real run laid over a simulated one: which of their events belong together, and how
 * far apart the two are in each phase.  The runs are aligned where the real file names optimizer,
 * zero_grad or profiler steps, and by sequence between; what follows the first out-of-memory of the
 * real run is left out.  It knows no file.  The creator owns it, and keeps both runs alive.
 */
#pragma once

#include "output/figures/canvas.h"
#include "output/formats/real-run.h"

G_BEGIN_DECLS

#define SS_OVERLAY_NONE G_MAXUINT

/* A request or release of the simulated run. */
typedef struct
{
  guint64 bytes, block_bytes;
  guint64 allocated_bytes, reserved_bytes;   /* after it */
  guint32 memory_event;          /* index into the recording's memory */
  guint32 phase;
  guint8 is_alloc;
} SsOverlayEvent;

/* Events that belong together: between two places that both runs name. */
typedef struct
{
  guint sim_first, sim_end, real_first, real_end;
  guint n_head, n_tail;          /* events alike from both ends, if the numbers differ */
} SsOverlayPiece;

typedef struct
{
  guint32 phase;                 /* index into the recording's phases */
  gboolean has_real;             /* FALSE: the real run has nothing of it, and no figures */
  gboolean is_cut;               /* one of the runs ends in it: figures are up to there */
  gboolean is_stretched;         /* an edge lies where numbers of events differ: by proportion */
  guint64 sim_peak_bytes, real_peak_bytes;
  guint64 sim_end_bytes, real_end_bytes;
  guint64 sim_reserved_bytes, real_reserved_bytes;   /* the most */
} SsOverlayPhase;

typedef struct
{
  const SsRecording *recording;
  const SsRealRun *real;
  guint first_step;              /* the real run begins with this step of the simulated one */
  GArray *events;                /* SsOverlayEvent */
  guint n_real;                  /* events of the real run before its out-of-memory, or all */
  gboolean is_real_oom;
  guint n_anchors;               /* places that both runs name */
  GArray *pieces;                /* SsOverlayPiece */
  GArray *phases;                /* SsOverlayPhase */
  guint n_sim_requests, n_real_requests, n_same_requests;
  guint first_sim, first_real;   /* events of the first request that differs; SS_OVERLAY_NONE */
  gint64 largest_bytes;          /* simulated less real, after a request that both have */
  guint largest_sim;             /* event of that */
} SsOverlay;

/* first_step from 1.  Never fails: what cannot be laid over each other has no figures. */
SsOverlay *ss_overlay_new (const SsRecording *recording, const SsRealRun *real, guint first_step);
void ss_overlay_free (SsOverlay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsOverlay, ss_overlay_free)

/* The event of the real run that belongs to an event of the simulated one within a piece; may be
 * the piece's end. */
guint ss_overlay_real_of (const SsOverlayPiece *piece, guint sim_event);

/* The finding in one sentence. (transfer full) */
char *ss_overlay_headline (const SsOverlay *self, SsMemoryUnits units);
/* How the two were aligned, in one sentence. (transfer full) */
char *ss_overlay_alignment (const SsOverlay *self);
/* The whole answer; `name` says which file the real run is from. (transfer full) */
char *ss_overlay_table (const SsOverlay *self, const char *name, SsMemoryUnits units);
/* Both curves on one page. (transfer full) */
SsCanvas *ss_overlay_figure (const SsOverlay *self, const char *name, SsMemoryUnits units);

G_END_DECLS
