/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "scenario-fixture.h"

/* Attributes of a good file, for one bad thing at a time. */
#define MODEL "<model href='models/llama3-8b.xml'/>"
#define HARDWARE "<hardware device='h100-sxm-80gb'/>"
#define WITH(element) "<scenario>\n" MODEL "\n" HARDWARE "\n" element "\n</scenario>"

static void
assert_said (const char *bytes, gssize n, const char *expected)
{
  gint code;
  g_autofree char *said = fixture_said (bytes, n, NULL, &code);

  cr_assert (eq (str, said, (char *) expected));
  cr_assert (eq (int, code, SS_SCENARIO_ERROR_INPUT));
}

static void
assert_override_said (const char *const *overrides, const char *expected)
{
  gint code;
  g_autofree char *said = fixture_said (WITH (""), -1, overrides, &code);

  cr_assert (eq (str, said, (char *) expected));
  cr_assert (eq (int, code, SS_SCENARIO_ERROR_OVERRIDE));
}

Test (scenario_bad, no_scenario_at_all)
{
  g_autoptr (GError) error = NULL;
  SsScenario *scenario = ss_scenario_load ("/nowhere/s.xml", NULL, &error);

  cr_assert (scenario == NULL);
  cr_assert (g_error_matches (error, SS_SCENARIO_ERROR, SS_SCENARIO_ERROR_INPUT));
  cr_assert (
    eq (str, error->message, "/nowhere/s.xml: cannot be opened: No such file or directory"));
  assert_said ("", -1, "s.xml: is empty");
  assert_said ("<device/>", -1, "s.xml:1: the root element is <device>; expected <scenario>");
  assert_said ("<scenario>", -1,
               "s.xml:1: is not well-formed XML: premature end of data in tag scenario line 1");
  assert_said ("scenario", -1, "s.xml:1: is not XML: begins with \"s\"; expected <scenario>");
}

/* FlashAttention and bf16 products begin with compute capability 8.0. */
Test (scenario_bad, what_the_compute_capability_lacks_is_refused)
{
  assert_said ("<scenario>\n" MODEL "\n<hardware device='t4'/>\n<precision recipe='bf16-amp'/>\n"
               "<kernels attention='sdpa-flash'/>\n</scenario>", -1,
               "s.xml:4: recipe: bf16-amp multiplies in bf16, which needs compute capability 8.0; "
               "t4 has 7.5: take fp32 or fp16-amp or fp16-mixed\n"
               "s.xml:5: attention: FlashAttention needs compute capability 8.0; t4 has 7.5: "
               "take sdpa, which runs the memory-efficient kernel there");
}

Test (scenario_bad, what_is_missing_or_doubled_is_named)
{
  assert_said ("<scenario xmlns='http://x'>" MODEL HARDWARE "</scenario>", -1,
               "s.xml:1: scenario: is in the namespace \"http://x\"; expected none");
  assert_said ("<scenario/>", -1,
               "s.xml:1: scenario: <model> is missing\n"
               "s.xml:1: scenario: <hardware> is missing");
  assert_said ("<scenario>" MODEL "</scenario>", -1, "s.xml:1: scenario: <hardware> is missing");
  assert_said ("<scenario><model layers='2'/>" HARDWARE "</scenario>", -1,
               "s.xml:1: model: attribute \"href\" is missing");
  assert_said ("<scenario>" MODEL "<hardware capacity='1 GiB'/></scenario>", -1,
               "s.xml:1: <hardware> has neither device nor href");
  assert_said ("<scenario>" MODEL "<hardware device='rtx-4090' href='x.xml'/></scenario>", -1,
               "s.xml:1: device and href both name the hardware; wanted one of them");
  assert_said (WITH ("<training/>\n<training/>"), -1,
               "s.xml:5: scenario: <training> is given more than once");
  assert_said (WITH ("words"), -1, "s.xml:1: scenario: text \"words\" is not expected here");
}

Test (scenario_bad, unknown_elements_and_attributes_are_refused_not_ignored)
{
  assert_said (WITH ("<trainig steps='3'/>"), -1,
               "s.xml:4: scenario: unknown element <trainig>; near: training");
  assert_said (WITH ("<training step='3'/>"), -1,
               "s.xml:4: training: unknown attribute \"step\"; near: steps");
  assert_said (WITH ("<checkpointing policy='full' evry='4'/>"), -1,
               "s.xml:4: checkpointing: unknown attribute \"evry\"; near: every");
  assert_said (WITH ("<training><steps/></training>"), -1,
               "s.xml:4: training: unknown element <steps>; none is known here");
}

