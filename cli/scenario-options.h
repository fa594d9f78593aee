/* SPDX-License-Identifier: MIT
 *
 * The options that change a scenario before it is checked, shared by every command that takes one.
 * It knows no output.  The command owns the struct and clears it.
 */
#pragma once

#include "scenarios/scenario.h"

G_BEGIN_DECLS

/* The settings that everyone sets, as options of their own: name of the option, PATH of the --set
 * it stands for, what it is, what its value is called. */
#define SS_SHORT_OPTIONS(X, self)                                                                  \
  X (self, DEVICE, "device", "hardware/device",                                                    \
     "The device: h100-sxm-80gb (stepsim list devices)", "NAME")                                   \
  X (self, SEQ, "seq", "training/sequence-length",                                                 \
     "Tokens of a sequence", "N")                                                                  \
  X (self, MICRO_BATCH, "micro-batch", "training/micro-batch",                                     \
     "Sequences of one forward", "N")                                                              \
  X (self, ACCUMULATION, "accumulation", "training/gradient-accumulation",                         \
     "Micro-batches of a step", "N")                                                               \
  X (self, PRECISION, "precision", "precision/recipe",                                             \
     "bf16-amp, fp32 ... (stepsim list recipes)", "RECIPE")                                        \
  X (self, OPTIMIZER, "optimizer", "optimizer/type",                                               \
     "adamw, sgd ... (stepsim list optimizers)", "TYPE")                                           \
  X (self, CHECKPOINTING, "checkpointing", "checkpointing/policy",                                 \
     "full, none ... (stepsim list policies)", "POLICY")                                           \
  X (self, LORA, "lora", "adapter/rank",                                                           \
     "Train LoRA of this rank beside frozen weights", "RANK")                                      \
  X (self, ATTENTION, "attention", "kernels/attention",                                            \
     "sdpa, eager ... (stepsim list settings)", "KERNEL")                                          \
  X (self, KERNELS, "kernels", "kernels/profile",                                                  \
     "hf-sdpa, liger ... (stepsim list profiles)", "PROFILE")                                      \
  X (self, CAPACITY, "capacity", "hardware/capacity",                                              \
     "The device's memory: \"40 GiB\", or unlimited: how far over", "SIZE")            \
  X (self, ALLOC_CONF, "alloc-conf", "allocator/alloc-conf",                                       \
     "The allocator's options, as PYTORCH_CUDA_ALLOC_CONF has them", "CONF")

#define SS_SHORT_MEMBER_(self, UPPER, option, path, meaning, value) SS_SHORT_##UPPER,
enum { SS_SHORT_OPTIONS (SS_SHORT_MEMBER_, ) SS_N_SHORT_OPTIONS };

typedef struct
{
  char **before;                 /* PATH=VALUE, each of which an option may change, or NULL */
  char **set;                    /* PATH=VALUE */
  char *given[SS_N_SHORT_OPTIONS];   /* the value of each, or NULL */
} SsScenarioOptions;

/* "--seq" and "training/sequence-length" */
typedef struct
{
  const char *option, *path;
} SsShortOption;
const SsShortOption *ss_short_options (void);   /* SS_N_SHORT_OPTIONS of them */

void ss_scenario_options_clear (SsScenarioOptions *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsScenarioOptions, ss_scenario_options_clear)

#define SS_SHORT_ENTRY_(self, UPPER, option, path, meaning, value)                                 \
  , { option, 0, 0, G_OPTION_ARG_FILENAME, &(self).given[SS_SHORT_##UPPER], meaning, value }
/* The GOptionEntry rows for a static table: self is a static or automatic SsScenarioOptions. */
#define SS_SCENARIO_OPTION_ENTRIES(self)                                                           \
  { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &(self).set,                                       \
    "Change a setting: training/micro-batch=2 (repeatable; stepsim list settings)",                \
    "PATH=VALUE" }                                                                                 \
  SS_SHORT_OPTIONS (SS_SHORT_ENTRY_, self)

/* The scenario of that file with the options applied; what is wrong is said on stderr. (transfer
 * full) */
SsScenario *ss_scenario_options_load (const SsScenarioOptions *self, const char *path);
/* The same with `more` (NULL-terminated, or NULL) after the options, and nothing said.
 * SS_SCENARIO_ERROR_INPUT, SS_SCENARIO_ERROR_OVERRIDE. (transfer full) */
SsScenario *ss_scenario_options_try (const SsScenarioOptions *self, const char *path,
                                     const char *const *more, GError **error);

/* The options, `more` words or NULL, and the file as a shell takes them: what goes behind another
 * command for the same run. (transfer full) */
char *ss_scenario_options_words (const SsScenarioOptions *self, const char *more, const char *path);

/* "; the shipped one is /usr/share/stepsim/scenarios/x.xml" for the name of one that comes with
 * the program, with .xml or without, or "". (transfer full) */
char *ss_scenario_options_hint (const char *name);

G_END_DECLS
