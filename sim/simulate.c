/* SPDX-License-Identifier: MIT */
#include "sim/simulate.h"

#include "memory/alloc-conf.h"
#include "sim/account.h"
#include "sim/recipe-text.h"
#include "sim/replay-memory.h"
#include "sim/run.h"

/* The count of Chowdhery et al., PaLM (2022), appendix B, but for attention: fused kernels skip
 * the masked half. */
static const char flop_convention[] =
  "matrix products and attention, forward and backward, a multiply-add as 2; fused causal "
  "attention counts the half it computes; recomputation counts in hardware_flops and hfu only; "
  "peak: dense, in the type the matrix products run in";

static SsDtype
compute_dtype (const SsPrecision *precision)
{
  return precision->autocast_dtype != SS_N_DTYPES ? precision->autocast_dtype
                                                  : precision->parameter_dtype;
}

/* "2 of 32 layers, bf16 weights, 8 bytes per parameter, fused adamw, micro-batch 1 x 8192 tokens, 2
 * micro-batches a step, full checkpointing, lora rank 8" */
static char *
describe (const SsScenario *scenario, const char *recipe)
{
  const SsTraceConfig *config = ss_scenario_trace_config (scenario);
  gint64 n_layers = ss_scenario_n_layers_whole (scenario);
  GString *text = g_string_new (NULL);

  /* else the name would stand for the whole model */
  if (config->model.n_layers < n_layers)
    g_string_append_printf (text, "%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " layers, ",
                            config->model.n_layers, n_layers);
  g_string_append_printf (text,
                          "%s, %s %s, micro-batch %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                          " tokens",
                          recipe, ss_implementation_name (config->implementation),
                          config->optimizer->name, config->micro_batch, config->sequence_length);
  if (config->gradient_accumulation > 1)
    g_string_append_printf (text, ", %u micro-batches a step", config->gradient_accumulation);
  if (g_strcmp0 (config->checkpointing.policy->name, "none") == 0)
    g_string_append (text, ", no checkpointing");
  else
    {
      g_autofree char *policy = ss_checkpointing_text (&config->checkpointing);

      g_string_append_printf (text, ", checkpointing %s", policy);
    }
  if (config->adapter.type != NULL)
    g_string_append_printf (text, ", %s rank %u", config->adapter.type, config->adapter.rank);
  if (config->has_resume)
    g_string_append (text, ", resumed");
  return g_string_free (text, FALSE);
}

/* "cuDNN's": the kernel that attention runs in, if it stands in FlashAttention's place; or NULL. */
static const char *
unrecorded_attention (const SsProgram *program)
{
  for (guint i = 0; i < ss_program_n_ops (program); i++)
    {
      const SsOp *op = ss_program_op (program, i);

      if (op->op_class == SS_OP_ATTENTION)
        return op->variant == SS_KERNEL_CUDNN ? "cuDNN's"
               : op->variant == SS_KERNEL_FA3 ? "FlashAttention-3's"
                                              : NULL;
    }
  return NULL;
}

/* What of that kernel is not known, or NULL. */
static char *
attention_note (const SsProgram *program)
{
  const char *kernel = unrecorded_attention (program);

  if (kernel == NULL)
    return NULL;
  return g_strdup_printf ("attention: %s kernel, whose workspace is not known: its memory is "
                          "FlashAttention's", kernel);
}

/* What of the recipe follows no recording of PyTorch, or NULL. */
static char *
assumptions (const SsTraceConfig *config)
{
  GString *text = g_string_new (NULL);

  if (config->precision->is_assumed)
    g_string_append_printf (text, "precision %s follows no recording",
                            config->precision->name);
  if (config->has_resume)
    g_string_append_printf (text, "%sresume: the order of loading states follows no recording",
                            text->len > 0 ? "; " : "");
  /* the 13 recorded runs; tests/check-recordings.py holds the figure to what it measures */
  if (config->kernels.is_compiled)
    g_string_append_printf (text, "%scompiled: approximate, peaks of recorded phases differ by up "
                            "to 2.2 %%", text->len > 0 ? "; " : "");
  return g_string_free (text, text->len == 0);
}

