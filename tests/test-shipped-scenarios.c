/* SPDX-License-Identifier: MIT
 *
 * What the comment of each shipped scenario says about it.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "scenario-fixture.h"
#include "sim/recording.h"
#include "sim/simulate.h"

static SsRecording *
simulate (const char *name, const char *const *overrides)
{
  g_autofree char *file = g_strdup_printf ("scenarios/%s.xml", name);
  g_autofree char *path = fixture_source (file);
  g_autoptr (SsScenario) scenario = fixture_load (path, overrides);
  g_autoptr (GError) error = NULL;
  SsRecording *recording = ss_simulate (scenario, NULL, &error);

  cr_assert (recording != NULL, "%s: %s", name, error ? error->message : "no error");
  return recording;
}

/* The step in which it runs out of memory, 0: it fits.  A scenario without a row here has an answer
 * that nobody checks. */
static const struct
{
  const char *name;
  guint oom_step;
} answers[] = {
  { "gpt2-a100", 0 },
  { "gpt3-layer-paper", 0 },
  { "llama1b-rtx4090", 0 },
  { "llama8b-a100-40gb-lora", 0 },
  { "llama8b-b200", 0 },
  { "llama8b-h100", 2 },
  { "llama8b-h100-checkpointed", 0 },
  { "llama8b-h100-fragmentation", 2 },
  { "llama8b-h100-mixed", 1 },
  { "llama8b-h200", 0 },
  { "teaching-4layer", 0 },
};

Test (shipped_scenarios, each_has_its_answer_and_is_installed)
{
  g_auto (GStrv) names = fixture_list ("scenarios");
  g_autofree char *build = fixture_source ("scenarios/meson.build"), *text = NULL;

  cr_assert (g_file_get_contents (build, &text, NULL, NULL));
  cr_assert (eq (u32, g_strv_length (names), G_N_ELEMENTS (answers)));
  for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
    {
      g_autofree char *quoted = g_strdup_printf ("'%s.xml'", answers[i].name);
      g_autoptr (SsRecording) recording = simulate (answers[i].name, NULL);

      cr_expect (strstr (text, quoted) != NULL, "%s is not installed", answers[i].name);
      cr_expect (eq (u32, recording->is_oom ? recording->oom.at.step : 0, answers[i].oom_step),
                 "%s", answers[i].name);
    }
}

/* arXiv 2205.05198, section 4.1: s b h (34 + 5 a s / h) bytes a layer; s 2048, b 1, h 12288, a 96:
 * 2048 * 12288 * (34 + 80) = 2,868,903,936.  Of two layers and of one all else is the same. */
Test (shipped_scenarios, a_layer_of_gpt3_keeps_what_the_paper_counts)
{
  g_autoptr (SsRecording) one = simulate ("gpt3-layer-paper", NULL);
  g_autoptr (SsRecording) two
    = simulate ("gpt3-layer-paper", (const char *const[]) { "model/layers=2", NULL });
  guint64 saved_one = g_array_index (one->steps, SsStepRecord, 0).saved_activation_bytes;
  guint64 saved_two = g_array_index (two->steps, SsStepRecord, 0).saved_activation_bytes;

  cr_assert (eq (u64, saved_two - saved_one, 2868903936));
}

static guint64
start_of_forward (const SsRecording *recording, guint step)
{
  for (guint i = 0; i < recording->phases->len; i++)
    {
      const SsPhaseRecord *phase = &g_array_index (recording->phases, SsPhaseRecord, i);

      if (phase->step == step && g_str_equal (phase->name, "forward"))
        return phase->start_allocated_bytes;
    }
  return 0;
}

/* 906,006,528 parameters with 8 bytes of states each: 7,248,052,224; fused Adam has a counter for
 * each of the 38 parameters too, and the allocator gives out whole blocks */
Test (shipped_scenarios, the_lesson_is_step_1_with_the_states_under_it)
{
  g_autoptr (SsRecording) recording = simulate ("teaching-4layer", NULL);
  const SsStepRecord *first = &g_array_index (recording->steps, SsStepRecord, 0);
  const SsStepRecord *second = &g_array_index (recording->steps, SsStepRecord, 1);
  guint64 states = 8 * recording->n_parameters;
  guint64 risen = start_of_forward (recording, 2) - start_of_forward (recording, 1);

  cr_assert (eq (u64, states, 7248052224));
  cr_assert (ge (u64, recording->state_bytes_new, states));
  cr_assert (lt (u64, recording->state_bytes_new, states + (1 << 20)));
  /* the backward thread's matmul workspace is new in step 2's forward as well: 8.125 MiB */
  cr_assert (ge (u64, risen, states));
  cr_assert (lt (u64, risen, states + (64 << 20)));
  cr_assert (ge (u64, second->peak_allocated_bytes, first->peak_allocated_bytes / 4 * 5));
  /* the capacity is drawn just above */
  cr_assert (lt (u64, recording->capacity_bytes, second->peak_allocated_bytes / 4 * 5));
}

/* Its comment: what is asked for at one moment would fit, and with segments that grow it does. */
Test (shipped_scenarios, expandable_segments_turn_the_verdict)
{
  const char *const grown[] = { "allocator/alloc-conf=expandable_segments:True", NULL };
  g_autoptr (SsRecording) died = simulate ("llama8b-h100-fragmentation", NULL);
  g_autoptr (SsRecording) lived = simulate ("llama8b-h100-fragmentation", grown);

  cr_assert (lt (u64, died->least_bytes, died->capacity_bytes));
  cr_assert (not (lived->is_oom));
}

/* 16 bytes for each of 8,030,261,248 parameters: 119.7 GiB, 128.5 GB, and a few for step
 * counters and rope */
Test (shipped_scenarios, mixed_precision_cannot_fit_by_its_states_alone)
{
  g_autoptr (SsRecording) recording = simulate ("llama8b-h100-mixed", NULL);
  guint64 states = 16 * G_GUINT64_CONSTANT (8030261248);

  cr_assert (ge (u64, recording->least_state_bytes, states));
  cr_assert (lt (u64, recording->least_state_bytes, states + 4096));
}
