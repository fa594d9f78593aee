/* SPDX-License-Identifier: MIT
 *
 * The short way: a model's config and a few options, and the scenario written of them.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "cli-fixture.h"
#include "scenarios/attribute.h"

#define CONFIG                                                                                     \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 128, "                  \
  "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 4, "             \
  "\"vocab_size\": 100, \"max_position_embeddings\": 64}"

TestSuite (cli_init, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

static void
write_config (void)
{
  g_autofree char *path = ss_cli_write ("config.json", CONFIG, -1);
}

/* A run by options, by the settings they stand for, and of the file written of them. */
Test (cli_init, options_are_their_settings_and_the_written_file_is_both)
{
  g_auto (SsCliResult) options = { 0 }, settings = { 0 }, written = { 0 }, file = { 0 };

  write_config ();
  options = ss_cli_shell ("\"$S\" config.json --device h100-sxm-80gb --seq 32 --micro-batch 2 "
                          "--accumulation 2 --precision bf16-amp --optimizer sgd --lora 4 "
                          "--checkpointing full --attention eager --kernels hf-eager "
                          "--capacity '40 GiB' --alloc-conf expandable_segments:True "
                          "--json --no-files");
  settings = ss_cli_shell (
    "\"$S\" config.json -s hardware/device=h100-sxm-80gb -s training/sequence-length=32 "
    "-s training/micro-batch=2 -s training/gradient-accumulation=2 -s precision/recipe=bf16-amp "
    "-s optimizer/type=sgd -s adapter/rank=4 -s checkpointing/policy=full "
    "-s kernels/attention=eager -s kernels/profile=hf-eager -s 'hardware/capacity=40 GiB' "
    "-s allocator/alloc-conf=expandable_segments:True --json --no-files");
  written = ss_cli_shell ("\"$S\" init config.json --device h100-sxm-80gb --seq 32 "
                          "--micro-batch 2 --accumulation 2 --precision bf16-amp --optimizer sgd "
                          "--lora 4 --checkpointing full --attention eager --kernels hf-eager "
                          "--capacity '40 GiB' --alloc-conf expandable_segments:True -o my.xml");
  file = ss_cli_shell ("\"$S\" my.xml --json --no-files");
  cr_assert (eq (int, options.status, 0), "%s", options.err);
  cr_assert (eq (int, written.status, 0), "%s", written.err);
  cr_assert (eq (str, settings.out, options.out));
  cr_assert (eq (str, file.out, options.out));
}

Test (cli_init, a_shipped_name_runs_and_an_unknown_one_is_told_what_is_near)
{
  g_auto (SsCliResult) name = ss_cli_shell ("\"$S\" teaching-4layer --json --no-files"),
                       path = ss_cli_shell ("\"$S\" \"$F\" --json --no-files"),
                       bad = ss_cli_shell ("\"$S\" teaching-4layers");

  cr_assert (eq (str, name.out, path.out));
  cr_assert (eq (int, bad.status, 2));
  cr_assert (g_str_has_suffix (bad.err, "near: teaching-4layer\n"), "%s", bad.err);
}

/* A problem is told of the option that was given. */
Test (cli_init, problems_name_the_option)
{
  g_auto (SsCliResult) device = { 0 }, seq = { 0 };

  write_config ();
  device = ss_cli_shell ("\"$S\" config.json --device h100-sx");
  seq = ss_cli_shell ("\"$S\" config.json --device h100-sxm-80gb --seq two");
  cr_assert (eq (int, device.status, 2));
  cr_assert (g_str_has_prefix (device.err, "stepsim: --device=h100-sx: device \"h100-sx\""),
             "%s", device.err);
  cr_assert (eq (str, seq.err,
                 "stepsim: --seq=two: sequence-length: \"two\" is not a whole number\n"));
}

