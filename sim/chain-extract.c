/* SPDX-License-Identifier: MIT */
#include "sim/chain-extract.h"

#include "hw/op-time.h"
#include "sim/engine.h"

typedef struct
{
  const SsProgram *program;
  const SsDevice *device;
  SsChain *chain;
  guint n_layers;
  guint stage;                   /* the one whose window we are in */
  gboolean is_backward;
  guint32 *stage_of;             /* by storage: the stage in whose forward it was made; 0: none */
  gboolean *is_alive;            /* by storage */
  guint64 window_bytes;          /* alive of what this window has made */
  guint64 peak_bytes;            /* the most of that */
  guint64 begin_bytes, now_bytes;   /* alive besides parameters' gradients */
  guint64 gradient_bytes;        /* alive of those */
} Extraction;

/* ---- windows ---- */

static gboolean
is_gradient (const SsStorageInfo *storage)
{
  return storage->category == SS_CATEGORY_GRADIENTS
         || storage->category == SS_CATEGORY_GRADIENT_ACCUMULATION;
}

static SsChainStage *
stage_now (const Extraction *x)
{
  return &x->chain->stages[x->stage];
}

/* What a stage's forward has left behind, its output apart, less its input's size. */
static guint64
left_behind (const Extraction *x)
{
  guint64 bytes = 0,
          apart = x->chain->boundary_bytes[x->stage - 1] + x->chain->boundary_bytes[x->stage];

  for (guint32 id = 0; id < ss_program_n_storages (x->program); id++)
    if (x->is_alive[id] && x->stage_of[id] == x->stage
        && ss_program_storage (x->program, id)->category != SS_CATEGORY_WORKSPACE)
      bytes = ss_size_add (bytes, ss_program_storage (x->program, id)->bytes);
  return bytes > apart ? bytes - apart : 0;
}

static void
end_forward (Extraction *x)
{
  SsChainStage *s = stage_now (x);
  guint64 kept;

  s->saved_bytes = left_behind (x);
  kept = ss_size_add (s->saved_bytes, x->chain->boundary_bytes[x->stage]);
  s->forward_bytes = x->peak_bytes > kept ? x->peak_bytes - kept : 0;
}

static void
end_backward (Extraction *x)
{
  guint64 made = ss_size_add (x->begin_bytes, x->chain->gradient_bytes[x->stage - 1]);

  stage_now (x)->backward_bytes
    = ss_size_add (x->peak_bytes > made ? x->peak_bytes - made : 0, x->gradient_bytes);
}

static void
begin_window (Extraction *x, guint stage, gboolean is_backward)
{
  x->stage = stage;
  x->is_backward = is_backward;
  x->window_bytes = 0;
  x->begin_bytes = x->now_bytes;
  x->peak_bytes = is_backward ? x->now_bytes : 0;
}

/* ---- instructions ---- */

static void
allocate (Extraction *x, guint32 id)
{
  const SsStorageInfo *storage = ss_program_storage (x->program, id);

  x->is_alive[id] = TRUE;
  if (is_gradient (storage))
    x->gradient_bytes = ss_size_add (x->gradient_bytes, storage->bytes);
  else
    x->now_bytes = ss_size_add (x->now_bytes, storage->bytes);
  if (x->stage == 0)
    return;
  if (!x->is_backward)
    {
      x->stage_of[id] = x->stage;
      x->window_bytes = ss_size_add (x->window_bytes, storage->bytes);
      x->peak_bytes = MAX (x->peak_bytes, x->window_bytes);
    }
  else
    x->peak_bytes = MAX (x->peak_bytes, x->now_bytes);
}

static void
release (Extraction *x, guint32 id)
{
  const SsStorageInfo *storage = ss_program_storage (x->program, id);

  x->is_alive[id] = FALSE;
  if (is_gradient (storage))
    x->gradient_bytes -= storage->bytes;
  else
    x->now_bytes -= storage->bytes;
  if (x->stage > 0 && !x->is_backward && x->stage_of[id] == x->stage)
    x->window_bytes -= storage->bytes;
}

static void
run (Extraction *x, guint32 op_id)
{
  gint64 ns = ss_ns_from_seconds (ss_op_time_s (ss_program_op (x->program, op_id), x->device));
  SsChainStage *s;

  if (x->stage == 0)
    return;
  s = stage_now (x);
  if (x->is_backward)
    s->backward_time += (guint64) ns;
  else
    s->forward_time += (guint64) ns;
}

