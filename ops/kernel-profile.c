/* SPDX-License-Identifier: MIT */
#include "ops/kernel-profile.h"

static const SsKernelProfile paper = {
  "paper", "keeps exactly what the papers count (Korthikanti et al. 2022)",
  { SS_NORM_PAPER, SS_ROPE_PAPER, SS_MLP_PAPER, SS_ATTENTION_PAPER_FLASH, SS_LOSS_HF, FALSE },
};
static const SsKernelProfile hf_eager = {
  "hf-eager", "Hugging Face's modules, eager attention",
  { SS_NORM_HF, SS_ROPE_HF, SS_MLP_HF, SS_ATTENTION_EAGER, SS_LOSS_HF, FALSE },
};
static const SsKernelProfile hf_sdpa = {
  "hf-sdpa", "Hugging Face's modules, scaled_dot_product_attention",
  { SS_NORM_HF, SS_ROPE_HF, SS_MLP_HF, SS_ATTENTION_SDPA, SS_LOSS_HF, FALSE },
};

static const SsKernelProfile compiled = {
  "compiled", "Hugging Face's modules under torch.compile, model and loss as one graph",
  { SS_NORM_HF, SS_ROPE_HF, SS_MLP_HF, SS_ATTENTION_SDPA, SS_LOSS_HF, TRUE },
};
/* what apply_liger_kernel_to_llama replaces by default */
static const SsKernelProfile liger = {
  "liger", "liger-kernel's norm, rotation, gated activation, and loss fused with the head",
  { SS_NORM_LIGER, SS_ROPE_LIGER, SS_MLP_LIGER, SS_ATTENTION_SDPA, SS_LOSS_FUSED_LINEAR, FALSE },
};

const SsKernelProfile *const *
ss_kernel_profiles (void)
{
  static const SsKernelProfile *const all[] = {
    &hf_sdpa, &hf_eager, &liger, &compiled, &paper, NULL,
  };

  return all;
}

const SsKernelProfile *
ss_kernel_profile_find (const char *name)
{
  for (const SsKernelProfile *const *p = ss_kernel_profiles (); *p; p++)
    if (g_str_equal ((*p)->name, name))
      return *p;
  return NULL;
}

/* ---- choices by word ---- */

#define WORD(UPPER, word) word,
static const char *const norms[] = { SS_NORM_CHOICES (WORD) NULL };
static const char *const ropes[] = { SS_ROPE_CHOICES (WORD) NULL };
static const char *const mlps[] = { SS_MLP_CHOICES (WORD) NULL };
static const char *const attentions[] = { SS_ATTENTION_CHOICES (WORD) NULL };
static const char *const losses[] = { SS_LOSS_CHOICES (WORD) NULL };
#undef WORD

static const struct
{
  const char *name;
  const char *const *words;
} choices[] = {
  { "norm", norms },           { "rope", ropes },  { "mlp", mlps },
  { "attention", attentions }, { "loss", losses },
};

static gint
choice_index (const char *choice)
{
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    if (g_str_equal (choices[i].name, choice))
      return (gint) i;
  return -1;
}

gboolean
ss_kernels_set (SsKernels *kernels, const char *choice, const char *word, char **known)
{
  gint c = choice_index (choice);
  guint w = 0;

  *known = NULL;
  if (c < 0)
    return FALSE;
  while (choices[c].words[w] && !g_str_equal (choices[c].words[w], word))
    w++;
  if (!choices[c].words[w])
    {
      *known = g_strjoinv (", ", (char **) choices[c].words);
      return FALSE;
    }
  switch (c)
    {
    case 0: kernels->norm = (SsNormChoice) w; break;
    case 1: kernels->rope = (SsRopeChoice) w; break;
    case 2: kernels->mlp = (SsMlpChoice) w; break;
    case 3: kernels->attention = (SsAttentionChoice) w; break;
    default: kernels->loss = (SsLossChoice) w; break;
    }
  return TRUE;
}

const char *
ss_kernels_get (const SsKernels *kernels, const char *choice)
{
  const guint chosen[]
    = { kernels->norm, kernels->rope, kernels->mlp, kernels->attention, kernels->loss };
  gint c = choice_index (choice);

  return c < 0 ? NULL : choices[c].words[chosen[c]];
}
