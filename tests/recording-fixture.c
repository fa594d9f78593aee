/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "recording-fixture.h"

#define OP_NS 100000             /* on the device; the host needs a tenth */

const SsFixture ss_fixture_fits = {
  .scenario_name = "four layers",
  .model_name = "Teaching 4",
  .device_name = "H100 SXM 80GB",
  .n_layers = 4,
  .n_steps = 2,
  .n_micro_batches = 1,
  .n_ops = 2,
  .capacity_bytes = 64 * SS_MIB,
  .context_bytes = 2 * SS_MIB,
  .parameter_bytes = 8 * SS_MIB,
  .gradient_bytes = 8 * SS_MIB,
  .state_bytes = 16 * SS_MIB,
  .layer_activation_bytes = 3 * SS_MIB,
  .layer_temporary_bytes = SS_MIB / 2,
  .logits_bytes = 4 * SS_MIB,
  .workspace_bytes = SS_MIB,
};

const SsFixture ss_fixture_oom = {
  .scenario_name = "four layers, short",
  .model_name = "Teaching 4",
  .device_name = "H100 SXM 80GB",
  .n_layers = 4,
  .n_steps = 2,
  .n_micro_batches = 1,
  .n_ops = 2,
  .capacity_bytes = 36 * SS_MIB,
  .context_bytes = 2 * SS_MIB,
  .parameter_bytes = 8 * SS_MIB,
  .gradient_bytes = 8 * SS_MIB,
  .state_bytes = 16 * SS_MIB,
  .layer_activation_bytes = 3 * SS_MIB,
  .layer_temporary_bytes = SS_MIB / 2,
  .logits_bytes = 4 * SS_MIB,
  .workspace_bytes = SS_MIB,
};

/* One run a line of sizes in MiB. */
#define SHAPE(name, layers, steps, micro, ops, capacity, context, parameters, master, gradients,   \
              states, activation, scratch, logits, workspace)                                      \
  {                                                                                                \
    .scenario_name = name, .model_name = name, .device_name = "invented", .n_layers = layers,      \
    .n_steps = steps, .n_micro_batches = micro, .n_ops = ops, .capacity_bytes = capacity * SS_MIB, \
    .context_bytes = context * SS_MIB, .parameter_bytes = parameters * SS_MIB,                     \
    .master_bytes = master * SS_MIB, .gradient_bytes = gradients * SS_MIB,                         \
    .state_bytes = states * SS_MIB, .layer_activation_bytes = activation * SS_MIB,                 \
    .layer_temporary_bytes = scratch * SS_MIB, .logits_bytes = logits * SS_MIB,                    \
    .workspace_bytes = workspace * SS_MIB                                                          \
  }

const SsFixture ss_fixture_gallery[] = {
  SHAPE ("dies in step 2", 32, 2, 1, 38, 80998, 665, 15319, 0, 15319, 30638, 1075, 224, 6010, 32),
  SHAPE ("dies in step 1", 32, 2, 1, 38, 80998, 460, 15360, 0, 15360, 0, 2560, 1024, 30720, 0),
  SHAPE ("dies at the loss", 32, 2, 1, 38, 80998, 460, 15360, 0, 15360, 0, 1536, 1024, 30720, 0),
  SHAPE ("dies while loading", 80, 2, 1, 38, 80998, 460, 71680, 143360, 0, 0, 0, 0, 0, 0),
  SHAPE ("many layers", 126, 2, 1, 38, 182272, 716, 30720, 15360, 30720, 30720, 410, 500, 8059, 64),
  SHAPE ("far from the limit", 12, 2, 1, 20, 40345, 477, 474, 0, 474, 949, 30, 6, 200, 8),
  SHAPE ("many micro-batches", 16, 2, 16, 38, 24166, 460, 2355, 0, 2355, 4710, 358, 64, 2048, 8),
  SHAPE ("many steps", 4, 30, 1, 4, 64, 2, 8, 0, 8, 16, 3, 1, 4, 1),
  SHAPE ("one step", 4, 1, 1, 8, 700, 20, 80, 160, 80, 160, 30, 50, 40, 10),
  SHAPE ("all activations", 48, 2, 1, 8, 20000, 300, 400, 0, 400, 800, 300, 150, 100, 10),
  SHAPE ("just fits", 8, 2, 1, 12, 1000, 100, 100, 0, 100, 200, 50, 10, 90, 0),
  SHAPE ("logits only", 2, 2, 1, 2, 9000, 500, 10, 0, 10, 20, 5, 4000, 4000, 0),
};