/* Gone before the first allocation. */
static guint64
external_bytes (const SsScenario *scenario)
{
  return ss_size_add (ss_scenario_context_bytes (scenario),
                      ss_scenario_other_processes_bytes (scenario));
}

static SsAllocatorSettings
settings_of (const SsScenario *scenario)
{
  return (SsAllocatorSettings) {
    .capacity_bytes = ss_scenario_capacity_bytes (scenario),
    .external_bytes = external_bytes (scenario),
    .conf = ss_scenario_alloc_conf (scenario),
  };
}

/* A part of the memory may be all that the allocator is allowed. */
static guint64
usable_bytes (SsAllocatorSettings settings, guint64 device_bytes)
{
  SsAllocConf conf;
  guint64 limit_bytes;

  if (settings.capacity_bytes >= G_MAXINT64)
    settings.capacity_bytes = device_bytes;
  if (!ss_alloc_conf_parse (settings.conf, &conf, NULL)
      || !ss_alloc_conf_limit (&conf, &settings, &limit_bytes))
    return settings.capacity_bytes;
  return MIN (settings.capacity_bytes, ss_size_add (limit_bytes, settings.external_bytes));
}

static SsRecording *
record_question (const SsScenario *scenario, const SsProgram *program)
{
  const SsTraceConfig *config = ss_scenario_trace_config (scenario);
  const SsDevice *device = ss_scenario_device (scenario);
  SsRecording *recording = ss_recording_new ();

  recording->scenario_name = g_strdup (ss_scenario_name (scenario));
  recording->model_name = g_strdup (ss_scenario_model_name (scenario));
  recording->device_name = g_strdup (ss_device_name (device));
  recording->recipe = ss_recipe_text (config, program);
  recording->summary = describe (scenario, recording->recipe);
  recording->settings = ss_scenario_settings (scenario);
  recording->assumption = assumptions (config);
  recording->attention_note = attention_note (program);
  recording->n_parameters = ss_program_n_parameters (program);
  recording->n_trainable_parameters = ss_program_n_trainable_parameters (program);
  recording->capacity_bytes = ss_scenario_capacity_bytes (scenario);
  recording->device_capacity_bytes = ss_device_capacity_bytes (device);
  recording->usable_bytes = usable_bytes (settings_of (scenario), recording->device_capacity_bytes);
  recording->context_bytes = external_bytes (scenario);
  recording->other_processes_bytes = ss_scenario_other_processes_bytes (scenario);
  recording->allocator_asked = g_strdup (ss_scenario_allocator (scenario));
  recording->policy = g_strdup (config->checkpointing.policy->name);
  recording->n_layers = (guint) config->model.n_layers;
  recording->n_steps = config->n_steps;
  recording->peak_flop_per_s
      = ss_device_matmul_peak_flop_per_s (device, compute_dtype (config->precision));
  recording->tokens_per_step = (guint64) config->micro_batch * (guint64) config->sequence_length
                               * config->gradient_accumulation;
  recording->flop_convention = flop_convention;
  g_ptr_array_unref (recording->modules);
  recording->modules = ss_program_module_paths (program);
  return recording;
}


/* What was released when the exception was caught, from a trace of its own.  The failed request is
 * the last event. */
static void
unwind (const SsScenario *scenario, SsRecording *recording)
{
  const SsMemoryEvent *failed
    = &g_array_index (recording->memory, SsMemoryEvent, recording->memory->len - 1);
  g_autoptr (GArray) unwound
    = ss_trace_unwound (ss_scenario_trace_config (scenario),
                        ss_device_target (ss_scenario_device (scenario)), failed->storage_id);

  ss_account_unwind (recording, unwound);
}

