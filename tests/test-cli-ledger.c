/* SPDX-License-Identifier: MIT
 *
 * The ledger as people ask for it: rows of published accounts from the command.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "cli-fixture.h"

#define LLAMA_8B SS_SOURCE_DIR "/scenarios/llama8b-h100.xml"
#define BY_405B                                                                                    \
  "--set", "model/href=models/llama3-405b.xml", "--set", "hardware/capacity=unlimited", "--set",   \
  "training/steps=1"

TestSuite (cli_ledger, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

/* A number of the JSON by its path, "flops.train". */
static double
number (const char *json, const char *path)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_auto (GStrv) names = g_strsplit (path, ".", 2);
  JsonObject *object;

  cr_assert (json_parser_load_from_data (parser, json, -1, NULL), "%s", json);
  object = json_node_get_object (json_parser_get_root (parser));
  object = json_object_get_object_member (object, names[0]);
  cr_assert (json_object_has_member (object, names[1]), "%s", path);
  return json_node_get_double (json_object_get_member (object, names[1]));
}

typedef struct
{
  const char *path;
  double value, half_a_digit;
} Row;

static void
expect (const SsCliResult *result, const Row *rows)
{
  cr_assert (eq (int, result->status, 0), "%s", result->err);
  for (; rows->path != NULL; rows++)
    cr_expect (fabs (number (result->out, rows->path) - rows->value) <= rows->half_a_digit,
               "%s: %.10g, published %.10g", rows->path, number (result->out, rows->path),
               rows->value);
}

/* P1, P4, P5, M1 (16 bytes of 8,030,261,248), A3, A4, A5, F1, F2, K1, E3 */
Test (cli_ledger, llama_8b_has_the_published_numbers)
{
  static const Row rows[] = {
    { "parameters.total", 8030261248, 0 },
    { "parameters.active", 8030261248, 0 },
    { "parameters.attention_per_layer", 41.9e6, 0.05e6 },
    { "parameters.mlp_per_layer", 176.2e6, 0.05e6 },
    { "parameters.embedding", 525336576, 0 },
    { "parameters.head", 525336576, 0 },
    { "states.bf16 mixed, fp32 master, Adam", 16 * 8030261248.0, 0 },
    { "states.pure bf16 + Adam", 8 * 8030261248.0, 0 },
    { "activations.layer_bytes", 8192 * 167936.0, 0 },
    { "activations.all_layers_bytes", 44.0e9, 0.05e9 },
    { "activations.softmax_all_layers_bytes", 137.4e9, 0.05e9 },
    { "activations.logits_bytes", 4202692608, 0 },
    { "flops.per_token_6n", 48.2e9, 0.05e9 },
    { "flops.attention_core_per_token", 6.44e9, 0.005e9 },
    { "kv_cache.bytes_per_token", 131072, 0 },
    { "kv_cache.bytes", 1.074e9, 0.0005e9 },
    { "train.mfu", 0.146, 0.0005 },
    { NULL, 0, 0 },
  };
  g_auto (SsCliResult) result = RUN ("ledger", LLAMA_8B, "--json", "--tokens-per-s", "3000");

  expect (&result, rows);
}

/* E4 for 405.853 instead of 405 billion parameters: 66.0 and 0.14 days; F3 likewise; 16384 cards
 * for so many days */
Test (cli_ledger, a_training_of_405b_takes_as_long_as_published)
{
  static const Row rows[] = {
    { "parameters.total", 405853388800, 0 },
    { "flops.train", 3.799e25, 0.0005e25 },
    { "train.days", 66.14, 0.05 },
    { "train.gpu_hours", 66.15 * 24 * 16384, 0.05 * 24 * 16384 },
    { "train.price", 66.15 * 24 * 16384 * 2, 0.1 * 24 * 16384 },
    { "train.tokens_per_s_per_gpu", 0.41 * 989.4e12 / (6 * 405853388800.0), 0.1 },
    { NULL, 0, 0 },
  };
  g_auto (SsCliResult) result
    = RUN ("ledger", LLAMA_8B, BY_405B, "--json", "--train-tokens", "15.6T", "--gpus", "16384",
           "--mfu", "0.41", "--price-per-hour", "2");

  expect (&result, rows);
}

/* P9's kind for Llama 3 8B: 32 layers of 8 (2 * 4096 + 4096 + 1024) = 3,407,872 are trained.
 * Weights 2 bytes, of the trained 14 more; 6 N D without the gradients of frozen weights. */
Test (cli_ledger, frozen_weights_cost_two_bytes_and_four_n_d)
{
  static const Row rows[] = {
    { "parameters.trained", 3407872, 0 },
    { "states.bf16 mixed, fp32 master, Adam", 2 * 8033669120.0 + 14 * 3407872.0, 0 },
    { "flops.per_token", 4 * 8030261248.0 + 6 * 3407872.0, 0 },
    { NULL, 0, 0 },
  };
  g_auto (SsCliResult) result
    = RUN ("ledger", LLAMA_8B, "--json", "--set", "adapter/type=lora", "--set", "adapter/rank=8");

  expect (&result, rows);
}

Test (cli_ledger, questions_that_cannot_be_answered_are_refused)
{
  static const struct
  {
    const char *arguments[4], *wanted;
  } rows[] = {
    { { "--gpus=0", "--train-tokens=1T" }, "--gpus: \"0\" is no number above 0" },
    { { "--mfu=1.5" }, "--mfu: \"1.5\" is no number above 0 and up to 1;" },
    { { "--train-tokens=1Q" }, "--train-tokens: \"1Q\"" },
    { { "--train-tokens=inf" }, "--train-tokens: \"inf\"" },
    { { "--tokens-per-s=5", "--mfu=0.5" }, "--mfu and --tokens-per-s say the same thing" },
    { { "--gpus=8" }, "--train-tokens was expected" },
    { { "--price-per-hour=2" }, "--train-tokens was expected" },
    { { "--train-tokens=1T", "--set=model/href=models/llama3-405b.xml" },
      "--mfu or --tokens-per-s was expected" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsCliResult) result
        = RUN ("ledger", LLAMA_8B, rows[i].arguments[0], rows[i].arguments[1]);

      cr_expect (eq (int, result.status, 2), "row %u", i);
      cr_expect (eq (str, result.out, (char *) ""), "row %u", i);
      cr_expect (ne (ptr, strstr (result.err, rows[i].wanted), NULL), "%s", result.err);
    }
}

Test (cli_ledger, the_table_says_where_each_number_is_from)
{
  g_auto (SsCliResult) result = RUN ("ledger", LLAMA_8B, "--mfu=40e-2", "--train-tokens=1B");

  cr_assert (eq (int, result.status, 0), "%s", result.err);
  cr_expect (ne (ptr, strstr (result.out, "131072 B  2 L times the keys' width"), NULL));
  cr_expect (ne (ptr, strstr (result.out, "40.0 %  given"), NULL), "%s", result.out);
  cr_expect (ne (ptr, strstr (result.out, "8030261248  counted in the trace"), NULL));
}
