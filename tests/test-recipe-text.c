/* SPDX-License-Identifier: MIT
 *
 * The recipe in words.  Bytes of a parameter by hand: weights, gradients, masters, states.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "scenario-fixture.h"
#include "sim/simulate.h"

Test (recipe_text, weights_gradients_masters_and_states_are_added)
{
  static const struct
  {
    const char *recipe, *optimizer, *extra, *text;
  } rows[] = {
    /* 4 + 4 + 2 x 4 */
    { "fp32", "adamw", NULL, "fp32 weights, 16 bytes per parameter" },
    { "bf16-amp", "adamw", NULL, "fp32 weights under bf16 autocast, 16 bytes per parameter" },
    { "fp16-amp", "sgd", NULL, "fp32 weights under fp16 autocast, 8 bytes per parameter" },
    /* 2 + 2 + 2 x 2 */
    { "bf16", "adamw", NULL, "bf16 weights, 8 bytes per parameter" },
    { "bf16", "momentum", NULL, "bf16 weights, 6 bytes per parameter" },
    /* 2 + 2 + 4 + 2 x 4 */
    { "bf16-mixed", "adamw", NULL, "bf16 weights with fp32 masters, 16 bytes per parameter" },
    /* 2 + 4 + 4 + 2 x 4: gradients are summed into the fp32 buffers */
    { "bf16-mixed-fp32-grads", "adamw", NULL,
      "bf16 weights with fp32 masters and fp32 gradients, 18 bytes per parameter" },
    /* adapters in the weights' type: 2 + 2 + 2 x 2; in fp32: 4 + 4 + 2 x 4 */
    { "bf16", "adamw", "adapter/rank=8",
      "bf16 weights, 2 bytes per frozen parameter, 8 per trained one" },
    { "bf16", "adamw", "adapter/dtype=fp32",
      "bf16 weights, 2 bytes per frozen parameter, 16 per trained one" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *recipe = g_strdup_printf ("precision/recipe=%s", rows[i].recipe),
                      *optimizer = g_strdup_printf ("optimizer/type=%s", rows[i].optimizer);
      const char *const overrides[] = { recipe, optimizer, "training/sequence-length=64",
                                        rows[i].extra, NULL };
      g_autoptr (SsScenario) scenario = fixture_load ("teaching-4layer", overrides);
      g_autoptr (GError) error = NULL;
      g_autoptr (SsRecording) recording = ss_simulate (scenario, NULL, &error);

      cr_assert (ne (ptr, recording, NULL), "%s", error ? error->message : "");
      cr_expect (eq (str, recording->recipe, (char *) rows[i].text));
      cr_expect (g_str_has_prefix (recording->summary, recording->recipe));
      cr_expect (g_strv_contains ((const char *const *) recording->settings, recipe));
    }
}
