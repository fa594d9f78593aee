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
#include "ops/nn/linear.h"
#include "ops/nn/losses.h"
#include "ops/optim/clip.h"
#include "ops/optim/grad-scaler.h"
#include "ops/core/tape-private.h"

typedef struct
{
  const SsTraceConfig *config;
  SsTape *tape;
  SsModelSetup setup;
  GArray *ranges;                /* SsLayerRange */
  SsModel *model;
  GPtrArray *ids;                /* SsValue: one (B, S) per micro-batch of a step */
  SsOptimizerRun optimizer;
  SsGradScaler scaler;
  SsValue *held_logits, *held_loss;   /* hold-outputs */
} Run;

/* ---- load ---- */

static void
count_parameters (Run *r)
{
  SsProgram *p = r->tape->program;

  for (guint i = 0; i < r->model->parameters->len; i++)
    {
      const SsValue *v = r->model->parameters->pdata[i];
      guint64 n = ss_tensor_count (&v->tensor);

      p->n_parameters = ss_size_add (p->n_parameters, n);
      if (v->leaf)
        p->n_trainable_parameters = ss_size_add (p->n_trainable_parameters, n);
    }
}

static void
make_ids (Run *r)
{
  const SsTraceConfig *c = r->config;

  r->ids = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_value_unref);
  for (guint i = 0; i < c->gradient_accumulation; i++)
    {
      SsValue *ids
        = ss_keep (ss_empty_sizes (r->tape, SS_I64, SS_DIMS (c->micro_batch, c->sequence_length)));

      ss_value_claim (ids, SS_CATEGORY_ACTIVATIONS);
      g_ptr_array_add (r->ids, ids);
    }
}

static void
load (Run *r)
{
  ss_tape_begin_phase (r->tape, SS_PHASE_LOAD, 0, 0);
  r->model = r->config->model.family->build (r->tape, &r->setup);
  count_parameters (r);
  ss_optimizer_init (&r->optimizer, r->config->optimizer, r->config->implementation, r->tape,
                     r->model->parameters);
  ss_tape_set_grad_enabled (r->tape, FALSE);
  if (r->config->precision->has_master)
    ss_optimizer_make_masters (&r->optimizer, r->config->precision->accumulates_f32);
  ss_optimizer_construct (&r->optimizer);
  if (r->config->has_resume)
    ss_optimizer_make_states (&r->optimizer);
  ss_tape_set_grad_enabled (r->tape, TRUE);
  make_ids (r);
}

/* ---- a micro-batch ---- */

static SsValue *
head (Run *r, SsValue *hidden)
{
  SS_MODULE (r->tape, "lm_head");
  SsValue *bias, *weight = r->config->model.family->head (r->model, &bias);
  SsValue *logits = ss_keep (ss_linear_weight (r->tape, hidden, weight, bias));

  ss_value_claim (logits, SS_CATEGORY_LOGITS);
  return logits;
}

/* Its gradient is then not 1. */
static gboolean
loss_is_scaled (const Run *r)
{
  return r->config->gradient_accumulation > 1 || r->config->precision->has_scaler;
}

/* ForCausalLM.forward: hidden states live by name until it returns; the direct loss is called
 * after that, and the held output is bound before it. */
static SsValue *
loss_of_logits (Run *r, SsValue *hidden_arg, SsValue *ids, guint step, guint micro_batch)
{
  SsTape *t = r->tape;
  SsLossChoice choice = r->setup.kernels.loss;
  g_autoptr (SsValue) hidden = ss_keep (hidden_arg);
  g_autoptr (SsValue) logits = head (r, hidden);
  g_autoptr (SsValue) loss = NULL;

  if (choice == SS_LOSS_DIRECT)
    {
      ss_drop (&hidden);
      if (r->config->holds_outputs)
        ss_rebind (&r->held_logits, logits);
    }
  ss_tape_begin_phase (t, SS_PHASE_LOSS, step, micro_batch);
  loss = ss_keep (ss_causal_loss (t, choice, logits, ids, loss_is_scaled (r)));
  ss_drop (&hidden);
  if (r->config->holds_outputs)
    {
      ss_rebind (&r->held_logits, logits);
      ss_rebind (&r->held_loss, loss);
    }
  return ss_give (&loss);
}

