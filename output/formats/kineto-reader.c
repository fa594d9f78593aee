/* SPDX-License-Identifier: MIT
 *
 * Traces of torch.profiler (Kineto's output_json.cpp) as real runs: the instant events `[memory]`
 * and `[OutOfMemory]` that profile_memory=True gives, and the annotations of the user.
 */
#include <math.h>

#include "output/formats/json-elements.h"
#include "output/formats/real-run.h"

#define DEVICE_TYPE_CUDA 1       /* c10/core/DeviceType.h */

typedef struct
{
  SsRealEvent event;
  double time_us;
  gint64 device;
  guint order;
} Point;

static gboolean G_GNUC_PRINTF (2, 3)
refuse (GError **error, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list arguments;

  va_start (arguments, format);
  why = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT, why);
  return FALSE;
}

/* ---- reading what may be of any type ---- */

static const char *
text_of (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING
           ? json_node_get_string (node) : NULL;
}

static JsonObject *
object_of (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

/* A number, or a text that holds one. */
static gboolean
number_of (JsonObject *object, const char *name, double *value)
{
  JsonNode *node = json_object_get_member (object, name);
  char *end;

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node))
    return FALSE;
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    {
      *value = g_ascii_strtod (json_node_get_string (node), &end);
      return *end == '\0' && end != json_node_get_string (node) && isfinite (*value);
    }
  *value = json_node_get_double (node);
  return isfinite (*value) && json_node_get_value_type (node) != G_TYPE_BOOLEAN;
}

/* Bytes of one device stay below 2^53, which a double holds; what does not is no such number. */
static gboolean
integer_of (JsonObject *object, const char *name, gint64 *value)
{
  double number;

  if (!number_of (object, name, &number) || fabs (number) > 9007199254740992.0)
    return FALSE;
  *value = (gint64) number;
  return TRUE;
}

/* ---- events ---- */

static void
read_memory (JsonObject *object, GArray *points, gboolean is_oom)
{
  JsonObject *args = object_of (object, "args");
  gint64 type = -1, bytes = 0, allocated = 0, reserved = 0;
  Point point = { .order = points->len };

  if (args == NULL || !number_of (object, "ts", &point.time_us)
      || !integer_of (object, "ts", &point.event.time_us)
      || !integer_of (args, "Device Type", &type) || type != DEVICE_TYPE_CUDA
      || !integer_of (args, "Device Id", &point.device)
      || !integer_of (args, "Bytes", &bytes) || bytes == 0
      || !integer_of (args, "Total Allocated", &allocated) || allocated < 0
      || !integer_of (args, "Total Reserved", &reserved) || reserved < 0)
    return;
  point.event.bytes = (guint64) ABS (bytes);
  point.event.allocated_bytes = (guint64) allocated;
  point.event.reserved_bytes = (guint64) reserved;
  point.event.action = is_oom ? SS_REAL_OOM : bytes > 0 ? SS_REAL_ALLOC : SS_REAL_FREE;
  g_array_append_val (points, point);
}

static void
read_span (JsonObject *object, const char *name, SsRealRun *run)
{
  gint64 start_us, duration_us;
  double start, duration;

  /* the end lies in its microsecond: what begins in that one is still inside */
  if (integer_of (object, "ts", &start_us) && integer_of (object, "dur", &duration_us)
      && duration_us >= 0 && number_of (object, "ts", &start)
      && number_of (object, "dur", &duration))
    ss_real_run_add_span (run, name, start_us, (gint64) floor (start + duration) + 1);
}

static void
read_event (JsonNode *node, SsRealRun *run, GArray *points)
{
  JsonObject *object;
  const char *name, *type, *category;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return;
  object = json_node_get_object (node);
  name = text_of (object, "name");
  type = text_of (object, "ph");
  category = text_of (object, "cat");
  if (name == NULL || type == NULL)
    return;
  if (g_str_equal (type, "i") && g_str_equal (name, "[memory]"))
    read_memory (object, points, FALSE);
  else if (g_str_equal (type, "i") && g_str_equal (name, "[OutOfMemory]"))
    read_memory (object, points, TRUE);
  else if (g_str_equal (type, "X") && g_strcmp0 (category, "user_annotation") == 0)
    read_span (object, name, run);
}

/* By time; equal times stay in the order of the file. */
static gint
compare_points (gconstpointer a, gconstpointer b)
{
  const Point *p = a, *q = b;

  if (p->time_us < q->time_us || p->time_us > q->time_us)
    return p->time_us < q->time_us ? -1 : 1;
  return p->order < q->order ? -1 : p->order > q->order;
}

static gint64
busiest_device (const GArray *points)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (g_int64_hash, g_int64_equal);
  gint64 busiest = 0;
  guint most = 0;

  for (guint i = 0; i < points->len; i++)
    {
      Point *point = &g_array_index (points, Point, i);
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, &point->device)) + 1;

      g_hash_table_replace (counts, &point->device, GUINT_TO_POINTER (n));
      if (n > most)
        {
          most = n;
          busiest = point->device;
        }
    }
  return busiest;
}

static gboolean
take_points (SsRealRun *run, GArray *points, gint wanted, GError **error)
{
  gint64 device = wanted == SS_REAL_ANY_DEVICE ? busiest_device (points) : wanted;

  g_array_sort (points, compare_points);
  for (guint i = 0; i < points->len; i++)
    if (g_array_index (points, Point, i).device == device)
      g_array_append_val (run->events, g_array_index (points, Point, i).event);
  if (run->events->len == 0)
    return refuse (error, "the trace has no \"[memory]\" events of %s; profile_memory=True makes "
                          "torch.profiler write them",
                   wanted == SS_REAL_ANY_DEVICE ? "a device" : "that device");
  run->device = (guint) CLAMP (device, 0, G_MAXINT);
  return TRUE;
}

/* What was there before: the first event undone. */
static void
set_start (SsRealRun *run)
{
  const SsRealEvent *first = &g_array_index (run->events, SsRealEvent, 0);

  run->start_reserved_bytes = first->reserved_bytes;
  run->start_allocated_bytes = first->allocated_bytes;
  if (first->action == SS_REAL_ALLOC)
    run->start_allocated_bytes -= MIN (first->bytes, first->allocated_bytes);
  else if (first->action == SS_REAL_FREE)
    run->start_allocated_bytes += first->bytes;
}

/* A trace under way. */
typedef struct
{
  SsRealRun *run;
  GArray *points;                /* Point */
} Reading;

static void
on_event (JsonNode *element, gpointer user_data)
{
  Reading *self = user_data;

  read_event (element, self->run, self->points);
}

SsRealRun *
ss_kineto_read (GBytes *bytes, gint device, GError **error)
{
  g_autoptr (SsRealRun) run = ss_real_run_new ("trace of torch.profiler");
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (Point));
  Reading reading = { run, points };
  gboolean has_events;
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  if (!ss_json_elements (data, size, "traceEvents", on_event, &reading, &has_events, error))
    return NULL;
  if (!has_events)
    {
      refuse (error, "no trace: there are no \"traceEvents\"");
      return NULL;
    }
  run->counts_blocks = TRUE;
  if (!take_points (run, points, device, error))
    return NULL;
  set_start (run);
  ss_real_run_place_spans (run);
  return g_steal_pointer (&run);
}
