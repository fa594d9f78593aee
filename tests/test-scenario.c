/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "scenario-fixture.h"
#include "trace-fixture.h"

#define MINIMAL                                                                                    \
  "<scenario><model href='models/llama3-8b.xml'/><hardware device='h100-sxm-80gb'/></scenario>"

static SsScenario *
load_text (const char *text, const char *const *overrides)
{
  char *folder = fixture_folder ();
  g_autofree char *path = fixture_write (folder, "s.xml", text, -1);
  SsScenario *scenario = fixture_load (path, overrides);

  fixture_discard (folder);
  return scenario;
}

/* Everything that a run depends on, field by field. */
static void
assert_same (const SsScenario *a, const SsScenario *b)
{
  const SsTraceConfig *x = ss_scenario_trace_config (a), *y = ss_scenario_trace_config (b);

  cr_assert (eq (str, (char *) ss_scenario_name (a), (char *) ss_scenario_name (b)));
  cr_assert (eq (str, (char *) ss_scenario_model_name (a), (char *) ss_scenario_model_name (b)));
  cr_assert (eq (str, (char *) ss_device_name (ss_scenario_device (a)),
                 (char *) ss_device_name (ss_scenario_device (b))));
  cr_assert (eq (u64, ss_scenario_capacity_bytes (a), ss_scenario_capacity_bytes (b)));
  cr_assert (eq (u64, ss_scenario_context_bytes (a), ss_scenario_context_bytes (b)));
  cr_assert (eq (str, (char *) ss_scenario_allocator (a), (char *) ss_scenario_allocator (b)));
  cr_assert (eq (str, (char *) ss_scenario_alloc_conf (a), (char *) ss_scenario_alloc_conf (b)));
  cr_assert (memcmp (&x->model, &y->model, sizeof x->model) == 0);
  cr_assert (memcmp (&x->kernels, &y->kernels, sizeof x->kernels) == 0);
  cr_assert (x->n_steps == y->n_steps && x->gradient_accumulation == y->gradient_accumulation);
  cr_assert (x->micro_batch == y->micro_batch && x->sequence_length == y->sequence_length);
  cr_assert (x->has_resume == y->has_resume && x->zeroes_in_place == y->zeroes_in_place);
  cr_assert (x->holds_outputs == y->holds_outputs && x->has_clip == y->has_clip);
  cr_assert (x->precision == y->precision && x->optimizer == y->optimizer
             && x->implementation == y->implementation);
  cr_assert (x->checkpointing.policy == y->checkpointing.policy);
  cr_assert (x->checkpointing.is_reentrant == y->checkpointing.is_reentrant);
  cr_assert (x->checkpointing.has_early_stop == y->checkpointing.has_early_stop);
  cr_assert (g_strcmp0 (x->adapter.type, y->adapter.type) == 0);
  if (x->adapter.type)
    {
      cr_assert (x->adapter.rank == y->adapter.rank && x->adapter.is_fp32 == y->adapter.is_fp32);
      cr_assert (g_strv_equal ((const char *const *) x->adapter.targets,
                               (const char *const *) y->adapter.targets));
    }
}

