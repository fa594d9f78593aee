/* SPDX-License-Identifier: MIT */
#include "output/figures/band.h"

const SsBandLook *
ss_band_look (SsBand band)
{
  static const SsBandLook looks[SS_N_BANDS] = {
#define SS_BAND_LOOK(UPPER, label, area, inside, beside, terminal)                                 \
  [SS_BAND_##UPPER] = { label, area, inside, beside, terminal },
    SS_BANDS (SS_BAND_LOOK)
#undef SS_BAND_LOOK
  };

  g_return_val_if_fail (band < SS_N_BANDS, NULL);
  return &looks[band];
}

SsBand
ss_band_of (SsCategory category)
{
  switch (category)
    {
    case SS_CATEGORY_PARAMETERS: return SS_BAND_PARAMETERS;
    case SS_CATEGORY_MASTER_WEIGHTS: return SS_BAND_MASTER;
    case SS_CATEGORY_OPTIMIZER_STATES: return SS_BAND_STATES;
    case SS_CATEGORY_GRADIENTS:
    case SS_CATEGORY_GRADIENT_ACCUMULATION: return SS_BAND_GRADIENTS;
    case SS_CATEGORY_ACTIVATIONS: return SS_BAND_ACTIVATIONS;
    case SS_CATEGORY_LOGITS: return SS_BAND_LOGITS;
    case SS_CATEGORY_WORKSPACE:
    case SS_CATEGORY_TEMPORARIES: return SS_BAND_TEMPORARIES;
    case SS_N_CATEGORIES: break;
    }
  g_return_val_if_reached (SS_BAND_TEMPORARIES);
}