const guint ss_n_fixture_gallery = G_N_ELEMENTS (ss_fixture_gallery);

typedef struct
{
  const SsFixture *fixture;
  SsRecording *recording;
  guint64 allocated_bytes, reserved_bytes;
  guint64 by_category[SS_N_CATEGORIES];
  gint64 host_ns, device_ns;
  guint step, micro_batch;
  gint layer;
  guint32 storage_id;
} Run;

static guint
module_of (Run *run)
{
  return run->layer < 0 ? 0 : (guint) run->layer + 1;
}

static SsPhaseRecord *
phase_now (Run *run)
{
  return &g_array_index (run->recording->phases, SsPhaseRecord, run->recording->phases->len - 1);
}

static void
add_event (Run *run, SsMemoryAction action, SsCategory category, guint64 bytes)
{
  GArray *ops = run->recording->ops;
  SsMemoryEvent event = {
    .host_ns = run->host_ns, .device_ns = run->device_ns, .bytes = bytes,
    .allocated_bytes = run->allocated_bytes, .reserved_bytes = run->reserved_bytes,
    .storage_id = run->storage_id, .module_id = module_of (run),
    .op = run->step == 0 || ops->len == 0 ? G_MAXUINT32 : ops->len - 1,
    .action = (guint8) action, .category = (guint8) category,
    .phase = run->recording->phases->len - 1,
  };

  if (action == SS_EVENT_ALLOC || action == SS_EVENT_FREE)
    event.block_bytes = bytes;
  g_array_append_val (run->recording->memory, event);
}

static SsPeakRecord
state_now (Run *run)
{
  SsPeakRecord state = {
    .allocated_bytes = run->allocated_bytes, .reserved_bytes = run->reserved_bytes,
    .step = run->step, .micro_batch = run->micro_batch, .phase = phase_now (run)->name,
    .layer = run->layer,
    .op = run->step == 0 ? G_MAXUINT32 : run->recording->ops->len - 1, .device_ns = run->device_ns,
  };

  memcpy (state.by_category, run->by_category, sizeof state.by_category);
  return state;
}

static void
note_peaks (Run *run)
{
  SsPhaseRecord *phase = phase_now (run);

  phase->peak_allocated_bytes = MAX (phase->peak_allocated_bytes, run->allocated_bytes);
  phase->peak_reserved_bytes = MAX (phase->peak_reserved_bytes, run->reserved_bytes);
  run->recording->peak_reserved_bytes
      = MAX (run->recording->peak_reserved_bytes, run->reserved_bytes);
  if (run->allocated_bytes > run->recording->peak.allocated_bytes)
    run->recording->peak = state_now (run);
  if (run->allocated_bytes - run->by_category[SS_CATEGORY_ACTIVATIONS]
      > run->recording->floor.allocated_bytes)
    {
      run->recording->floor = state_now (run);
      run->recording->floor.allocated_bytes -= run->by_category[SS_CATEGORY_ACTIVATIONS];
    }
}

static void
run_out (Run *run, SsCategory category, guint64 bytes)
{
  SsOomRecord *oom = &run->recording->oom;
  guint64 room_bytes = run->fixture->capacity_bytes - run->fixture->context_bytes;

  run->reserved_bytes = run->allocated_bytes;
  run->recording->is_oom = TRUE;
  oom->at = oom->after = state_now (run);
  oom->op_name = "aten::mm";
  oom->tensor = g_strdup (g_ptr_array_index (run->recording->modules, module_of (run)));
  oom->tensor_bytes = oom->requested_bytes = bytes;
  oom->free_bytes = room_bytes - run->reserved_bytes;
  oom->message
      = g_strdup_printf ("CUDA out of memory. Tried to allocate %.2f MiB.", (double)bytes / SS_MIB);
  add_event (run, SS_EVENT_OOM, category, bytes);
}

