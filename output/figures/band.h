/* SPDX-License-Identifier: MIT
 *
 * SsBand: how categories are told apart in reports and pictures: which are drawn as one, in what
 * order from the bottom, in which colour.  What stays longest lies lowest, so that flat areas stay
 * flat. The colours are those of Okabe and Ito, "Color Universal Design" (2008), which stay apart
 * in the common kinds of colour blindness.
 */
#pragma once

#include "memory/category.h"

G_BEGIN_DECLS

/* member, label, area, text on the area, text beside the area, nearest of the terminal's 256
 * colours */
#define SS_BANDS(X)                                                                                \
  X (CONTEXT, "CUDA context", "#999999", "#222222", "#5a5a5a", 246)                                \
  X (PARAMETERS, "parameters", "#0072B2", "#ffffff", "#005a8c", 25)                                \
  X (MASTER, "fp32 master copy", "#56B4E9", "#222222", "#1f6f9f", 74)                              \
  X (STATES, "optimizer states", "#009E73", "#ffffff", "#00704f", 36)                              \
  X (GRADIENTS, "gradients", "#E69F00", "#222222", "#8a5f00", 178)                                 \
  X (ACTIVATIONS, "activations", "#F0E442", "#222222", "#6e6700", 227)                             \
  X (LOGITS, "logits", "#D55E00", "#222222", "#9a4500", 166)                                       \
  X (TEMPORARIES, "temporaries", "#CC79A7", "#222222", "#8f3f6b", 175)

typedef enum
{
#define SS_BAND_MEMBER(UPPER, label, area, inside, beside, terminal) SS_BAND_##UPPER,
  SS_BANDS (SS_BAND_MEMBER)
#undef SS_BAND_MEMBER
  SS_N_BANDS
} SsBand;

typedef struct
{
  const char *label;             /* "optimizer states" */
  const char *area_colour;       /* "#009E73" */
  const char *inside_colour;     /* of text on the area */
  const char *beside_colour;     /* of text about the area on white */
  guint terminal_colour;         /* of xterm's 256 */
} SsBandLook;

#define SS_COLOUR_CACHED "#E3E3E3"
#define SS_COLOUR_LIMIT "#B00020"

const SsBandLook *ss_band_look (SsBand band);
/* The band a category is part of; the context is of no category. */
SsBand ss_band_of (SsCategory category);

G_END_DECLS
