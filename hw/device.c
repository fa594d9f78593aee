/* SPDX-License-Identifier: MIT */
#include "hw/device.h"

#include <string.h>

#include "hw/device-private.h"
#include "hw/xml-read.h"

/* No copy waits longer for its first byte; it keeps sums of times finite. */
#define MAX_LATENCY_S 1.0

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
  ss_xml_read_hertz (node, "clock", &self->clock_hz, problems);
}

static void
read_peak (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  ss_xml_read_flop_per_s (node, "bf16", &self->peak_bf16_flop_per_s, problems);
  ss_xml_read_flop_per_s (node, "fp16", &self->peak_fp16_flop_per_s, problems);
  ss_xml_read_flop_per_s (node, "fp32", &self->peak_fp32_flop_per_s, problems);
  /* half of bf16's: each 4-byte operand takes the place of two (NVIDIA A100 data sheet) */
  self->peak_tf32_flop_per_s = self->peak_bf16_flop_per_s / 2;
  ss_xml_read_flop_per_s (node, "tf32", &self->peak_tf32_flop_per_s, problems);
}

static void
read_host_link (SsDevice *self, const SsXmlNode *node, SsProblems *problems)
{
  ss_xml_read_bytes_per_s (node, "pinned", &self->pinned_bytes_per_s, problems);
  ss_xml_read_bytes_per_s (node, "pageable", &self->pageable_bytes_per_s, problems);
  if (ss_xml_read_seconds (node, "latency", &self->copy_latency_s, problems)
      && self->copy_latency_s > MAX_LATENCY_S)
    ss_xml_node_problem (node, "latency", problems, "latency: is longer than %g s", MAX_LATENCY_S);
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
  self->clock_ratio = 1;
  self->id = g_path_get_basename (path);
  if (g_str_has_suffix (self->id, ".xml"))
    *g_strrstr (self->id, ".xml") = '\0';
  if (document != NULL)
    {
      const SsXmlNode *root = ss_xml_document_root (document);

      self->name = ss_xml_node_get (root, "name");
      read_device (self, root, problems);
      ss_device_read_models (self, root, problems);
    }
  return ss_problems_settle (problems, error) ? g_steal_pointer (&self) : NULL;
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

/* "b300-sxm" of "b300-sxm-288gb", if no other device begins so: its file. (transfer full) */
static char *
find_by_beginning (const char *name, char **known)
{
  g_autofree char *begins = g_strconcat (name, "-", NULL), *file = NULL;
  const char *found = NULL;
  guint n = 0;

  for (; *known != NULL; known++)
    if (g_str_has_prefix (*known, begins))
      {
        found = *known;
        n++;
      }
  if (n != 1)
    return NULL;
  file = g_strdup_printf ("hw/devices/%s.xml", found);
  return ss_data_find (file);
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
  path = strchr (name, '/') == NULL ? find_by_beginning (name, known) : NULL;
  if (path != NULL)
    return ss_device_load_file (path, error);
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
  g_free (self->host_name);
  g_free (self->family_id);
  g_free (self->warning);
  for (guint i = 0; i < SS_N_TIME_CLASSES; i++)
    g_free (self->source[i]);
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
      return self->has_tf32 ? self->peak_tf32_flop_per_s : self->peak_fp32_flop_per_s;
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
