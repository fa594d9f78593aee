/* SPDX-License-Identifier: MIT */
#include "sim/simulate.h"

#include "sim/account.h"
#include "sim/optimal-plan.h"
#include "sim/replay.h"

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

/* "2 of 32 layers, bf16, fused adamw, micro-batch 1 x 8192 tokens, 2 micro-batches a step, full
 * checkpointing, lora rank 8" */
static char *
describe (const SsScenario *scenario)
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
                          config->precision->name, ss_implementation_name (config->implementation),
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
  return g_string_free (text, text->len == 0);
}

/* Gone before the first allocation. */
static guint64
external_bytes (const SsScenario *scenario)
{
  return ss_size_add (ss_scenario_context_bytes (scenario),
                      ss_scenario_other_processes_bytes (scenario));
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
  recording->summary = describe (scenario);
  recording->assumption = assumptions (config);
  recording->n_parameters = ss_program_n_parameters (program);
  recording->n_trainable_parameters = ss_program_n_trainable_parameters (program);
  recording->capacity_bytes = ss_scenario_capacity_bytes (scenario);
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
  for (guint i = 0; i < ss_program_n_modules (program); i++)
    g_ptr_array_add (recording->modules, ss_program_module_path (program, i));
  return recording;
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

/* The scenario's own config, with the layers that policy="optimal" stands for: *plan holds them.
 * FALSE with an error. */
static gboolean
resolve (const SsScenario *scenario, SsTraceConfig *config, GArray **plan, GError **error)
{
  SsAllocatorSettings settings = settings_of (scenario);
  const SsAllocatorClass *klass;

  *config = *ss_scenario_trace_config (scenario);
  *plan = NULL;
  if (!g_str_equal (config->checkpointing.policy->name, "optimal"))
    return TRUE;
  klass = ss_allocator_class_find (ss_scenario_allocator (scenario), error);
  if (klass == NULL)
    return FALSE;
  *plan = ss_optimal_plan (config, ss_scenario_device (scenario), klass, &settings,
                           ss_scenario_empties_cache (scenario), error);
  if (*plan == NULL)
    return FALSE;
  config->checkpointing.ranges = (const SsLayerRange *) (*plan)->data;
  config->checkpointing.n_ranges = (*plan)->len;
  return TRUE;
}

SsProgram *
ss_simulate_trace (const SsScenario *scenario, gboolean keep_operands, GError **error)
{
  g_autoptr (GArray) plan = NULL;
  SsTraceConfig config;

  g_return_val_if_fail (scenario != NULL, NULL);
  if (!resolve (scenario, &config, &plan, error))
    return NULL;
  return ss_trace (&config, ss_device_target (ss_scenario_device (scenario)), keep_operands, error);
}

/* What was released when the exception was caught, from a trace of its own.  The failed request is
 * the last event. */
static void
unwind (const SsScenario *scenario, SsRecording *recording)
{
  const SsMemoryEvent *failed
    = &g_array_index (recording->memory, SsMemoryEvent, recording->memory->len - 1);
  g_autoptr (GArray) plan = NULL;
  g_autoptr (GArray) unwound = NULL;
  SsTraceConfig config;

  if (!resolve (scenario, &config, &plan, NULL))
    return;
  unwound = ss_trace_unwound (&config, ss_device_target (ss_scenario_device (scenario)),
                              failed->storage_id);
  ss_account_unwind (recording, unwound);
}

/* The allocator that is asked for, told of that capacity. */
static gboolean
prepare (SsReplay *replay, const SsScenario *scenario, const SsProgram *program,
         guint64 capacity_bytes, GError **error)
{
  *replay = (SsReplay) {
    .program = program,
    .device = ss_scenario_device (scenario),
    .allocator = ss_allocator_class_find (ss_scenario_allocator (scenario), error),
    .empties_cache = ss_scenario_empties_cache (scenario),
    .settings = settings_of (scenario),
  };
  replay->settings.capacity_bytes = capacity_bytes;
  return replay->allocator != NULL;
}

static SsRecording *
record (const SsScenario *scenario, const SsReplay *replay, GError **error)
{
  g_autoptr (SsRecording) recording = record_question (scenario, replay->program);
  g_autoptr (GArray) marks = NULL;

  recording->capacity_bytes = replay->settings.capacity_bytes;
  recording->allocator_type = g_strdup (replay->allocator->name);
  marks = ss_replay (replay, recording, error);
  if (marks == NULL)
    return NULL;
  ss_account (recording, replay->program, marks,
              ss_scenario_trace_config (scenario)->gradient_accumulation);
  return g_steal_pointer (&recording);
}

/* What any allocator would need. */
static void
note_least (SsRecording *recording, const SsReplay *replay)
{
  recording->least_bytes = ss_size_add (ss_replay_peak_requested_bytes (replay->program, FALSE),
                                        replay->settings.external_bytes);
  recording->least_state_bytes = ss_replay_peak_requested_bytes (replay->program, TRUE);
}

/* `unwound`: found while the program was traced, or NULL. */
static SsRecording *
record_whole (const SsScenario *scenario, const SsProgram *program, const GArray *unwound,
              GError **error)
{
  SsReplay replay;
  SsRecording *recording;

  if (!prepare (&replay, scenario, program, ss_scenario_capacity_bytes (scenario), error))
    return NULL;
  recording = record (scenario, &replay, error);
  if (recording == NULL)
    return NULL;
  if (!recording->is_oom)
    return recording;
  if (unwound != NULL)
    ss_account_unwind (recording, unwound);
  else
    unwind (scenario, recording);
  note_least (recording, &replay);
  return recording;
}

SsRecording *
ss_simulate_program (const SsScenario *scenario, const SsProgram *program, GError **error)
{
  return record_whole (scenario, program, NULL, error);
}

SsRecording *
ss_simulate_figures (const SsScenario *scenario, const SsProgram *program, guint64 capacity_bytes,
                     GError **error)
{
  SsReplay replay;

  if (!prepare (&replay, scenario, program, capacity_bytes, error))
    return NULL;
  return record (scenario, &replay, error);
}

gboolean
ss_simulate_memory (const SsScenario *scenario, const SsProgram *program, SsMemoryVerdict *verdict,
                    GError **error)
{
  SsReplay replay;

  if (!prepare (&replay, scenario, program, ss_scenario_capacity_bytes (scenario), error))
    return FALSE;
  return ss_replay_memory (program, replay.allocator, &replay.settings, replay.empties_cache,
                           verdict, error);
}

SsRecording *
ss_simulate_outcome (const SsScenario *scenario, const SsProgram *program, GError **error)
{
  guint64 capacity_bytes = ss_scenario_capacity_bytes (scenario);
  SsMemoryVerdict verdict;
  SsRecording *recording;

  if (!ss_simulate_memory (scenario, program, &verdict, error))
    return NULL;
  if (verdict.fits)
    return ss_simulate_figures (scenario, program, capacity_bytes, error);
  recording = record_question (scenario, program);
  recording->is_oom = TRUE;
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
  if (!watch->has_begun || watch->memory == NULL)
    return TRUE;
  if (ss_memory_replay_go_on (watch->memory, program, &next))
    return TRUE;
  watch->memory = NULL;
  return next < ss_program_n_instructions (program);
}

SsRecording *
ss_simulate_with_program (const SsScenario *scenario, SsProgram **program, GError **error)
{
  g_autoptr (GArray) plan = NULL, unwound = NULL;
  g_autoptr (SsMemoryReplay) memory = NULL;
  SsTraceConfig config;
  SsReplay replay;
  Watch watch = { .memory = NULL };

  g_return_val_if_fail (scenario != NULL, NULL);
  *program = NULL;
  if (!resolve (scenario, &config, &plan, error)
      || !prepare (&replay, scenario, NULL, ss_scenario_capacity_bytes (scenario), error))
    return NULL;
  memory = ss_memory_replay_new (replay.allocator, &replay.settings, replay.empties_cache, error);
  if (memory == NULL)
    return NULL;
  watch = (Watch) { .memory = memory, .late_bytes = replay.settings.capacity_bytes / 8 * 7 };
  *program = ss_trace_watched (&config, ss_device_target (ss_scenario_device (scenario)),
                               on_instruction, &watch, &unwound, error);
  return *program != NULL ? record_whole (scenario, *program, unwound, error) : NULL;
}

SsRecording *
ss_simulate (const SsScenario *scenario, GError **error)
{
  g_autoptr (SsProgram) program = NULL;

  return ss_simulate_with_program (scenario, &program, error);
}
