/* SPDX-License-Identifier: MIT
 *
 * bitsandbytes 0.50.2 (bitsandbytes/optim/optimizer.py, ademamix.py): states in fp32 or in 8 bits
 * with a maximum for each block of 256, on the device or paged: in CUDA's managed memory, which
 * PyTorch's allocator never sees and which the driver moves to the host when the device is full.
 */
#include "ops/kinds/package-update.h"
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

#define BLOCK 256                /* elements of one absmax */
#define MIN_8BIT_SIZE 4096       /* elements: smaller parameters keep fp32 states */
#define MIN_PAGED_SIZE 100000    /* elements of a buffer, AdEMAMix's double one's too */

typedef struct
{
  guint n_first;                 /* moments in state1: AdEMAMix's has the fast and the slow one */
  gboolean has_second;           /* state2, the mean of squares */
  gboolean is_8bit, is_paged;
} Layout;

enum
{
  STATE1,
  STATE2,
  ABSMAX1,
  ABSMAX2
};

/* What a byte means: one map for signed moments, one for squares. */
static void
make_maps (SsOptimizerRun *run, const Layout *layout)
{
  for (guint i = 0; i < (layout->has_second ? 2 : 1); i++)
    if (!run->shared[i])
      ss_optimizer_share_state (run, i, ss_zeros (run->tape, SS_F32, SS_DIMS (256)));
}

/* get_state_buffer: `n_moments` times the parameter. */
static void
make_buffer (SsOptimizerRun *run, SsOptimizerSlot *slot, guint i, guint n_moments, SsDtype dtype)
{
  const Layout *layout = run->group->klass->layout;
  SsValue *target = ss_slot_target (slot);
  guint64 n = ss_tensor_count (&target->tensor);
  gint64 size[SS_MAX_DIMS] = { n_moments };

  if (layout->is_paged && ss_size_mul (n_moments, n) >= MIN_PAGED_SIZE)
    {
      guint64 bytes = ss_size_mul (ss_size_mul (n_moments, n), ss_dtype_bytes (dtype));

      slot->paged_bytes = ss_size_add (slot->paged_bytes, bytes);
      slot->has_state = TRUE;
      return;
    }
  if (n_moments == 1)
    {
      ss_slot_set_state (slot, i, ss_zeros_like (run->tape, target, dtype));
      return;
    }
  memcpy (size + 1, target->tensor.size, target->tensor.n_dims * sizeof *size);
  ss_slot_set_state (slot, i, ss_zeros (run->tape, dtype, target->tensor.n_dims + 1, size));
}

static void
make_absmax (SsOptimizerRun *run, SsOptimizerSlot *slot, guint i, guint n_moments)
{
  guint64 n = ss_tensor_count (&ss_slot_target (slot)->tensor);
  gint64 blocks = (gint64) (n / BLOCK + (n % BLOCK != 0));

  ss_slot_set_state (slot, i, ss_zeros (run->tape, SS_F32, SS_DIMS (n_moments * blocks)));
}

/* init_state */
static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  const Layout *layout = run->group->klass->layout;
  guint64 n = ss_tensor_count (&ss_slot_target (slot)->tensor);
  gboolean is_8bit = layout->is_8bit && n >= MIN_8BIT_SIZE;
  SsDtype dtype = is_8bit ? SS_U8 : SS_F32;

  if (is_8bit)
    make_maps (run, layout);
  make_buffer (run, slot, STATE1, layout->n_first, dtype);
  if (layout->has_second)
    make_buffer (run, slot, STATE2, 1, dtype);
  if (!is_8bit)
    return;
  make_absmax (run, slot, ABSMAX1, layout->n_first);
  if (layout->has_second)
    make_absmax (run, slot, ABSMAX2, 1);
}