/* The reserved bytes follow the largest need; nothing is ever rounded. */
static void
take (Run *run, SsCategory category, guint64 bytes)
{
  guint64 room_bytes = run->fixture->capacity_bytes - run->fixture->context_bytes;

  if (run->recording->is_oom || bytes == 0)
    return;
  if (run->allocated_bytes + bytes > room_bytes)
    {
      run_out (run, category, bytes);
      return;
    }
  if (run->allocated_bytes + bytes > run->reserved_bytes)
    {
      guint64 segment_bytes = run->allocated_bytes + bytes - run->reserved_bytes;

      run->reserved_bytes += segment_bytes;
      add_event (run, SS_EVENT_SEGMENT_ALLOC, category, segment_bytes);
    }
  run->allocated_bytes += bytes;
  run->by_category[category] += bytes;
  run->storage_id++;
  add_event (run, SS_EVENT_ALLOC, category, bytes);
  note_peaks (run);
}

static void
give (Run *run, SsCategory category, guint64 bytes)
{
  bytes = MIN (bytes, run->by_category[category]);
  if (run->recording->is_oom || bytes == 0)
    return;
  run->allocated_bytes -= bytes;
  run->by_category[category] -= bytes;
  add_event (run, SS_EVENT_FREE, category, bytes);
}

static void
begin_phase (Run *run, const char *name, guint micro_batch)
{
  SsPhaseRecord phase = {
    .name = name, .step = run->step, .micro_batch = micro_batch,
    .start_ns = run->device_ns, .end_ns = run->device_ns,
    .start_allocated_bytes = run->allocated_bytes, .peak_allocated_bytes = run->allocated_bytes,
    .peak_reserved_bytes = run->reserved_bytes,
  };

  if (run->recording->is_oom)
    return;
  run->micro_batch = micro_batch;
  g_array_append_val (run->recording->phases, phase);
}

static void
end_phase (Run *run)
{
  SsPhaseRecord *phase = phase_now (run);

  phase->end_ns = run->device_ns;
  phase->end_allocated_bytes = run->allocated_bytes;
  phase->is_complete = !run->recording->is_oom;
}

/* An op that takes scratch while it runs. */
static void
run_op (Run *run, const char *name, gboolean is_matmul, gboolean is_backward)
{
  guint64 scratch_bytes = run->fixture->layer_temporary_bytes;
  SsOpEvent op = {
    .name = name,
    .module_id = module_of (run),
    .issue_ns = run->host_ns,
    .start_ns = run->device_ns,
    .end_ns = run->device_ns + OP_NS,
    .flops = is_matmul ? 80000000000 : 0,
    .model_flops = is_matmul ? 80000000000 : 0,
    .bytes = 100000000,
    .matmul_utilization = is_matmul ? 0.8f : 0,
    .bandwidth_utilization = is_matmul ? 0.3f : 0.9f,
    .phase = run->recording->phases->len - 1,
    .layer = run->layer,
    .is_backward = is_backward,
  };

  if (run->recording->is_oom)
    return;
  g_array_append_val (run->recording->ops, op);
  take (run, SS_CATEGORY_TEMPORARIES, scratch_bytes);
  run->host_ns += OP_NS / 10;
  run->device_ns += OP_NS;
  give (run, SS_CATEGORY_TEMPORARIES, scratch_bytes);
}

static void
note_layer (Run *run, gboolean is_backward)
{
  SsLayerRecord record = {
    .step = run->step,
    .micro_batch = run->micro_batch,
    .is_backward = is_backward,
    .layer = run->layer,
    .allocated_bytes = run->allocated_bytes,
    .device_ns = run->device_ns,
  };

  if (!run->recording->is_oom)
    g_array_append_val (run->recording->layers, record);
}

