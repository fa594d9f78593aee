/* SPDX-License-Identifier: MIT
 *
 * apex/amp, opt_level O2: post_backward_with_master_weights (_process_optimizer.py), and
 * LossScaler.unscale and update_scale (scaler.py), where the host looks whether anything was not
 * finite.
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

void
ss_optimizer_widen_gradients (SsOptimizerRun *run)
{
  g_autoptr (GPtrArray) own = ss_optimizer_gradients (run), wide = NULL;

  run->has_wide_gradients = TRUE;
  wide = ss_foreach_new (run->tape, SS_FOREACH_APEX_SCALE, own, SS_F32);
  for (guint i = 0, n = 0; i < run->n_slots; i++)
    if (run->slots[i].parameter->leaf->grad)
      ss_slot_set_gradient (&run->slots[i], wide->pdata[n++]);
  ss_item (run->tape, ss_zeros (run->tape, SS_I32, 0, NULL));
}
