/* SPDX-License-Identifier: MIT */
#include "sim/run.h"

struct _SsRun
{
  SsEngine *engine;
  GPtrArray *ranks;              /* SsRank, by number */
};

SsRun *
ss_run_new (void)
{
  SsRun *self = g_new (SsRun, 1);

  self->engine = ss_engine_new ();
  self->ranks = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_rank_free);
  return self;
}

void
ss_run_free (SsRun *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->ranks);
  ss_engine_free (self->engine);
  g_free (self);
}

SsRank *
ss_run_add (SsRun                *self,
            const SsRankSettings *settings,
            SsRecording          *recording,
            GError              **error)
{
  SsRank *rank = ss_rank_new (self->engine, settings, recording, error);

  if (rank != NULL)
    g_ptr_array_add (self->ranks, rank);
  return rank;
}

void
ss_run_play (SsRun *self)
{
  for (guint i = 0; i < self->ranks->len; i++)
    ss_rank_start (self->ranks->pdata[i]);
  ss_engine_run (self->engine);
}
