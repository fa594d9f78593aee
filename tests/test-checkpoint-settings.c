/* SPDX-License-Identifier: MIT
 *
 * The settings of checkpoint policies as scenarios state them.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "scenario-fixture.h"

#define FILE_WITH(checkpointing, rest)                                                             \
  "<scenario>\n<model href='models/llama3-8b.xml'/>\n<hardware device='h100-sxm-80gb'/>\n"         \
  checkpointing "\n" rest "\n</scenario>"

/* ---- what is refused ---- */

static const struct
{
  const char *attributes, *rest, *said;
} refused[] = {
  { "policy='every'", "", "s.xml:4: policy: \"every\" needs the attribute every" },
  { "policy='sequential'", "", "s.xml:4: policy: \"sequential\" needs the attribute segments" },
  { "policy='block'", "", "s.xml:4: policy: \"block\" needs the attribute layers" },
  { "policy='nested'", "", "s.xml:4: policy: \"nested\" needs the attribute levels" },
  { "policy='custom'", "", "s.xml:4: policy: \"custom\" needs the attribute segments" },
  { "policy='full' every='4'", "",
    "s.xml:4: every: policy \"full\" does not read it; read by: every" },
  { "segments='4'", "",
    "s.xml:4: segments: policy \"none\" does not read it; read by: sequential, custom" },
  { "policy='every' every='4' keep='matmul'", "",
    "s.xml:4: keep: policy \"every\" does not read it; read by: selective" },
  { "policy='every' every='40000'", "", "s.xml:4: every: \"40000\" is not between 1 and 32767" },
  { "policy='every' every='4' convention='some'", "",
    "s.xml:4: convention: \"some\" is not known; known: all, lastfree" },
  { "policy='sequential' segments='33'", "",
    "s.xml:4: segments: 33 of a model that has 32 layers; checkpoint_sequential wants a layer for "
    "each" },
  { "policy='sequential' segments='0-3'", "",
    "s.xml:4: segments: \"0-3\" is not a whole number" },
  { "policy='block' layers='33'", "", "s.xml:4: layers: 33 of a model that has 32" },
  { "policy='custom' segments='0-3 5-x'", "",
    "s.xml:4: segments: \"5-x\" is no segment; wanted layers as 0-3, 4 or save:8-31" },
  { "policy='custom' segments='3-0'", "",
    "s.xml:4: segments: \"3-0\" is no segment; wanted layers as 0-3, 4 or save:8-31" },
  { "policy='custom' segments='0-32'", "",
    "s.xml:4: segments: layer 32 of a model that has layers 0-31" },
  { "policy='custom' segments='0-3 3-5'", "",
    "s.xml:4: segments: layer 3 stands after layer 3; wanted rising layers, each once" },
  { "policy='nested' levels='2 8'", "",
    "s.xml:4: levels: segments of 8 layers within segments of 2; wanted fewer layers at each "
    "level" },
  { "policy='nested' levels='9 8 7 6 5 4 3 2 1'", "",
    "s.xml:4: levels: 9 levels; wanted 1 to 8, as \"8 2\"" },
  { "policy='nested' levels='8 0'", "", "s.xml:4: levels: \"0\" is not between 1 and 32767" },
  { "policy='nested' levels='8 2' reentrant='yes' skip-last-inner-forward='yes'", "",
    "s.xml:4: skip-last-inner-forward: reentrant recomputation never stops early; wanted no" },
  { "policy='selective' keep='matmul' drop='norms'", "",
    "s.xml:4: drop: keep says what is computed again too; wanted one of them" },
  { "policy='selective' keep='matmul' reentrant='yes'", "",
    "s.xml:4: keep: reentrant checkpointing takes no context_fn, which keeps results of ops; "
    "wanted reentrant=\"no\", or drop" },
  { "policy='selective' keep='gemm'", "",
    "s.xml:4: keep: \"gemm\" is not known; known: attention, matmul" },
  { "policy='selective' drop='norm'", "",
    "s.xml:4: drop: \"norm\" is not known; known: attention, norms, activations, mlp" },
  { "policy='selective' drop='mlp mlp'", "", "s.xml:4: drop: \"mlp\" stands there twice" },
  { "policy='selective' drop=' '", "",
    "s.xml:4: drop: is empty; wanted parts of a layer, as \"norms activations\"" },
  { "policy='selective' drop='activations mlp'", "",
    "s.xml:4: drop: \"mlp\" has \"activations\" within it; wanted one of them" },
  { "policy='selective' keep='attention'", "<kernels attention='eager'/>",
    "s.xml:4: keep: attention=\"eager\" is no single kernel whose output could be kept" },
  { "policy='selective' keep='matmul'", "<kernels profile='liger'/>",
    "s.xml:4: keep: rope=\"liger\" rotates the kept products in place, so they would be rotated "
    "twice" },
};

Test (checkpoint_settings, what_has_no_meaning_is_refused)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      gint code;
      g_autofree char *file = g_strdup_printf (FILE_WITH ("<checkpointing %s/>", "%s"),
                                               refused[i].attributes, refused[i].rest);
      g_autofree char *said = fixture_said (file, -1, NULL, &code);

      cr_assert (eq (str, said, (char *) refused[i].said));
      cr_assert (eq (int, code, SS_SCENARIO_ERROR_INPUT));
    }
}

/* ---- what is meant ---- */

