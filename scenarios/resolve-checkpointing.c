/* SPDX-License-Identifier: MIT
 *
 * The settings of the checkpoint policy beside each other, the model and the kernels.
 */
#include <string.h>

#include "scenarios/loading-private.h"

#define ELEMENT "checkpointing"

static gboolean
is_given (const SsLoading *self, const char *setting)
{
  SsXmlNode *node = ss_loading_element (self, ELEMENT);
  g_autofree char *text = node ? ss_xml_node_get (node, setting) : NULL;

  return text != NULL;
}

/* The policies that read it, "every" or "sequential, custom". (transfer full) */
static char *
readers (const char *setting)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (const SsCheckpointPolicy *const *p = ss_checkpoint_policies (); *p; p++)
    if (ss_checkpoint_policy_reads (*p, setting))
      g_string_append_printf (text, "%s%s", text->len ? ", " : "", (*p)->name);
  return g_strdup (text->str);
}

/* ---- which policy ---- */

/* Of the two that have segments a number of them means one, a list of them the other. */
static gboolean
fits (const SsScenario *scenario, const SsCheckpointPolicy *policy, const char *setting)
{
  const char *segments = scenario->segments;
  gboolean is_number = segments && strspn (segments, "0123456789") == strlen (segments);

  if (!ss_checkpoint_policy_reads (policy, setting))
    return FALSE;
  return !g_str_equal (setting, "segments")
         || is_number == !g_str_equal (policy->name, "custom");
}

/* An override of a setting that the file's policy does not read takes the policy that does. */
static gboolean
take_implied_policy (SsLoading *self)
{
  SsCheckpointing *c = &self->scenario->config.checkpointing;
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  if (ss_loading_override (self, ELEMENT, "policy"))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (g_str_equal (attributes[i].element, ELEMENT)
        && ss_loading_override (self, ELEMENT, attributes[i].name)
        && !fits (self->scenario, c->policy, attributes[i].name))
      for (const SsCheckpointPolicy *const *p = ss_checkpoint_policies (); *p; p++)
        if (fits (self->scenario, *p, attributes[i].name))
          {
            c->policy = *p;
            return TRUE;
          }
  return FALSE;
}

/* ---- settings that are too many or too few ---- */

/* What the file gives for the policy that an override has replaced does not count. */
static void
check_unread (SsLoading *self, gboolean is_replaced)
{
  const SsCheckpointPolicy *policy = self->scenario->config.checkpointing.policy;
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  for (guint i = 0; i < n; i++)
    {
      const char *name = attributes[i].name;
      g_autofree char *known = readers (name);

      if (!g_str_equal (attributes[i].element, ELEMENT) || known[0] == '\0'
          || !is_given (self, name) || ss_checkpoint_policy_reads (policy, name)
          || (is_replaced && !ss_loading_override (self, ELEMENT, name)))
        continue;
      ss_loading_problem (self, ELEMENT, name, "%s: policy \"%s\" does not read it; read by: %s",
                          name, policy->name, known);
    }
}

static void
check_needed (SsLoading *self)
{
  const SsCheckpointPolicy *policy = self->scenario->config.checkpointing.policy;

  if (policy->needs_setting && !is_given (self, policy->settings[0]))
    ss_loading_problem (self, ELEMENT, "policy", "policy: \"%s\" needs the attribute %s",
                        policy->name, policy->settings[0]);
}

/* Of keep and drop an override takes the place of what the file says. */
static void
choose_selection (SsLoading *self)
{
  SsCheckpointing *c = &self->scenario->config.checkpointing;
  gboolean keep = ss_loading_override (self, ELEMENT, "keep") != NULL;
  gboolean drop = ss_loading_override (self, ELEMENT, "drop") != NULL;

  if (!is_given (self, "keep") || !is_given (self, "drop") || !c->policy->is_selective)
    return;
  if (drop && !keep)
    c->keep = NULL;
  else if (keep == drop)
    ss_loading_problem (self, ELEMENT, "drop",
                        "drop: keep says what is computed again too; wanted one of them");
}

static void
read_segments (SsLoading *self)
{
  SsScenario *scenario = self->scenario;
  g_autofree char *problem = NULL;

  if (scenario->segments
      && ss_checkpoint_policy_reads (scenario->config.checkpointing.policy, "segments")
      && !ss_scenario_read_segments (scenario, &problem))
    ss_loading_problem (self, ELEMENT, "segments", "segments: %s", problem);
}

void
ss_loading_choose_policy (SsLoading *self)
{
  SsCheckpointing *c = &self->scenario->config.checkpointing;
  gboolean is_replaced;

  if (!c->policy)
    return;
  is_replaced = take_implied_policy (self) || ss_loading_override (self, ELEMENT, "policy");
  check_unread (self, is_replaced);
  check_needed (self);
  choose_selection (self);
  read_segments (self);
  if (!is_given (self, "skip-last-inner-forward")
      || !ss_checkpoint_policy_reads (c->policy, "skip-last-inner-forward"))
    c->skips_last_inner_forward = c->has_early_stop && !c->is_reentrant;
}

/* ---- beside the model and the kernels ---- */

static void
check_kernels (SsLoading *self)
{
  const SsTraceConfig *config = &self->scenario->config;
  const SsKernels *kernels = &config->kernels;
  const SsKeptOps *keep = ss_checkpointing_keeps (&config->checkpointing);
  gboolean is_fused = kernels->attention != SS_ATTENTION_EAGER
                      && kernels->attention != SS_ATTENTION_SDPA_MATH
                      && kernels->attention != SS_ATTENTION_PAPER_EAGER;

  if (!keep)
    return;
  if (g_str_equal (keep->name, "attention") && !is_fused)
    ss_loading_problem (self, ELEMENT, "keep",
                        "keep: attention=\"%s\" is no single kernel whose output could be kept",
                        ss_kernels_get (kernels, "attention"));
  /* LigerRopeFunction writes over q and k, which no version counter notices */
  if (g_str_equal (keep->name, "matmul") && kernels->rope == SS_ROPE_LIGER)
    ss_loading_problem (self, ELEMENT, "keep",
                        "keep: rope=\"liger\" rotates the kept products in place, so they would "
                        "be rotated twice");
}

void
ss_loading_check_policy (SsLoading *self)
{
  const SsTraceConfig *config = &self->scenario->config;
  const SsCheckpointing *c = &config->checkpointing;
  const char *setting = NULL;
  g_autofree char *problem = NULL;

  if (!c->policy)
    return;
  check_kernels (self);
  if (c->policy->check
      && !c->policy->check (c, (guint) config->model.n_layers, &setting, &problem))
    ss_loading_problem (self, ELEMENT, setting, "%s: %s", setting, problem);
}