/* The allocator that is asked for, told of the capacity; the program is still to come. */
static gboolean
prepare (SsRankSettings *rank, const SsScenario *scenario,
         const SsSimulateSettings *settings, GError **error)
{
  *rank = (SsRankSettings) {
    .device = settings->device != NULL ? settings->device : ss_scenario_device (scenario),
    .allocator = ss_allocator_class_find (ss_scenario_allocator (scenario), error),
    .empties_cache = ss_scenario_empties_cache (scenario),
    .settings = settings_of (scenario),
  };
  if (settings->capacity_bytes > 0)
    rank->settings.capacity_bytes = settings->capacity_bytes;
  return rank->allocator != NULL;
}

static SsRecording *
record (const SsScenario *scenario, const SsRankSettings *rank, GError **error)
{
  g_autoptr (SsRecording) recording = record_question (scenario, rank->program);
  g_autoptr (SsRun) run = ss_run_new ();
  SsRank *played;

  recording->capacity_bytes = rank->settings.capacity_bytes;
  recording->usable_bytes = usable_bytes (rank->settings, recording->device_capacity_bytes);
  recording->allocator_type = g_strdup (rank->allocator->name);
  played = ss_run_add (run, rank, recording, error);
  if (played == NULL)
    return NULL;
  ss_run_play (run);
  ss_account (recording, rank->program, ss_rank_marks (played),
              ss_scenario_trace_config (scenario)->gradient_accumulation);
  if (!recording->is_oom)
    recording->need_bytes = ss_recording_peak_bytes (recording);
  return g_steal_pointer (&recording);
}

/* What the run would take of a device without limit, and what any allocator would need. */
static void
note_need (SsRecording *recording, const SsRankSettings *rank)
{
  guint64 external_bytes = rank->settings.external_bytes;
  SsMemoryNeed need;

  if (!ss_replay_need (rank->program, rank->allocator, &rank->settings,
                       rank->empties_cache, &need, NULL))
    return;
  recording->need_bytes = ss_size_add (need.reserved_bytes, external_bytes);
  recording->least_bytes = ss_size_add (need.requested_bytes, external_bytes);
  recording->least_state_bytes = need.state_bytes;
}

/* `unwound`: found while the program was traced, or NULL. */
static SsRecording *
record_whole (const SsScenario *scenario, const SsRankSettings *rank, const GArray *unwound,
              GError **error)
{
  SsRecording *recording = record (scenario, rank, error);

  if (recording == NULL || !recording->is_oom)
    return recording;
  if (unwound != NULL)
    ss_account_unwind (recording, unwound);
  else
    unwind (scenario, recording);
  note_need (recording, rank);
  return recording;
}

static SsRecording *
record_verdict (const SsScenario *scenario, const SsRankSettings *rank, SsSimulateDetail detail,
                GError **error)
{
  SsMemoryVerdict verdict;
  SsRecording *recording;

  if (!ss_replay_memory (rank->program, rank->allocator, &rank->settings,
                         rank->empties_cache, &verdict, error))
    return NULL;
  if (verdict.fits && detail == SS_SIMULATE_OUTCOME)
    return record (scenario, rank, error);
  recording = record_question (scenario, rank->program);
  recording->capacity_bytes = rank->settings.capacity_bytes;
  recording->peak.allocated_bytes = verdict.peak_allocated_bytes;
  recording->peak_reserved_bytes = verdict.peak_reserved_bytes;
  recording->is_oom = !verdict.fits;
  if (verdict.fits)
    return recording;
  recording->oom.at.step = verdict.step;
  recording->oom.at.micro_batch = verdict.micro_batch;
  recording->oom.at.phase = ss_phase_name (verdict.phase);
  recording->oom.at.layer = verdict.layer;
  return recording;
}

/* ---- trace and run in one ---- */

/* A trace that is replayed without a clock while it is made: at the request that fails, what the
 * exception releases can be seen without tracing again. */
