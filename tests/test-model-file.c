/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ops/families/llama.h"
#include "scenario-fixture.h"
#include "scenarios/model-file.h"

static guint64
count_of (const SsModelConfig *config)
{
  return config->family->count_parameters (config);
}

/* Loads a model file; what is wrong with it, "" for nothing, the folder cut off. (transfer full) */
static char *
load_model (const char *path, SsModelConfig *config, char **name)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autofree char *folder = g_path_get_dirname (path), *prefix = g_strdup_printf ("%s/", folder);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) parts = NULL;
  gboolean is_good = ss_model_file_load (path, config, name, problems);

  cr_assert (is_good == ss_problems_settle (problems, &error));
  parts = g_strsplit (error ? error->message : "", prefix, -1);
  return g_strjoinv ("", parts);
}

static void
assert_said (const char *file, const char *text, const char *expected)
{
  char *folder = fixture_folder ();
  g_autofree char *path = fixture_write (folder, file, text, -1), *name = NULL, *said = NULL;
  SsModelConfig config;

  said = load_model (path, &config, &name);
  fixture_discard (folder);
  cr_assert (eq (str, said, (char *) expected));
}

/* P1, P2, P3, P7 of the ledger; of the rest, what other libraries publish, or a sum by hand */
Test (model_file, shipped_models_have_the_published_number_of_parameters)
{
  static const struct
  {
    const char *file;
    guint64 parameters;
  } published[] = {
    { "llama3-8b", 8030261248 },     /* ledger P1 */
    { "llama3-70b", 70553706496 },   /* P2 */
    { "llama3-405b", 405853388800 }, /* P3 */
    { "qwen3-8b", 8190735360 },      /* P7 */
    /* keras-hub; of Llama 3.2 1B it says 1498482688, with the tied table of 128256 x 2048 twice */
    { "llama3.2-1b", 1235814400 },
    { "llama2-7b", 6738415616 },
    { "mistral-7b", 7241732096 },
    { "qwen2-0.5b", 494032768 },
    { "gpt2", 124439808 },
    { "gpt2-medium", 354823168 },
    /* by hand: 49152 * 960 + 32 * (2 * 960^2 + 2 * 960 * 320 + 3 * 960 * 2560 + 2 * 960) + 960 */
    { "smollm2-360m", 361821120 },
    /* (50257 + positions) * h + layers * (12 h^2 + 13 h) + 2 h: the ledger's GPT */
    { "gpt2-xl", 1557611200 },
    { "gpt3-175b", 174604259328 },
    /* 8192 * 4096 + 4 * 218112000 + 4096, the layer being that of Llama 3 8B */
    { "teaching", 906006528 },
    /* 2 * 100352 * 4096 + 32 * (4 * 4096^2 + 3 * 4096 * 11008 + 4 * 4096) + 4096 */
    { "olmo2-7b", 7298617344 },
  };
  g_auto (GStrv) shipped = fixture_list ("scenarios/models");

  cr_assert (eq (u32, g_strv_length (shipped), G_N_ELEMENTS (published)));
  for (guint i = 0; i < G_N_ELEMENTS (published); i++)
    {
      g_autofree char *file = g_strdup_printf ("scenarios/models/%s.xml", published[i].file);
      g_autofree char *path = fixture_source (file), *name = NULL, *said = NULL;
      SsModelConfig config;

      said = load_model (path, &config, &name);
      cr_assert (eq (str, said, ""));
      cr_assert (eq (u64, count_of (&config), published[i].parameters), "%s", published[i].file);
    }
}

