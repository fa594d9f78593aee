/* SPDX-License-Identifier: MIT
 *
 * The part of a device's file that says how fast its kernels are.
 */
#include "hw/device-private.h"

#include <string.h>

#include "hw/xml-read.h"

/* No kernel floor is longer; it keeps sums of times finite. */
#define MAX_FLOOR_S 1.0

/* Devices of a generation share an architecture of multiprocessors, kernels and caches, so that
 * shares of the peak carry over: 10 % in the median for products (docs/times.md). */
static const struct
{
  guint first, last;             /* compute capability */
  const char *id;
} families[] = {
  { 0, 80, "a100-sxm-80gb" },   { 81, 89, "l40s" },          { 90, 99, "h100-sxm-80gb" },
  { 100, 119, "b200-sxm-180gb" }, { 120, G_MAXUINT, "rtx-pro-6000-96gb" },
};

const char *
ss_device_family_of (guint compute_capability)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    if (compute_capability >= families[i].first && compute_capability <= families[i].last)
      return families[i].id;
  return families[0].id;
}

static void
read_one (const SsParameter *parameter, gpointer model, const SsXmlNode *node,
          SsProblems *problems)
{
  double *value = ss_parameter_in (parameter, model), met = *value;
  gboolean is_good = parameter->is_time
                       ? ss_xml_read_seconds (node, parameter->name, &met, problems)
                       : ss_xml_read_number (node, parameter->name, &met, problems);

  if (!is_good)
    return;
  if (met < parameter->min || met > parameter->max)
    ss_xml_node_problem (node, parameter->name, problems, "%s: is not between %g and %g%s",
                         parameter->name, parameter->min, parameter->max,
                         parameter->is_time ? " s" : "");
  else
    *value = met;
}

/* What is not stated stays as it is, or is as `otherwise` of the same element says. */
static void
read_parameters (const SsParameter *parameters, guint n, gpointer model, const SsXmlNode *node,
                 SsProblems *problems)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *stated = ss_xml_node_get (node, parameters[i].name);

      if (stated != NULL)
        read_one (&parameters[i], model, node, problems);
      for (guint k = 0; stated == NULL && parameters[i].otherwise != NULL && k < i; k++)
        if (g_str_equal (parameters[k].name, parameters[i].otherwise))
          *ss_parameter_in (&parameters[i], model) = *ss_parameter_in (&parameters[k], model);
    }
}

static void
note_origin (SsDevice *self, SsTimeClass time_class, const SsXmlNode *node)
{
  self->origin[time_class] = SS_ORIGIN_OWN;
  g_free (self->source[time_class]);
  self->source[time_class] = ss_xml_node_get (node, "source");
}

static void
read_gemm (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  guint n;
  const SsParameter *parameters = ss_gemm_parameters (&n);

  read_parameters (parameters, n, &self->gemm, node, problems);
  note_origin (self, SS_TIME_GEMM, node);
}

static void
read_attention (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  guint n, kernel;
  const SsParameter *parameters = ss_attention_parameters (&n);

  if (!ss_xml_read_choice (node, "kernel", ss_attention_kernel_names (), &kernel, problems))
    return;
  if (self->own_attention & 1u << kernel)
    ss_xml_node_problem (node, "kernel", problems, "kernel: %s stands there twice",
                         ss_attention_kernel_names ()[kernel]);
  read_parameters (parameters, n, &self->attention[kernel], node, problems);
  /* the first of several kernels speaks for them */
  if (self->own_attention == 0)
    note_origin (self, SS_TIME_ATTENTION, node);
  self->own_attention |= 1u << kernel;
}

static void
read_kinds (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  guint n;
  const SsParameter *parameters = ss_memory_parameters (&n);

  read_parameters (parameters, n, &self->memory, node, problems);
  note_origin (self, SS_TIME_MEMORY, node);
}

/* ---- what the last release had ---- */

static void
add_warning (SsDevice *self, const SsXmlNode *node, const char *what)
{
  g_autofree char *before = self->warning;

  self->warning = g_strdup_printf ("%s%s<%s> on line %d is of the last release: %s",
                                   before != NULL ? before : "", before != NULL ? "; " : "",
                                   ss_xml_node_name (node), ss_xml_node_line (node), what);
}

static gboolean
read_share (const SsXmlNode *node, const char *attribute, double *share, SsProblems *problems)
{
  if (!ss_xml_read_fraction (node, attribute, share, problems))
    return FALSE;
  if (*share <= 0)
    ss_xml_node_problem (node, attribute, problems, "%s: an efficiency of nothing takes for ever",
                         attribute);
  return *share > 0;
}

