/* SPDX-License-Identifier: MIT */
#include "scenarios/attribute.h"

#include "scenarios/attribute-value.h"
#include "scenarios/scenario-private.h"

#define AT(member) .offset = G_STRUCT_OFFSET (SsScenario, member)

static const SsElement elements[] = {
  { "scenario", SS_ELEMENT_REQUIRED, "the question: one model, one device, one training recipe" },
  { "model", SS_ELEMENT_REQUIRED, "the model that is trained" },
  { "hardware", SS_ELEMENT_REQUIRED, "the device it is trained on" },
  { "training", SS_ELEMENT_DEFAULTED, "the training loop" },
  { "input", SS_ELEMENT_OPTIONAL,
    "batches come from host memory; without it all of a step are on the device" },
  { "precision", SS_ELEMENT_DEFAULTED, "types of parameters, gradients and states" },
  { "optimizer", SS_ELEMENT_DEFAULTED, "the update" },
  { "checkpointing", SS_ELEMENT_DEFAULTED,
    "which layers forget their activations and compute them again" },
  { "kernels", SS_ELEMENT_DEFAULTED, "which implementation of each building block runs" },
  { "adapter", SS_ELEMENT_OPTIONAL, "trains small matrices beside frozen weights" },
  { "allocator", SS_ELEMENT_DEFAULTED, "who answers the requests for memory" },
};