typedef struct
{
  SsMemoryReplay *memory;        /* NULL: it failed unseen */
  gboolean has_begun;
  guint64 alive_bytes, late_bytes;
} Watch;

/* Most runs that fit stay far below the device's memory: the replay begins, with all that was
 * before, when seven eighths of it are asked for.  That only saves time: a request that fails among
 * what was before has gone by, and the trace is made again. */
static gboolean
on_instruction (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  Watch *watch = user_data;
  guint next;

  if (i->type == SS_ALLOCATE)
    watch->alive_bytes += ss_program_storage (program, i->index)->bytes;
  else if (i->type == SS_RELEASE)
    watch->alive_bytes -= ss_program_storage (program, i->index)->bytes;
  watch->has_begun |= watch->alive_bytes >= watch->late_bytes;
  if (i->type != SS_ALLOCATE || !watch->has_begun || watch->memory == NULL)
    return TRUE;
  if (ss_memory_replay_go_on (watch->memory, program, &next))
    return TRUE;
  watch->memory = NULL;
  return next < ss_program_n_instructions (program);
}

/* *unwound: what the exception of a failed request releases, if there is one and it was seen. */
static SsProgram *
trace_watched (const SsScenario *scenario, const SsRankSettings *rank, GArray **unwound,
               GError **error)
{
  g_autoptr (SsMemoryReplay) memory
    = ss_memory_replay_new (rank->allocator, &rank->settings, rank->empties_cache, error);
  Watch watch = { .memory = memory, .late_bytes = rank->settings.capacity_bytes / 8 * 7 };

  if (memory == NULL)
    return NULL;
  return ss_trace_watched (ss_scenario_trace_config (scenario),
                           ss_device_target (ss_scenario_device (scenario)), on_instruction, &watch,
                           unwound, error);
}

/* ---- the one form ---- */

static SsRecording *
simulate (const SsScenario *scenario, const SsRankSettings *rank, SsSimulateDetail detail,
          const GArray *unwound, GError **error)
{
  switch (detail)
    {
    case SS_SIMULATE_WHOLE:
      return record_whole (scenario, rank, unwound, error);
    case SS_SIMULATE_FIGURES:
      return record (scenario, rank, error);
    case SS_SIMULATE_OUTCOME:
    case SS_SIMULATE_VERDICT:
      if (ss_program_needs_clock (rank->program))
        return record (scenario, rank, error);
      return record_verdict (scenario, rank, detail, error);
    }
  g_return_val_if_reached (NULL);
}

SsRecording *
ss_simulate (const SsScenario *scenario, const SsSimulateSettings *settings, GError **error)
{
  static const SsSimulateSettings whole = { .detail = SS_SIMULATE_WHOLE };
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (GArray) unwound = NULL;
  SsRecording *recording;
  SsRankSettings rank;

  g_return_val_if_fail (scenario != NULL, NULL);
  if (settings == NULL)
    settings = &whole;
  if (settings->traced != NULL)
    *settings->traced = NULL;
  if (!prepare (&rank, scenario, settings, error))
    return NULL;
  if (settings->program != NULL)
    program = ss_program_ref (settings->program);
  else if (settings->detail == SS_SIMULATE_WHOLE)
    program = trace_watched (scenario, &rank, &unwound, error);
  else
    program = ss_scenario_trace (scenario, FALSE, error);
  if (program == NULL)
    return NULL;
  rank.program = program;
  /* the trace was watched without a clock: another request may fail */
  if (ss_program_needs_clock (program))
    g_clear_pointer (&unwound, g_array_unref);
  recording = simulate (scenario, &rank, settings->detail, unwound, error);
  if (recording != NULL)
    recording->date = g_strdup (settings->date);
  if (recording != NULL && settings->traced != NULL)
    *settings->traced = g_steal_pointer (&program);
  return recording;
}
