/* SPDX-License-Identifier: MIT
 *
 * Optimizers of other packages, of transformers, and Muon: requests by hand from their sources.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "optimizer-fixture.h"

/* Two steps over fp32 parameters of these sizes (0: a vector). (transfer full) */
static SsProgram *
two_steps (const char *name, SsImplementation implementation, guint n, const gint64 (*sizes)[2],
           gboolean first_is_hidden)
{
  OptimizerFixture f = optimizer_fixture (NULL, implementation);
  g_autoptr (GPtrArray) matrices = g_ptr_array_new ();

  g_ptr_array_set_size (f.parameters, 0);
  for (guint i = 0; i < n; i++)
    fixture_add (&f, sizes[i][1] ? 2 : 1, sizes[i], TRUE);
  if (first_is_hidden)
    g_ptr_array_add (matrices, f.parameters->pdata[0]);
  f.settings.linears = matrices;
  fixture_begin (&f, name, implementation);
  for (guint step = 1; step <= 2; step++)
    {
      fixture_next_step (&f);
      ss_optimizer_step (&f.run);
    }
  return fixture_seal (&f);
}

typedef struct
{
  const char *name;
  SsImplementation implementation;
  gint64 sizes[2][2];
  const char *first, *second;
} Row;

static void
check_rows (const Row *rows, guint n_rows, gboolean first_is_hidden)
{
  for (guint i = 0; i < n_rows; i++)
    {
      const Row *row = &rows[i];
      g_autoptr (SsProgram) p
        = two_steps (row->name, row->implementation, 2, row->sizes, first_is_hidden);
      g_autofree char *first = requests_of (p, SS_PHASE_OPTIMIZER, 1);
      g_autofree char *second = requests_of (p, SS_PHASE_OPTIMIZER, 2);

      cr_assert (eq (str, first, (char *) row->first), "%s %u", row->name, i);
      cr_assert (eq (str, second, (char *) row->second), "%s %u", row->name, i);
    }
}

/* 8,192 elements take one byte a moment and 32 maxima of 4 bytes, below 4,096 they take fp32; maps
 * of 256 floats come with the first.  100,000 elements are paged, of AdEMAMix's pair 50,000. */
Test (package_optimizers, bitsandbytes_makes_what_init_state_says)
{
  const gint64 m = 64, c = 128;
  const Row rows[] = {
    { "adamw", SS_BITSANDBYTES, { { m, c }, { 100 } }, "+32768 +32768 +400 +400", "" },
    { "adamw-8bit", SS_BITSANDBYTES, { { m, c }, { 100 } },
      "+1024 +1024 +8192 +8192 +128 +128 +400 +400", "" },
    /* 10,000 elements: 40 blocks, the last of 16 */
    { "adamw-8bit", SS_BITSANDBYTES, { { 100, 100 }, { 4095 } },
      "+1024 +1024 +10000 +10000 +160 +160 +16380 +16380", "" },
    { "lion", SS_BITSANDBYTES, { { m, c }, { 100 } }, "+32768 +400", "" },
    { "lion-8bit", SS_BITSANDBYTES, { { m, c }, { 100 } }, "+1024 +8192 +128 +400", "" },
    { "ademamix", SS_BITSANDBYTES, { { m, c }, { 100 } }, "+65536 +32768 +800 +400", "" },
    { "ademamix-8bit", SS_BITSANDBYTES, { { m, c }, { 100 } },
      "+1024 +1024 +16384 +8192 +256 +128 +800 +400", "" },
    { "paged-adamw", SS_BITSANDBYTES, { { 400, 250 }, { 99999 } }, "+399996 +399996", "" },
    { "paged-adamw-8bit", SS_BITSANDBYTES, { { 400, 250 }, { 8192 } },
      "+1024 +1024 +1564 +1564 +8192 +8192 +128 +128", "" },
    { "paged-lion", SS_BITSANDBYTES, { { 400, 250 }, { 100 } }, "+400", "" },
    { "paged-lion-8bit", SS_BITSANDBYTES, { { 400, 250 }, { 100 } }, "+1024 +1564 +400", "" },
    { "paged-ademamix", SS_BITSANDBYTES, { { 250, 200 }, { 49999 } },
      "+200000 +399992 +199996", "" },
    { "paged-ademamix-8bit", SS_BITSANDBYTES, { { 250, 200 }, { 100 } },
      "+1024 +1024 +50000 +1568 +784 +800 +400", "" },
  };

  check_rows (rows, G_N_ELEMENTS (rows), FALSE);
}

/* The paged states' bytes are moved too: 28 bytes an element either way. */
Test (package_optimizers, a_paged_state_costs_time_but_no_memory)
{
  const gint64 sizes[][2] = { { 400, 250 } };
  g_autoptr (SsProgram) counted
    = two_steps ("adamw", SS_BITSANDBYTES, 1, sizes, FALSE);
  g_autoptr (SsProgram) paged = two_steps ("paged-adamw", SS_BITSANDBYTES, 1, sizes, FALSE);

  cr_assert (eq (u64, bytes_moved_of (counted, SS_PHASE_OPTIMIZER, 2), 28 * 100000));
  cr_assert (eq (u64, bytes_moved_of (paged, SS_PHASE_OPTIMIZER, 2), 28 * 100000));
}

