/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "output/tables/explain-text.h"
#include "scenario-fixture.h"
#include "study/explain.h"

static char *folder;

static void
setup (void)
{
  folder = fixture_folder ();
}

static void
teardown (void)
{
  fixture_discard (folder);
}

TestSuite (explain, .init = setup, .fini = teardown);

/* GPT-2 large with the padded vocabulary of Megatron-LM and nanoGPT, cut to one layer: the tensors
 * that are asked about are the same. */
static const char gpt2[]
  = "{\"model_type\":\"gpt2\",\"n_embd\":1280,\"n_layer\":1,\"n_head\":20,\"n_positions\":1024,"
    "\"n_ctx\":1024,\"vocab_size\":50304,\"activation_function\":\"gelu_new\","
    "\"layer_norm_epsilon\":1e-5}";

#define SCENARIO(model, training, rest)                                                            \
  "<scenario name='s'><model href='" model "'/><hardware device='h200-sxm-141gb'/>"                \
  "<training " training "/>" rest "</scenario>"
#define GPT2_EAGER                                                                                 \
  SCENARIO ("gpt2.json", "steps='1' micro-batch='4' sequence-length='1024'",                       \
            "<precision recipe='fp16-amp'/><kernels profile='hf-eager'/>")

static SsScenario *
load (const char *xml)
{
  g_autofree char *model = fixture_write (folder, "gpt2.json", gpt2, -1);
  g_autofree char *path = fixture_write (folder, "s.xml", xml, -1);

  return fixture_load (path, NULL);
}

static SsExplanation *
explain (const char *xml, const char *text)
{
  g_autoptr (SsScenario) scenario = load (xml);
  g_auto (SsOomMessage) message = { 0 };
  g_autoptr (GError) error = NULL;
  SsExplanation *explanation;

  cr_assert (ss_oom_message_parse (text, strlen (text), &message, NULL), "%s", text);
  explanation = ss_explain (scenario, &message, &error);
  cr_assert (explanation != NULL, "%s", error ? error->message : "");
  return explanation;
}

static const SsRequest *
first (const SsExplanation *explanation)
{
  cr_assert (gt (uint, explanation->found->len, 0), "nothing found");
  return explanation->found->pdata[0];
}

/* Requests of public threads, each with what its own arithmetic says of it:
 *   NVIDIA/Megatron-LM#525:  4 x 1024 x 50304 x 4 B = 786.0 MiB, fp32 logits
 *   karpathy/nanoGPT#88:     2 x 1024 x 50304 x 4 B = 393.0, to 2 MiB 394, fp32 logits
 *   tloen/alpaca-lora#329:   8 x 32 x 512 x 512 x 2 B = 128.0 MiB, attention scores
 *   meta-pytorch/torchtune#2071: 128256 x 8192 x 2 B = 2004.0 MiB, the head's or embedding's matrix
 *   mgmalek/efficient_cross_entropy#9: 30688 x 151936 x 4 B = 17.37 GiB, fp32 logits
 *   modelscope/ms-swift#411: 14336 x 4096 x 2 B = 112.0 MiB, _multi_tensor_adamw's denominators
 */
