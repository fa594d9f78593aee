/* SPDX-License-Identifier: MIT */
#include "hw/device.h"

#include <string.h>

#include "hw/xml-read.h"

/* No kernel floor or issue cost is longer; it keeps sums of times finite. */
#define MAX_LAUNCH_S 1.0

struct _SsDevice
{
  gatomicrefcount references;
  char *id, *name;
  guint64 capacity_bytes, context_bytes, l2_bytes;
  double bandwidth_bytes_per_s;
  SsTarget target;
  double peak_bf16_flop_per_s, peak_fp16_flop_per_s, peak_fp32_flop_per_s;
  double matmul_efficiency, sustained_factor, memory_efficiency, multi_tensor_efficiency;
  double attention_forward_efficiency, attention_backward_efficiency;
  double kernel_floor_s, launch_latency_s, further_launch_s, segment_call_s;
  double forward_issue_s, backward_issue_s, optimizer_issue_s;
  double pinned_bytes_per_s, pageable_bytes_per_s, copy_latency_s;
  guint queue_depth;
};

/* ---- reading ---- */

static void
read_memory (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  gboolean is_good;

  is_good = ss_xml_read_bytes (node, "capacity", &self->capacity_bytes, problems);
  is_good &= ss_xml_read_bytes (node, "context", &self->context_bytes, problems);
  if (is_good && self->context_bytes >= self->capacity_bytes)
    ss_xml_node_problem (node, "context", problems, "context: leaves nothing of the capacity");
  ss_xml_read_bytes_per_s (node, "bandwidth", &self->bandwidth_bytes_per_s, problems);
  ss_xml_read_bytes (node, "l2", &self->l2_bytes, problems);
}

static guint
read_guint (const SsXmlNode *node, const char *attribute, guint max, SsProblems *problems)
{
  gint64 count = 0;

  ss_xml_read_count (node, attribute, 1, max, &count, problems);
  return (guint) count;
}

/* "9.0" is 90. */
static void
read_capability (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, "capability");
  guint64 major;
  char *end;

  if (text == NULL)
    return;
  major = g_ascii_isdigit (text[0]) ? g_ascii_strtoull (text, &end, 10) : 0;
  if (major >= 1 && major <= 99 && end[0] == '.' && g_ascii_isdigit (end[1]) && end[2] == '\0')
    self->target.compute_capability = (guint) major * 10 + (guint) (end[1] - '0');
  else
    ss_xml_node_problem (node, "capability", problems, "capability: \"%s\" is not like 9.0", text);
}

static void
read_compute (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  read_capability (self, node, problems);
  self->target.n_multiprocessors = read_guint (node, "multiprocessors", 65536, problems);
  self->target.threads_per_multiprocessor
      = read_guint (node, "threads-per-multiprocessor", 65536, problems);
  ss_xml_read_bytes (node, "matmul-workspace", &self->target.workspace_bytes, problems);
}

static void
read_peak (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  ss_xml_read_flop_per_s (node, "bf16", &self->peak_bf16_flop_per_s, problems);
  ss_xml_read_flop_per_s (node, "fp16", &self->peak_fp16_flop_per_s, problems);
  ss_xml_read_flop_per_s (node, "fp32", &self->peak_fp32_flop_per_s, problems);
}

/* A fraction that something is divided by. */
static void
read_efficiency (const SsXmlNode *node,
                 const char *attribute,
                 double *efficiency,
                 SsProblems *problems)
{
  if (ss_xml_read_fraction (node, attribute, efficiency, problems) && *efficiency <= 0)
    ss_xml_node_problem (node, attribute, problems, "%s: an efficiency of nothing takes for ever",
                         attribute);
}

static void
read_efficiencies (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  read_efficiency (node, "matmul", &self->matmul_efficiency, problems);
  read_efficiency (node, "sustained", &self->sustained_factor, problems);
  read_efficiency (node, "memory", &self->memory_efficiency, problems);
  read_efficiency (node, "multi-tensor", &self->multi_tensor_efficiency, problems);
  read_efficiency (node, "attention-forward", &self->attention_forward_efficiency, problems);
  read_efficiency (node, "attention-backward", &self->attention_backward_efficiency, problems);
}