/* column recomputed_total_params of SOURCES.csv */
Test (model_file, collected_configs_of_known_types_give_the_recomputed_totals)
{
  static const struct
  {
    const char *file;
    guint64 parameters;
  } totals[] = {
    { "codellama-34b", 33744232448 }, { "llama2-13b", 13015864320 },
    { "llama2-7b", 6738415616 },      { "llama3-8b", 8030261248 },
    { "llama3.1-70b", 70553706496 },  { "llama3.2-1b", 1235814400 },
    { "gpt2", 124439808 },            { "gpt2-medium", 354823168 },
    { "mistral-7b-v0.1", 7241732096 }, { "qwen2-0.5b", 494032768 },
    { "qwen2-7b", 7615616512 },       { "qwen2.5-3b", 3085938688 },
    { "qwen3-0.6b", 596049920 },      { "qwen3-32b", 32762123264 },
    { "smollm-1.7b", 1711376384 },    { "smollm2-360m", 361821120 },
    { "olmo2-7b", 7298617344 },       { "olmo2-13b", 13716198400 },
    { "trap-llama13b-vocab32016", 13016028160 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (totals); i++)
    {
      g_autofree char *file = g_strdup_printf ("../shared/data/hf_configs/%s.json", totals[i].file);
      g_autofree char *path = fixture_source (file), *name = NULL, *said = NULL;
      SsModelConfig config;

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        cr_skip_test ("no collected configs here");
      said = load_model (path, &config, &name);
      cr_assert (eq (str, said, ""));
      cr_assert (eq (u64, count_of (&config), totals[i].parameters), "%s", totals[i].file);
    }
}

/* The ones of other types are refused by the name of their type, and none of them crashes. */
Test (model_file, collected_configs_of_other_types_are_refused_by_name)
{
  g_autofree char *folder = fixture_source ("../shared/data/hf_configs");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *entry;

  if (!dir)
    cr_skip_test ("no collected configs here");
  while ((entry = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (folder, entry, NULL), *name = NULL, *said = NULL;
      SsModelConfig config;

      if (!g_str_has_suffix (entry, ".json"))
        continue;
      said = load_model (path, &config, &name);
      cr_assert (said[0] == '\0' || strstr (said, "is not known; known: llama") != NULL, "%s",
                 said);
    }
}

#define SIZES                                                                                      \
  "\"hidden_size\": 64, \"intermediate_size\": 128, \"num_hidden_layers\": 2, "                    \
  "\"num_attention_heads\": 4, \"vocab_size\": 100"

Test (model_file, what_is_absent_or_null_follows_the_familys_rules)
{
  char *folder = fixture_folder ();
  g_autofree char *absent
    = fixture_write (folder, "a.json", "{\"model_type\": \"mistral\", " SIZES "}", -1);
  g_autofree char *null = fixture_write (
    folder, "b.json",
    "{\"model_type\": \"mistral\", \"num_key_value_heads\": null, \"head_dim\": null, "
    "\"hidden_size\": 64.0, \"intermediate_size\": 128, \"num_hidden_layers\": 2, "
    "\"num_attention_heads\": 4, \"vocab_size\": 1e2, \"eos_token_id\": [1, 2], "
    "\"rms_norm_eps\": 1e-05, \"unknown\": {\"a\": [{}]}}",
    -1);
  g_autofree char *name = NULL, *second = NULL, *said = NULL, *good = NULL;
  SsModelConfig config;

  /* absent: 8 key-value heads, which 4 heads cannot share; null: as many as there are heads */
  said = load_model (absent, &config, &name);
  cr_assert (eq (i64, ss_llama_config (&config)->n_kv_heads, 8));
  good = load_model (null, &config, &second);
  fixture_discard (folder);
  cr_assert (strstr (said, "key-value heads") != NULL, "%s", said);
  cr_assert (eq (str, good, ""));
  cr_assert (eq (i64, ss_llama_config (&config)->n_kv_heads, 4));
  cr_assert (eq (i64, ss_llama_config (&config)->head_dim, 16));
  cr_assert (eq (i64, ss_llama_config (&config)->vocab_size, 100));
}

Test (model_file, rope_is_a_type_within_an_object_of_either_name)
{
  static const struct
  {
    const char *member;
    SsRopeType type;
    const char *said;
  } cases[] = {
    { "", SS_ROPE_DEFAULT, "" },
    { "\"rope_scaling\": null, ", SS_ROPE_DEFAULT, "" },
    { "\"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"llama3\"}, ", SS_ROPE_LLAMA3, "" },
    { "\"rope_scaling\": {\"type\": \"llama3\"}, ", SS_ROPE_LLAMA3, "" },
    { "\"rope_parameters\": {\"rope_theta\": 5e5, \"rope_type\": \"llama3\"}, ", SS_ROPE_LLAMA3,
      "" },
    { "\"rope_parameters\": {\"rope_theta\": 5e5}, ", SS_ROPE_DEFAULT, "" },
    { "\n\"rope_scaling\": {\"rope_type\": \"yarn\"}, ", SS_ROPE_DEFAULT,
      "c.json:2: rope_scaling: type yarn is not known; known: default, llama3" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      char *folder = fixture_folder ();
      g_autofree char *text
        = g_strdup_printf ("{\"model_type\": \"llama\", %s" SIZES "}", cases[i].member);
      g_autofree char *path = fixture_write (folder, "c.json", text, -1), *name = NULL,
                      *said = NULL;
      SsModelConfig config;

      said = load_model (path, &config, &name);
      fixture_discard (folder);
      cr_assert (eq (str, said, (char *) cases[i].said));
      cr_assert (eq (int, ss_llama_config (&config)->rope_type, cases[i].type));
    }
}

/* An activation function of another name would run other kernels than those traced, a quantized
 * base be smaller. */
Test (model_file, what_would_run_other_kernels_is_refused)
{
  static const struct
  {
    const char *type, *member, *said;
  } cases[] = {
    { "llama", "\"hidden_act\": \"silu\", \"quantization_config\": null, ", "" },
    { "qwen2", "\"hidden_act\": \"swish\", ", "" },
    { "llama", "\n\"hidden_act\": \"gelu\", ",
      "c.json:2: hidden_act: gelu is not modelled for llama; known: silu, swish" },
    { "llama", "\"hidden_act\": null, ",
      "c.json:1: hidden_act: null is not modelled for llama; known: silu, swish" },
    { "gpt2", "\"activation_function\": \"gelu_new\", ", "" },
    { "gpt2", "\"activation_function\": \"relu\", ",
      "c.json:1: activation_function: relu is not modelled for gpt2; known: gelu_new, gelu, "
      "gelu_pytorch_tanh" },
    { "gpt2", "\"activation_function\": \"gelu\", \"add_cross_attention\": false, ", "" },
    { "gpt2", "\"add_cross_attention\": true, ",
      "c.json:1: add_cross_attention: true is not modelled for gpt2; known: false, no" },
    { "gpt2", "\"scale_attn_weights\": true, \"reorder_and_upcast_attn\": false, ", "" },
    { "gpt2", "\"scale_attn_weights\": false, ",
      "c.json:1: scale_attn_weights: false is not modelled for gpt2; known: true, yes" },
    { "gpt2", "\"scale_attn_by_inverse_layer_idx\": true, ",
      "c.json:1: scale_attn_by_inverse_layer_idx: true is not modelled for gpt2; known: false, "
      "no" },
    { "gpt2", "\"reorder_and_upcast_attn\": true, ",
      "c.json:1: reorder_and_upcast_attn: true is not modelled for gpt2; known: false, no" },
    { "llama", "\"quantization_config\": {\"bits\": 4}, ",
      "c.json:1: quantization_config: quantized weights are not modelled; expected the config of "
      "the model before it was quantized" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      char *folder = fixture_folder ();
      g_autofree char *text = g_strdup_printf (
        "{\"model_type\": \"%s\", %s" SIZES ", \"num_key_value_heads\": 4, \"n_embd\": 64, "
        "\"n_layer\": 2, \"n_head\": 4, \"n_positions\": 128}",
        cases[i].type, cases[i].member);
      g_autofree char *path = fixture_write (folder, "c.json", text, -1), *name = NULL,
                      *said = NULL;
      SsModelConfig config;

      said = load_model (path, &config, &name);
      fixture_discard (folder);
      cr_assert (eq (str, said, (char *) cases[i].said));
    }
}

Test (model_file, a_model_is_called_as_its_config_says_or_after_its_file_or_folder)
{
  static const struct
  {
    const char *file, *member, *name;
  } cases[] = {
    { "mine.json", "", "mine" },
    { "mine.json", "\"_name_or_path\": \"org/Model\", ", "org/Model" },
    { "mine.json", "\"_name_or_path\": \"\", ", "mine" },
    { "mine.json", "\"_name_or_path\": \"a\\nb\", ", "mine" },
    { "config.json", "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      char *folder = fixture_folder ();
      g_autofree char *text
        = g_strdup_printf ("{\"model_type\": \"llama\", %s" SIZES "}", cases[i].member);
      g_autofree char *path = fixture_write (folder, cases[i].file, text, -1), *name = NULL,
                      *said = NULL;
      g_autofree char *base = g_path_get_basename (folder);
      SsModelConfig config;

      said = load_model (path, &config, &name);
      fixture_discard (folder);
      cr_assert (eq (str, said, ""));
      cr_assert (eq (str, name, (char *) (cases[i].name ? cases[i].name : base)));
    }
}

Test (model_file, a_bad_config_json_is_named_by_line_and_field)
{
  assert_said ("c.json", "", "c.json: is empty");
  assert_said ("c.json", "{\n\"model_type\": \"llama\",\n]",
               "c.json:2: is not JSON: unexpected character `,', expected string constant");
  assert_said ("c.json", "[1]", "c.json:1: is not a JSON object");
  assert_said ("c.json", "{\n\"model_type\": 3}",
               "c.json:2: model_type is no text; is this a Hugging Face config?");
  assert_said ("c.json", "{\"num_layers\": 12, \"hidden_dim\": 768}",
               "c.json: model_type is missing; is this a Hugging Face config?");
  assert_said (
    "c.json",
    "{\"model_type\": \"llama\",\n\"hidden_size\": -4096,\n\"intermediate_size\": 2147483648,\n"
    "\"num_hidden_layers\": 1.5,\n\"num_attention_heads\": \"32\",\n\"num_key_value_heads\": 0,\n"
    "\"vocab_size\": [1],\n\"tie_word_embeddings\": 1,\n\"attention_dropout\": 1.0}",
    "c.json:2: hidden_size: -4096 is not a whole number from 1 to 2147483647\n"
    "c.json:3: intermediate_size: 2147483648 is not a whole number from 1 to 2147483647\n"
    "c.json:4: num_hidden_layers: 1.5 is not a whole number from 1 to 2147483647\n"
    "c.json:5: num_attention_heads: 32 is not a whole number from 1 to 2147483647\n"
    "c.json:6: num_key_value_heads: 0 is not a whole number from 1 to 2147483647\n"
    "c.json:7: vocab_size: a list is not a whole number from 1 to 2147483647\n"
    "c.json:8: tie_word_embeddings: 1 is not true or false\n"
    "c.json:9: attention_dropout: 1.0 is not a probability from 0 to below 1");
  assert_said ("c.json",
               "{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_layer\": 12,\n \"n_head\": null, "
               "\"n_positions\": 64}",
               "c.json: vocab_size is missing; a gpt2 model needs it\n"
               "c.json:2: n_head is null; a gpt2 model needs it");
  assert_said (
    "c.txt", "{}",
    "c.txt: is no model file: wanted a model file that ends in .xml or a Hugging Face config "
    "that ends in .json");
}

Test (model_file, numbers_that_no_model_can_have_together_are_refused)
{
  assert_said ("c.json",
               "{\"model_type\": \"llama\", \"hidden_size\": 100, \"intermediate_size\": 1, "
               "\"num_hidden_layers\": 2, \"num_attention_heads\": 3, \"vocab_size\": 9}",
               "c.json: head_dim is not given, and 100 / 3 is not a whole number");
  assert_said ("c.json",
               "{\"model_type\": \"qwen2\", \"hidden_size\": 2, \"intermediate_size\": 1, "
               "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 4, "
               "\"head_dim\": 8, \"vocab_size\": 9}",
               "c.json: 4 heads in a hidden size of 2; a head has at least one element");
  assert_said ("c.json",
               "{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_layer\": 10001, \"n_head\": 4, "
               "\"n_positions\": 64, \"vocab_size\": 9}",
               "c.json: 10001 layers; at most 10000 are traced");
}

Test (model_file, an_unknown_type_names_the_known_ones)
{
  char *folder = fixture_folder ();
  g_autofree char *path = fixture_write (folder, "c.json", "{\n\"model_type\": \"bert\"}", -1);
  g_autofree char *name = NULL, *said = NULL;
  SsModelConfig config;

  said = load_model (path, &config, &name);
  fixture_discard (folder);
  cr_assert (
    g_str_has_prefix (said, "c.json: model type \"bert\" is not known; known: llama, mistral"),
    "%s", said);
}

Test (model_file, json_is_bounded_in_size_and_depth)
{
  g_autofree char *deep = g_strnfill (100000, '[');
  g_autofree char *spaces = g_strnfill (1024 * 1024, ' ');
  g_autofree char *large = g_strdup_printf ("%s{}", spaces);

  assert_said ("c.json", deep, "c.json:1: is nested deeper than 32");
  assert_said ("c.json", large, "c.json: is 1048578 bytes long; at most 1048576 are read");
}

Test (model_file, a_bad_model_xml_is_named_by_line_and_attribute)
{
  assert_said ("m.xml", "<model type='llama'>\n</model>", "m.xml:1: <config> is missing");
  assert_said ("m.xml", "<model>\n<config/></model>", "m.xml:1: type is missing in <model>");
  assert_said ("m.xml", "<model href='m.xml' type='llama'><config/>\n<config/>\n<layer/></model>",
               "m.xml:1: <model> has no attribute \"href\"; known: name, type, source\n"
               "m.xml:1: hidden-size is missing; a llama model needs it\n"
               "m.xml:1: intermediate-size is missing; a llama model needs it\n"
               "m.xml:1: num-hidden-layers is missing; a llama model needs it\n"
               "m.xml:1: num-attention-heads is missing; a llama model needs it\n"
               "m.xml:1: vocab-size is missing; a llama model needs it\n"
               "m.xml:2: a second <config>; the first is on line 1\n"
               "m.xml:3: element <layer> is not known; known: config");
  assert_said (
    "m.xml",
    "<model type='gpt2'>\n<config n-embd='1e3' n-layer='-1'\n n-head='12' n-positions='1024' "
    "vocab-size='50257'\n hidden-size='768' embd-pdrop='yes'/></model>",
    "m.xml:2: n-embd: 1e3 is not a whole number from 1 to 2147483647\n"
    "m.xml:2: n-layer: -1 is not a whole number from 1 to 2147483647\n"
    "m.xml:4: <config> has no attribute \"hidden-size\"; near: vocab-size\n"
    "m.xml:4: embd-pdrop: yes is not a probability from 0 to below 1");
}