/* A long list of words is shown in part, and other rooms add to theirs: only the beginning counts.
 */
Test (scenario_bad, unknown_words_name_the_known_ones)
{
  static const struct
  {
    const char *element, *said;
  } cases[] = {
    { "<precision recipe='fp7'/>", "s.xml:4: recipe: \"fp7\" is not known; " },
    { "<optimizer type='adamx'/>", "s.xml:4: type: \"adamx\" is not known; " },
    { "<optimizer implementation='fast'/>",
      "s.xml:4: implementation: \"fast\" is not known; known: for-loop, foreach, fused" },
    { "<checkpointing policy='foo'/>", "s.xml:4: policy: \"foo\" is not known; known: none, full" },
    { "<checkpointing reentrant='true'/>",
      "s.xml:4: reentrant: \"true\" is not known; known: no, yes" },
    { "<kernels profile='foo'/>",
      "s.xml:4: profile: \"foo\" is not known; known: hf-sdpa, hf-eager" },
    { "<kernels attention='flash'/>",
      "s.xml:4: attention: \"flash\" is not known; near: sdpa-flash" },
    { "<adapter type='foo'/>", "s.xml:4: type: \"foo\" is not known; known: none, lora" },
    { "<adapter targets='q w q'/>",
      "s.xml:4: targets: \"w\" is no linear of a llama model; known: q, k, v, o, gate, up, down\n"
      "s.xml:4: targets: \"q\" stands there twice" },
    { "<adapter targets=' '/>", "s.xml:4: targets: is empty; wanted names of linears, as \"q v\"" },
    { "<adapter dtype='bf16'/>", "s.xml:4: dtype: \"bf16\" is not known; known: base, fp32" },
    { "<allocator type='foo'/>", "s.xml:4: type: \"foo\" is not known; known: caching, exact" },
    { "<allocator alloc-conf='max_split:1'/>",
      "s.xml:4: alloc-conf: unrecognized allocator option 'max_split'" },
    { "<training zero-grad='yes'/>",
      "s.xml:4: zero-grad: \"yes\" is not known; known: none, zero" },
    { "<training resume='1'/>", "s.xml:4: resume: \"1\" is not known; known: no, yes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gint code;
      g_autofree char *text = g_strdup_printf (WITH ("%s"), cases[i].element);
      g_autofree char *said = fixture_said (text, -1, NULL, &code);

      cr_assert (g_str_has_prefix (said, cases[i].said), "%s", said);
      cr_assert (eq (int, code, SS_SCENARIO_ERROR_INPUT));
    }
}

Test (scenario_bad, numbers_out_of_bounds_are_refused)
{
  static const struct
  {
    const char *element, *said;
  } cases[] = {
    { "<training steps='two'/>", "s.xml:4: steps: \"two\" is not a whole number" },
    { "<training steps='0'/>", "s.xml:4: steps: \"0\" is not between 1 and 1000" },
    { "<training steps='-1'/>", "s.xml:4: steps: \"-1\" is not between 1 and 1000" },
    { "<training steps='1001'/>", "s.xml:4: steps: \"1001\" is not between 1 and 1000" },
    { "<training micro-batch='1048577'/>",
      "s.xml:4: micro-batch: \"1048577\" is not between 1 and 1048576" },
    { "<training micro-batch='1.5'/>", "s.xml:4: micro-batch: \"1.5\" is not a whole number" },
    { "<training gradient-accumulation='99999999999999999999999'/>",
      "s.xml:4: gradient-accumulation: \"99999999999999999999999\" is not between 1 and 4096" },
    { "<training sequence-length='16777217'/>",
      "s.xml:4: sequence-length: \"16777217\" is not between 1 and 16777216" },
    { "<training clip-grad-norm='-1'/>",
      "s.xml:4: clip-grad-norm: \"-1\" is not a norm; wanted a number above 0, or none" },
    { "<training clip-grad-norm='1e999'/>",
      "s.xml:4: clip-grad-norm: \"1e999\" is not a norm; wanted a number above 0, or none" },
    { "<training clip-grad-norm='nan'/>",
      "s.xml:4: clip-grad-norm: \"nan\" is not a norm; wanted a number above 0, or none" },
    { "<training dropout='1'/>",
      "s.xml:4: dropout: \"1\" is not a probability; wanted a number from 0 to below 1" },
    { "<training dropout='0x0'/>",
      "s.xml:4: dropout: \"0x0\" is not a probability; wanted a number from 0 to below 1" },
    { "<adapter rank='0'/>", "s.xml:4: rank: \"0\" is not between 1 and 65536" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf (WITH ("%s"), cases[i].element);

      assert_said (text, -1, cases[i].said);
    }
}

Test (scenario_bad, hardware_needs_units_and_something_left)
{
  static const struct
  {
    const char *attributes, *said;
  } cases[] = {
    { "device='h100-96gb'", "s.xml:3: device \"h100-96gb\" is not known; near: gh200-96gb, "
                            "h20-96gb; a card with another memory is one of them with "
                            "--capacity=\"96 GiB\"" },
    { "device='../devices/h100.xml'",
      "s.xml:3: device: \"../devices/h100.xml\" is a file; name it with href" },
    { "href='none.xml'", "s.xml:3: href: there is no file \"none.xml\"" },
    { "device='rtx-4090' capacity='80'",
      "s.xml:3: capacity: \"80\" has no unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB" },
    { "device='rtx-4090' capacity='80 Gib'", "s.xml:3: capacity: \"80 Gib\" has an unknown unit; "
                                             "expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB" },
    { "device='rtx-4090' capacity='-1 GiB'",
      "s.xml:3: capacity: \"-1 GiB\" has a sign; a plain number is expected" },
    { "device='rtx-4090' capacity='9000000000 TiB'",
      "s.xml:3: capacity: \"9000000000 TiB\" is too large; at most 2^63 - 1 bytes" },
    { "device='rtx-4090' capacity='0 B'",
      "s.xml:3: capacity: 0 bytes; wanted a size above 0, or unlimited" },
    { "device='rtx-4090' context='24 GiB'", "s.xml:3: context and other-processes: 25769803776 B "
                                            "leave nothing of a capacity of 25386352640 B" },
    { "device='rtx-4090' capacity='1 MiB'", "s.xml:3: context and other-processes: 450000000 B "
                                            "leave nothing of a capacity of 1048576 B" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("<scenario>\n" MODEL "\n<hardware %s/>\n</scenario>",
                                               cases[i].attributes);

      assert_said (text, -1, cases[i].said);
    }
}

Test (scenario_bad, a_model_that_is_no_model)
{
  static const struct
  {
    const char *attributes, *said;
  } cases[] = {
    { "href=''", "s.xml:2: href: is empty" },
    { "href='none.xml'",
      "s.xml:2: href: there is no file \"none.xml\", and no shipped model of that name" },
    { "href='models/llama3-8.xml'",
      "s.xml:2: href: there is no file \"models/llama3-8.xml\", and no shipped model of that name; "
      "near: models/llama3-8b.xml" },
    { "href='llama3-8b'",
      "s.xml:2: href: there is no file \"llama3-8b\", and no shipped model of that name; "
      "near: models/llama3-8b.xml" },
    { "href='s.xml'",
      "s.xml:2: href: \"s.xml\" is this scenario itself; wanted a file of the model" },
    { "href='./s.xml'",
      "s.xml:2: href: \"./s.xml\" is this scenario itself; wanted a file of the model" },
    { "href='models/llama3-8b.xml' layers='33'", "s.xml:2: layers: 33 of a model that has 32" },
    { "href='models/llama3-8b.xml' layers='0'",
      "s.xml:2: layers: \"0\" is not between 1 and 2147483647" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("<scenario>\n<model %s/>\n" HARDWARE "\n</scenario>",
                                               cases[i].attributes);

      assert_said (text, -1, cases[i].said);
    }
}

Test (scenario_bad, what_the_model_cannot_do_is_refused)
{
  assert_said ("<scenario>\n<model href='models/gpt2.xml'/>\n" HARDWARE
               "\n<training sequence-length='1025'/>\n</scenario>",
               -1, "s.xml:4: sequence-length: 1025 of a model that has learned 1024 positions");
}

/* href chains that come back to where they began end at the first file that is no model */
Test (scenario_bad, hrefs_do_not_go_in_circles)
{
  char *folder = fixture_folder ();
  g_autofree char *a
    = fixture_write (folder, "a.xml", "<scenario><model href='b.xml'/>" HARDWARE "</scenario>", -1);
  g_autofree char *c
    = fixture_write (folder, "c.xml", "<scenario><model href='d.xml'/>" HARDWARE "</scenario>", -1);
  g_autoptr (GError) first = NULL, second = NULL;

  g_free (
    fixture_write (folder, "b.xml", "<scenario><model href='a.xml'/>" HARDWARE "</scenario>", -1));
  g_free (fixture_write (folder, "d.xml", "<model type='llama' href='d.xml'/>", -1));
  cr_assert (ss_scenario_load (a, NULL, &first) == NULL);
  cr_assert (ss_scenario_load (c, NULL, &second) == NULL);
  fixture_discard (folder);
  cr_assert (strstr (first->message, "b.xml:1: the root element is <scenario>; expected <model>")
               != NULL,
             "%s", first->message);
  cr_assert (strstr (second->message, "d.xml:1: <model> has no attribute \"href\"") != NULL, "%s",
             second->message);
}

Test (scenario_bad, hostile_xml_is_refused_in_a_line)
{
  static const char utf16[] = "\xff\xfe<\0s\0/\0>\0";
  static const char bomb[]
    = "<!DOCTYPE s [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>\n"
      "<scenario name='&b;'>" MODEL HARDWARE "</scenario>";
  g_autofree char *deep = g_strnfill (3 * 100, ' ');

  for (guint i = 0; i < 100; i++)
    memcpy (deep + 3 * i, "<s>", 3);
  assert_said (utf16, sizeof utf16 - 1, "s.xml:1: the root element is <s>; expected <scenario>");
  assert_said (bomb, -1,
               "s.xml:1: has a DOCTYPE; document types and entities are not read, remove it");
  assert_said (deep, -1, "s.xml:1: has elements nested deeper than 32");
  assert_said ("<scenario name='a&#10;b'>" MODEL HARDWARE "</scenario>", -1,
               "s.xml:1: name: has a control character in it");
  assert_said ("<scenario name='\xff'>" MODEL HARDWARE "</scenario>", -1,
               "s.xml:1: byte 0xFF is not valid UTF-8; save the file as UTF-8");
}

Test (scenario_bad, all_problems_are_said_at_once_in_the_order_of_lines)
{
  assert_said (
    "<scenario>\n<hardware device='h100-96gb' capacity='80'/>\n<training steps='two'\n "
    "micro-batch='-4'/>\n"
    "<presicion recipe='bf16'/>\n<checkpointing reentrant='x'/>\n<model "
    "href='none.json'/></scenario>",
    -1,
    "s.xml:2: capacity: \"80\" has no unit; expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB\n"
    "s.xml:2: device \"h100-96gb\" is not known; near: gh200-96gb, h20-96gb; a card with another "
    "memory is one of them with --capacity=\"96 GiB\"\n"
    "s.xml:3: steps: \"two\" is not a whole number\n"
    "s.xml:4: micro-batch: \"-4\" is not between 1 and 1048576\n"
    "s.xml:5: scenario: unknown element <presicion>; near: precision\n"
    "s.xml:6: reentrant: \"x\" is not known; known: no, yes\n"
    "s.xml:7: href: there is no file \"none.json\", and no shipped model of that name");
}

Test (scenario_bad, an_override_answers_for_itself)
{
  assert_override_said (
    (const char *const[]) { "checkpointing/reentrant=foo", NULL },
    "--set checkpointing/reentrant=foo: reentrant: \"foo\" is not known; known: no, yes");
  assert_override_said ((const char *const[]) { "checkpointing/polizy=full", NULL },
                        "--set checkpointing/polizy=full: no attribute \"checkpointing/polizy\"; "
                        "near: checkpointing/policy, checkpointing/every");
  assert_override_said ((const char *const[]) { "steps=3", NULL },
                        "--set steps=3: no attribute \"steps\"; near: training/steps");
  assert_override_said ((const char *const[]) { "training/steps", NULL },
                        "--set training/steps: has no =; wanted PATH=VALUE");
  assert_override_said ((const char *const[]) { "", NULL }, "--set : has no =; wanted PATH=VALUE");
  assert_override_said ((const char *const[]) { "hardware/capacity=80", "training/steps=0", NULL },
                        "--set hardware/capacity=80: capacity: \"80\" has no unit; expected B, "
                        "KiB, MiB, GiB, TiB, kB, MB, GB "
                        "or TB\n"
                        "--set training/steps=0: steps: \"0\" is not between 1 and 1000");
  assert_override_said ((const char *const[]) { "model/href=none.xml", NULL },
                        "--set model/href=none.xml: href: there is no file \"none.xml\", and no "
                        "shipped model of that name");
  assert_override_said ((const char *const[]) { "name=\xff", NULL },
                        "--set name=\xef\xbf\xbd: is not UTF-8");
  assert_override_said ((const char *const[]) { "name=", NULL }, "--set name=: name: is empty");
  assert_override_said (
    (const char *const[]) { "adapter/targets=q q_proj", NULL },
    "--set adapter/targets=q q_proj: targets: \"q_proj\" stands there "
    "twice");
  assert_override_said ((const char *const[]) { "adapter/targets=q x", NULL },
                        "--set adapter/targets=q x: targets: \"x\" is no linear of a llama model; "
                        "known: q, k, v, o, gate, "
                        "up, down");
}

/* the element is there only because of the override */
Test (scenario_bad, an_override_answers_for_what_follows_from_it)
{
  gint code;
  const char *const overrides[] = { "model/href=models/gpt2.xml", "adapter/targets=q", NULL };
  g_autofree char *said = fixture_said (WITH (""), -1, overrides, &code);

  cr_assert (g_str_has_prefix (said, "--set adapter/targets=q: targets: \"q\" is no linear of a "
                                     "gpt2 model; known: c_attn, c_proj, c_fc"),
             "%s", said);
  cr_assert (eq (int, code, SS_SCENARIO_ERROR_OVERRIDE));
}

Test (scenario_bad, an_optimizer_without_the_stated_implementation_is_refused)
{
  gint code;
  g_autofree char *in_file
    = fixture_said (WITH ("<optimizer type='rmsprop' implementation='fused'/>"), -1, NULL, &code);
  g_autofree char *by_override
    = fixture_said (WITH ("<optimizer implementation='fused'/>"), -1,
                    (const char *const[]) { "optimizer/type=rmsprop", NULL }, &code);

  cr_assert (eq (str, in_file,
                 "s.xml:4: implementation: rmsprop has no fused implementation; known: for-loop, "
                 "foreach"));
  cr_assert (eq (str, by_override,
                 "--set optimizer/type=rmsprop: type: rmsprop has no fused implementation; known: "
                 "for-loop, foreach"));
  cr_assert (eq (int, code, SS_SCENARIO_ERROR_OVERRIDE));
}

Test (scenario_bad, a_path_like_no_other_names_the_known_ones)
{
  gint code;
  g_autofree char *said = fixture_said (WITH (""), -1, (const char *const[]) { "=3", NULL }, &code);

  cr_assert (
    g_str_has_prefix (said, "--set =3: no attribute \"\"; known: name, model/href, model/layers"),
    "%s", said);
}

Test (scenario_bad, an_override_can_mend_the_file)
{
  gint code;
  g_autofree char *said
    = fixture_said (WITH ("<checkpointing policy='foo'/>"), -1,
                    (const char *const[]) { "checkpointing/policy=full", NULL }, &code);

  cr_assert (eq (str, said, ""));
}

Test (scenario_bad, problems_of_file_and_override_together_are_bad_input)
{
  gint code;
  g_autofree char *said = fixture_said (WITH ("<precision recipe='x'/>"), -1,
                                        (const char *const[]) { "training/steps=0", NULL }, &code);

  cr_assert (eq (int, code, SS_SCENARIO_ERROR_INPUT));
  cr_assert (strstr (said, "s.xml:4: recipe: \"x\" is not known") != NULL, "%s", said);
  cr_assert (strstr (said, "--set training/steps=0: steps: ") != NULL, "%s", said);
}
