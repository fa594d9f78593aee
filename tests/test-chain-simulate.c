/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/chain-fixture.h"

/* tests/chain/three-stages.chain.json:  a 10 4 6 0  w 7 5 3  f 2 3 1  b 4 6 2  tf 1 0 2  tb 0 3
 * 1 */
typedef struct
{
  const char *ops;
  SsChainRules rules;
  guint64 resident_bytes[9];
  guint peak_op;
  guint64 time, recompute_time;
  guint n_recomputed;
} Case;

static const Case cases[] = {
  { "S1 S2 S3 B3 B2 B1", SS_CHAIN_RULES_DEFAULT,
    { 10 + 4 + 7 + 1,
      10 + 4 + 7 + 6 + 5,
      10 + 4 + 7 + 6 + 5 + 3 + 2,
      10 + 4 + 7 + 6 + 5 + 3 + 6 + 1,      /* with the gradient of x_2 */
      10 + 4 + 7 + 5 + 6 + 4 + 3,          /* x_2 is gone, the gradient of x_1 comes */
      10 + 7 + 4 + 10 },
    3, 18, 0, 0 },
  { "F1 F2 S3 B3 S2 B2 S1 B1", SS_CHAIN_RULES_DEFAULT,
    { 10 + 4 + 1,
      10 + 4 + 6,
      10 + 4 + 6 + 3 + 2,
      10 + 4 + 6 + 3 + 6 + 1,
      10 + 4 + 6 + 6 + 5,                  /* x_1, the gradient of x_2, x_2 again and its set */
      10 + 4 + 5 + 6 + 4 + 3,
      10 + 4 + 4 + 7 + 1,
      10 + 7 + 4 + 10 },
    5, 18 + 5, 5, 2 },
  { "S1 S2 S3 B3 B2 B1", SS_CHAIN_RULES_IN_PLACE_GRADIENT,
    { 22, 32, 37, 42 - 6, 39 - 4, 31 - 10 }, 2, 18, 0, 0 },
  { "S1 S2 S3 B3 B2 B1", SS_CHAIN_RULES_KEEP_OUTPUT,
    { 22, 32, 37, 42, 39 + 6, 31 + 4 }, 4, 18, 0, 0 },
  /* x_1 is made again between the saving forward that read it and the backward that does */
  { "F1 F2 S3 B3 S2 F1 B2 S1 B1", SS_CHAIN_RULES_DEFAULT,
    { 15, 20, 25, 30, 31, 10 + 4 + 5 + 6 + 4 + 1, 10 + 4 + 5 + 6 + 4 + 4 + 3, 26, 31 },
    6, 18 + 7, 7, 3 },
  { "F1 F2 S3 B3 S2 F1 B2 S1 B1", SS_CHAIN_RULES_DETACHED,
    { 15, 20, 25, 30, 31, 10 + 5 + 6 + 4 + 1, 10 + 5 + 6 + 4 + 4 + 3, 26, 31 },
    6, 18 + 7, 7, 3 },
  /* a saved set that nothing uses is there during its op only */
  { "S1 S2 S3 B3 S2 B2 B1", SS_CHAIN_RULES_DEFAULT,
    { 22, 32, 32, 37, 10 + 7 + 4 + 6 + 6 + 5, 39, 31 }, 5, 18 + 3, 3, 1 },
};

Test (chain_simulate, residents_are_those_of_the_hand_sums)
{
  g_autoptr (SsChainFile) file = load_chain ("three-stages.chain.json");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *c = &cases[i];
      g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_parse (c->ops, NULL);
      guint64 resident[G_N_ELEMENTS (c->resident_bytes)];
      SsChainResult result;

      cr_assert (ss_chain_simulate (file->chain, schedule, c->rules, resident, &result, NULL));
      for (guint at = 0; at < ss_chain_schedule_n_ops (schedule); at++)
        cr_expect (eq (u64, resident[at], c->resident_bytes[at]), "case %u, op %u", i, at);
      cr_expect (eq (uint, result.peak_op, c->peak_op), "case %u", i);
      cr_expect (eq (u64, result.peak_bytes, c->resident_bytes[c->peak_op]), "case %u", i);
      cr_expect (eq (u64, result.time, c->time), "case %u", i);
      cr_expect (eq (u64, result.recompute_time, c->recompute_time), "case %u", i);
      cr_expect (eq (uint, result.n_recomputed, c->n_recomputed), "case %u", i);
    }
}

Test (chain_simulate, a_forward_after_the_first_takes_its_own_time)
{
  g_autoptr (SsChainFile) file = load_chain ("three-stages.chain.json");
  g_autoptr (SsChainSchedule) schedule
      = ss_chain_schedule_parse ("F1 F2 S3 B3 S2 B2 S1 B1", NULL);

  file->chain->stages[2].recompute_time = 1;
  cr_assert (eq (u64, run_schedule (file->chain, schedule).recompute_time, 2 + 1));
}

static const struct
{
  const char *ops, *message;
} refused[] = {
  { "S1 S3", "op 1: nothing has made x2" },
  { "S1 S2 S3 B2", "op 3: the next backward must be that of stage 3" },
  { "S1 S2 F3 B3", "op 3: no forward has saved what is needed of stage 3" },
  { "S1 S2 S3 B3 B2", "op 5: the schedule ends before the backward of stage 1" },
  { "S1 S2 S3 S4", "op 3: the chain has no stage 4" },
  { "S1 X2", "op 1, \"X2\", is not F, S or B with the number of a stage" },
  { "S1 S0", "op 1, \"S0\", is not F, S or B with the number of a stage" },
};

Test (chain_simulate, what_cannot_be_run_is_refused_at_its_op)
{
  g_autoptr (SsChainFile) file = load_chain ("three-stages.chain.json");

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_parse (refused[i].ops, &error);
      SsChainResult result;

      if (schedule != NULL)
        cr_assert (not (ss_chain_simulate (file->chain, schedule, SS_CHAIN_RULES_DEFAULT, NULL,
                                           &result, &error)));
      cr_assert (g_error_matches (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_SCHEDULE));
      cr_expect (eq (str, error->message, (char *) refused[i].message));
    }
}

Test (chain_simulate, times_that_pass_63_bits_are_refused)
{
  g_autoptr (SsChain) chain = ss_chain_new ("long", 1);
  g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_parse ("F1 F1 S1 B1", NULL);
  g_autoptr (GError) error = NULL;
  SsChainResult result;

  chain->stages[1].forward_time = chain->stages[1].recompute_time = G_MAXINT64 / 2;
  cr_assert (ss_chain_check (chain, NULL));
  cr_assert (not (ss_chain_simulate (chain, schedule, SS_CHAIN_RULES_DEFAULT, NULL, &result,
                                     &error)));
  cr_assert (eq (str, error->message,
                 "op 2: the times no longer fit into 63 bits, with this of stage 1"));
}

Test (chain_simulate, words_come_back_as_they_were)
{
  g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_parse (" F1  F2\nS12 B12 ", NULL);
  g_autofree char *text = ss_chain_schedule_to_string (schedule);

  cr_assert (eq (str, text, "F1 F2 S12 B12"));
}