/* DESIGN section 7 prints this file; every number of the model by hand from its config */
Test (scenario, the_one_of_the_contract_says_what_it_says)
{
  g_autofree char *path = fixture_source ("scenarios/llama8b-h100.xml");
  g_autoptr (SsScenario) s = fixture_load (path, NULL);
  const SsTraceConfig *c = ss_scenario_trace_config (s);

  cr_assert (eq (str, (char *) ss_scenario_name (s), "Llama 3 8B on one H100"));
  cr_assert (eq (str, (char *) ss_scenario_model_name (s), "Llama 3 8B"));
  cr_assert (eq (str, (char *) ss_scenario_path (s), path));
  cr_assert (eq (str, (char *) ss_device_id (ss_scenario_device (s)), "h100-sxm-80gb"));
  cr_assert (eq (u64, ss_scenario_capacity_bytes (s), 84929347584));
  cr_assert (eq (u64, ss_scenario_context_bytes (s), 697303040));
  cr_assert (eq (str, (char *) c->model.model_type, "llama"));
  cr_assert (eq (i64, ss_llama_config (&c->model)->hidden_size, 4096));
  cr_assert (eq (i64, ss_llama_config (&c->model)->intermediate_size, 14336));
  cr_assert (eq (i64, c->model.n_layers, 32));
  cr_assert (eq (i64, ss_llama_config (&c->model)->n_kv_heads, 8));
  cr_assert (eq (i64, ss_llama_config (&c->model)->head_dim, 128));
  cr_assert (eq (u64, c->model.family->count_parameters (&c->model), 8030261248));
  cr_assert (eq (u32, c->n_steps, 2));
  cr_assert (eq (i64, c->sequence_length, 8192));
  cr_assert (eq (str, (char *) c->precision->name, "bf16"));
  cr_assert (eq (str, (char *) c->optimizer->name, "adamw"));
  cr_assert (eq (int, c->implementation, SS_FUSED));
  cr_assert (eq (str, (char *) c->checkpointing.policy->name, "none"));
  cr_assert (eq (str, (char *) ss_kernels_get (&c->kernels, "attention"), "sdpa"));
  cr_assert (c->adapter.type == NULL);
  cr_assert (eq (str, (char *) ss_scenario_allocator (s), "caching"));
}

/* the contract's defaults are the values it shows, so leaving them out changes nothing but the name
 */
Test (scenario, everything_but_model_and_hardware_has_a_default)
{
  g_autofree char *path = fixture_source ("scenarios/llama8b-h100.xml");
  g_autoptr (SsScenario) full = fixture_load (path, (const char *const[]) { "name=s", NULL });
  g_autoptr (SsScenario) minimal = load_text (MINIMAL, NULL);

  assert_same (full, minimal);
}

/* positions of Llama 3.2 1B: 131072; of GPT-2: 1024 */
Test (scenario, sequence_length_defaults_to_the_positions_but_at_most_8192)
{
  g_autoptr (SsScenario) llama
    = load_text (MINIMAL, (const char *const[]) { "model/href=models/llama3.2-1b.xml", NULL });
  g_autoptr (SsScenario) gpt2
    = load_text (MINIMAL, (const char *const[]) { "model/href=models/gpt2.xml", NULL });

  cr_assert (eq (i64, ss_scenario_trace_config (llama)->sequence_length, 8192));
  cr_assert (eq (i64, ss_scenario_trace_config (gpt2)->sequence_length, 1024));
}

/* torch.optim.RMSprop has no fused one */
Test (scenario, an_implementation_left_out_is_the_fastest_that_the_optimizer_has)
{
  g_autoptr (SsScenario) adamw = load_text (MINIMAL, NULL);
  g_autoptr (SsScenario) rmsprop
    = load_text (MINIMAL, (const char *const[]) { "optimizer/type=rmsprop", NULL });

  cr_assert (eq (int, ss_scenario_trace_config (adamw)->implementation, SS_FUSED));
  cr_assert (eq (int, ss_scenario_trace_config (rmsprop)->implementation, SS_FOREACH));
}

Test (scenario, dropout_is_the_models_unless_the_training_says_otherwise)
{
  g_autoptr (SsScenario) own
    = load_text (MINIMAL, (const char *const[]) { "model/href=models/gpt2.xml", NULL });
  g_autoptr (SsScenario) none = load_text (
    MINIMAL, (const char *const[]) { "model/href=models/gpt2.xml", "training/dropout=0.0", NULL });
  const SsModelConfig *with = &ss_scenario_trace_config (own)->model;
  const SsModelConfig *without = &ss_scenario_trace_config (none)->model;

  /* of embeddings, attention and residual stream */
  cr_assert (epsilon_eq (dbl, fixture_dropout (with), 3 * 0.1, 1e-12));
  cr_assert (epsilon_eq (dbl, fixture_dropout (without), 0.0, 1e-12));
}