/* Codes, a scale for each block, a map for each moment; what does not divide into blocks stays as
 * it is.  Between the kernels of 4 bits: scales, fp32 values and i64 codes. */
Test (package_optimizers, torchao_makes_codes_scales_and_maps)
{
#define MOMENT_8BIT "+8192 +128 +1024"
#define MOMENT_4BIT "+4096 +256 +64"
#define BETWEEN_4BIT "+256 +32768 +65536 +256 +32768 +65536 -65536 -65536 -32768 -32768 -256 -256"
  const Row rows[] = {
    { "adamw-8bit", SS_TORCHAO, { { 64, 128 }, { 4224 } },
      MOMENT_8BIT " " MOMENT_8BIT " +16896 +16896", "" },
    { "adamw-4bit", SS_TORCHAO, { { 64, 128 }, { 100 } },
      MOMENT_4BIT " " MOMENT_4BIT " " BETWEEN_4BIT " +400 +400", BETWEEN_4BIT },
    { "adamw-fp8", SS_TORCHAO, { { 64, 128 }, { 100 } },
      "+8192 +128 +8192 +128 +128 +128 -128 -128 +400 +400", "+128 +128 -128 -128" },
  };

  check_rows (rows, G_N_ELEMENTS (rows), FALSE);
}

Test (package_optimizers, lion_clones_its_moment)
{
  const Row row = {
    "lion", SS_FOR_LOOP, { { 64, 32 }, { 100 } },
    "+8192 +8192 +8192 -8192 -8192 +400 +400 +400 -400 -400",
    "+8192 +8192 -8192 -8192 +400 +400 -400 -400",
  };

  check_rows (&row, 1, FALSE);
}

/* 64 x 32 in fp32: the interpolated gradient, its bf16 copy (4,096), norm and clamp; then on the
 * wide side, 32 x 64, five times gram (2,048), gram's update, and the next iterate. */
#define NEWTON_SCHULZ                                                                              \
  "+8192 +4096 +2 +2 -2 -2 +2048 +2048 +4096 -4096"                                                \
  " +2048 -2048 +2048 -2048 +4096 -4096 +2048 -2048 +2048 -2048 +4096 -4096"                       \
  " +2048 -2048 +2048 -2048 +4096 -4096 +2048 -2048 +2048 -2048 +4096"                             \
  " -8192 -4096 -4096 -2048 -2048"

Test (package_optimizers, muon_orthogonalises_matrices_alone)
{
  const Row rows[] = {
    { "muon-only", SS_FOR_LOOP, { { 64, 32 }, { 100 } }, "+8192 " NEWTON_SCHULZ, NEWTON_SCHULZ },
  };

  check_rows (rows, G_N_ELEMENTS (rows), FALSE);
}

/* The layers' matrices by Muon, then all else, an embedding too, by a fused AdamW. */
Test (package_optimizers, muon_leaves_the_rest_to_adamw)
{
  const Row rows[] = {
    { "muon", SS_FOR_LOOP, { { 64, 32 }, { 100 } },
      "+8192 " NEWTON_SCHULZ " +4 +400 +400", NEWTON_SCHULZ },
    { "muon", SS_FOR_LOOP, { { 64, 32 }, { 1000, 32 } },
      "+8192 " NEWTON_SCHULZ " +4 +128000 +128000", NEWTON_SCHULZ },
  };

  check_rows (rows, G_N_ELEMENTS (rows), TRUE);
}

/* transformers' in fp32, 64 x 32: the root mean square (kept) and the rate; the square, with its
 * epsilon, its means; the estimate of both means; its clip; the negative. */
#define ROOT "+4 +4 -4 -4 +1 -1"
#define CLIP "+4 +4 -4 +4 -4 -4"
Test (package_optimizers, transformers_adafactor_keeps_its_root)
{
#define MATRIX                                                                                     \
  "+4 +8192 +8192 -8192 +256 -256 +128 -128 +4 +256 -4 +128 +8192 -8192 -256 -128 " CLIP           \
  " +8192 -8192"
#define VECTOR "+4 -4 +400 +400 -8192 -400 +400 -400 " CLIP " +400 -400 -400 -4"
  const Row row = {
    "adafactor", SS_TRANSFORMERS, { { 64, 32 }, { 100 } },
    "+256 +128 +4 +4 -4 +1 -1 " MATRIX " +400 +4 +4 -4 +1 -1 " VECTOR,
    ROOT " " MATRIX " " ROOT " " VECTOR,
  };

  check_rows (&row, 1, FALSE);
}

/* beta1 keeps a moment more and updates with it, so that the change goes before the negative. */
Test (package_optimizers, adafactor_with_momentum_keeps_a_first_moment)
{
  const gint64 sizes[][2] = { { 64, 32 }, { 100 } };
  g_autoptr (SsProgram) p
    = two_steps ("adafactor-momentum", SS_TRANSFORMERS, 2, sizes, FALSE);
  g_autofree char *first = requests_of (p, SS_PHASE_OPTIMIZER, 1);

  cr_assert (g_str_has_prefix (first, "+8192 +256 +128 +4 "), "%s", first);
}
