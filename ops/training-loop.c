/* SPDX-License-Identifier: MIT
 *
 * The loop that is simulated:
 *
 * outputs = model (input_ids, labels); loss = outputs.loss; del outputs; loss /=
 * gradient_accumulation loss.backward (); ... clip; optimizer.step (); optimizer.zero_grad ()
 */
#include "ops/training-loop.h"

#include "ops/core/autograd.h"
#include "ops/kinds/pointwise.h"
#include "ops/optim/clip.h"
#include "ops/optim/grad-scaler.h"

typedef struct
{
  const SsTraceConfig *config;
  SsTape *tape;
  SsModelSetup setup;
  GArray *ranges;                /* SsLayerRange */
  SsModel *model;
  SsInput input;
  SsOptimizerRun optimizer;
  SsGradScaler scaler;
  SsValue *held[SS_MAX_HELD]; /* hold-outputs: what the name for them holds */
  SsValue *divided_loss;         /* hold-outputs: the other name, for a loss not the model's */
} Run;

/* ---- load ---- */

/* Its gradient is then not 1. */
static gboolean
loss_is_scaled (const Run *r)
{
  const SsPrecision *p = r->config->precision;

  return r->config->gradient_accumulation > 1 || p->has_scaler || p->widens_gradients;
}

static void
begin_input (Run *r)
{
  const SsTraceConfig *c = r->config;
  SsBatch like = {
    .n_sequences = c->micro_batch, .n_tokens = c->sequence_length,
    .is_scaled = loss_is_scaled (r), .outputs = c->holds_outputs ? r->held : NULL,
  };

  ss_input_init (&r->input, &c->input, r->tape, c->model.family, r->model, &like,
                 c->gradient_accumulation, c->gradient_accumulation * c->n_steps);
}

static void
make_optimizer (Run *r)
{
  const SsTraceConfig *c = r->config;
  g_autoptr (GPtrArray) linears = c->optimizer->takes ? g_ptr_array_new () : NULL;
  SsOptimizerSettings settings = {
    .klass = c->optimizer, .implementation = c->implementation, .grouping = c->grouping,
    .linears = linears,
  };

  for (guint i = 0; linears && i < r->model->linears->len; i++)
    {
      const SsLinear *l = r->model->linears->pdata[i];

      g_ptr_array_add (linears, l->weight);
      if (l->lora_a)
        {
          g_ptr_array_add (linears, l->lora_a);
          g_ptr_array_add (linears, l->lora_b);
        }
    }
  ss_optimizer_init (&r->optimizer, &settings, r->tape, r->model->parameters);
}

static void
load (Run *r)
{
  ss_tape_begin_phase (r->tape, SS_PHASE_LOAD, 0, 0);
  r->model = r->config->model.family->build (r->tape, &r->setup);
  if (r->config->adapter.prepares_kbit)
    r->setup.dtype = SS_F32;
  ss_tape_count_parameters (r->tape, r->model->parameters);
  make_optimizer (r);
  ss_tape_set_grad_enabled (r->tape, FALSE);
  if (r->config->precision->has_master)
    ss_optimizer_make_masters (&r->optimizer, r->config->precision->accumulates_f32);
  ss_optimizer_construct (&r->optimizer);
  if (r->config->has_resume)
    ss_optimizer_make_states (&r->optimizer);
  ss_tape_set_grad_enabled (r->tape, TRUE);
  begin_input (r);
}

/* ---- a micro-batch ---- */

static SsValue *
forward_and_loss (Run *r, guint step, guint micro_batch)
{
  SsTape *t = r->tape;
  const SsPrecision *p = r->config->precision;
  SsBatch *batch;
  g_autoptr (SsValue) loss = NULL;

  ss_tape_begin_phase (t, SS_PHASE_FORWARD, step, micro_batch);
  batch = ss_input_take (&r->input, micro_batch);
  if (p->autocast_dtype != SS_N_DTYPES)
    ss_autocast_begin (t, p->autocast_dtype);
  batch->step = step;
  loss = ss_keep (r->config->model.family->loss (t, r->model, batch));
  ss_autocast_end (t);
  if (r->config->gradient_accumulation > 1)
    {
      ss_rebind (&loss, ss_div_scalar (t, loss));
      /* loss = outputs.loss / n: the last micro-batch's is let go of now */
      if (r->config->holds_outputs)
        ss_rebind (&r->divided_loss, loss);
    }
  if (micro_batch == r->config->gradient_accumulation)
    ss_tape_mark (t, SS_MARK_SAVED, ss_saved_bytes (t, loss));
  return g_steal_pointer (&loss);
}

static void
micro_batch (Run *r, guint step, guint micro_batch)
{
  g_autoptr (SsValue) loss = forward_and_loss (r, step, micro_batch), scaled = NULL;

  ss_tape_begin_phase (r->tape, SS_PHASE_BACKWARD, step, micro_batch);
  if (r->config->precision->has_scaler)
    scaled = ss_grad_scaler_scale (&r->scaler, r->tape, loss);
  else if (r->config->precision->widens_gradients)
    scaled = ss_keep (ss_scale (r->tape, loss));
  ss_backward (r->tape, scaled ? scaled : loss, NULL);
  ss_drop (&scaled);
  ss_drop (&loss);
}