/* One share for each class: products as a roofline, FlashAttention alone, one kind of bytes. */
static void
read_efficiency (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  double matmul = 1, sustained = 1, memory = 1, multi_tensor = 1, forward = 1, backward = 1;
  SsAttentionModel *flash = &self->attention[SS_KERNEL_FLASH];

  read_share (node, "matmul", &matmul, problems);
  read_share (node, "sustained", &sustained, problems);
  read_share (node, "memory", &memory, problems);
  read_share (node, "multi-tensor", &multi_tensor, problems);
  read_share (node, "attention-forward", &forward, problems);
  read_share (node, "attention-backward", &backward, problems);
  self->gemm = (SsGemmModel) { .efficiency = matmul, .sustained = sustained, .memory = memory,
                               .sharpness = 8, .weight_gradient = 1, .floor_s = 2e-6 };
  self->memory.multi_tensor = multi_tensor;
  for (guint i = 0; i < SS_N_MEMORY_KINDS; i++)
    self->memory.share[i] = memory;
  *flash = (SsAttentionModel) { .mask = 1 };
  for (guint i = 0; i < SS_N_HEAD_SIZES; i++)
    {
      flash->forward[i] = forward;
      flash->backward[i] = backward;
    }
  self->own_attention = 1u << SS_KERNEL_FLASH;
  note_origin (self, SS_TIME_GEMM, node);
  note_origin (self, SS_TIME_ATTENTION, node);
  note_origin (self, SS_TIME_MEMORY, node);
  add_warning (self, node, "say it with <gemm>, <attention kernel=\"flash\"> and <kinds> of "
                           "<memory>");
}

static void
read_old_issue (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  SsHostCosts *host = &self->host;
  gint64 depth = 1024;

  ss_host_costs_load (SS_DEFAULT_HOST, host, NULL);
  ss_xml_read_seconds (node, "forward-issue", &host->forward_s, problems);
  host->inference_s = host->forward_s;
  ss_xml_read_seconds (node, "backward-issue", &host->backward_s, problems);
  ss_xml_read_seconds (node, "optimizer-issue", &host->optimizer_s, problems);
  ss_xml_read_seconds (node, "further-launch", &host->further_launch_s, problems);
  ss_xml_read_seconds (node, "latency", &host->launch_latency_s, problems);
  ss_xml_read_seconds (node, "segment-call", &host->segment_call_s, problems);
  if (ss_xml_read_count (node, "queue-depth", 1, 1000000, &depth, problems))
    host->queue_depth = (guint) depth;
  if (host->forward_s > MAX_FLOOR_S || host->backward_s > MAX_FLOOR_S
      || host->optimizer_s > MAX_FLOOR_S || host->further_launch_s > MAX_FLOOR_S
      || host->launch_latency_s > MAX_FLOOR_S || host->segment_call_s > MAX_FLOOR_S)
    ss_xml_node_problem (node, NULL, problems, "launch: an issue cost is longer than %g s",
                         MAX_FLOOR_S);
  note_origin (self, SS_TIME_HOST, node);
  add_warning (self, node, "issue costs, latency, segment-call and queue-depth stand in a file of "
                           "hw/hosts, named by <host name=\"...\"/>");
}

static void
read_launch (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  g_autofree char *old = ss_xml_node_get (node, "forward-issue");

  if (ss_xml_read_seconds (node, "kernel-floor", &self->kernel_floor_s, problems)
      && self->kernel_floor_s > MAX_FLOOR_S)
    ss_xml_node_problem (node, "kernel-floor", problems, "kernel-floor: is longer than %g s",
                         MAX_FLOOR_S);
  self->graph_floor_s = self->kernel_floor_s;
  if (ss_xml_read_seconds (node, "graph-floor", &self->graph_floor_s, problems)
      && self->graph_floor_s > MAX_FLOOR_S)
    ss_xml_node_problem (node, "graph-floor", problems, "graph-floor: is longer than %g s",
                         MAX_FLOOR_S);
  if (old != NULL)
    read_old_issue (self, node, problems);
}

