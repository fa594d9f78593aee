/* SPDX-License-Identifier: MIT
 *
 * Do both runs ask for the same, in the same order?  Releases may change places between two
 * requests; requests may not.
 */
#include "output/figures/overlay-private.h"

static GArray *
requests_of_sim (const SsOverlay *self, guint first, guint end)
{
  GArray *requests = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = first; i < end; i++)
    if (g_array_index (self->events, SsOverlayEvent, i).is_alloc)
      g_array_append_val (requests, i);
  return requests;
}

static GArray *
requests_of_real (const SsOverlay *self, guint first, guint end)
{
  GArray *requests = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = first; i < end; i++)
    if (g_array_index (self->real->events, SsRealEvent, i).action == SS_REAL_ALLOC)
      g_array_append_val (requests, i);
  return requests;
}

/* Compares one request of each; equal ones are measured. */
static gboolean
compare (SsOverlay *self, guint sim, guint real)
{
  const SsOverlayEvent *a = &g_array_index (self->events, SsOverlayEvent, sim);
  const SsRealEvent *b = &g_array_index (self->real->events, SsRealEvent, real);
  gint64 apart = (gint64) (a->allocated_bytes - b->allocated_bytes);

  if ((self->real->counts_blocks ? a->block_bytes : a->bytes) != b->bytes)
    return FALSE;
  self->n_same_requests++;
  if (ABS (apart) > ABS (self->largest_bytes))
    {
      self->largest_bytes = apart;
      self->largest_sim = sim;
    }
  return TRUE;
}

static void
note_first (SsOverlay *self, const GArray *sim, const GArray *real, guint i)
{
  if (self->first_sim != SS_OVERLAY_NONE || self->first_real != SS_OVERLAY_NONE)
    return;
  if (i < sim->len)
    self->first_sim = g_array_index (sim, guint, i);
  if (i < real->len)
    self->first_real = g_array_index (real, guint, i);
}

/* In order from the start; where the numbers differ, from the first that is not alike on from the
 * end. */
static void
compare_piece (SsOverlay *self, const SsOverlayPiece *piece)
{
  g_autoptr (GArray) sim = requests_of_sim (self, piece->sim_first, piece->sim_end);
  g_autoptr (GArray) real = requests_of_real (self, piece->real_first, piece->real_end);
  guint n = MIN (sim->len, real->len), i, left;

  for (i = 0; i < n; i++)
    if (!compare (self, g_array_index (sim, guint, i), g_array_index (real, guint, i)))
      {
        note_first (self, sim, real, i);
        if (sim->len != real->len)
          break;
      }
  if (sim->len == real->len)
    return;
  note_first (self, sim, real, i);
  for (left = n - i; left > 0; left--)
    if (!compare (self, g_array_index (sim, guint, sim->len - 1 - (n - i - left)),
                  g_array_index (real, guint, real->len - 1 - (n - i - left))))
      return;
}

void
ss_overlay_compare_requests (SsOverlay *self)
{
  g_autoptr (GArray) sim = requests_of_sim (self, 0, self->events->len);
  g_autoptr (GArray) real = requests_of_real (self, 0, self->n_real);

  self->n_sim_requests = sim->len;
  self->n_real_requests = real->len;
  for (guint i = 0; i < self->pieces->len; i++)
    compare_piece (self, &g_array_index (self->pieces, SsOverlayPiece, i));
}
