/* SPDX-License-Identifier: MIT
 *
 * torchao 0.18.0 (torchao/optim/adam.py, subclass_8bit.py, subclass_4bit.py, subclass_fp8.py): two
 * moments quantised by blocks, and one step for each parameter that torch.compile makes one kernel
 * of, as far as it can.
 */
#include "ops/kinds/package-update.h"
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

#define MIN_QUANTISED_SIZE 4096  /* _new_buffer: "follow bitsandbytes" */

typedef struct
{
  guint64 block_size;            /* elements of one fp32 scale */
  guint codes_per_byte;
  gint64 map_size;               /* fp32 values that codes stand for; 0: codes are numbers */
  /* What inductor does not fuse, for each of two moments and as it compiled these steps for
   * sm_90: the scales, and for 4 bits the scaled fp32 values and the search's i64 codes. */
  gboolean keeps_scales, keeps_codes;
} Layout;

enum
{
  CODES,
  SCALE,
  MAP,
  PARTS                          /* of one moment */
};

static gboolean
is_quantised (const Layout *layout, const SsValue *target)
{
  guint64 n = ss_tensor_count (&target->tensor);

  return n >= MIN_QUANTISED_SIZE && n % layout->block_size == 0;
}

/* _new_buffer */
static void
make_moment (SsOptimizerRun *run, SsOptimizerSlot *slot, guint first)
{
  const Layout *layout = run->group->klass->layout;
  SsValue *target = ss_slot_target (slot);
  gint64 n = (gint64) ss_tensor_count (&target->tensor);

  if (!is_quantised (layout, target))
    {
      ss_slot_set_state (slot, first + CODES,
                         ss_zeros_like (run->tape, target, ss_value_dtype (target)));
      return;
    }
  ss_slot_set_state (slot, first + CODES,
                     ss_zeros (run->tape, SS_U8, SS_DIMS (n / layout->codes_per_byte)));
  ss_slot_set_state (slot, first + SCALE,
                     ss_zeros (run->tape, SS_F32, SS_DIMS (n / (gint64) layout->block_size)));
  if (layout->map_size > 0)
    ss_slot_set_state (slot, first + MAP, ss_zeros (run->tape, SS_F32, SS_DIMS (layout->map_size)));
}

static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  make_moment (run, slot, 0);
  make_moment (run, slot, PARTS);
}

/* single_param_adam: what lies between its kernels, then the update. */
static void
step (SsOptimizerRun *run, const SsOptimizerSlot *s)
{
  const Layout *layout = run->group->klass->layout;
  SsTape *t = run->tape;
  SsValue *target = ss_slot_target (s);
  gint64 n = (gint64) ss_tensor_count (&target->tensor);
  g_autoptr (GPtrArray) buffers = ss_list_new ();
  g_autoptr (SsValue) gradient = ss_slot_gradient (t, s);
  SsValue *operands[SS_MAX_STATES + 8] = { target };
  guint n_operands = 1, n_updated;

  for (guint i = 0; i < 2 && is_quantised (layout, target); i++)
    {
      if (layout->keeps_scales)
        ss_list_add (buffers,
                     ss_empty_sizes (t, SS_F32, SS_DIMS (n / (gint64) layout->block_size)));
      if (layout->keeps_codes)
        {
          ss_list_add (buffers, ss_empty_sizes (t, SS_F32, SS_DIMS (n)));
          ss_list_add (buffers, ss_empty_sizes (t, SS_I64, SS_DIMS (n)));
        }
    }
  for (guint k = 0; k < SS_MAX_STATES; k++)
    if (s->state[k])
      operands[n_operands++] = s->state[k];
  for (guint i = 0; i < buffers->len; i++)
    operands[n_operands++] = buffers->pdata[i];
  n_updated = n_operands;
  operands[n_operands++] = gradient;
  ss_package_update (t, SS_PACKAGE_TORCHAO, 0, n_updated, n_operands, operands);
}

static void
update (SsOptimizerRun *run)
{
  ss_optimizer_step_each (run, step);
}

static const Layout adamw_8 = { 256, 1, 256, FALSE, FALSE };
static const Layout adamw_4 = { 128, 2, 16, TRUE, TRUE };
static const Layout adamw_f8 = { 256, 1, 0, TRUE, FALSE };

const SsOptimizer ss_optimizer_adamw_torchao_8bit = {
  .name = "adamw-8bit", .description = "AdamW: two moments of one byte",
  .by_default = SS_TORCHAO, .layout = &adamw_8,
  .make_state = make_state, .update = { [SS_TORCHAO] = update }, .makes_state_itself = TRUE,
};
const SsOptimizer ss_optimizer_adamw_4bit = {
  .name = "adamw-4bit", .description = "AdamW: two moments of half a byte",
  .by_default = SS_TORCHAO, .layout = &adamw_4,
  .make_state = make_state, .update = { [SS_TORCHAO] = update }, .makes_state_itself = TRUE,
};
const SsOptimizer ss_optimizer_adamw_fp8 = {
  .name = "adamw-fp8", .description = "AdamW: two moments in float8_e4m3fn",
  .not_recorded = 1u << SS_TORCHAO, .by_default = SS_TORCHAO, .layout = &adamw_f8,
  .make_state = make_state, .update = { [SS_TORCHAO] = update }, .makes_state_itself = TRUE,
};
