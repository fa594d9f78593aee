/* SPDX-License-Identifier: MIT
 *
 * What the two implementations of torch.optim.Adafactor share.
 */
#pragma once

#include "ops/optim/optimizers.h"

G_BEGIN_DECLS

enum
{
  SS_ADAFACTOR_ROW_VAR,
  SS_ADAFACTOR_COL_VAR,
  SS_ADAFACTOR_VARIANCE
};

/* row_var @ col_var: one product, or one for each of the leading dimensions */
SsValue *ss_adafactor_outer_product (SsTape *t, SsValue *rows, SsValue *cols);
void ss_adafactor_update_foreach (SsOptimizerRun *run);

G_END_DECLS