typedef struct
{
  const char *attributes;
  const char *overrides[3];
  const char *text, *shown;      /* shown: what is printed between policy and reentrant */
} Meant;

static const Meant meant[] = {
  { "policy='every' every='4'", { NULL }, "every 4", " every=\"4\" convention=\"all\"" },
  { "policy='every' every='4' convention='lastfree'", { NULL }, "every 4 lastfree",
    " every=\"4\" convention=\"lastfree\"" },
  { "policy='sqrt'", { NULL }, "sqrt", "" },
  { "policy='sequential' segments='4'", { NULL }, "sequential 4", " segments=\"4\"" },
  { "policy='block' layers='0'", { NULL }, "block first 0", " layers=\"0\" from=\"first\"" },
  { "policy='block' layers='3' from='last'", { NULL }, "block last 3",
    " layers=\"3\" from=\"last\"" },
  { "policy='custom' segments='0-3 5 save:8-31'", { NULL }, "custom 0-3 5",
    " segments=\"0-3 5 save:8-31\"" },
  { "policy='selective'", { NULL }, "selective drop attention", " drop=\"attention\"" },
  { "policy='selective' drop='mlp  norms'", { NULL }, "selective drop norms mlp",
    " drop=\"norms mlp\"" },
  { "policy='selective' keep='matmul'", { NULL }, "selective keep matmul", " keep=\"matmul\"" },
  { "policy='nested' levels='8 2'", { NULL }, "nested 8 2",
    " levels=\"8 2\" skip-last-inner-forward=\"yes\"" },
  { "policy='nested' levels='8 2' early-stop='no'", { NULL }, "nested 8 2",
    " levels=\"8 2\" skip-last-inner-forward=\"no\"" },
  { "policy='nested' levels='8 2' reentrant='yes'", { NULL }, "nested 8 2 reentrant",
    " levels=\"8 2\" skip-last-inner-forward=\"no\"" },
  /* an override of a setting takes the policy that reads it */
  { "policy='none'", { "checkpointing/every=4" }, "every 4", " every=\"4\" convention=\"all\"" },
  { "policy='full'", { "checkpointing/segments=4" }, "sequential 4", " segments=\"4\"" },
  { "policy='sequential' segments='2'", { "checkpointing/segments=0-3 7" }, "custom 0-3 7",
    " segments=\"0-3 7\"" },
  { "policy='none'", { "checkpointing/layers=3", "checkpointing/from=last" }, "block last 3",
    " layers=\"3\" from=\"last\"" },
  { "policy='none'", { "checkpointing/drop=norms" }, "selective drop norms", " drop=\"norms\"" },
  { "policy='none'", { "checkpointing/levels=8 2" }, "nested 8 2",
    " levels=\"8 2\" skip-last-inner-forward=\"yes\"" },
  /* an override of the policy leaves the settings of the file's own */
  { "policy='every' every='4' convention='lastfree'", { "checkpointing/policy=full" }, "full", "" },
  { "policy='custom' segments='0-3 7'", { "checkpointing/policy=none" }, "none", "" },
  /* of keep and drop an override takes the place of the file's */
  { "policy='selective' keep='matmul'", { "checkpointing/drop=mlp" }, "selective drop mlp",
    " drop=\"mlp\"" },
  { "policy='selective' drop='mlp'", { "checkpointing/keep=attention" }, "selective keep attention",
    " keep=\"attention\"" },
};

static void
assert_means (const SsScenario *s, const Meant *wanted)
{
  const SsCheckpointing *c = &ss_scenario_trace_config (s)->checkpointing;
  g_autofree char *text = ss_checkpointing_text (c), *xml = ss_scenario_to_xml (s);
  g_autofree char *shown = g_strdup_printf ("<checkpointing policy=\"%s\"%s reentrant=\"%s\"",
                                            c->policy->name, wanted->shown,
                                            c->is_reentrant ? "yes" : "no");

  cr_assert (eq (str, text, (char *) wanted->text));
  cr_assert (strstr (xml, shown) != NULL, "%s lacks %s", xml, shown);
}

Test (checkpoint_settings, what_is_stated_is_what_is_shown)
{
  char *folder = fixture_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (meant); i++)
    {
      g_autofree char *file
        = g_strdup_printf (FILE_WITH ("<checkpointing %s/>", ""), meant[i].attributes);
      g_autofree char *path = fixture_write (folder, "s.xml", file, -1), *xml = NULL;
      g_autofree char *again_path = NULL;
      g_autoptr (SsScenario) s = fixture_load (path, meant[i].overrides), again = NULL;

      assert_means (s, &meant[i]);
      xml = ss_scenario_to_xml (s);
      again_path = fixture_write (folder, "again.xml", xml, -1);
      again = fixture_load (again_path, NULL);
      assert_means (again, &meant[i]);
    }
  fixture_discard (folder);
}

/* Both overridden: then they must go together. */
Test (checkpoint_settings, overrides_that_contradict_each_other_are_refused)
{
  const char *const overrides[] = { "checkpointing/policy=full", "checkpointing/every=4", NULL };
  gint code;
  g_autofree char *said = fixture_said (FILE_WITH ("", ""), -1, overrides, &code);

  cr_assert (eq (str, said,
                 "--set checkpointing/every=4: every: policy \"full\" does not read it; read by: "
                 "every"));
  cr_assert (eq (int, code, SS_SCENARIO_ERROR_OVERRIDE));
}
