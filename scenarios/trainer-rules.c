/* SPDX-License-Identifier: MIT
 *
 * Names as the trainers' own sources have them: transformers training_args.py, axolotl
 * utils/schemas, LLaMA-Factory hparams, torchtune recipes/configs, DeepSpeed runtime/config.py.
 */
#include "scenarios/trainer-rules.h"

#include <string.h>

#define SET(key, path, words) { key, SS_RULE_SET, path, words, NULL }
#define PART(key, path) { key, SS_RULE_PART, path, NULL, NULL }
#define LEFT(key) { key, SS_RULE_LEFT, NULL, NULL, NULL }
#define LEFT_AS(key, why) { key, SS_RULE_LEFT, NULL, NULL, why }
#define MATTERS(key, why) { key, SS_RULE_MATTERS, NULL, NULL, why }

#define YES_NO "true=yes false=no"
#define ATTENTION                                                                                  \
  "flash_attention_2=sdpa-flash flash_attention=sdpa-flash sdpa=sdpa eager=eager"
#define SHARDS "sharding over devices; here one device holds all"
#define OWN_FILE "settings of their own: read that file with --from too"
#define PACKED "rows are simulated as one document of full length"

/* What transformers' Trainer reads, and with it all that is built on it. */
static const SsTrainerRule hugging_face[] = {
  SET ("per_device_train_batch_size", "training/micro-batch", NULL),
  SET ("gradient_accumulation_steps", "training/gradient-accumulation", NULL),
  SET ("max_length", "training/sequence-length", NULL),
  SET ("max_seq_length", "training/sequence-length", NULL),
  SET ("model_max_length", "training/sequence-length", NULL),
  PART ("max_grad_norm", "training/clip-grad-norm"),
  PART ("bf16", "precision/recipe"), PART ("fp16", "precision/recipe"),
  PART ("torch_dtype", "precision/recipe"), PART ("dtype", "precision/recipe"),
  PART ("model_init_kwargs.torch_dtype", "precision/recipe"),
  PART ("model_init_kwargs.dtype", "precision/recipe"),
  SET ("tf32", "precision/float32-matmul", "true=high false=highest"),
  PART ("optim", "optimizer/type"),
  PART ("gradient_checkpointing", "checkpointing/policy"),
  SET ("gradient_checkpointing_kwargs.use_reentrant", "checkpointing/reentrant", YES_NO),
  SET ("attn_implementation", "kernels/attention", ATTENTION),
  SET ("model_init_kwargs.attn_implementation", "kernels/attention", ATTENTION),
  SET ("use_liger_kernel", "kernels/profile", "true=liger false="),
  SET ("torch_compile", "kernels/profile", "true=compiled false="),
  SET ("torch_empty_cache_steps", "allocator/empty-cache", "1=step"),
  PART ("model_name_or_path", "model/href"), PART ("base_model", "model/href"),
  MATTERS ("auto_find_batch_size", "the batch is halved until one fits"),
  MATTERS ("deepspeed", OWN_FILE), MATTERS ("fsdp*", SHARDS),
  MATTERS ("optim_target_modules", "a low-rank optimizer"),
  MATTERS ("neftune_noise_alpha", "noise of the embeddings' size"),
  MATTERS ("liger_kernel_config*", "which of Liger's kernels run; set kernels/... yourself"),
  LEFT_AS ("packing*", PACKED),
  LEFT ("output_dir"), LEFT ("learning_rate"), LEFT ("lr_*"), LEFT ("warmup*"),
  LEFT ("weight_decay"), LEFT ("adam_*"), LEFT ("num_train_epochs"), LEFT ("max_steps"),
  LEFT ("logging_*"), LEFT ("log_*"), LEFT ("save_*"), LEFT ("eval*"), LEFT ("do_*"),
  LEFT ("per_device_eval_batch_size"), LEFT ("seed"), LEFT ("data_seed"), LEFT ("report_to"),
  LEFT ("run_name"), LEFT ("dataloader_*"), LEFT ("dataset*"), LEFT ("remove_unused_columns"),
  LEFT ("push_to_hub*"), LEFT ("hub_*"), LEFT ("load_best_model_at_end"), LEFT ("metric_*"),
  LEFT ("greater_is_better"), LEFT ("ddp_*"), LEFT ("overwrite_*"), LEFT ("disable_tqdm"),
  LEFT ("resume_from_checkpoint"), LEFT ("include_*"), LEFT ("label_*"), LEFT ("prediction_*"),
  LEFT ("bf16_full_eval"), LEFT ("fp16_full_eval"), LEFT ("group_by_length"),
  LEFT ("trust_remote_code"), LEFT ("optim_args"), LEFT ("early_stopping*"),
  { NULL, SS_RULE_LEFT, NULL, NULL, NULL },
};