static void
forward (Run *run)
{
  const SsFixture *f = run->fixture;

  for (guint layer = 0; layer < f->n_layers; layer++)
    {
      run->layer = (gint) layer;
      for (guint i = 0; i < f->n_ops; i++)
        {
          run_op (run, i % 2 == 0 ? "aten::mm" : "aten::mul", i % 2 == 0, FALSE);
          take (run, SS_CATEGORY_ACTIVATIONS, f->layer_activation_bytes / f->n_ops);
        }
      note_layer (run, FALSE);
    }
  run->layer = -1;
}

static void
backward (Run *run)
{
  const SsFixture *f = run->fixture;

  give (run, SS_CATEGORY_LOGITS, f->logits_bytes);
  for (guint layer = f->n_layers; layer-- > 0;)
    {
      run->layer = (gint) layer;
      note_layer (run, TRUE);
      for (guint i = 0; i < 2 * f->n_ops; i++)
        {
          run_op (run, i % 4 < 3 ? "aten::mm" : "aten::mul", i % 4 < 3, TRUE);
          if (run->micro_batch == 1)
            take (run, SS_CATEGORY_GRADIENTS, f->gradient_bytes / f->n_layers / (2 * f->n_ops));
          if (i % 2 == 1)
            give (run, SS_CATEGORY_ACTIVATIONS, f->layer_activation_bytes / f->n_ops);
        }
    }
  run->layer = -1;
}

static void
update (Run *run)
{
  const SsFixture *f = run->fixture;
  guint64 state_bytes = run->step == 1 ? f->state_bytes / f->n_layers : 0;

  for (guint i = 0; i < f->n_layers; i++)
    {
      take (run, SS_CATEGORY_OPTIMIZER_STATES, state_bytes);
      run_op (run, "aten::_fused_adamw_", FALSE, FALSE);
    }
}

static void
micro_batch (Run *run, guint index, SsStepRecord *step)
{
  begin_phase (run, "forward", index);
  forward (run);
  end_phase (run);
  step->end_of_forward_allocated_bytes = run->recording->is_oom ? G_MAXUINT64
                                                                : run->allocated_bytes;
  begin_phase (run, "loss", index);
  run_op (run, "aten::mm", TRUE, FALSE);
  take (run, SS_CATEGORY_LOGITS, run->fixture->logits_bytes);
  run_op (run, "aten::_log_softmax", FALSE, FALSE);
  end_phase (run);
  step->saved_activation_bytes = run->recording->is_oom ? G_MAXUINT64
                                                        : run->by_category[SS_CATEGORY_ACTIVATIONS];
  begin_phase (run, "backward", index);
  backward (run);
  end_phase (run);
}

/* G_MAXUINT32: it peaks at its start. */
static guint32
peak_op_of_phase (const SsRecording *recording, guint phase)
{
  guint64 peak_bytes = g_array_index (recording->phases, SsPhaseRecord, phase).peak_allocated_bytes;

  if (peak_bytes == g_array_index (recording->phases, SsPhaseRecord, phase).start_allocated_bytes)
    return G_MAXUINT32;
  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      if (event->phase == phase && event->allocated_bytes == peak_bytes)
        return event->op;
    }
  return G_MAXUINT32;
}

static void
finish_step (Run *run, SsStepRecord *step)
{
  GArray *phases = run->recording->phases;

  step->end_ns = run->device_ns;
  step->is_complete = !run->recording->is_oom;
  for (guint i = 0; i < phases->len; i++)
    {
      const SsPhaseRecord *phase = &g_array_index (phases, SsPhaseRecord, i);

      if (phase->step != step->step)
        continue;
      step->peak_reserved_bytes = MAX (step->peak_reserved_bytes, phase->peak_reserved_bytes);
      if (phase->peak_allocated_bytes <= step->peak_allocated_bytes)
        continue;
      step->peak_allocated_bytes = phase->peak_allocated_bytes;
      step->peak_phase = i;
      step->peak_op = peak_op_of_phase (run->recording, i);
    }
  if (step->is_complete)
    {
      step->model_flops = step->hardware_flops = 1000000000;
      step->mfu = step->hfu = 0.4375;
      step->tokens_per_s = (double) run->recording->tokens_per_step * 1e9
                           / (double) (step->end_ns - step->start_ns);
    }
}