/* Values and defaults as DESIGN section 7 lists them; limits keep a run's program in memory. */
static const SsAttribute attributes[] = {
  { "scenario", "name", .otherwise = "the file's name", .kind = &ss_value_text, .min = 1,
    .max = 200, AT (name), .accepts = "text",
    .meaning = "what JSON, traces, snapshots, sweeps and comparisons call the run" },

  { "model", "href", .kind = &ss_value_text, .min = 1, .max = 4096, AT (model_href),
    .accepts = "path to a model file (.xml) or a Hugging Face config (.json)",
    .meaning = "the model's numbers; beside the scenario file, else a shipped one" },
  { "model", "layers", .otherwise = "all", .kind = &ss_value_layers, .min = 1, .max = G_MAXINT32,
    AT (n_layers_kept), .meaning = "cuts the stack to its first layers" },

  { "hardware", "device", .otherwise = "given by href", .kind = &ss_value_device, .min = 1,
    .max = 200, AT (device_name), .accepts = "a name of hw/devices",
    .meaning = "a device that comes with stepsim, or a file of one's own data folder" },
  { "hardware", "href", .otherwise = "given by device", .kind = &ss_value_text, .min = 1,
    .max = 4096, AT (device_href), .accepts = "path to a device file (.xml)",
    .meaning = "a device of one's own; relative to the scenario file" },
  { "hardware", "capacity", .otherwise = "the device's", .kind = &ss_value_capacity,
    .accepts = "size with its unit (B, KiB ... TiB, kB ... TB), or unlimited",
    .meaning = "what the framework calls total memory" },
  { "hardware", "context", .otherwise = "the device's", .kind = &ss_value_context,
    .accepts = "size with its unit", .meaning = "bytes gone before the first allocation" },
  { "hardware", "other-processes", "0 B", .kind = &ss_value_bytes, AT (other_processes_bytes),
    .accepts = "size with its unit", .meaning = "memory that other processes hold on the device" },
  { "hardware", "clock", .otherwise = "what its power allows", .kind = &ss_value_clock,
    .accepts = "number with its unit (MHz, GHz)",
    .meaning = "the clock that is held through the run; arithmetic follows it, memory does not" },
  { "hardware", "host", .otherwise = "the device's", .kind = &ss_value_host,
    .accepts = "a name of hw/hosts",
    .meaning = "the processor that issues the work" },

  { "training", "steps", "2", .kind = &ss_value_small, .min = 1, .max = 1000, AT (config.n_steps),
    .meaning = "optimizer steps that are run" },
  { "training", "micro-batch", "1", .kind = &ss_value_count, .min = 1, .max = 1 << 20,
    AT (config.micro_batch), .meaning = "sequences of one forward" },
  { "training", "sequence-length", .otherwise = "the model's positions, at most 8192",
    .kind = &ss_value_count, .min = 1, .max = 1 << 24, AT (config.sequence_length),
    .meaning = "tokens of a sequence" },
  { "training", "gradient-accumulation", "1", .kind = &ss_value_small, .min = 1, .max = 4096,
    AT (config.gradient_accumulation), .meaning = "micro-batches of a step" },
  { "training", "resume", "no", .kind = &ss_value_yes_no, AT (config.has_resume),
    .meaning = "optimizer states exist before step 1, as after loading a checkpoint" },
  { "training", "zero-grad", "none", .kind = &ss_value_zero_grad, AT (config.zeroes_in_place),
    .meaning = "gradients are dropped after the update (none) or kept and zeroed (zero)" },
  { "training", "hold-outputs", "no", .kind = &ss_value_yes_no, AT (config.holds_outputs),
    .meaning = "the loop keeps the model's output until the next forward replaces it" },
  { "training", "clip-grad-norm", "none", .kind = &ss_value_clip,
    .accepts = "number above 0, or none",
    .meaning = "clip_grad_norm_ before the update, the foreach way" },
  { "training", "dropout", .otherwise = "the model's", .kind = &ss_value_dropout,
    .accepts = "number from 0 to below 1", .meaning = "every dropout probability of the model" },

  { "input", "pinned", "yes", .kind = &ss_value_input, AT (config.input.is_pinned),
    .meaning = "copied from page-locked memory, so that the host does not wait" },
  { "input", "prefetch", "no", .kind = &ss_value_input, AT (config.input.has_prefetch),
    .meaning = "each one micro-batch early, on a stream of copies" },

  { "precision", "recipe", "bf16", .kind = &ss_value_precision,
    .meaning = "the recipe of mixed precision" },
  { "precision", "float32-matmul", "highest", .kind = &ss_value_float32_matmul,
    .meaning = "torch.set_float32_matmul_precision: products of fp32 in fp32, or as TF32 (high)" },

  { "optimizer", "type", "adamw", .kind = &ss_value_optimizer, .meaning = "the optimizer's class" },
  { "optimizer", "implementation", "fused", .kind = &ss_value_implementation,
    .meaning = "how the update runs: parameter by parameter, on lists, or in fused kernels" },

  { "optimizer", "groups", "one", .kind = &ss_value_grouping, AT (config.grouping),
    .meaning = "one update of all parameters, or as transformers' Trainer one of those whose "
               "weights decay and one of norms and biases" },

  { "checkpointing", "policy", "none", .kind = &ss_value_policy,
    .meaning = "which layers are checkpointed" },
  { "checkpointing", "every", .otherwise = "none", .kind = &ss_value_policy_count, .min = 1,
    .max = G_MAXINT16, AT (config.checkpointing.every),
    .meaning = "every: layers of a segment" },
  { "checkpointing", "convention", "all", .kind = &ss_value_convention,
    AT (config.checkpointing.keeps_last),
    .meaning = "every: all segments are checkpointed, or all but the last" },
  { "checkpointing", "segments", .otherwise = "none", .kind = &ss_value_segments,
    .accepts = "sequential: a number; custom: layers as \"0-3 4 save:8-31\"",
    .meaning = "sequential: how many segments; custom: which, the layers left out are kept" },
  { "checkpointing", "layers", .otherwise = "none", .kind = &ss_value_policy_count, .min = 0,
    .max = G_MAXINT16, AT (config.checkpointing.n_block_layers),
    .meaning = "block: how many layers, each checkpointed by itself" },
  { "checkpointing", "from", "first", .kind = &ss_value_end,
    AT (config.checkpointing.is_block_last), .meaning = "block: the end of the stack they are at" },
  { "checkpointing", "keep", .otherwise = "nothing", .kind = &ss_value_keep,
    .meaning = "selective: ops whose results are kept, while the rest of a layer is recomputed" },
  { "checkpointing", "drop", "attention", .kind = &ss_value_drop,
    .accepts = "attention, norms, activations, mlp, separated by spaces; not with keep",
    .meaning = "selective: parts of a layer that are recomputed, while the rest is kept" },
  { "checkpointing", "levels", .otherwise = "none", .kind = &ss_value_levels, .min = 1,
    .max = G_MAXINT16, .accepts = "falling numbers of layers, as \"8 2\"",
    .meaning = "nested: layers of a segment, of a segment within it ..." },
  { "checkpointing", "skip-last-inner-forward", .otherwise = "early-stop's",
    .kind = &ss_value_policy_flag, AT (config.checkpointing.skips_last_inner_forward),
    .meaning = "nested: recomputation of a segment stops where its last inner one begins" },
  { "checkpointing", "budget", .otherwise = "the device's memory", .kind = &ss_value_budget,
    AT (config.checkpointing.budget_bytes), .accepts = "size with its unit",
    .meaning = "optimal: the most that the run may have allocated at one moment" },
  { "checkpointing", "reentrant", "no", .kind = &ss_value_yes_no,
    AT (config.checkpointing.is_reentrant), .meaning = "torch.utils.checkpoint's use_reentrant" },
  { "checkpointing", "early-stop", "yes", .kind = &ss_value_yes_no,
    AT (config.checkpointing.has_early_stop),
    .meaning = "recomputation stops at the last value that is needed (not reentrant only)" },

  { "kernels", "profile", "hf-sdpa", .kind = &ss_value_profile,
    .meaning = "a named set of implementations" },
  { "kernels", "norm", .otherwise = "the profile's", .kind = &ss_value_choice,
    .meaning = "the norms" },
  { "kernels", "rope", .otherwise = "the profile's", .kind = &ss_value_choice,
    .meaning = "rotary positions" },
  { "kernels", "mlp", .otherwise = "the profile's", .kind = &ss_value_choice,
    .meaning = "the MLP" },
  { "kernels", "attention", .otherwise = "the profile's", .kind = &ss_value_choice,
    .meaning = "the attention core; sdpa chooses as PyTorch does" },
  { "kernels", "loss", .otherwise = "the profile's", .kind = &ss_value_choice,
    .meaning = "the loss: on an fp32 copy of the logits (hf) or on their own type (direct)" },
  { "kernels", "host", .otherwise = "eager; compiled with the compiled profile",
    .kind = &ss_value_host_mode,
    .meaning = "how forward and backward are issued: op by op, by a compiled graph, or replayed" },

  { "adapter", "type", "lora", .kind = &ss_value_adapter, .meaning = "the kind of adapter" },
  { "adapter", "rank", "8", .kind = &ss_value_small, .min = 1, .max = 1 << 16,
    AT (config.adapter.rank), .meaning = "the inner size of its two matrices" },
  { "adapter", "targets", .otherwise = "peft's for the model type", .kind = &ss_value_targets,
    .accepts = "names of the model type's linears, separated by spaces, or all-linear",
    .meaning = "the linears that get an adapter" },
  { "adapter", "dtype", "base", .kind = &ss_value_adapter_dtype, AT (config.adapter.is_fp32),
    .meaning = "adapters in the type of the frozen weights, or in fp32" },
  { "adapter", "dropout", "0", .kind = &ss_value_adapter_dropout,
    .accepts = "number from 0 to below 1", .meaning = "lora_dropout, on each adapter's input" },
  { "adapter", "double-quant", "no", .kind = &ss_value_yes_no,
    AT (config.adapter.is_double_quantised),
    .meaning = "qlora: the maxima of its blocks in 8 bits (bnb_4bit_use_double_quant)" },
  { "adapter", "prepare-kbit", "no", .kind = &ss_value_yes_no, AT (config.adapter.prepares_kbit),
    .meaning = "qlora: peft's prepare_model_for_kbit_training, all other weights in fp32" },

  { "allocator", "type", "caching", .kind = &ss_value_allocator,
    .meaning = "PyTorch's caching allocator, or one that rounds nothing" },
  { "allocator", "alloc-conf", "", .kind = &ss_value_text, .max = 4096, AT (alloc_conf),
    .accepts = "PYTORCH_CUDA_ALLOC_CONF in PyTorch's own syntax, or nothing",
    .meaning = "expandable_segments:True,max_split_size_mb:256 and the like" },
  { "allocator", "empty-cache", "none", .kind = &ss_value_empty_cache, AT (empties_cache),
    .meaning = "torch.cuda.empty_cache () after each step (step), or never (none)" },
};