static const SsTrainerRule axolotl[] = {
  SET ("micro_batch_size", "training/micro-batch", NULL),
  SET ("sequence_len", "training/sequence-length", NULL),
  PART ("bfloat16", "precision/recipe"), PART ("float16", "precision/recipe"),
  PART ("adapter", "adapter/type"), SET ("lora_r", "adapter/rank", NULL),
  SET ("lora_dropout", "adapter/dropout", NULL),
  SET ("lora_target_modules", "adapter/targets", NULL),
  PART ("lora_target_linear", "adapter/targets"),
  PART ("load_in_8bit", "adapter/type"), PART ("load_in_4bit", "adapter/type"),
  PART ("optimizer", "optimizer/type"),
  SET ("flash_attention", "kernels/attention", "true=sdpa-flash false="),
  SET ("sdp_attention", "kernels/attention", "true=sdpa false="),
  SET ("xformers_attention", "kernels/attention", "true=sdpa-efficient false="),
  SET ("eager_attention", "kernels/attention", "true=eager false="),
  SET ("liger_rope", "kernels/rope", "true=liger false="),
  SET ("liger_rms_norm", "kernels/norm", "true=liger false="),
  SET ("liger_glu_activation", "kernels/mlp", "true=liger false="),
  SET ("liger_swiglu", "kernels/mlp", "true=liger false="),
  SET ("liger_cross_entropy", "kernels/loss", "true=liger false="),
  SET ("liger_fused_linear_cross_entropy", "kernels/loss", "true=fused-linear false="),
  SET ("cut_cross_entropy", "kernels/loss", "true=cut false="),
  SET ("chunked_cross_entropy", "kernels/loss", "true=chunked false="),
  MATTERS ("unfrozen_parameters", "which parameters are trained"),
  MATTERS ("lora_modules_to_save", "whole modules that are trained beside the adapters"),
  MATTERS ("lora_mlp_kernel", "Axolotl's own fused LoRA kernels"),
  MATTERS ("lora_qkv_kernel", "Axolotl's own fused LoRA kernels"),
  MATTERS ("lora_o_kernel", "Axolotl's own fused LoRA kernels"),
  MATTERS ("peft_use_dora", "DoRA"), MATTERS ("lora_on_cpu", "adapters on the host"),
  MATTERS ("relora*", "ReLoRA"), MATTERS ("rl", "an objective with other passes"),
  MATTERS ("loraplus_lr_embedding", "another optimizer's groups"),
  LEFT_AS ("sample_packing*", PACKED), LEFT_AS ("multipack*", PACKED),
  LEFT ("pad_to_sequence_len"), LEFT ("lora_alpha"), LEFT ("lora_fan_in_fan_out"),
  LEFT ("lora_model_dir"), LEFT ("peft_use_rslora"), LEFT ("loraplus_lr_ratio"),
  LEFT ("plugins"), LEFT ("datasets"), LEFT ("test_datasets"), LEFT ("pretraining_dataset"),
  LEFT ("shuffle_merged_datasets"), LEFT ("val_set_size"), LEFT ("wandb_*"), LEFT ("mlflow_*"),
  LEFT ("comet_*"), LEFT ("special_tokens*"), LEFT ("tokens"), LEFT ("added_tokens*"),
  LEFT ("num_epochs"), LEFT ("train_on_inputs"), LEFT ("model_type"), LEFT ("tokenizer_*"),
  LEFT ("processor_*"), LEFT ("base_model_*"), LEFT ("chat_template*"), LEFT ("strict"),
  LEFT ("saves_per_epoch"), LEFT ("evals_per_epoch"), LEFT ("debug"), LEFT ("local_rank"),
  LEFT ("is_*"), LEFT ("hf_use_auth_token"), LEFT ("cosine_*"), LEFT ("loss_watchdog_*"),
  LEFT ("resize_token_embeddings_to_32x"), LEFT ("revision_of_model"), LEFT ("skip_*"),
  LEFT ("eval_*"), LEFT ("auto_resume_from_checkpoints"), LEFT ("flash_attn_*"),
  { NULL, SS_RULE_LEFT, NULL, NULL, NULL },
};