static void
run_step (Run *run)
{
  SsStepRecord step = { .step = run->step, .start_ns = run->device_ns, .peak_op = G_MAXUINT32,
                        .tokens_per_s = -1, .mfu = -1, .hfu = -1,
                        .end_of_forward_allocated_bytes = G_MAXUINT64,
                        .saved_activation_bytes = G_MAXUINT64 };

  take (run, SS_CATEGORY_WORKSPACE, run->step == 1 ? run->fixture->workspace_bytes : 0);
  for (guint i = 1; i <= run->fixture->n_micro_batches && !run->recording->is_oom; i++)
    micro_batch (run, i, &step);
  if (!run->recording->is_oom)
    {
      begin_phase (run, "optimizer", 0);
      update (run);
      end_phase (run);
    }
  if (!run->recording->is_oom)
    {
      begin_phase (run, "zero_grad", 0);
      give (run, SS_CATEGORY_GRADIENTS, run->fixture->gradient_bytes);
      end_phase (run);
    }
  finish_step (run, &step);
  g_array_append_val (run->recording->steps, step);
}

static SsRecording *
recording_of (const SsFixture *fixture)
{
  SsRecording *recording = ss_recording_new ();

  recording->scenario_name = g_strdup (fixture->scenario_name);
  recording->model_name = g_strdup (fixture->model_name);
  recording->device_name = g_strdup (fixture->device_name);
  recording->summary = g_strdup ("bf16, fused adamw, micro-batch 1 x 1024 tokens, no checkpoints");
  recording->n_parameters = recording->n_trainable_parameters = fixture->parameter_bytes / 2;
  recording->capacity_bytes = fixture->capacity_bytes;
  recording->context_bytes = fixture->context_bytes;
  recording->device_capacity_bytes = 40 * SS_MIB;
  recording->usable_bytes = fixture->capacity_bytes < G_MAXINT64 ? fixture->capacity_bytes
                                                                 : recording->device_capacity_bytes;
  recording->allocator_type = g_strdup ("caching");
  recording->allocator_asked = g_strdup ("caching");
  recording->policy = g_strdup ("none");
  recording->n_layers = fixture->n_layers;
  recording->n_steps = fixture->n_steps;
  recording->tokens_per_step = 1024 * fixture->n_micro_batches;
  recording->peak_flop_per_s = 989.4e12;
  recording->flop_convention = "6 N + attention";
  recording->state_bytes_new = fixture->state_bytes;
  g_ptr_array_add (recording->modules, g_strdup (""));
  for (guint i = 0; i < fixture->n_layers; i++)
    g_ptr_array_add (recording->modules, g_strdup_printf ("model.layers.%u", i));
  return recording;
}

SsRecording *
ss_fixture_record (const SsFixture *fixture)
{
  Run run = { .fixture = fixture, .recording = recording_of (fixture), .layer = -1 };

  begin_phase (&run, "load", 0);
  take (&run, SS_CATEGORY_PARAMETERS, fixture->parameter_bytes);
  take (&run, SS_CATEGORY_MASTER_WEIGHTS, fixture->master_bytes);
  end_phase (&run);
  for (run.step = 1; run.step <= fixture->n_steps && !run.recording->is_oom; run.step++)
    run_step (&run);
  run.recording->need_bytes = run.recording->is_oom ? fixture->capacity_bytes + 8 * SS_MIB
                                                    : ss_recording_peak_bytes (run.recording);
  return run.recording;
}