/* ---- a step ---- */

static void
clip (Run *r)
{
  g_autoptr (GPtrArray) gradients = ss_optimizer_gradients (&r->optimizer);

  ss_clip_grad_norm (r->tape, gradients);
}

/* Clipping comes before the scaler's step, and so works on scaled gradients; apex unscales before
 * it. */
static void
update (Run *r)
{
  if (r->config->precision->widens_gradients)
    ss_optimizer_widen_gradients (&r->optimizer);
  if (r->config->has_clip)
    clip (r);
  if (r->config->precision->has_scaler)
    ss_grad_scaler_step (&r->scaler, &r->optimizer);
  else
    ss_optimizer_step (&r->optimizer);
}

static void
run_step (Run *r, guint step)
{
  for (guint i = 1; i <= r->config->gradient_accumulation && !ss_tape_has_failed (r->tape); i++)
    micro_batch (r, step, i);
  if (ss_tape_has_failed (r->tape))
    return;
  ss_tape_begin_phase (r->tape, SS_PHASE_OPTIMIZER, step, 0);
  ss_tape_set_grad_enabled (r->tape, FALSE);
  ss_tape_set_optimizer (r->tape, TRUE);
  update (r);
  ss_tape_begin_phase (r->tape, SS_PHASE_ZERO_GRAD, step, 0);
  ss_optimizer_zero_grad (&r->optimizer, r->config->zeroes_in_place);
  ss_tape_set_optimizer (r->tape, FALSE);
  ss_tape_set_grad_enabled (r->tape, TRUE);
}

static void
tear_down (Run *r)
{
  ss_tape_finish (r->tape);
  for (guint i = 0; i < SS_MAX_HELD; i++)
    ss_drop (&r->held[i]);
  ss_drop (&r->divided_loss);
  ss_optimizer_clear (&r->optimizer);
  ss_grad_scaler_clear (&r->scaler);
  ss_input_clear (&r->input);
  r->config->model.family->destroy (r->model);
  g_array_unref (r->ranges);
}

static void
run_all (Run *r, const SsTraceConfig *config)
{
  r->config = config;
  r->ranges = ss_checkpointing_plan (&config->checkpointing, (guint) config->model.n_layers);
  r->setup = (SsModelSetup) {
    .config = &config->model,
    .kernels = config->kernels,
    .checkpointing = config->checkpointing,
    .ranges = r->ranges,
    .drops = ss_checkpointing_drops (&config->checkpointing),
    .dtype = config->precision->parameter_dtype,
    .compute_dtype = config->precision->parameter_dtype,
    .adapter = config->adapter.type ? &config->adapter : NULL,
  };
  load (r);
  for (guint step = 1; step <= config->n_steps && !ss_tape_has_failed (r->tape); step++)
    run_step (r, step);
}

SsProgram *
ss_trace (const SsTraceConfig *config, const SsTarget *target, gboolean keep_operands,
          GError **error)
{
  Run r = { .tape = ss_tape_new (target) };

  g_return_val_if_fail (config->n_steps > 0 && config->gradient_accumulation > 0, NULL);
  if (keep_operands)
    ss_tape_keep_operands (r.tape);
  run_all (&r, config);
  tear_down (&r);
  return ss_tape_seal (r.tape, error);
}

/* ---- a request that fails ---- */

SsProgram *
ss_trace_watched (const SsTraceConfig *config, const SsTarget *target, SsTraceWatch watch,
                  gpointer user_data, GArray **unwound, GError **error)
{
  Run r = { .tape = ss_tape_new (target) };

  g_return_val_if_fail (config->n_steps > 0 && config->gradient_accumulation > 0, NULL);
  ss_tape_watch (r.tape, watch, user_data);
  run_all (&r, config);
  tear_down (&r);
  *unwound = ss_tape_take_unwound (r.tape);
  return ss_tape_seal (r.tape, error);
}

static gboolean
is_no_failure (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *instruction,
               gpointer user_data)
{
  const guint32 *failing_id = user_data;

  return instruction->type != SS_ALLOCATE || instruction->index != *failing_id;
}

GArray *
ss_trace_unwound (const SsTraceConfig *config, const SsTarget *target, guint32 storage_id)
{
  Run r = { .tape = ss_tape_new (target) };
  GArray *unwound;

  ss_tape_watch (r.tape, is_no_failure, &storage_id);
  ss_tape_stop_where_unwound (r.tape);
  run_all (&r, config);
  unwound = ss_tape_take_unwound (r.tape);
  tear_down (&r);
  ss_tape_seal (r.tape, NULL);
  return unwound ? unwound : g_array_new (FALSE, FALSE, sizeof (guint32));
}