const SsElement *
ss_scenario_elements (guint *n_elements)
{
  *n_elements = G_N_ELEMENTS (elements);
  return elements;
}

const SsAttribute *
ss_scenario_attributes (guint *n_attributes)
{
  *n_attributes = G_N_ELEMENTS (attributes);
  return attributes;
}

const SsAttribute *
ss_scenario_attribute_find (const char *element, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (attributes); i++)
    if (g_str_equal (attributes[i].element, element) && g_str_equal (attributes[i].name, name))
      return &attributes[i];
  return NULL;
}

char *
ss_scenario_attribute_accepts (const SsAttribute *attribute)
{
  g_auto (GStrv) words = NULL;

  if (attribute->accepts)
    return g_strdup (attribute->accepts);
  if (!attribute->kind->words)
    return g_strdup_printf ("%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, attribute->min,
                            attribute->max);
  words = attribute->kind->words (attribute);
  return g_strjoinv (" | ", words);
}

char *
ss_scenario_attribute_path (const SsAttribute *attribute)
{
  if (g_str_equal (attribute->element, elements[0].name))
    return g_strdup (attribute->name);
  return g_strdup_printf ("%s/%s", attribute->element, attribute->name);
}

char **
ss_scenario_attribute_paths (void)
{
  char **paths = g_new0 (char *, G_N_ELEMENTS (attributes) + 1);

  for (guint i = 0; i < G_N_ELEMENTS (attributes); i++)
    paths[i] = ss_scenario_attribute_path (&attributes[i]);
  return paths;
}