static void
read_time (const SsXmlNode *node, const char *attribute, double *seconds, SsProblems *problems)
{
  if (ss_xml_read_seconds (node, attribute, seconds, problems) && *seconds > MAX_LAUNCH_S)
    ss_xml_node_problem (node, attribute, problems, "%s: is longer than %g s", attribute,
                         MAX_LAUNCH_S);
}

static void
read_launch (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  read_time (node, "kernel-floor", &self->kernel_floor_s, problems);
  read_time (node, "latency", &self->launch_latency_s, problems);
  read_time (node, "forward-issue", &self->forward_issue_s, problems);
  read_time (node, "backward-issue", &self->backward_issue_s, problems);
  read_time (node, "optimizer-issue", &self->optimizer_issue_s, problems);
  read_time (node, "further-launch", &self->further_launch_s, problems);
  read_time (node, "segment-call", &self->segment_call_s, problems);
  self->queue_depth = read_guint (node, "queue-depth", 1000000, problems);
}

static void
read_host_link (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  ss_xml_read_bytes_per_s (node, "pinned", &self->pinned_bytes_per_s, problems);
  ss_xml_read_bytes_per_s (node, "pageable", &self->pageable_bytes_per_s, problems);
  read_time (node, "latency", &self->copy_latency_s, problems);
}

/* Elements that are missing or strange have been told by the check of structure. */
static void
read_device (SsDevice *self, const SsXmlNode *root, SsProblems *problems)
{
  static const struct
  {
    const char *name;
    void (*read) (SsDevice *self, const SsXmlNode *node, SsProblems *problems);
  } elements[] = {
    { "memory", read_memory },
    { "compute", read_compute },
    { "peak", read_peak },
    { "efficiency", read_efficiencies },
    { "launch", read_launch },
    { "host-link", read_host_link },
  };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    {
      const SsXmlNode *node = ss_xml_node_child (root, elements[i].name);

      if (node != NULL)
        elements[i].read (self, node, problems);
    }
}

SsDevice *
ss_device_load_file (const char *path, GError **error)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) document
      = ss_xml_document_open (path, "device", "hw/device.xsd", problems);
  g_autoptr (SsDevice) self = g_new0 (SsDevice, 1);

  g_atomic_ref_count_init (&self->references);
  if (document != NULL)
    {
      self->name = ss_xml_node_get (ss_xml_document_root (document), "name");
      read_device (self, ss_xml_document_root (document), problems);
    }
  if (!ss_problems_settle (problems, error))
    return NULL;
  self->id = g_path_get_basename (path);
  if (g_str_has_suffix (self->id, ".xml"))
    *g_strrstr (self->id, ".xml") = '\0';
  return g_steal_pointer (&self);
}

/* The memory that an unknown name tells, "96 GiB" of "h100-96gb", or an example. (transfer full) */
static char *
size_in (const char *name)
{
  const char *unit = strstr (name, "gb"), *first = unit;

  while (first != NULL && first > name && g_ascii_isdigit (first[-1]))
    first--;
  return first != unit ? g_strdup_printf ("%.*s GiB", (int) (unit - first), first)
                       : g_strdup ("24 GiB");
}

SsDevice *
ss_device_load (const char *name, GError **error)
{
  g_autofree char *file = NULL, *path = NULL, *near = NULL, *size = NULL;
  g_auto (GStrv) known = NULL;

  if (g_str_has_suffix (name, ".xml"))
    return ss_device_load_file (name, error);
  file = g_strdup_printf ("hw/devices/%s.xml", name);
  path = strchr (name, '/') == NULL ? ss_data_find (file) : NULL;
  if (path != NULL)
    return ss_device_load_file (path, error);
  known = ss_data_list ("hw/devices");
  near = ss_problems_suggest (name, (const char *const *) known);
  size = size_in (name);
  g_set_error (error, SS_HW_ERROR, SS_HW_ERROR_UNKNOWN,
               "device \"%s\" is not known; %s; a card with another memory is one of them with "
               "--capacity=\"%s\"", name, near, size);
  return NULL;
}