static const struct
{
  const char *thread, *request, *xml;
  SsTensorKind kind;
  const char *factors;
} stories[] = {
  { "Megatron-LM#525", "Tried to allocate 786.00 MiB", GPT2_EAGER, SS_TENSOR_LOGITS,
    "4 x 1024 tokens x 50304 words x 4 bytes" },
  { "nanoGPT#88", "Tried to allocate 394.00 MiB",
    SCENARIO ("gpt2.json", "steps='1' micro-batch='2' sequence-length='1024'",
              "<precision recipe='fp16-amp'/>"),
    SS_TENSOR_LOGITS, "2 x 1024 tokens x 50304 words x 4 bytes" },
  { "alpaca-lora#329", "tried 128.00 MiB: Tried to allocate 128.00 MiB",
    "<scenario name='s'><model href='models/llama2-7b.xml' layers='1'/>"
    "<hardware device='a100-sxm-40gb'/><training steps='1' micro-batch='8' sequence-length='512'/>"
    "<kernels profile='hf-eager'/><adapter type='lora' rank='16' targets='q k v o'/></scenario>",
    SS_TENSOR_SCORES, "8 x 32 heads x 512 tokens x 512 tokens x 2 bytes" },
  { "torchtune#2071", "Tried to allocate 1.96 GiB",
    "<scenario name='s'><model href='models/llama3-70b.xml' layers='1'/>"
    "<hardware device='rtx-4090'/><training steps='1' sequence-length='512'/>"
    "<adapter type='lora'/></scenario>",
    SS_TENSOR_PARAMETER, "128256 words x 8192 features x 2 bytes" },
  { "efficient_cross_entropy#9", "Tried to allocate 17.37 GiB",
    "<scenario name='s'><model href='models/qwen2-0.5b.xml' layers='1'/>"
    "<hardware device='h200-sxm-141gb'/><training steps='1' sequence-length='30688'/></scenario>",
    SS_TENSOR_LOGITS, "1 x 30688 tokens x 151936 words x 4 bytes" },
  { "ms-swift#411", "Tried to allocate 112.00 MiB",
    "<scenario name='s'><model href='models/mistral-7b.xml' layers='1'/>"
    "<hardware device='a100-sxm-80gb'/><training steps='1' sequence-length='512'/>"
    "<optimizer type='adamw' implementation='foreach'/></scenario>",
    SS_TENSOR_UPDATE, "14336 MLP features x 4096 features x 2 bytes" },
};

Test (explain, requests_of_public_threads_are_named)
{
  for (guint i = 0; i < G_N_ELEMENTS (stories); i++)
    {
      g_autoptr (SsExplanation) explanation = explain (stories[i].xml, stories[i].request);
      const SsRequest *request = first (explanation);

      cr_expect (eq (int, request->kind, stories[i].kind), "%s: %s", stories[i].thread,
                 request->what);
      cr_expect (eq (str, request->factors, (char *) stories[i].factors), "%s", stories[i].thread);
    }
}

/* The number of its own message, in the state of its own message. */
Test (explain, a_run_that_dies_is_told_where)
{
  static const char xml[]
    = "<scenario name='s'><model href='models/teaching.xml'/>"
      "<hardware device='rtx-4090' capacity='6 GiB' context='1 MiB'/>"
      "<training steps='1' micro-batch='2' sequence-length='4096'/></scenario>";
  g_autoptr (SsExplanation) bare = explain (xml, "1 bytes");
  g_autofree char *size = NULL, *text = NULL;
  g_autoptr (SsExplanation) explanation = NULL;

  cr_assert (not (bare->fits));
  size = g_strdup_printf ("Tried to allocate %.2f MiB", (double) bare->fatal_bytes / 1048576);
  explanation = explain (xml, size);
  cr_expect (first (explanation)->is_fatal);
  text = ss_explain_text (explanation, &(const SsReportStyle) { .width = 80 });
  cr_expect (ne (ptr, strstr (text, "runs out of memory at such a request"), NULL), "%s", text);
}

/* Each change was simulated: the request is gone, or smaller, or comes when less is in use. */
Test (explain, changes_change_it)
{
  g_autoptr (SsExplanation) explanation = explain (GPT2_EAGER, "786.00 MiB");
  const SsRequest *request = first (explanation);
  gboolean any_gone = FALSE;

  cr_assert (gt (uint, explanation->changes->len, 0));
  for (guint i = 0; i < explanation->changes->len; i++)
    {
      const SsExplainedChange *change = explanation->changes->pdata[i];

      any_gone |= change->segment_bytes == 0;
      cr_expect (change->segment_bytes < request->segment_bytes
                   || change->allocated_bytes + request->segment_bytes <= request->allocated_bytes,
                 "%s", change->settings[0]);
      cr_expect (le (u64, change->peak_allocated_bytes, explanation->peak_allocated_bytes), "%s",
                 change->settings[0]);
    }
  cr_expect (any_gone);
}