/* One kernel, after which the host waits (torch.cuda.synchronize). */
static void
step (SsOptimizerRun *run, const SsOptimizerSlot *s)
{
  g_autoptr (SsValue) gradient = ss_slot_gradient (run->tape, s);
  SsValue *operands[SS_MAX_STATES + SS_MAX_SHARED_STATES + 2] = { ss_slot_target (s) };
  gboolean is_8bit = s->state[ABSMAX1] != NULL;
  guint n_updated = 1, n;

  for (guint k = 0; k < SS_MAX_STATES; k++)
    if (s->state[k])
      operands[n_updated++] = s->state[k];
  n = n_updated;
  operands[n++] = gradient;
  for (guint k = 0; k < SS_MAX_SHARED_STATES && is_8bit; k++)
    if (run->shared[k])
      operands[n++] = run->shared[k];
  ss_package_update (run->tape,
                     is_8bit ? SS_PACKAGE_BITSANDBYTES_8BIT : SS_PACKAGE_BITSANDBYTES_32BIT,
                     ss_size_mul (2, s->paged_bytes), n_updated, n, operands);
}

static void
update (SsOptimizerRun *run)
{
  ss_optimizer_step_each (run, step);
}

static const Layout adamw = { 1, TRUE, FALSE, FALSE };
static const Layout adamw_8 = { 1, TRUE, TRUE, FALSE };
static const Layout adamw_paged = { 1, TRUE, FALSE, TRUE };
static const Layout adamw_8_paged = { 1, TRUE, TRUE, TRUE };
static const Layout lion = { 1, FALSE, FALSE, FALSE };
static const Layout lion_8 = { 1, FALSE, TRUE, FALSE };
static const Layout lion_paged = { 1, FALSE, FALSE, TRUE };
static const Layout lion_8_paged = { 1, FALSE, TRUE, TRUE };
static const Layout ademamix = { 2, TRUE, FALSE, FALSE };
static const Layout ademamix_8 = { 2, TRUE, TRUE, FALSE };
static const Layout ademamix_paged = { 2, TRUE, FALSE, TRUE };
static const Layout ademamix_8_paged = { 2, TRUE, TRUE, TRUE };

#define BITSANDBYTES(word, text, meaning, its_layout, is_recorded)                                 \
  const SsOptimizer ss_optimizer_##word = {                                                        \
    .name = text, .description = meaning,                                                          \
    .not_recorded = (is_recorded) ? 0 : 1u << SS_BITSANDBYTES,                                     \
    .by_default = SS_BITSANDBYTES, .layout = &its_layout, .make_state = make_state,                \
    .update = { [SS_BITSANDBYTES] = update }, .makes_state_itself = TRUE,                          \
  };
BITSANDBYTES (adamw_32bit, "adamw", "AdamW: two moments in fp32", adamw, TRUE)
BITSANDBYTES (adamw_8bit, "adamw-8bit", "AdamW: two moments of one byte", adamw_8, TRUE)
BITSANDBYTES (paged_adamw, "paged-adamw", "AdamW, fp32 moments in managed memory", adamw_paged,
              TRUE)
BITSANDBYTES (paged_adamw_8bit, "paged-adamw-8bit", "AdamW, one-byte moments in managed memory",
              adamw_8_paged, TRUE)
BITSANDBYTES (lion_32bit, "lion", "Lion: one moment in fp32", lion, TRUE)
BITSANDBYTES (lion_8bit, "lion-8bit", "Lion: one moment of one byte", lion_8, FALSE)
BITSANDBYTES (paged_lion, "paged-lion", "Lion, its fp32 moment in managed memory", lion_paged,
              FALSE)
BITSANDBYTES (paged_lion_8bit, "paged-lion-8bit", "Lion, its one-byte moment in managed memory",
              lion_8_paged, TRUE)
BITSANDBYTES (ademamix, "ademamix", "AdEMAMix: three moments in fp32", ademamix, FALSE)
BITSANDBYTES (ademamix_8bit, "ademamix-8bit", "AdEMAMix: three moments of one byte", ademamix_8,
              FALSE)
BITSANDBYTES (paged_ademamix, "paged-ademamix", "AdEMAMix, fp32 moments in managed memory",
              ademamix_paged, FALSE)
BITSANDBYTES (paged_ademamix_8bit, "paged-ademamix-8bit",
              "AdEMAMix, one-byte moments in managed memory", ademamix_8_paged, FALSE)
