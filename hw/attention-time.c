/* SPDX-License-Identifier: MIT */
#include "hw/time-model.h"

/* Rows of a tile of queries (Dao-AILab/flash-attention). */
#define TILE 128
/* [E] Queries, keys, values and results pass through once, as in a fused kernel. */
#define MEMORY_SHARE 0.85

static double
share_at (const double share[SS_N_HEAD_SIZES], double head_size)
{
  if (head_size <= 64)
    return share[SS_HEAD_64];
  if (head_size <= 128)
    return share[SS_HEAD_64] + (share[SS_HEAD_128] - share[SS_HEAD_64]) * (head_size - 64) / 64;
  if (head_size < 256)
    return share[SS_HEAD_128]
           + (share[SS_HEAD_256] - share[SS_HEAD_128]) * (head_size - 128) / 128;
  return share[SS_HEAD_256];
}

double
ss_attention_time_s (const SsAttentionModel *model, const SsChip *chip,
                     const SsAttentionCall *call)
{
  double share = share_at (call->is_backward ? model->backward : model->forward, call->head_size);
  double keys = MAX (call->n_keys, 1), flops = call->flops;

  /* no more than all of the square */
  if (call->is_causal)
    flops *= MIN (1 + TILE / keys, 2) * model->mask;
  return MAX (flops / (chip->flop_per_s * share) * (1 + model->ramp / keys),
              call->bytes / (chip->bytes_per_s * MEMORY_SHARE));
}

#define AT(member) G_STRUCT_OFFSET (SsAttentionModel, member)

const SsParameter *
ss_attention_parameters (guint *n)
{
  static const SsParameter all[] = {
    { "forward-64", AT (forward[SS_HEAD_64]), 0.01, 1, FALSE, NULL },
    { "forward-128", AT (forward[SS_HEAD_128]), 0.01, 1, FALSE, NULL },
    { "forward-256", AT (forward[SS_HEAD_256]), 0.01, 1, FALSE, "forward-128" },
    { "backward-64", AT (backward[SS_HEAD_64]), 0.01, 1, FALSE, NULL },
    { "backward-128", AT (backward[SS_HEAD_128]), 0.01, 1, FALSE, NULL },
    { "backward-256", AT (backward[SS_HEAD_256]), 0.01, 1, FALSE, "backward-128" },
    { "ramp", AT (ramp), 0, 4000, FALSE, NULL },
    { "mask", AT (mask), 0.8, 2, FALSE, NULL },
  };

  *n = G_N_ELEMENTS (all);
  return all;
}

const char *const *
ss_attention_kernel_names (void)
{
#define WORD(UPPER, word) word,
  static const char *const names[] = { SS_ATTENTION_KERNELS (WORD) NULL };
#undef WORD

  return names;
}