/* The head's and the embedding's matrices are of one size, and loaded one after the other: a change
 * is one of the matrix that is told of, not of the one that happens to come first. */
Test (explain, a_change_is_one_of_the_same_tensor)
{
  g_autoptr (SsExplanation) explanation
    = explain ("<scenario name='s'><model href='models/llama3-8b.xml' layers='10'/>"
               "<hardware device='h200-sxm-141gb'/>"
               "<training steps='1' micro-batch='1' sequence-length='64'/></scenario>",
               "1002.00 MiB");

  cr_assert (eq (str, first (explanation)->module, (char *) "lm_head"));
  for (guint i = 0; i < explanation->changes->len; i++)
    {
      const SsExplainedChange *change = explanation->changes->pdata[i];

      cr_expect (ne (str, change->settings[0],
                     (char *) "allocator/alloc-conf=expandable_segments:True"));
    }
}

/* 2 x 1024 tokens instead of 4 x 1024, and 4 x 512, are 393 MiB, 394 rounded. */
Test (explain, what_is_not_there_is_looked_for_nearby)
{
  g_autoptr (SsExplanation) explanation
    = explain (SCENARIO ("gpt2.json", "steps='1' micro-batch='8' sequence-length='1024'",
                         "<precision recipe='fp16-amp'/>"), "394.00 MiB");
  const SsNearScenario *near;

  cr_assert (eq (uint, explanation->found->len, 0));
  cr_assert (explanation->below != NULL && explanation->above != NULL);
  cr_expect (lt (u64, explanation->below->segment_bytes, 394 * 1048576));
  cr_expect (gt (u64, explanation->above->segment_bytes, 394 * 1048576));
  cr_assert (gt (uint, explanation->near->len, 0));
  near = explanation->near->pdata[0];
  cr_expect (ne (ptr, strstr (near->what, "logits"), NULL), "%s", near->what);
}

/* 8 x 1024 x 4 bytes are 32 KiB a word; above 1000 and up to 1002 MiB are 32001 to 32064. */
Test (explain, a_vocabulary_that_would_be_it_is_told)
{
  g_autoptr (SsExplanation) explanation
    = explain (SCENARIO ("gpt2.json", "steps='1' micro-batch='8' sequence-length='1024'", ""),
               "1002.00 MiB");

  cr_assert (eq (uint, explanation->found->len, 0));
  cr_expect (eq (u64, explanation->vocabulary_low, 32001));
  cr_expect (eq (u64, explanation->vocabulary_high, 32064));
}

/* Segments are multiples of 2 MiB. */
Test (explain, a_number_that_no_segment_has_is_said_to_be_none)
{
  g_autoptr (SsExplanation) explanation = explain (GPT2_EAGER, "785.00 MiB");
  g_autofree char *text = ss_explain_text (explanation, &(const SsReportStyle) { .width = 80 });

  cr_expect (eq (uint, explanation->found->len, 0));
  cr_expect (eq (uint, explanation->near->len, 0));
  cr_expect (ne (ptr, strstr (text, "multiples of 2 MiB"), NULL), "%s", text);
}

Test (explain, twenty_mib_names_no_tensor)
{
  g_autoptr (SsExplanation) explanation = explain (GPT2_EAGER, "20.00 MiB");
  g_autofree char *text = ss_explain_text (explanation, &(const SsReportStyle) { .width = 80 });

  cr_expect (ne (ptr, strstr (text, "the number names no tensor"), NULL), "%s", text);
  cr_expect (eq (uint, explanation->changes->len, 0));
  for (guint i = 0; i < explanation->found->len; i++)
    {
      const SsRequest *request = explanation->found->pdata[i];

      cr_expect (request->bytes > SS_EXPLAIN_SMALL_BYTES
                 && request->bytes <= 20 * SS_EXPLAIN_SMALL_BYTES, "%s", request->what);
    }
}