/* FALSE: all that was wanted has been seen. */
static gboolean
meet_mark (Extraction *x, const SsMark *mark)
{
  guint last = x->chain->n_stages;

  switch ((SsMarkType) mark->type)
    {
    case SS_MARK_PHASE:
      if (mark->phase == SS_PHASE_FORWARD && x->stage == 0)
        begin_window (x, 1, FALSE);
      else if (mark->phase == SS_PHASE_BACKWARD)
        {
          end_forward (x);
          begin_window (x, last, TRUE);
        }
      else if (mark->phase == SS_PHASE_OPTIMIZER || (mark->phase == SS_PHASE_FORWARD && x->stage))
        {
          end_backward (x);
          return FALSE;
        }
      break;
    case SS_MARK_FORWARD_END:
      end_forward (x);
      begin_window (x, (guint) mark->layer + 3, FALSE);
      break;
    case SS_MARK_BACKWARD_BEGIN:
      end_backward (x);
      begin_window (x, (guint) mark->layer + 2, TRUE);
      break;
    case SS_MARK_SAVED:
    case SS_MARK_END:
      break;
    }
  return TRUE;
}

/* The first layer's window begins with its first op: what came before belongs to stage 1. */
static void
enter_first_layer (Extraction *x, guint32 module_id)
{
  if (x->stage == 1 && !x->is_backward && ss_program_module_layer (x->program, module_id) == 0)
    {
      end_forward (x);
      begin_window (x, 2, FALSE);
    }
}

/* The embedding's backward is what follows layer 0's with no layer of its own. */
static void
leave_first_layer (Extraction *x, guint32 module_id)
{
  if (x->stage == 2 && x->is_backward && ss_program_module_layer (x->program, module_id) < 0)
    {
      end_backward (x);
      begin_window (x, 1, TRUE);
    }
}

static gboolean
visit_allocate (const SsProgram *program, const SsInstruction *i, gpointer x)
{
  enter_first_layer (x, ss_program_storage (program, i->index)->module_id);
  leave_first_layer (x, ss_program_storage (program, i->index)->module_id);
  allocate (x, i->index);
  return TRUE;
}

static gboolean
visit_release (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer x)
{
  release (x, i->index);
  return TRUE;
}

static gboolean
visit_run (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer x)
{
  run (x, i->index);
  return TRUE;
}

static gboolean
visit_mark (const SsProgram *program, const SsInstruction *i, gpointer x)
{
  return meet_mark (x, ss_program_mark (program, i->index));
}

/* ---- the chain ---- */

static void
set_boundaries (SsChain *chain, const SsTraceConfig *config)
{
  SsTensor ids = ss_tensor (SS_I64, 2,
                            (gint64[]) { config->micro_batch, config->sequence_length });
  SsTensor hidden = ss_tensor (config->precision->parameter_dtype, 3,
                               (gint64[]) { config->micro_batch, config->sequence_length,
                                            ss_model_width (&config->model, SS_WIDTH_HIDDEN) });

  chain->boundary_bytes[0] = ss_tensor_bytes (&ids);
  for (guint i = 1; i < chain->n_stages; i++)
    chain->boundary_bytes[i] = chain->gradient_bytes[i] = ss_tensor_bytes (&hidden);
  chain->first_layer = 2;
  chain->last_layer = chain->n_stages - 1;
}

static void
measure (Extraction *x)
{
  static const SsProgramVisitor visitor = { .allocate = visit_allocate, .run = visit_run,
                                              .release = visit_release, .mark = visit_mark };

  ss_program_play (x->program, 0, &visitor, x);
  for (guint i = 1; i <= x->chain->n_stages; i++)
    x->chain->stages[i].recompute_time = x->chain->stages[i].forward_time;
}

SsChain *
ss_chain_extract (const SsTraceConfig *config, const SsDevice *device, const char *name,
                  GError **error)
{
  SsTraceConfig plain = *config;
  guint n_layers = (guint) config->model.n_layers;
  g_autoptr (SsChain) chain = ss_chain_new (name, n_layers + 2);
  g_autoptr (SsProgram) program = NULL;
  g_autofree guint32 *stage_of = NULL;
  g_autofree gboolean *is_alive = NULL;
  Extraction x = { .device = device, .chain = chain, .n_layers = n_layers };

  plain.checkpointing = (SsCheckpointing) { .policy = ss_checkpoint_policy_find ("none") };
  plain.n_steps = 1;
  plain.gradient_accumulation = 1;
  program = ss_trace (&plain, ss_device_target (device), FALSE, error);
  if (!program)
    return NULL;
  x.program = program;
  x.stage_of = stage_of = g_new0 (guint32, ss_program_n_storages (program));
  x.is_alive = is_alive = g_new0 (gboolean, ss_program_n_storages (program));
  set_boundaries (chain, config);
  measure (&x);
  if (!ss_chain_check (chain, error))
    return NULL;
  return g_steal_pointer (&chain);
}
