/* SPDX-License-Identifier: MIT */
#include "sim/stream.h"

/* Work, or a wait for another stream's event (other != NULL). */
typedef struct
{
  SsStream *other;
  guint64 event;
  gint64 not_before_ns;
  gint64 duration_ns;
  SsEventFunc on_start;
  SsEventFunc on_end;
  gpointer user_data;
} StreamItem;

/* A stream whose first item waits for an event of the stream that holds this. */
typedef struct
{
  SsStream *stream;
  guint64 event;
} StreamWaiter;

struct _SsStream
{
  SsEngine *engine;
  char *name;

  StreamItem *items;     /* ring; its size is a power of two or 0 */
  guint items_size;
  guint first_item;
  guint n_items;
  guint n_work;          /* items that are not waits */
  guint64 n_done;        /* items over since the beginning: an event is such a count */

  GArray *waiters;       /* of StreamWaiter, in the order they came */

  SsEventId next_id;     /* the engine's event that ends or tries the first item, 0: none */
  gboolean is_working;
  gboolean is_blocked;   /* registered among the waiters of another stream */
  gint64 started_ns;
  gint64 busy_ns;
};

static void stream_try_first (SsEngine *engine, gpointer user_data);

static void
stream_push (SsStream *self,
             StreamItem item)
{
  if (self->n_items == self->items_size)
    {
      guint size = MAX (16, self->items_size * 2);
      StreamItem *items = g_new (StreamItem, size);

      g_assert (self->items_size <= G_MAXUINT / 4);
      for (guint i = 0; i < self->n_items; i++)
        items[i] = self->items[(self->first_item + i) & (self->items_size - 1)];
      g_free (self->items);
      self->items = items;
      self->items_size = size;
      self->first_item = 0;
    }
  self->items[(self->first_item + self->n_items) & (self->items_size - 1)] = item;
  self->n_items++;
}

/* Looks at the first item at that time, unless something that will is under way. Always through the
 * engine: neither a submission nor an end may recurse into the work after it. */
static void
stream_arm (SsStream *self,
            gint64 time_ns)
{
  if (self->n_items > 0 && self->next_id == 0 && !self->is_blocked)
    self->next_id = ss_engine_schedule (self->engine, time_ns, SS_PRIORITY_WORK_START,
                                        stream_try_first, self);
}

static void
stream_wake_waiters (SsStream *self)
{
  guint n_kept = 0;

  for (guint i = 0; i < self->waiters->len; i++)
    {
      StreamWaiter waiter = g_array_index (self->waiters, StreamWaiter, i);

      if (waiter.event > self->n_done)
        {
          g_array_index (self->waiters, StreamWaiter, n_kept++) = waiter;
          continue;
        }
      waiter.stream->is_blocked = FALSE;
      stream_arm (waiter.stream, ss_engine_now_ns (self->engine));
    }
  g_array_set_size (self->waiters, n_kept);
}

static StreamItem
stream_pop (SsStream *self)
{
  StreamItem item = self->items[self->first_item];

  self->first_item = (self->first_item + 1) & (self->items_size - 1);
  self->n_items--;
  self->n_done++;
  if (self->waiters->len > 0)
    stream_wake_waiters (self);
  return item;
}

static void
stream_end_work (SsEngine *engine,
                 gpointer user_data)
{
  SsStream *self = user_data;
  gint64 now_ns = ss_engine_now_ns (engine);
  StreamItem item;

  self->next_id = 0;
  self->is_working = FALSE;
  self->busy_ns += now_ns - self->started_ns;
  self->n_work--;
  item = stream_pop (self);
  stream_arm (self, now_ns);
  if (item.on_end != NULL)
    item.on_end (engine, item.user_data);
}

static void
stream_start_work (SsStream *self)
{
  StreamItem item = self->items[self->first_item];

  self->is_working = TRUE;
  self->started_ns = ss_engine_now_ns (self->engine);
  self->next_id = ss_engine_schedule (self->engine,
                                      ss_ns_add (self->started_ns, item.duration_ns),
                                      SS_PRIORITY_WORK_END, stream_end_work, self);
  if (item.on_start != NULL)
    item.on_start (self->engine, item.user_data);
}

/* Passes the waits that are over; starts the work behind them, or says when to look again. */
static void
stream_try_first (SsEngine *engine,
                  gpointer user_data)
{
  SsStream *self = user_data;

  self->next_id = 0;
  while (self->n_items > 0)
    {
      const StreamItem *first = &self->items[self->first_item];

      if (first->other == NULL)
        {
          if (first->not_before_ns > ss_engine_now_ns (engine))
            stream_arm (self, first->not_before_ns);
          else
            stream_start_work (self);
          return;
        }
      if (!ss_stream_has_happened (first->other, first->event))
        {
          StreamWaiter waiter = { self, first->event };

          g_array_append_val (first->other->waiters, waiter);
          self->is_blocked = TRUE;
          return;
        }
      stream_pop (self);
    }
}

SsStream *
ss_stream_new (SsEngine *engine,
               const char *name)
{
  SsStream *self = g_new0 (SsStream, 1);

  self->engine = engine;
  self->name = g_strdup (name);
  self->waiters = g_array_new (FALSE, FALSE, sizeof (StreamWaiter));
  return self;
}

void
ss_stream_free (SsStream *self)
{
  if (self == NULL)
    return;
  if (self->next_id != 0)
    ss_engine_cancel (self->engine, self->next_id);
  g_array_unref (self->waiters);
  g_free (self->items);
  g_free (self->name);
  g_free (self);
}

