/* SPDX-License-Identifier: MIT
 *
 * Other trainers' settings, in small files of tests/trainers written after their documentation.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "scenario-fixture.h"
#include "scenarios/trainer.h"

static SsTrainer *
read_fixture (const char *name)
{
  g_autofree char *file = g_strdup_printf ("tests/trainers/%s", name),
                  *path = fixture_source (file);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  SsTrainer *trainer = ss_trainer_read (path, problems);

  cr_assert (ne (ptr, trainer, NULL), "%s", name);
  return trainer;
}

/* What each trainer does with such a file: see scenarios/trainer-parts.c for the sources. */
Test (trainer, the_settings_are_those_of_the_run)
{
  static const struct
  {
    const char *file;
    SsTrainerKind kind;
    const char *model, *overrides;
    guint n_that_matter;
  } rows[] = {
    { "axolotl-lora.yml", SS_TRAINER_AXOLOTL, "NousResearch/Meta-Llama-3-8B",
      "training/sequence-length=4096 adapter/rank=32 adapter/targets=q_proj,v_proj "
      "training/gradient-accumulation=4 training/micro-batch=2 "
      "precision/float32-matmul=highest checkpointing/reentrant=yes "
      "kernels/attention=sdpa-flash precision/recipe=bf16 adapter/type=lora adapter/dtype=fp32 "
      "optimizer/type=adamw optimizer/implementation=fused checkpointing/policy=full "
      "training/clip-grad-norm=1.0", 1 },
    { "training-args.json", SS_TRAINER_HUGGING_FACE, NULL,
      "training/micro-batch=4 training/gradient-accumulation=2 kernels/profile=liger "
      "precision/recipe=bf16-amp optimizer/type=adamw optimizer/implementation=foreach "
      "checkpointing/policy=full training/clip-grad-norm=0.5", 1 },
    { "llama-factory.yaml", SS_TRAINER_LLAMA_FACTORY, "Qwen/Qwen2-0.5B",
      "training/sequence-length=2048 training/gradient-accumulation=2 "
      "kernels/attention=sdpa-flash precision/recipe=bf16-amp checkpointing/policy=full "
      "checkpointing/reentrant=yes training/clip-grad-norm=1.0 training/micro-batch=8", 0 },
    { "torchtune.yaml", SS_TRAINER_TORCHTUNE, "llama3_8b",
      "training/sequence-length=2048 adapter/rank=8 training/micro-batch=2 "
      "optimizer/implementation=fused precision/recipe=bf16 adapter/dtype=base "
      "adapter/type=lora adapter/targets=q_proj,v_proj,o_proj,gate_proj,up_proj,down_proj "
      "kernels/loss=direct optimizer/type=adamw checkpointing/policy=full", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (SsTrainer) trainer = read_fixture (rows[i].file);
      g_autofree char *joined = NULL;

      for (char **override = trainer->overrides; *override; override++)
        g_strdelimit (*override, " ", ',');
      joined = g_strjoinv (" ", trainer->overrides);
      cr_expect (eq (uint, trainer->kind, rows[i].kind), "%s", rows[i].file);
      cr_expect (eq (str, trainer->model ? trainer->model : "-",
                     (char *) (rows[i].model ? rows[i].model : "-")));
      cr_expect (eq (str, joined, (char *) rows[i].overrides), "%s", rows[i].file);
      cr_expect (eq (uint, trainer->n_that_matter, rows[i].n_that_matter), "%s", trainer->report);
    }
}

/* Each line of the file has one line of the report. */
Test (trainer, every_line_is_told_what_became_of_it)
{
  g_autoptr (SsTrainer) trainer = read_fixture ("axolotl-lora.yml");
  static const char *const lines[] = {
    "axolotl-lora.yml:2: base_model: NousResearch/Meta-Llama-3-8B -> the model\n",
    "axolotl-lora.yml:4: datasets: a list; left: does not change a step\n",
    "axolotl-lora.yml:15: micro_batch_size: 2 -> training/micro-batch=2\n",
    "axolotl-lora.yml:17: optimizer: adamw_torch_fused -> optimizer/type=adamw, "
    "optimizer/implementation=fused\n",
    "axolotl-lora.yml:25: lora_qkv_kernel: true; LEFT, THOUGH IT MATTERS: Axolotl's own fused "
    "LoRA kernels\n",
    "axolotl-lora.yml:26: hub_model_id: ./outputs/lora-out; left: does not change a step\n",
    "axolotl-lora.yml:27: no_such_key: 3; left: stepsim does not know it\n",
    "axolotl-lora.yml: not said, Axolotl: max_grad_norm 1.0 -> training/clip-grad-norm=1.0\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    cr_expect (ne (ptr, strstr (trainer->report, lines[i]), NULL), "%s\n%s", lines[i],
               trainer->report);
}

/* DeepSpeed keeps masters; where it puts states on the host, that is never lost. */
Test (trainer, deepspeed_says_what_one_device_holds)
{
  g_autoptr (SsTrainer) trainer = read_fixture ("deepspeed.json");

  cr_expect (g_strv_contains ((const char *const *) trainer->overrides,
                              "precision/recipe=bf16-mixed"));
  cr_expect (g_strv_contains ((const char *const *) trainer->overrides,
                              "training/clip-grad-norm=1.0"));
  cr_expect (ne (ptr, strstr (trainer->report, "gradient_accumulation_steps: auto; left: the "
                                               "trainer fills it in"), NULL));
  cr_expect (ne (ptr, strstr (trainer->report, "offload_optimizer.device: cpu"), NULL));
  cr_expect (g_strv_contains ((const char *const *) trainer->overrides, "optimizer/offload=states")
             || strstr (trainer->report, "offload_optimizer.device: cpu; LEFT, THOUGH") != NULL);
}

Test (trainer, a_models_name_on_the_hub_is_that_of_a_shipped_one)
{
  static const struct { const char *model, *found; } rows[] = {
    { "NousResearch/Meta-Llama-3-8B", "llama3-8b" }, { "llama3_8b", "llama3-8b" },
    { "meta-llama/Meta-Llama-3-8B-Instruct", "llama3-8b" }, { "openai-community/gpt2", "gpt2" },
    { "meta-llama/Llama-3.2-1B", "llama3.2-1b" }, { "Qwen/Qwen2-0.5B", "qwen2-0.5b" },
    { "mistralai/Mistral-7B-v0.1", "mistral-7b" }, { "mistralai/Mistral-7B-v0.3", NULL },
    { "meta-llama/Llama-3.1-8B", NULL }, { "nobody/llama3", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *found = ss_trainer_find_model (rows[i].model);

      cr_expect (eq (int, g_strcmp0 (found, rows[i].found), 0), "%s: %s", rows[i].model, found);
    }
}

Test (trainer, a_file_of_nobody_is_refused)
{
  char *folder = fixture_folder ();
  g_autofree char *path = fixture_write (folder, "x.yml", "a: 1\n", -1);
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsTrainer) trainer = ss_trainer_read (path, problems);

  fixture_discard (folder);
  cr_assert (eq (ptr, trainer, NULL));
  cr_assert (eq (uint, ss_problems_count (problems), 1));
}

Test (trainer, rules_of_one_trainer_are_no_others)
{
  cr_expect (eq (ptr, (void *) ss_trainer_rule_find (SS_TRAINER_DEEPSPEED, "lora_r"), NULL));
  cr_expect (eq (ptr, (void *) ss_trainer_rule_find (SS_TRAINER_HUGGING_FACE, "lora_r"), NULL));
  cr_expect (ne (ptr, (void *) ss_trainer_rule_find (SS_TRAINER_AXOLOTL, "tf32"), NULL));
  cr_expect (eq (ptr, (void *) ss_trainer_rule_find (SS_TRAINER_TORCHTUNE, "tf32"), NULL));
  cr_expect (eq (str, (char *) ss_trainer_optimizer ("PagedAdamW8bit"),
                 "paged-adamw-8bit bitsandbytes"));
}