static void
read_host (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  g_autofree char *name = ss_xml_node_get (node, "name");
  g_autoptr (GError) error = NULL;

  if (name == NULL)
    return;
  if (strchr (name, '/') != NULL || g_str_has_suffix (name, ".xml"))
    ss_xml_node_problem (node, "name", problems,
                         "name: \"%s\" is a file; a name of hw/hosts was expected", name);
  else if (!ss_host_costs_load (name, &self->host, &error))
    ss_xml_node_problem (node, "name", problems, "name: %s", error->message);
  g_free (self->host_name);
  self->host_name = g_steal_pointer (&name);
  self->origin[SS_TIME_HOST] = SS_ORIGIN_OWN;
}

/* ---- what the family lends ---- */

static gboolean
lends_all (const SsDevice *self)
{
  for (guint i = 0; i < SS_TIME_HOST; i++)
    if (self->origin[i] != SS_ORIGIN_FAMILY)
      return FALSE;
  return TRUE;
}

/* A family's own file lacks nothing, and none lends in a circle. */
static gboolean
take_from (SsDevice *self, const SsDevice *family)
{
  if (lends_all (family))
    return FALSE;
  if (self->origin[SS_TIME_GEMM] == SS_ORIGIN_FAMILY)
    self->gemm = family->gemm;
  if (self->origin[SS_TIME_MEMORY] == SS_ORIGIN_FAMILY)
    self->memory = family->memory;
  for (guint i = 0; i < SS_N_ATTENTION_KERNELS; i++)
    if (!(self->own_attention & 1u << i))
      self->attention[i] = family->attention[i];
  self->known_attention = self->own_attention | family->known_attention;
  return TRUE;
}

static gboolean
is_complete (const SsDevice *self)
{
  guint needed = 1u << SS_KERNEL_FLASH | 1u << SS_KERNEL_EFFICIENT;

  return self->origin[SS_TIME_GEMM] == SS_ORIGIN_OWN
         && self->origin[SS_TIME_MEMORY] == SS_ORIGIN_OWN
         && (self->own_attention & needed) == needed;
}

/* The family is a file that ships with the program, so this ends after one. */
static void
fill_from_family (SsDevice *self, const SsXmlNode *root, SsProblems *problems)
{
  g_autofree char *stated = ss_xml_node_get (root, "family");
  g_autoptr (GError) error = NULL;
  g_autoptr (SsDevice) family = NULL;

  self->known_attention = self->own_attention;
  if (is_complete (self) && stated == NULL)
    return;
  self->family_id
    = g_strdup (stated != NULL ? stated : ss_device_family_of (self->target.compute_capability));
  if (g_strcmp0 (self->family_id, self->id) == 0)
    ss_xml_node_problem (root, NULL, problems,
                         "device: %s is a family of its own and says nothing of <gemm>, "
                         "<attention> or <kinds>", self->id);
  else if (strchr (self->family_id, '/') != NULL || g_str_has_suffix (self->family_id, ".xml"))
    ss_xml_node_problem (root, "family", problems,
                         "family: \"%s\" is a file; a name of hw/devices was expected",
                         self->family_id);
  else if ((family = ss_device_load (self->family_id, &error)) == NULL)
    ss_xml_node_problem (root, "family", problems, "family: %s", error->message);
  else if (!take_from (self, family))
    ss_xml_node_problem (root, "family", problems, "family: %s has no times of its own to lend",
                         self->family_id);
}

void
ss_device_read_models (SsDevice *self, const SsXmlNode *root, SsProblems *problems)
{
  static const struct
  {
    const char *name;
    void (*read) (SsDevice *self, const SsXmlNode *node, SsProblems *problems);
  } elements[] = {
    { "efficiency", read_efficiency }, { "gemm", read_gemm }, { "attention", read_attention },
    { "launch", read_launch },         { "host", read_host },
  };
  const SsXmlNode *memory = ss_xml_node_child (root, "memory");
  const SsXmlNode *kinds = memory != NULL ? ss_xml_node_child (memory, "kinds") : NULL;

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    for (const SsXmlNode *node = NULL; (node = ss_xml_node_next_child (root, node)) != NULL;)
      if (g_str_equal (ss_xml_node_name (node), elements[i].name))
        elements[i].read (self, node, problems);
  if (kinds != NULL)
    read_kinds (self, kinds, problems);
  if (self->host_name == NULL && self->origin[SS_TIME_HOST] != SS_ORIGIN_OWN
      && ss_host_costs_load (SS_DEFAULT_HOST, &self->host, NULL))
    self->host_name = g_strdup (SS_DEFAULT_HOST);
  fill_from_family (self, root, problems);
}