Test (scenario, overrides_come_before_defaults_and_the_last_one_counts)
{
  static const char *const set[] = {
    "checkpointing/policy=full", "training/steps=3", "training/steps=5", "name=another",
    "precision/recipe=bf16-amp", "kernels/attention=eager", "hardware/capacity=40 GiB",
    "hardware/context=1 GB", "adapter/rank=4", "training/clip-grad-norm=0.5",
    "allocator/alloc-conf=expandable_segments:True", NULL,
  };
  g_autoptr (SsScenario) s = load_text (MINIMAL, set);
  const SsTraceConfig *c = ss_scenario_trace_config (s);

  cr_assert (eq (str, (char *) c->checkpointing.policy->name, "full"));
  cr_assert (eq (u32, c->n_steps, 5));
  cr_assert (eq (str, (char *) ss_scenario_name (s), "another"));
  cr_assert (eq (str, (char *) c->precision->name, "bf16-amp"));
  cr_assert (eq (str, (char *) ss_kernels_get (&c->kernels, "attention"), "eager"));
  cr_assert (eq (u64, ss_scenario_capacity_bytes (s), G_GUINT64_CONSTANT (40) << 30));
  cr_assert (eq (u64, ss_scenario_context_bytes (s), 1000000000));
  cr_assert (eq (str, c->adapter.type, "lora"));
  cr_assert (eq (u32, c->adapter.rank, 4));
  cr_assert (eq (str, c->adapter.targets[1], "v"));
  cr_assert (c->has_clip);
  cr_assert (eq (str, (char *) ss_scenario_alloc_conf (s), "expandable_segments:True"));
}

Test (scenario, unlimited_is_a_capacity)
{
  g_autoptr (SsScenario) s
    = load_text (MINIMAL, (const char *const[]) { "hardware/capacity=unlimited", NULL });

  cr_assert (eq (u64, ss_scenario_capacity_bytes (s), G_MAXINT64));
}

Test (scenario, layers_cut_the_stack)
{
  g_autoptr (SsScenario) s = load_text (MINIMAL, (const char *const[]) { "model/layers=2", NULL });

  cr_assert (eq (i64, ss_scenario_trace_config (s)->model.n_layers, 2));
}

Test (scenario, a_device_file_of_ones_own_takes_the_place_of_a_name)
{
  g_autofree char *file = fixture_source ("hw/devices/rtx-4090.xml");
  g_autofree char *set = g_strdup_printf ("hardware/href=%s", file);
  g_autoptr (SsScenario) s = load_text (MINIMAL, (const char *const[]) { set, NULL });

  cr_assert (eq (u64, ss_scenario_capacity_bytes (s), 25386352640));
}

Test (scenario, a_derived_one_keeps_the_overrides_it_came_with)
{
  g_autofree char *path = fixture_source ("scenarios/llama8b-h100.xml");
  g_autoptr (SsScenario) first
    = fixture_load (path, (const char *const[]) { "training/steps=3", NULL });
  g_autoptr (GError) error = NULL;
  g_autoptr (SsScenario) second = ss_scenario_derive (
    first, (const char *const[]) { "checkpointing/policy=full", NULL }, &error);

  cr_assert (error == NULL);
  cr_assert (eq (u32, ss_scenario_trace_config (second)->n_steps, 3));
  cr_assert (
    eq (str, (char *) ss_scenario_trace_config (second)->checkpointing.policy->name, "full"));
  cr_assert (
    eq (str, (char *) ss_scenario_trace_config (first)->checkpointing.policy->name, "none"));
}

/* ---- stepsim show ---- */

static void
assert_shown_loads_equal (const char *path, const char *const *overrides)
{
  g_autoptr (SsScenario) first = fixture_load (path, overrides);
  g_autofree char *shown = ss_scenario_to_xml (first);
  g_autoptr (SsScenario) second = load_text (shown, NULL);
  g_autofree char *again = ss_scenario_to_xml (second);

  assert_same (first, second);
  cr_assert (eq (str, shown, again));
}