static const SsTrainerRule llama_factory[] = {
  SET ("cutoff_len", "training/sequence-length", NULL),
  PART ("finetuning_type", "adapter/type"), SET ("lora_rank", "adapter/rank", NULL),
  SET ("lora_dropout", "adapter/dropout", NULL), PART ("lora_target", "adapter/targets"),
  PART ("quantization_bit", "adapter/type"), PART ("pure_bf16", "precision/recipe"),
  PART ("disable_gradient_checkpointing", "checkpointing/policy"),
  SET ("use_reentrant_gc", "checkpointing/reentrant", YES_NO),
  SET ("flash_attn", "kernels/attention",
       "fa2=sdpa-flash sdpa=sdpa disabled=eager false=eager auto="),
  SET ("enable_liger_kernel", "kernels/profile", "true=liger false="),
  MATTERS ("additional_target", "whole modules that are trained beside the adapters"),
  MATTERS ("freeze_*", "which parameters are trained"), MATTERS ("use_dora", "DoRA"),
  MATTERS ("upcast_layernorm", "norms in fp32"), MATTERS ("upcast_lmhead_output", "logits in fp32"),
  MATTERS ("use_unsloth*", "Unsloth's own kernels"), MATTERS ("use_galore", "GaLore"),
  MATTERS ("use_apollo", "APOLLO"), MATTERS ("use_badam", "BAdam"),
  MATTERS ("ref_model*", "a second model"), MATTERS ("reward_model*", "a second model"),
  PART ("stage", "stage"),
  LEFT_AS ("neat_packing", PACKED),
  LEFT ("lora_alpha"), LEFT ("use_rslora"), LEFT ("loraplus_*"), LEFT ("pref_*"),
  LEFT ("template"), LEFT ("max_samples"), LEFT ("preprocessing_*"), LEFT ("plot_loss"),
  LEFT ("val_size"), LEFT ("image_*"), LEFT ("video_*"), LEFT ("cache_dir"), LEFT ("mix_strategy"),
  LEFT ("ray_*"), LEFT ("mask_history"), LEFT ("train_on_prompt"), LEFT ("tokenized_path"),
  LEFT ("use_swanlab"), LEFT ("swanlab_*"), LEFT ("streaming"), LEFT ("quantization_*"),
  { NULL, SS_RULE_LEFT, NULL, NULL, NULL },
};

