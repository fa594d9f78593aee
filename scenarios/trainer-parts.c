/* SPDX-License-Identifier: MIT
 *
 * What settings mean together, in each trainer's own way.
 */
#include <string.h>

#include "scenarios/trainer-private.h"

#define RECIPE "precision/recipe"
#define ADAPTER "adapter/type"
#define TARGETS "adapter/targets"
#define CHECKPOINTING "checkpointing/policy"
#define CLIP "training/clip-grad-norm"

static gboolean
has_text (const SsTaking *self, const char *key, const char *text)
{
  const char *met = ss_taking_text (self, key);

  return met != NULL && g_ascii_strcasecmp (met, text) == 0;
}

/* bf16: true, and "auto" and "full", which Axolotl knows. */
static gboolean
is_on (const SsTaking *self, const char *key)
{
  const SsSetting *setting = ss_settings_file_find (self->file, key);

  return ss_taking_is (self, key)
         || (setting != NULL && self->kind == SS_TRAINER_AXOLOTL
             && (g_str_equal (setting->text, "auto") || g_str_equal (setting->text, "full")));
}

/* ---- precision ---- */

/* transformers loads fp32 unless told otherwise, and bf16 or fp16 mean autocast. */
static void
hugging_face_precision (SsTaking *self)
{
  static const char *const keys[]
    = { "torch_dtype", "dtype", "model_init_kwargs.torch_dtype", "model_init_kwargs.dtype" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (has_text (self, keys[i], "bfloat16"))
      {
        ss_taking_set (self, RECIPE, "bf16");
        return;
      }
    else if (has_text (self, keys[i], "float16"))
      {
        ss_taking_refuse (self, RECIPE, "fp16 weights under autocast are not simulated");
        return;
      }
  if (is_on (self, "bf16"))
    ss_taking_set (self, RECIPE, "bf16-amp");
  else if (is_on (self, "fp16"))
    ss_taking_set (self, RECIPE, "fp16-amp");
  else
    ss_taking_set_default (self, RECIPE, "fp32", "neither bf16 nor fp16: fp32");
}

/* axolotl utils/config normalize_config: the weights are loaded in the type that is trained in. */
static void
axolotl_precision (SsTaking *self)
{
  if (is_on (self, "bf16") || is_on (self, "bfloat16"))
    ss_taking_set (self, RECIPE, "bf16");
  else if (is_on (self, "fp16") || is_on (self, "float16"))
    ss_taking_refuse (self, RECIPE, "fp16 weights under autocast are not simulated");
  else
    ss_taking_set_default (self, RECIPE, "fp32", "neither bf16 nor fp16: fp32");
}

static gboolean
is_lora (const SsTaking *self)
{
  const char *type = ss_taking_text (self, "finetuning_type");

  return type == NULL || g_str_equal (type, "lora");
}

/* LLaMA-Factory model/adapter.py: trained parameters are cast to fp32 unless pure_bf16. */
static void
llama_factory_precision (SsTaking *self)
{
  gboolean has_lora = is_lora (self);

  if (ss_taking_is (self, "pure_bf16") || (is_on (self, "bf16") && has_lora))
    ss_taking_set (self, RECIPE, "bf16");
  else if (is_on (self, "bf16"))
    ss_taking_set (self, RECIPE, "bf16-amp");
  else if (is_on (self, "fp16") && has_lora)
    ss_taking_refuse (self, RECIPE, "an fp16 base under autocast is not simulated");
  else if (is_on (self, "fp16"))
    ss_taking_set (self, RECIPE, "fp16-amp");
  else
    ss_taking_set_default (self, RECIPE, "fp32", "neither bf16 nor fp16: fp32");
}

static void
torchtune_precision (SsTaking *self)
{
  if (ss_taking_text (self, "dtype") != NULL)
    ss_taking_set (self, RECIPE, ss_taking_text (self, "dtype"));
}

/* DeepSpeed keeps fp32 masters; without ZeRO its BF16_Optimizer sums gradients in fp32. */
static void
deepspeed_precision (SsTaking *self)
{
  const char *stage = ss_taking_text (self, "zero_optimization.stage");

  if (ss_taking_is (self, "bf16.enabled") || ss_taking_is (self, "bfloat16.enabled"))
    ss_taking_set (self, RECIPE, stage != NULL && !g_str_equal (stage, "0")
                                   ? "bf16-mixed" : "bf16-mixed-fp32-grads");
  else if (ss_taking_is (self, "fp16.enabled"))
    ss_taking_set (self, RECIPE, "fp16-mixed|fp16-master");
  else
    ss_taking_set_default (self, RECIPE, "fp32", "neither bf16 nor fp16: fp32");
}

/* ---- adapters ---- */

/* peft casts adapters beside 16-bit weights to fp32 (autocast_adapter_dtype). */
static void
set_lora (SsTaking *self, gboolean is_4bit, gboolean is_8bit)
{
  if (is_4bit && !ss_taking_set (self, ADAPTER, "qlora"))
    ss_taking_refuse (self, ADAPTER, "a 4-bit base is not simulated; its adapters are");
  if (is_8bit)
    ss_taking_refuse (self, ADAPTER, "an 8-bit base is not simulated; its adapters are");
  if (!is_4bit || !g_hash_table_contains (self->chosen, ADAPTER))
    {
      g_autofree char *why = g_strdup (g_hash_table_lookup (self->refused, ADAPTER));

      ss_taking_set (self, ADAPTER, "lora");
      if (why != NULL)
        ss_taking_refuse (self, ADAPTER, why);
    }
  ss_taking_set_default (self, "adapter/dtype", "fp32", "peft's adapters: fp32");
}

static void
axolotl_adapter (SsTaking *self)
{
  gboolean is_qlora = has_text (self, "adapter", "qlora");

  if (!is_qlora && !has_text (self, "adapter", "lora"))
    {
      if (ss_taking_text (self, "adapter") != NULL)
        ss_taking_set (self, ADAPTER, ss_taking_text (self, "adapter"));
      return;
    }
  set_lora (self, is_qlora || ss_taking_is (self, "load_in_4bit"),
            ss_taking_is (self, "load_in_8bit"));
  if (ss_taking_is (self, "lora_target_linear"))
    ss_taking_set (self, TARGETS, "all-linear");
}

static void
llama_factory_adapter (SsTaking *self)
{
  const char *bits = ss_taking_text (self, "quantization_bit"),
             *target = ss_taking_text (self, "lora_target");

  if (!is_lora (self))
    {
      if (has_text (self, "finetuning_type", "freeze"))
        ss_taking_refuse (self, ADAPTER, "training of some layers alone is not simulated");
      return;
    }
  set_lora (self, g_strcmp0 (bits, "4") == 0, g_strcmp0 (bits, "8") == 0);
  if (target == NULL || g_str_equal (target, "all"))
    {
      ss_taking_set_default (self, TARGETS, "all-linear", "lora_target all");
      return;
    }
  {
    g_autofree char *spaced = g_strdelimit (g_strdup (target), ",", ' ');

    ss_taking_set (self, TARGETS, spaced);
  }
}

static void
llama_factory_stage (SsTaking *self)
{
  const char *stage = ss_taking_text (self, "stage");

  if (stage != NULL && !g_str_equal (stage, "sft") && !g_str_equal (stage, "pt"))
    ss_taking_refuse (self, "stage", "an objective with other passes; simulated is sft");
}

/* "torchtune.models.llama3.lora_llama3_8b": a builder of the model, with adapters or without. */
static void
torchtune_model (SsTaking *self)
{
  const char *component = ss_taking_text (self, "model._component_");
  const char *builder = component != NULL ? strrchr (component, '.') : NULL;
  const char *modules = ss_taking_text (self, "model.lora_attn_modules");
  gboolean is_qlora;

  if (builder == NULL)
    return;
  builder++;
  is_qlora = g_str_has_prefix (builder, "qlora_");
  if (!is_qlora && !g_str_has_prefix (builder, "lora_"))
    {
      self->model = g_strdup (builder);
      return;
    }
  self->model = g_strdup (strchr (builder, '_') + 1);
  ss_taking_set_default (self, "adapter/dtype", "base", "its adapters have the base's type");
  set_lora (self, is_qlora, FALSE);
  if (modules != NULL)
    {
      g_autoptr (GString) names = g_string_new (modules);

      g_string_replace (names, "output_proj", "o_proj", 0);
      if (ss_taking_is (self, "model.apply_lora_to_mlp"))
        g_string_append (names, " gate_proj up_proj down_proj");
      ss_taking_set (self, TARGETS, names->str);
    }
}

/* ---- optimizer, checkpointing, clipping, loss ---- */

static void
set_optimizer (SsTaking *self, const char *name)
{
  const char *found = name != NULL ? ss_trainer_optimizer (name) : NULL;
  g_auto (GStrv) parts = found != NULL ? g_strsplit (found, " ", 2) : NULL;
  g_autofree char *why = NULL;

  if (name == NULL)
    return;
  if (found == NULL)
    {
      why = g_strdup_printf ("optimizer \"%s\" is not simulated", name);
      ss_taking_refuse (self, "optimizer/type", why);
    }
  else if (ss_taking_set (self, "optimizer/type", parts[0]) && parts[1] != NULL
           && !g_hash_table_contains (self->chosen, "optimizer/implementation"))
    ss_taking_set (self, "optimizer/implementation", parts[1]);
}

static void
compose_optimizer (SsTaking *self)
{
  const char *component = ss_taking_text (self, "optimizer._component_");
  const char *type = ss_taking_text (self, "optimizer.type");

  switch (self->kind)
    {
    case SS_TRAINER_HUGGING_FACE:
    case SS_TRAINER_LLAMA_FACTORY:
      set_optimizer (self, ss_taking_text (self, "optim"));
      break;
    case SS_TRAINER_AXOLOTL:
      set_optimizer (self, ss_taking_text (self, "optimizer"));
      break;
    case SS_TRAINER_TORCHTUNE:
      set_optimizer (self, component != NULL && strrchr (component, '.') != NULL
                             ? strrchr (component, '.') + 1 : component);
      break;
    case SS_TRAINER_DEEPSPEED:
      /* its Adam and AdamW are FusedAdam, which decouples weight decay by default */
      set_optimizer (self, type != NULL && g_ascii_strncasecmp (type, "adam", 4) == 0
                             ? "fusedadam" : type);
      break;
    case SS_N_TRAINERS:
      break;
    }
}

static void
compose_checkpointing (SsTaking *self)
{
  const char *key = self->kind == SS_TRAINER_TORCHTUNE ? "enable_activation_checkpointing"
                                                       : "gradient_checkpointing";
  const char *text = ss_taking_text (self, key);

  if (self->kind == SS_TRAINER_DEEPSPEED)
    return;
  if (self->kind == SS_TRAINER_LLAMA_FACTORY)
    {
      if (ss_taking_is (self, "disable_gradient_checkpointing"))
        ss_taking_set (self, CHECKPOINTING, "none");
      else
        {
          ss_taking_set_default (self, CHECKPOINTING, "full", "gradient checkpointing is on");
          ss_taking_set_default (self, "checkpointing/reentrant", "yes", "use_reentrant_gc true");
        }
    }
  else if (ss_taking_is (self, key))
    ss_taking_set (self, CHECKPOINTING, "full");
  else if (text != NULL && !g_str_equal (text, "false"))
    ss_taking_refuse (self, CHECKPOINTING, "activations on the host are not simulated");
}

/* Trainer clips at 1.0 unless told otherwise; 0 is no clipping. */
static void
compose_clip (SsTaking *self)
{
  static const char *const keys[SS_N_TRAINERS] = {
    [SS_TRAINER_HUGGING_FACE] = "max_grad_norm", [SS_TRAINER_AXOLOTL] = "max_grad_norm",
    [SS_TRAINER_LLAMA_FACTORY] = "max_grad_norm", [SS_TRAINER_TORCHTUNE] = "clip_grad_norm",
    [SS_TRAINER_DEEPSPEED] = "gradient_clipping",
  };
  const char *text = ss_taking_text (self, keys[self->kind]);

  if (text != NULL)
    ss_taking_set (self, CLIP, g_ascii_strtod (text, NULL) > 0 ? text : "none");
  else if (self->kind != SS_TRAINER_TORCHTUNE && self->kind != SS_TRAINER_DEEPSPEED)
    ss_taking_set_default (self, CLIP, "1.0", "max_grad_norm 1.0");
}

static void
torchtune_loss (SsTaking *self)
{
  const char *component = ss_taking_text (self, "loss._component_");

  if (component == NULL)
    return;
  if (g_str_has_suffix (component, ".CrossEntropyLoss"))
    ss_taking_set (self, "kernels/loss", "direct");
  else if (!ss_taking_set (self, "kernels/loss", "chunked"))
    ss_taking_refuse (self, "kernels/loss", "a loss by chunks is not simulated");
}

void
ss_taking_compose (SsTaking *self)
{
  static void (*const precisions[SS_N_TRAINERS]) (SsTaking *self) = {
    [SS_TRAINER_HUGGING_FACE] = hugging_face_precision, [SS_TRAINER_AXOLOTL] = axolotl_precision,
    [SS_TRAINER_LLAMA_FACTORY] = llama_factory_precision,
    [SS_TRAINER_TORCHTUNE] = torchtune_precision, [SS_TRAINER_DEEPSPEED] = deepspeed_precision,
  };
  const char *device = ss_taking_text (self, "zero_optimization.offload_optimizer.device");

  precisions[self->kind] (self);
  if (self->kind == SS_TRAINER_AXOLOTL)
    axolotl_adapter (self);
  if (self->kind == SS_TRAINER_LLAMA_FACTORY)
    {
      llama_factory_adapter (self);
      llama_factory_stage (self);
    }
  if (self->kind == SS_TRAINER_TORCHTUNE)
    {
      torchtune_model (self);
      torchtune_loss (self);
    }
  if (device != NULL && !g_str_equal (device, "none"))
    ss_taking_set (self, "optimizer/offload", "states");
  compose_optimizer (self);
  compose_checkpointing (self);
  compose_clip (self);
  if (ss_taking_text (self, "per_device_train_batch_size") == NULL
      && (self->kind == SS_TRAINER_HUGGING_FACE || self->kind == SS_TRAINER_LLAMA_FACTORY))
    ss_taking_set_default (self, "training/micro-batch", "8", "per_device_train_batch_size 8");
}
