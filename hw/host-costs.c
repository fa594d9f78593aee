/* SPDX-License-Identifier: MIT */
#include "hw/host-costs.h"

#include <string.h>

#include "hw/data-path.h"
#include "hw/xml-read.h"

/* No call takes longer; it keeps sums of times finite. */
#define MAX_COST_S 1.0

#define AT(member) G_STRUCT_OFFSET (SsHostCosts, member)

const SsHostParameter *
ss_host_parameters (guint *n)
{
  static const SsHostParameter all[] = {
    { "forward", AT (forward_s) },
    { "inference", AT (inference_s) },
    { "backward", AT (backward_s) },
    { "optimizer", AT (optimizer_s) },
    { "further-launch", AT (further_launch_s) },
    { "compiled", AT (compiled_s) },
    { "graph-kernel", AT (graph_kernel_s) },
    { "latency", AT (launch_latency_s) },
    { "segment-call", AT (segment_call_s) },
  };

  *n = G_N_ELEMENTS (all);
  return all;
}

const char *const *
ss_host_mode_names (void)
{
  static const char *const names[] = { "eager", "compiled", "cuda-graph", NULL };

  return names;
}

static void
read_costs (const SsXmlNode *node, SsHostCosts *costs, SsProblems *problems)
{
  guint n;
  const SsHostParameter *parameters = ss_host_parameters (&n);
  gint64 depth = 0;

  for (guint i = 0; i < n; i++)
    {
      double *value = (double *) ((char *) costs + parameters[i].offset);

      if (ss_xml_read_seconds (node, parameters[i].name, value, problems) && *value > MAX_COST_S)
        ss_xml_node_problem (node, parameters[i].name, problems, "%s: is longer than %g s",
                             parameters[i].name, MAX_COST_S);
    }
  ss_xml_read_count (node, "queue-depth", 1, 1000000, &depth, problems);
  costs->queue_depth = (guint) depth;
}

static gboolean
load_file (const char *path, SsHostCosts *costs, GError **error)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) document = ss_xml_document_open (path, "host", "hw/host.xsd", problems);

  if (document != NULL)
    read_costs (ss_xml_document_root (document), costs, problems);
  return ss_problems_settle (problems, error);
}

gboolean
ss_host_costs_load (const char *name, SsHostCosts *costs, GError **error)
{
  g_autofree char *file = NULL, *path = NULL, *near = NULL;
  g_auto (GStrv) known = NULL;

  *costs = (SsHostCosts) { .queue_depth = 1 };
  if (g_str_has_suffix (name, ".xml"))
    return load_file (name, costs, error);
  file = g_strdup_printf ("hw/hosts/%s.xml", name);
  path = strchr (name, '/') == NULL ? ss_data_find (file) : NULL;
  if (path != NULL)
    return load_file (path, costs, error);
  known = ss_data_list ("hw/hosts");
  near = ss_problems_suggest (name, (const char *const *) known);
  g_set_error (error, SS_HW_ERROR, SS_HW_ERROR_UNKNOWN, "host \"%s\" is not known; %s", name, near);
  return FALSE;
}