static const SsTrainerRule torchtune[] = {
  SET ("batch_size", "training/micro-batch", NULL),
  SET ("gradient_accumulation_steps", "training/gradient-accumulation", NULL),
  SET ("tokenizer.max_seq_len", "training/sequence-length", NULL),
  PART ("clip_grad_norm", "training/clip-grad-norm"), PART ("dtype", "precision/recipe"),
  PART ("optimizer._component_", "optimizer/type"),
  SET ("optimizer.fused", "optimizer/implementation", "true=fused false="),
  SET ("optimizer_in_bwd", "optimizer/in-backward", YES_NO),
  PART ("enable_activation_checkpointing", "checkpointing/policy"),
  PART ("model._component_", "model/href"), SET ("model.lora_rank", "adapter/rank", NULL),
  SET ("model.lora_dropout", "adapter/dropout", NULL),
  PART ("model.lora_attn_modules", "adapter/targets"),
  PART ("model.apply_lora_to_mlp", "adapter/targets"),
  PART ("loss._component_", "kernels/loss"),
  MATTERS ("model.apply_lora_to_output", "LoRA on the head"),
  MATTERS ("model.quantize_base", "a 4-bit base"), MATTERS ("model.use_dora", "DoRA"),
  MATTERS ("enable_activation_offloading", "activations on the host"),
  MATTERS ("compile", "torch.compile layer by layer"),
  MATTERS ("tensor_parallel_*", SHARDS), MATTERS ("custom_sharded_layers", SHARDS),
  MATTERS ("fsdp_*", SHARDS),
  LEFT_AS ("dataset.packed", PACKED),
  LEFT ("model.lora_alpha"), LEFT ("optimizer.*"), LEFT ("loss.*"), LEFT ("lr_scheduler*"),
  LEFT ("tokenizer.*"), LEFT ("checkpointer.*"), LEFT ("dataset*"), LEFT ("output_dir"),
  LEFT ("seed"), LEFT ("shuffle"), LEFT ("epochs"), LEFT ("max_steps_per_epoch"),
  LEFT ("resume_from_checkpoint"), LEFT ("save_adapter_weights_only"), LEFT ("device"),
  LEFT ("metric_logger.*"), LEFT ("log_*"), LEFT ("profiler.*"), LEFT ("run_val_every_n_steps"),
  { NULL, SS_RULE_LEFT, NULL, NULL, NULL },
};

static const SsTrainerRule deepspeed[] = {
  SET ("train_micro_batch_size_per_gpu", "training/micro-batch", NULL),
  SET ("gradient_accumulation_steps", "training/gradient-accumulation", NULL),
  PART ("gradient_clipping", "training/clip-grad-norm"),
  PART ("bf16.enabled", "precision/recipe"), PART ("bfloat16.enabled", "precision/recipe"),
  PART ("fp16.enabled", "precision/recipe"), PART ("optimizer.type", "optimizer/type"),
  PART ("zero_optimization.stage", "precision/recipe"),
  PART ("zero_optimization.offload_optimizer.device", "optimizer/offload"),
  MATTERS ("zero_optimization.offload_param.device", "parameters on the host"),
  LEFT ("zero_optimization.offload_*"),
  LEFT_AS ("train_batch_size", "it follows from the micro-batch, its accumulation and the devices"),
  MATTERS ("zero_optimization.*", "DeepSpeed's own buckets"),
  LEFT ("optimizer.*"), LEFT ("scheduler.*"), LEFT ("fp16.*"), LEFT ("bf16.*"),
  LEFT_AS ("activation_checkpointing.*", "the model's own code turns checkpointing on"),
  LEFT ("steps_per_print"), LEFT ("wall_clock_breakdown"), LEFT ("flops_profiler*"),
  LEFT ("communication_*"), LEFT ("prescale_gradients"), LEFT ("gradient_predivide_factor"),
  LEFT ("zero_allow_untested_optimizer"), LEFT ("dump_state"), LEFT ("tensorboard*"),
  LEFT ("wandb*"), LEFT ("csv_monitor*"), LEFT ("comms_logger*"),
  LEFT ("zero_force_ds_cpu_optimizer"),
  { NULL, SS_RULE_LEFT, NULL, NULL, NULL },
};

/* trainer's name: the optimizer here, then whose code runs or how.  transformers
 * trainer.py get_optimizer_cls_and_kwargs; bare classes of torch run foreach on CUDA. */
