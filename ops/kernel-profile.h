/* SPDX-License-Identifier: MIT
 *
 * SsKernels: which implementation of each building block a run uses, and the named sets of them.
 * The names are those of the scenario's <kernels>.  Plain values and static const structs.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One list per choice: enum member, word of the scenario. */
#define SS_NORM_CHOICES(X) X (HF, "hf") X (LIGER, "liger") X (PAPER, "paper")
#define SS_ROPE_CHOICES(X) X (HF, "hf") X (LIGER, "liger") X (PAPER, "paper")
#define SS_MLP_CHOICES(X) X (HF, "hf") X (LIGER, "liger") X (PAPER, "paper")
#define SS_ATTENTION_CHOICES(X)                                                                    \
  X (SDPA, "sdpa") X (SDPA_FLASH, "sdpa-flash") X (SDPA_EFFICIENT, "sdpa-efficient")               \
  X (SDPA_MATH, "sdpa-math") X (SDPA_CUDNN, "sdpa-cudnn") X (FA3, "fa3") X (EAGER, "eager")        \
  X (PAPER_FLASH, "paper-flash") X (PAPER_EAGER, "paper-eager")
#define SS_LOSS_CHOICES(X)                                                                         \
  X (HF, "hf") X (DIRECT, "direct") X (FUSED_LINEAR, "fused-linear") X (LIGER, "liger")

#define SS_CHOICE_MEMBER_(prefix, UPPER) prefix##UPPER
#define SS_NORM_M(UPPER, word) SS_NORM_##UPPER,
#define SS_ROPE_M(UPPER, word) SS_ROPE_##UPPER,
#define SS_MLP_M(UPPER, word) SS_MLP_##UPPER,
#define SS_ATTENTION_M(UPPER, word) SS_ATTENTION_##UPPER,
#define SS_LOSS_M(UPPER, word) SS_LOSS_##UPPER,
typedef enum { SS_NORM_CHOICES (SS_NORM_M) SS_N_NORMS } SsNormChoice;
typedef enum { SS_ROPE_CHOICES (SS_ROPE_M) SS_N_ROPES } SsRopeChoice;
typedef enum { SS_MLP_CHOICES (SS_MLP_M) SS_N_MLPS } SsMlpChoice;
typedef enum { SS_ATTENTION_CHOICES (SS_ATTENTION_M) SS_N_ATTENTIONS } SsAttentionChoice;
typedef enum { SS_LOSS_CHOICES (SS_LOSS_M) SS_N_LOSSES } SsLossChoice;

typedef struct
{
  SsNormChoice norm;
  SsRopeChoice rope;
  SsMlpChoice mlp;
  SsAttentionChoice attention;
  SsLossChoice loss;
  gboolean is_compiled;          /* torch.compile: model and loss as one graph each way */
} SsKernels;

typedef struct
{
  const char *name;              /* "hf-sdpa" */
  const char *description;
  SsKernels kernels;
} SsKernelProfile;

/* NULL-terminated list of every profile there is. */
const SsKernelProfile *const *ss_kernel_profiles (void);
const SsKernelProfile *ss_kernel_profile_find (const char *name);

/* Sets kernels->{norm,rope,mlp,attention,loss} by the word of the scenario.  FALSE: no such
 * `choice`, or no such `word`; then *known (out) (transfer full) is "hf, liger, paper", or NULL for
 * an unknown choice. */
gboolean ss_kernels_set (SsKernels *kernels, const char *choice, const char *word, char **known);
/* The word of the present choice: ss_kernels_get (k, "attention"). (transfer none) */
const char *ss_kernels_get (const SsKernels *kernels, const char *choice);

G_END_DECLS