const char *
ss_stream_name (const SsStream *self)
{
  return self->name;
}

void
ss_stream_submit (SsStream *self,
                  gint64 not_before_ns,
                  gint64 duration_ns,
                  SsEventFunc on_start,
                  SsEventFunc on_end,
                  gpointer user_data)
{
  g_return_if_fail (duration_ns >= 0);

  stream_push (self, (StreamItem) { .not_before_ns = not_before_ns, .duration_ns = duration_ns,
                                    .on_start = on_start, .on_end = on_end,
                                    .user_data = user_data });
  self->n_work++;
  stream_arm (self, ss_engine_now_ns (self->engine));
}

guint64
ss_stream_record (SsStream *self)
{
  return self->n_done + self->n_items;
}

void
ss_stream_wait (SsStream *self,
                SsStream *other,
                guint64 event)
{
  g_return_if_fail (event <= ss_stream_record (other));

  if (self == other || ss_stream_has_happened (other, event))
    return;
  stream_push (self, (StreamItem) { .other = other, .event = event });
  stream_arm (self, ss_engine_now_ns (self->engine));
}

gboolean
ss_stream_has_happened (const SsStream *self,
                        guint64 event)
{
  return event <= self->n_done;
}

gboolean
ss_stream_is_idle (const SsStream *self)
{
  return self->n_items == 0;
}

guint
ss_stream_n_queued (const SsStream *self)
{
  return self->n_work;
}

gint64
ss_stream_busy_ns (const SsStream *self)
{
  gint64 current_ns = self->is_working ? ss_engine_now_ns (self->engine) - self->started_ns : 0;

  return self->busy_ns + current_ns;
}

struct _SsHost
{
  SsEngine *engine;
  SsStream *waits;       /* what it waits for, each wait with work of no time behind it; or NULL */
  guint n_waits;         /* that are not over */
  guint queue_depth;
  SsIssueFunc issue;
  gpointer user_data;

  guint n_outstanding;   /* launched and not ended */
  guint n_allowed;       /* of those, when it issues next */
  SsEventId next_id;     /* the engine's event of the next issue, 0: none */
  gboolean is_started;
  gboolean is_paused;
  gint64 paused_ns;      /* when it was */
  gint64 waiting_ns;
};

static void
host_issue (SsEngine *engine,
            gpointer user_data)
{
  SsHost *self = user_data;
  gint64 now_ns = ss_engine_now_ns (engine);
  gint64 cost_ns;

  self->next_id = 0;
  if (self->n_outstanding > self->n_allowed || self->n_waits > 0)
    {
      self->is_paused = TRUE;
      self->paused_ns = now_ns;
      return;
    }
  self->n_allowed = self->queue_depth - 1;
  cost_ns = self->issue (self, self->user_data);
  if (cost_ns >= 0)
    self->next_id = ss_engine_schedule (engine, ss_ns_add (now_ns, cost_ns), SS_PRIORITY_HOST,
                                        host_issue, self);
}

SsHost *
ss_host_new (SsEngine *engine,
             guint queue_depth,
             SsIssueFunc issue,
             gpointer user_data)
{
  SsHost *self;

  g_return_val_if_fail (queue_depth > 0, NULL);

  self = g_new0 (SsHost, 1);
  self->engine = engine;
  self->queue_depth = queue_depth;
  self->n_allowed = queue_depth - 1;
  self->issue = issue;
  self->user_data = user_data;
  return self;
}

void
ss_host_free (SsHost *self)
{
  if (self == NULL)
    return;
  if (self->next_id != 0)
    ss_engine_cancel (self->engine, self->next_id);
  ss_stream_free (self->waits);
  g_free (self);
}

void
ss_host_start (SsHost *self)
{
  g_return_if_fail (!self->is_started);

  self->is_started = TRUE;
  self->next_id = ss_engine_schedule (self->engine, ss_engine_now_ns (self->engine),
                                      SS_PRIORITY_HOST, host_issue, self);
}

void
ss_host_launched (SsHost *self)
{
  self->n_outstanding++;
}

static void
host_go_on (SsHost *self)
{
  gint64 now_ns = ss_engine_now_ns (self->engine);

  if (!self->is_paused || self->n_outstanding > self->n_allowed || self->n_waits > 0)
    return;
  self->is_paused = FALSE;
  self->waiting_ns += now_ns - self->paused_ns;
  self->next_id = ss_engine_schedule (self->engine, now_ns, SS_PRIORITY_HOST, host_issue, self);
}

void
ss_host_ended (SsHost *self)
{
  g_return_if_fail (self->n_outstanding > 0);

  self->n_outstanding--;
  host_go_on (self);
}

void
ss_host_synchronize (SsHost *self)
{
  self->n_allowed = 0;
}

static void
host_end_wait (SsEngine *engine G_GNUC_UNUSED, gpointer user_data)
{
  SsHost *self = user_data;

  self->n_waits--;
  host_go_on (self);
}

void
ss_host_wait (SsHost *self, SsStream *stream, guint64 event)
{
  if (ss_stream_has_happened (stream, event))
    return;
  if (self->waits == NULL)
    self->waits = ss_stream_new (self->engine, "host");
  self->n_waits++;
  ss_stream_wait (self->waits, stream, event);
  ss_stream_submit (self->waits, 0, 0, NULL, host_end_wait, self);
}

gint64
ss_host_waiting_ns (const SsHost *self)
{
  gint64 current_ns = self->is_paused
                      ? ss_engine_now_ns (self->engine) - self->paused_ns : 0;

  return self->waiting_ns + current_ns;
}