/* Every path of --set once, in words and in JSON. */
Test (cli_init, settings_are_listed_each_with_its_path)
{
  g_auto (SsCliResult) words = ss_cli_shell ("\"$S\" list settings"),
                       json = ss_cli_shell ("\"$S\" list settings --json");
  g_auto (GStrv) paths = ss_scenario_attribute_paths ();

  cr_assert (eq (uint, ss_cli_count_lines (words.out), g_strv_length (paths)));
  for (char **path = paths; *path; path++)
    {
      g_autofree char *name = g_strdup_printf ("{\"name\":\"%s\",\"description\":\"", *path);

      cr_expect (ne (ptr, strstr (json.out, name), NULL), "%s", *path);
    }
  cr_assert (ne (ptr, strstr (json.out, "\"default\":\"bf16\",\"words\":[\"fp32\",\"bf16\","),
                 NULL), "%s", json.out);
}

/* The settings go before the options, and what became of them beside the scenario. */
Test (cli_init, another_trainers_settings_become_a_scenario)
{
  g_auto (SsCliResult) to_file = ss_cli_shell (
    "\"$S\" init --from=" SS_SOURCE_DIR "/tests/trainers/axolotl-lora.yml "
    "--device=h100-sxm-80gb --micro-batch=1 -o my.xml");
  g_auto (SsCliResult) to_stdout = ss_cli_shell (
    "\"$S\" init --from=" SS_SOURCE_DIR "/tests/trainers/training-args.json gpt2 "
    "--device=h100-sxm-80gb"), no_model = { 0 };
  g_autofree char *xml = ss_cli_read ("my.xml");

  no_model = ss_cli_shell ("\"$S\" init --from=" SS_SOURCE_DIR "/tests/trainers/deepspeed.json "
                           "--device=h100-sxm-80gb");
  cr_assert (eq (int, to_file.status, 0), "%s", to_file.err);
  cr_expect (ne (ptr, strstr (to_file.out, "Axolotl: 12 taken, 11 left, 1 of these matter\n"),
                 NULL), "%s", to_file.out);
  cr_expect (ne (ptr, strstr (xml, "micro-batch=\"1\" sequence-length=\"4096\""), NULL), "%s", xml);
  cr_expect (eq (int, to_stdout.status, 0), "%s", to_stdout.err);
  cr_expect (g_str_has_prefix (to_stdout.out, "<?xml"));
  cr_expect (ne (ptr, strstr (to_stdout.err, "7 taken, 3 left, 1 of these matter\n"), NULL), "%s",
             to_stdout.err);
  cr_expect (eq (int, no_model.status, 2));
  cr_expect (ne (ptr, strstr (no_model.err, "names no model; give its config.json"), NULL), "%s",
             no_model.err);
}

/* What show prints as JSON, or a run, runs as the file does. */
Test (cli_init, settings_in_json_run_as_the_file_does)
{
  g_auto (SsCliResult) show = ss_cli_shell ("\"$S\" show \"$F\" --json >run.json"),
                       again = ss_cli_shell ("\"$S\" run.json --json --no-files"),
                       file = ss_cli_shell ("\"$S\" \"$F\" --json --no-files | tee whole.json"),
                       rerun = ss_cli_shell ("\"$S\" whole.json --json --no-files"),
                       bad = { 0 };

  cr_assert (eq (int, show.status, 0), "%s", show.err);
  cr_assert (eq (str, again.out, file.out));
  cr_assert (eq (str, rerun.out, file.out));
  bad = ss_cli_shell ("echo '{\"settings\":{\"training/step\":\"2\"}}' >x.json; \"$S\" x.json");
  cr_assert (eq (int, bad.status, 2));
  cr_assert (eq (str, bad.err, "stepsim: x.json:1: settings: \"training/step\" is no setting, or "
                               "no text\n"));
}

Test (cli_init, validate_says_it_in_json_too)
{
  g_auto (SsCliResult) result
    = ss_cli_shell ("echo '<scenario/>' >x.xml; \"$S\" validate --json \"$F\" x.xml");

  cr_assert (eq (int, result.status, 2));
  cr_expect (ne (ptr, strstr (result.out, "\"valid\":true,\"problems\":[]}"), NULL), "%s",
             result.out);
  cr_expect (ne (ptr, strstr (result.out, "{\"file\":\"x.xml\",\"valid\":false,\"problems\":["
                              "\"x.xml:1: scenario: <model> is missing\","
                              "\"x.xml:1: scenario: <hardware> is missing\"]}]}\n"), NULL), "%s",
             result.out);
}