static const char *const optimizers[][2] = {
  { "adamw_torch", "adamw foreach" }, { "adamw_torch_fused", "adamw fused" },
  { "adamw_hf", "adamw for-loop" }, { "adamw", "adamw foreach" }, { "adam", "adam foreach" },
  { "fusedadam", "adamw fused" }, { "sgd", "sgd foreach" }, { "adagrad", "adagrad foreach" },
  { "rmsprop", "rmsprop foreach" }, { "nadam", "nadam foreach" },
  { "adafactor", "adafactor transformers" }, { "adamw_8bit", "adamw-8bit bitsandbytes" },
  { "adamw_bnb_8bit", "adamw-8bit bitsandbytes" }, { "adamw8bit", "adamw-8bit bitsandbytes" },
  { "paged_adamw_8bit", "paged-adamw-8bit bitsandbytes" },
  { "pagedadamw8bit", "paged-adamw-8bit bitsandbytes" },
  { "paged_adamw_32bit", "paged-adamw bitsandbytes" },
  { "pagedadamw", "paged-adamw bitsandbytes" }, { "adamw_torch_8bit", "adamw-8bit torchao" },
  { "adamw_torch_4bit", "adamw-4bit torchao" }, { "lion_32bit", "lion bitsandbytes" },
  { "lion", "lion bitsandbytes" }, { "lion_8bit", "lion-8bit bitsandbytes" },
  { "paged_lion_32bit", "paged-lion bitsandbytes" },
  { "paged_lion_8bit", "paged-lion-8bit bitsandbytes" },
  { "ademamix", "ademamix bitsandbytes" }, { "ademamix_8bit", "ademamix-8bit bitsandbytes" },
  { "paged_ademamix_32bit", "paged-ademamix bitsandbytes" },
  { "paged_ademamix_8bit", "paged-ademamix-8bit bitsandbytes" }, { "muon", "muon for-loop" },
};

const char *
ss_trainer_kind_name (SsTrainerKind kind)
{
  static const char *const names[SS_N_TRAINERS] = {
    [SS_TRAINER_HUGGING_FACE] = "Hugging Face TrainingArguments",
    [SS_TRAINER_AXOLOTL] = "Axolotl", [SS_TRAINER_LLAMA_FACTORY] = "LLaMA-Factory",
    [SS_TRAINER_TORCHTUNE] = "torchtune", [SS_TRAINER_DEEPSPEED] = "DeepSpeed",
  };

  return names[kind];
}

static gboolean
is_of (const SsTrainerRule *rule, const char *key)
{
  gsize n = strlen (rule->key);

  return rule->key[n - 1] == '*' ? strncmp (rule->key, key, n - 1) == 0
                                 : strcmp (rule->key, key) == 0;
}

static const SsTrainerRule *
find_in (const SsTrainerRule *rules, const char *key)
{
  for (; rules->key != NULL; rules++)
    if (is_of (rules, key))
      return rules;
  return NULL;
}

const SsTrainerRule *
ss_trainer_rule_find (SsTrainerKind kind, const char *key)
{
  static const SsTrainerRule *const own[SS_N_TRAINERS] = {
    [SS_TRAINER_AXOLOTL] = axolotl, [SS_TRAINER_LLAMA_FACTORY] = llama_factory,
    [SS_TRAINER_TORCHTUNE] = torchtune, [SS_TRAINER_DEEPSPEED] = deepspeed,
  };
  const SsTrainerRule *rule = own[kind] != NULL ? find_in (own[kind], key) : NULL;

  if (rule != NULL || kind == SS_TRAINER_TORCHTUNE || kind == SS_TRAINER_DEEPSPEED)
    return rule;
  return find_in (hugging_face, key);
}

const char *
ss_trainer_optimizer (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (optimizers); i++)
    if (g_ascii_strcasecmp (optimizers[i][0], name) == 0)
      return optimizers[i][1];
  return NULL;
}