/* The loss that takes the hidden states and the head's weight: there are no logits to hold. */
static SsValue *
loss_of_hidden (Run *r, SsValue *hidden_arg, SsValue *ids, guint step, guint micro_batch)
{
  g_autoptr (SsValue) hidden = ss_keep (hidden_arg);
  g_autoptr (SsValue) loss = NULL;
  SsValue *bias, *weight = r->config->model.family->head (r->model, &bias);

  if (bias)
    ss_tape_fail (r->tape, SS_OPS_ERROR_UNSUPPORTED,
                  "loss=\"fused-linear\" knows heads without a bias only");
  ss_tape_begin_phase (r->tape, SS_PHASE_LOSS, step, micro_batch);
  loss = ss_keep (ss_fused_linear_loss (r->tape, hidden, weight, ids, loss_is_scaled (r)));
  if (r->config->holds_outputs)
    ss_rebind (&r->held_loss, loss);
  return ss_give (&loss);
}

/* torch.compile (model): forward and loss as one graph. */
static SsValue *
loss_compiled (Run *r, SsValue *ids)
{
  const SsModelFamily *family = r->config->model.family;
  g_autoptr (SsValue) logits = NULL;
  g_autoptr (SsValue) loss = ss_keep (family->compiled (r->tape, r->model, ids, &logits));

  if (r->config->holds_outputs && logits)
    {
      ss_rebind (&r->held_logits, logits);
      ss_rebind (&r->held_loss, loss);
    }
  return ss_give (&loss);
}

static SsValue *
loss_eager (Run *r, SsValue *ids, guint step, guint micro_batch)
{
  SsValue *hidden = r->config->model.family->hidden (r->tape, r->model, ids);

  return r->setup.kernels.loss == SS_LOSS_FUSED_LINEAR
           ? loss_of_hidden (r, hidden, ids, step, micro_batch)
           : loss_of_logits (r, hidden, ids, step, micro_batch);
}

static SsValue *
forward_and_loss (Run *r, guint step, guint micro_batch)
{
  SsTape *t = r->tape;
  const SsPrecision *p = r->config->precision;
  SsValue *ids = r->ids->pdata[micro_batch - 1];
  g_autoptr (SsValue) loss = NULL;

  ss_tape_begin_phase (t, SS_PHASE_FORWARD, step, micro_batch);
  if (p->autocast_dtype != SS_N_DTYPES)
    ss_autocast_begin (t, p->autocast_dtype);
  loss = ss_keep (r->setup.kernels.is_compiled ? loss_compiled (r, ids)
                                               : loss_eager (r, ids, step, micro_batch));
  ss_autocast_end (t);
  if (r->config->gradient_accumulation > 1)
    ss_rebind (&loss, ss_div_scalar (t, loss));
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

/* Clipping comes before the scaler's step, and so works on scaled gradients. */
static void
update (Run *r)
{
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
  ss_drop (&r->held_logits);
  ss_drop (&r->held_loss);
  ss_optimizer_clear (&r->optimizer);
  ss_grad_scaler_clear (&r->scaler);
  g_ptr_array_unref (r->ids);
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
    .adapter = config->adapter.type ? &config->adapter : NULL,
  };
  if (config->kernels.is_compiled && !config->model.family->compiled)
    ss_tape_fail (r->tape, SS_OPS_ERROR_UNSUPPORTED, "profile=\"compiled\" has no rules for %s",
                  config->model.model_type);
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
  r.tape->watch = watch;
  r.tape->watch_data = user_data;
  run_all (&r, config);
  tear_down (&r);
  *unwound = g_steal_pointer (&r.tape->unwound);
  return ss_tape_seal (r.tape, error);
}

static gboolean
is_no_failure (const SsProgram *program G_GNUC_UNUSED, SsInstructionType type, guint32 index,
               gpointer user_data)
{
  const guint32 *failing_id = user_data;

  return type != SS_ALLOCATE || index != *failing_id;
}

GArray *
ss_trace_unwound (const SsTraceConfig *config, const SsTarget *target, guint32 storage_id)
{
  Run r = { .tape = ss_tape_new (target) };
  GArray *unwound;

  r.tape->watch = is_no_failure;
  r.tape->watch_data = &storage_id;
  r.tape->stops_unwound = TRUE;
  run_all (&r, config);
  unwound = g_steal_pointer (&r.tape->unwound);
  tear_down (&r);
  ss_tape_seal (r.tape, NULL);
  return unwound ? unwound : g_array_new (FALSE, FALSE, sizeof (guint32));
}
