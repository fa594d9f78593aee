/* SPDX-License-Identifier: MIT
 *
 * SsAllocConf: the options of PYTORCH_CUDA_ALLOC_CONF, as PyTorch 2.14.1 reads them.
 * It knows what the options are, not what an allocator does with them, and reads no environment.
 * It is a plain value: copy it.
 */
#pragma once

#include "memory/allocator.h"

G_BEGIN_DECLS

/* Entry i of the roundup table serves sizes from 2^(20 + i) on; smaller ones use entry 0, larger
 * ones the last. */
#define SS_ALLOC_CONF_N_ROUNDUPS 16

typedef struct
{
  guint64 max_split_bytes;                 /* G_MAXUINT64: blocks of any size may be split */
  guint64 large_segment_bytes;
  guint64 max_non_split_rounding_bytes;
  guint64 roundup_divisions[SS_ALLOC_CONF_N_ROUNDUPS];   /* 0: no power-of-two rounding */
  double gc_threshold;                     /* of the limit; 0: no garbage collection */
  double memory_fraction;                  /* per_process_memory_fraction; negative: not named */
  gboolean is_expandable;
  gboolean throws_early;                   /* throw_on_cudamalloc_oom */
} SsAllocConf;

/* Reads `text` ("key:value,key:value"; NULL and "" name nothing, spaces do not count).
 * SS_ALLOCATOR_ERROR_CONF says which option or mark is wrong and what would be right. */
gboolean ss_alloc_conf_parse (const char *text, SsAllocConf *out, GError **error);

/* TRUE, and the most that may be reserved, when a fraction below 1 is set: a fraction of 1 sets
 * no limit. */
gboolean ss_alloc_conf_limit (const SsAllocConf         *conf,
                              const SsAllocatorSettings *settings,
                              guint64                   *limit_bytes);

/* The rounded size of a request of `bytes` >= 1: a multiple of 512, or a step between two powers
 * of two; SS_SIZE_OVERFLOW beyond 63 bits. */
guint64 ss_alloc_conf_round (const SsAllocConf *conf, guint64 bytes);

/* The segment that is asked of the driver for a rounded size, and that a message names. */
guint64 ss_alloc_conf_segment (const SsAllocConf *conf, guint64 size_bytes);

G_END_DECLS