SsDevice *
ss_device_ref (SsDevice *self)
{
  g_atomic_ref_count_inc (&self->references);
  return self;
}

void
ss_device_unref (SsDevice *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->references))
    return;
  g_free (self->id);
  g_free (self->name);
  g_free (self);
}

/* ---- what it is ---- */

const char *
ss_device_id (const SsDevice *self)
{
  return self->id;
}

const char *
ss_device_name (const SsDevice *self)
{
  return self->name;
}

guint64
ss_device_capacity_bytes (const SsDevice *self)
{
  return self->capacity_bytes;
}

guint64
ss_device_context_bytes (const SsDevice *self)
{
  return self->context_bytes;
}

const SsTarget *
ss_device_target (const SsDevice *self)
{
  return &self->target;
}

/* ---- what decides times ---- */

double
ss_device_matmul_peak_flop_per_s (const SsDevice *self, SsDtype dtype)
{
  switch (dtype)
    {
    case SS_BF16:
      return self->peak_bf16_flop_per_s;
    case SS_F16:
      return self->peak_fp16_flop_per_s;
    case SS_F64:
      return self->peak_fp32_flop_per_s / 2;
    case SS_F32:
    case SS_BOOL:
    case SS_U8:
    case SS_I32:
    case SS_I64:
    case SS_U64:
      return self->peak_fp32_flop_per_s;
    case SS_N_DTYPES:
      break;
    }
  g_return_val_if_reached (self->peak_fp32_flop_per_s);
}

double
ss_device_bandwidth_bytes_per_s (const SsDevice *self)
{
  return self->bandwidth_bytes_per_s;
}

guint64
ss_device_l2_bytes (const SsDevice *self)
{
  return self->l2_bytes;
}

double
ss_device_matmul_efficiency (const SsDevice *self)
{
  return self->matmul_efficiency * self->sustained_factor;
}

double
ss_device_attention_efficiency (const SsDevice *self, gboolean is_backward)
{
  return is_backward ? self->attention_backward_efficiency : self->attention_forward_efficiency;
}

double
ss_device_memory_efficiency (const SsDevice *self)
{
  return self->memory_efficiency;
}

double
ss_device_multi_tensor_efficiency (const SsDevice *self)
{
  return self->multi_tensor_efficiency;
}

double
ss_device_kernel_floor_s (const SsDevice *self)
{
  return self->kernel_floor_s;
}

double
ss_device_forward_issue_s (const SsDevice *self)
{
  return self->forward_issue_s;
}

double
ss_device_backward_issue_s (const SsDevice *self)
{
  return self->backward_issue_s;
}

double
ss_device_optimizer_issue_s (const SsDevice *self)
{
  return self->optimizer_issue_s;
}

double
ss_device_further_launch_s (const SsDevice *self)
{
  return self->further_launch_s;
}

double
ss_device_segment_call_s (const SsDevice *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->segment_call_s;
}

double
ss_device_launch_latency_s (const SsDevice *self)
{
  return self->launch_latency_s;
}

gboolean
ss_device_has_host_link (const SsDevice *self)
{
  return self->pinned_bytes_per_s > 0 && self->pageable_bytes_per_s > 0;
}

double
ss_device_host_link_bytes_per_s (const SsDevice *self, gboolean is_pinned)
{
  return is_pinned ? self->pinned_bytes_per_s : self->pageable_bytes_per_s;
}

double
ss_device_host_link_latency_s (const SsDevice *self)
{
  return self->copy_latency_s;
}

guint
ss_device_queue_depth (const SsDevice *self)
{
  return self->queue_depth;
}