Test (scenario, what_show_prints_loads_to_an_equal_scenario)
{
  static const char *const sets[][6] = {
    { NULL },
    { "hardware/capacity=unlimited", "training/resume=yes", "training/zero-grad=zero",
      "training/hold-outputs=yes" },
    { "precision/recipe=fp16-amp", "optimizer/type=sgd", "optimizer/implementation=foreach",
      "training/dropout=0.05" },
    { "kernels/profile=hf-eager", "kernels/loss=direct", "checkpointing/policy=full",
      "checkpointing/reentrant=yes", "checkpointing/early-stop=no" },
    { "name=a <b> & \"c\" 'd' \xc3\xa4", "model/layers=1", "hardware/context=0 B",
      "training/clip-grad-norm=0.1" },
    { "training/sequence-length=100", "training/micro-batch=7", "training/gradient-accumulation=3",
      "allocator/alloc-conf=expandable_segments:True,max_split_size_mb:256" },
  };
  g_auto (GStrv) names = fixture_list ("scenarios");

  cr_assert (g_strv_length (names) >= 8);
  for (char **name = names; *name; name++)
    for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
      {
        g_autofree char *file = g_strdup_printf ("scenarios/%s.xml", *name);
        g_autofree char *path = fixture_source (file);

        assert_shown_loads_equal (path, sets[i]);
      }
}

Test (scenario, shown_lines_are_short_and_attributes_stand_under_each_other)
{
  g_autoptr (SsScenario) s = load_text (MINIMAL, NULL);
  g_autofree char *shown = ss_scenario_to_xml (s);
  g_auto (GStrv) lines = g_strsplit (shown, "\n", -1);

  for (char **line = lines; *line; line++)
    cr_assert (le (u64, strlen (*line), 100), "%s", *line);
  cr_assert (strstr (shown, "<training steps=\"2\"") != NULL, "%s", shown);
  cr_assert (strstr (shown, "\n            zero-grad=\"none\"") != NULL, "%s", shown);
}

/* hw/devices and scenarios/models are found from anywhere; a file of one's own by its whole path */
Test (scenario, show_names_shipped_files_as_they_were_and_others_by_their_whole_path)
{
  char *folder = fixture_folder ();
  g_autofree char *model = fixture_source ("scenarios/models/gpt2.xml"), *text = NULL, *path = NULL,
                  *shown = NULL;
  g_autofree char *copy = NULL, *expected = NULL, *shipped = NULL;
  g_autoptr (SsScenario) own = NULL, named = load_text (MINIMAL, NULL);

  cr_assert (g_file_get_contents (model, &text, NULL, NULL));
  copy = fixture_write (folder, "mine.xml", text, -1);
  path = fixture_write (
    folder, "s.xml",
    "<scenario><model href='mine.xml'/><hardware device='h100-sxm-80gb'/></scenario>", -1);
  own = fixture_load (path, NULL);
  shown = ss_scenario_to_xml (own);
  shipped = ss_scenario_to_xml (named);
  expected = g_strdup_printf ("<model href=\"%s\"", copy);
  fixture_discard (folder);
  cr_assert (strstr (shipped, "<model href=\"models/llama3-8b.xml\"") != NULL, "%s", shipped);
  cr_assert (strstr (shown, expected) != NULL, "%s", shown);
}

Test (scenario, every_shipped_scenario_says_its_question_in_a_comment)
{
  g_auto (GStrv) names = fixture_list ("scenarios");

  for (char **name = names; *name; name++)
    {
      g_autofree char *file = g_strdup_printf ("scenarios/%s.xml", *name),
                      *path = fixture_source (file), *text = NULL;

      cr_assert (g_file_get_contents (path, &text, NULL, NULL));
      cr_assert (strstr (text, "<!-- ") != NULL
                   && strstr (text, "<!-- ") < strstr (text, "<scenario"),
                 "%s", *name);
    }
}
