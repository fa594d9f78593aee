/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>
#include <signal.h>

#include "sim/stream.h"

/* Writes "name+time " at a start and "name-time " at an end. */
typedef struct
{
  GString *log;
  const char *name;
} Work;

static void
log_start (SsEngine *engine,
           gpointer user_data)
{
  Work *work = user_data;

  g_string_append_printf (work->log, "%s+%" G_GINT64_FORMAT " ", work->name,
                          ss_engine_now_ns (engine));
}

static void
log_end (SsEngine *engine,
         gpointer user_data)
{
  Work *work = user_data;

  g_string_append_printf (work->log, "%s-%" G_GINT64_FORMAT " ", work->name,
                          ss_engine_now_ns (engine));
}

typedef struct
{
  SsEngine *engine;
  SsStream *stream[3];
  GString *log;
  Work works[16];
  guint n_works;
} Device;

static Device *
device_new (void)
{
  Device *device = g_new0 (Device, 1);

  device->engine = ss_engine_new ();
  for (guint i = 0; i < G_N_ELEMENTS (device->stream); i++)
    device->stream[i] = ss_stream_new (device->engine, "stream");
  device->log = g_string_new (NULL);
  return device;
}

static void
device_free (Device *device)
{
  for (guint i = 0; i < G_N_ELEMENTS (device->stream); i++)
    ss_stream_free (device->stream[i]);
  ss_engine_free (device->engine);
  g_string_free (device->log, TRUE);
  g_free (device);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Device, device_free)

static void
device_submit (Device *device,
               guint stream,
               const char *name,
               gint64 not_before_ns,
               gint64 duration_ns)
{
  Work *work = &device->works[device->n_works++];

  *work = (Work) { device->log, name };
  ss_stream_submit (device->stream[stream], not_before_ns, duration_ns, log_start, log_end, work);
}

Test (stream, work_is_serial_and_keeps_its_not_before)
{
  g_autoptr (Device) device = device_new ();
  SsStream *stream = device->stream[0];

  /* a runs 5..15, b follows at once, c is not allowed before 40 */
  device_submit (device, 0, "a", 5, 10);
  device_submit (device, 0, "b", 7, 10);
  device_submit (device, 0, "c", 40, 3);
  cr_assert (eq (str, device->log->str, ""));
  cr_assert (eq (uint, ss_stream_n_queued (stream), 3));
  ss_engine_run_until (device->engine, 20);
  cr_assert (eq (uint, ss_stream_n_queued (stream), 2));
  cr_assert (eq (i64, ss_stream_busy_ns (stream), 15));
  cr_assert (not (ss_stream_is_idle (stream)));
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str, "a+5 a-15 b+15 b-25 c+40 c-43 "));
  cr_assert (eq (i64, ss_stream_busy_ns (stream), 23));
  cr_assert (ss_stream_is_idle (stream));
  cr_assert (eq (str, (char *) ss_stream_name (stream), "stream"));
}

Test (stream, work_submitted_to_an_idle_stream_starts_now)
{
  g_autoptr (Device) device = device_new ();

  device_submit (device, 0, "a", 0, 4);
  ss_engine_run_until (device->engine, 10);
  device_submit (device, 0, "b", 3, 4);
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str, "a+0 a-4 b+10 b-14 "));
}

/* At one time all ends come before all starts: at 10 both a and x end, then b and y start. */
Test (stream, streams_overlap)
{
  g_autoptr (Device) device = device_new ();

  device_submit (device, 0, "a", 0, 10);
  device_submit (device, 0, "b", 0, 10);
  device_submit (device, 1, "x", 4, 6);
  device_submit (device, 1, "y", 0, 1);
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str, "a+0 x+4 a-10 x-10 b+10 y+10 y-11 b-20 "));
}

Test (stream, a_wait_holds_back_later_work_only)
{
  g_autoptr (Device) device = device_new ();
  guint64 event;

  device_submit (device, 0, "a", 0, 30);
  event = ss_stream_record (device->stream[0]);
  device_submit (device, 0, "b", 0, 30);
  device_submit (device, 1, "x", 0, 5);
  ss_stream_wait (device->stream[1], device->stream[0], event);
  device_submit (device, 1, "y", 0, 5);
  cr_assert (not (ss_stream_has_happened (device->stream[0], event)));
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str, "a+0 x+0 x-5 a-30 y+30 b+30 y-35 b-60 "));
  cr_assert (ss_stream_has_happened (device->stream[0], event));
}

Test (stream, a_wait_for_what_has_happened_costs_nothing)
{
  g_autoptr (Device) device = device_new ();
  guint64 event;

  /* of a stream that never had work, and of itself */
  ss_stream_wait (device->stream[1], device->stream[0], ss_stream_record (device->stream[0]));
  device_submit (device, 1, "x", 0, 5);
  ss_stream_wait (device->stream[1], device->stream[1], ss_stream_record (device->stream[1]));
  device_submit (device, 1, "y", 0, 5);
  ss_engine_run (device->engine);
  /* happened long ago */
  event = ss_stream_record (device->stream[1]);
  ss_stream_wait (device->stream[0], device->stream[1], event);
  cr_assert (ss_stream_is_idle (device->stream[0]));
  /* pending when asked for, happened when its turn comes: a ends at 13, z at 30 */
  device_submit (device, 1, "a", 0, 3);
  device_submit (device, 0, "z", 0, 20);
  ss_stream_wait (device->stream[0], device->stream[1], ss_stream_record (device->stream[1]));
  device_submit (device, 0, "w", 0, 1);
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str,
                 "x+0 x-5 y+5 y-10 a+10 z+10 a-13 z-30 w+30 w-31 "));
}

/* An event recorded after a wait happens when the wait is over, with or without work between. */
Test (stream, waits_chain)
{
  g_autoptr (Device) device = device_new ();
  SsStream *first = device->stream[0], *second = device->stream[1], *third = device->stream[2];

  device_submit (device, 0, "a", 0, 10);
  ss_stream_wait (second, first, ss_stream_record (first));
  ss_stream_wait (third, second, ss_stream_record (second));
  device_submit (device, 2, "c", 0, 5);
  ss_stream_wait (first, third, ss_stream_record (third));
  device_submit (device, 0, "d", 0, 5);
  cr_assert (not (ss_stream_is_idle (second)));
  cr_assert (eq (uint, ss_stream_n_queued (second), 0));
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str, "a+0 a-10 c+10 c-15 d+15 d-20 "));
  cr_assert (ss_stream_is_idle (second));
}

Test (stream, those_that_wait_for_one_event_start_in_the_order_they_came)
{
  g_autoptr (Device) device = device_new ();
  guint64 early, late;

  device_submit (device, 0, "a", 0, 10);
  early = ss_stream_record (device->stream[0]);
  device_submit (device, 0, "b", 0, 10);
  late = ss_stream_record (device->stream[0]);
  ss_stream_wait (device->stream[2], device->stream[0], early);
  ss_stream_wait (device->stream[1], device->stream[0], early);
  device_submit (device, 2, "z", 0, 1);
  device_submit (device, 1, "y", 0, 1);
  ss_stream_wait (device->stream[2], device->stream[0], late);
  device_submit (device, 2, "w", 0, 1);
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str,
                 "a+0 a-10 z+10 y+10 b+10 z-11 y-11 b-20 w+20 w-21 "));
}

Test (stream, zero_durations_keep_order)
{
  g_autoptr (Device) device = device_new ();

  device_submit (device, 0, "a", 5, 0);
  device_submit (device, 0, "b", 0, 0);
  ss_stream_wait (device->stream[1], device->stream[0], ss_stream_record (device->stream[0]));
  device_submit (device, 1, "x", 0, 0);
  device_submit (device, 0, "c", 0, 0);
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str, "a+5 a-5 b+5 b-5 x+5 x-5 c+5 c-5 "));
  cr_assert (eq (i64, ss_stream_busy_ns (device->stream[0]), 0));
}

Test (stream, time_without_end_is_clamped)
{
  g_autoptr (Device) device = device_new ();

  device_submit (device, 0, "a", 10, G_MAXINT64);
  ss_engine_run (device->engine);
  cr_assert (eq (i64, ss_engine_now_ns (device->engine), G_MAXINT64));
  cr_assert (eq (i64, ss_stream_busy_ns (device->stream[0]), G_MAXINT64 - 10));
}

typedef struct
{
  SsStream *stream;
  guint n_left, n_ended;
} Resubmit;

static void
resubmit (G_GNUC_UNUSED SsEngine *engine,
          gpointer user_data)
{
  Resubmit *self = user_data;

  self->n_ended++;
  if (self->n_left > 0)
    {
      self->n_left--;
      ss_stream_submit (self->stream, 0, 0, NULL, resubmit, self);
    }
}

Test (stream, callbacks_may_submit_a_million_times_without_recursion)
{
  g_autoptr (Device) device = device_new ();
  Resubmit self = { device->stream[0], 1000000, 0 };

  ss_stream_submit (self.stream, 0, 0, NULL, resubmit, &self);
  ss_engine_run (device->engine);
  cr_assert (eq (uint, self.n_ended, 1000001));
}

/* Two streams that hand over to each other 200,000 times, and a million items queued at once. */
Test (stream, long_queues_and_chains_of_waits_do_not_recurse)
{
  g_autoptr (Device) device = device_new ();
  SsStream *a = device->stream[0], *b = device->stream[1];
  Resubmit self = { a, 0, 0 };

  ss_stream_submit (a, 0, 1, NULL, NULL, NULL);
  for (guint i = 0; i < 200000; i++)
    {
      ss_stream_wait (b, a, ss_stream_record (a));
      ss_stream_wait (a, b, ss_stream_record (b));
    }
  for (guint i = 0; i < 1000000; i++)
    ss_stream_submit (a, 0, 1, NULL, resubmit, &self);
  ss_engine_run (device->engine);
  cr_assert (eq (uint, self.n_ended, 1000000));
  cr_assert (eq (i64, ss_engine_now_ns (device->engine), 1000001));
}

static void
stop (SsEngine *engine,
      G_GNUC_UNUSED gpointer user_data)
{
  ss_engine_stop (engine);
}

Test (stream, a_run_stopped_at_a_start_goes_on_where_it_was)
{
  g_autoptr (Device) device = device_new ();

  ss_stream_submit (device->stream[0], 3, 4, stop, NULL, NULL);
  device_submit (device, 0, "a", 0, 2);
  ss_engine_run (device->engine);
  cr_assert (eq (i64, ss_engine_now_ns (device->engine), 3));
  cr_assert (eq (uint, ss_stream_n_queued (device->stream[0]), 2));
  ss_engine_run (device->engine);
  cr_assert (eq (str, device->log->str, "a+7 a-9 "));
}

Test (stream, a_freed_stream_leaves_nothing_in_the_engine)
{
  g_autoptr (SsEngine) engine = ss_engine_new ();
  SsStream *stream = ss_stream_new (engine, "gone");

  ss_stream_submit (stream, 0, 10, NULL, NULL, NULL);
  ss_engine_run_until (engine, 5);
  cr_assert (eq (uint, ss_engine_n_pending (engine), 1));
  ss_stream_free (stream);
  cr_assert (eq (uint, ss_engine_n_pending (engine), 0));
}

Test (stream, a_wait_for_an_event_never_recorded_is_a_programming_error, .signal = SIGTRAP)
{
  g_autoptr (Device) device = device_new ();

  cr_redirect_stderr ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  ss_stream_wait (device->stream[0], device->stream[1], 1);
}

/* A host that issues n items of one launch each. */
typedef struct
{
  SsEngine *engine;
  SsStream *stream;
  SsHost *host;
  GString *log;          /* the times of issue */
  guint n_left;
  guint n_launches;      /* of each item */
  gint64 cost_ns, latency_ns, duration_ns;
} Issuer;

static void
issued_work_ends (G_GNUC_UNUSED SsEngine *engine,
                  gpointer user_data)
{
  Issuer *issuer = user_data;

  ss_host_ended (issuer->host);
}

static gint64
issue (SsHost *host,
       gpointer user_data)
{
  Issuer *issuer = user_data;
  gint64 now_ns = ss_engine_now_ns (issuer->engine);

  if (issuer->n_left == 0)
    return -1;
  issuer->n_left--;
  g_string_append_printf (issuer->log, "%" G_GINT64_FORMAT " ", now_ns);
  for (guint i = 0; i < issuer->n_launches; i++)
    {
      ss_host_launched (host);
      ss_stream_submit (issuer->stream, now_ns + issuer->cost_ns + issuer->latency_ns,
                        issuer->duration_ns, NULL, issued_work_ends, issuer);
    }
  return issuer->cost_ns;
}

typedef struct
{
  const char *name;
  guint queue_depth, n_items, n_launches;
  gint64 cost_ns, latency_ns, duration_ns;
  const char *issues;
  gint64 end_ns, waiting_ns;
} HostRow;

static void
check_host (const HostRow *row)
{
  g_autoptr (SsEngine) engine = ss_engine_new ();
  g_autoptr (SsStream) stream = ss_stream_new (engine, "compute");
  g_autoptr (GString) log = g_string_new (NULL);
  Issuer issuer = { engine, stream, NULL, log, row->n_items, row->n_launches,
                    row->cost_ns, row->latency_ns, row->duration_ns };
  g_autoptr (SsHost) host = ss_host_new (engine, row->queue_depth, issue, &issuer);

  issuer.host = host;
  ss_host_start (host);
  cr_expect (eq (str, log->str, ""), "%s", row->name);
  ss_engine_run (engine);
  cr_expect (eq (str, log->str, (char *) row->issues), "%s", row->name);
  cr_expect (eq (i64, ss_engine_now_ns (engine), row->end_ns), "%s", row->name);
  cr_expect (eq (i64, ss_host_waiting_ns (host), row->waiting_ns), "%s", row->name);
}

/* By hand. "device bound": issued at 0 and 10, ready at 15 and 25, so work runs 15..115, 115..215
 * and so on; at 20 two are out: pause until 115 (95), at 125 until 215 (90), at 225 until 315 (90),
 * when the host asks for a fifth item and is told that there is none; the fourth ends at 415.
 * "two at once": at 10 two are out: pause until 115 (105), when one is; its two make three, so at
 * 125 pause until two have ended, at 215 and 315 (190). */
Test (host, issues_ahead_up_to_the_queue_depth)
{
  static const HostRow rows[] = {
    { "host bound", 2, 4, 1, 10, 5, 3, "0 10 20 30 ", 48, 0 },
    { "device bound", 2, 4, 1, 10, 5, 100, "0 10 115 215 ", 415, 95 + 90 + 90 },
    { "depth 1 is lock step", 1, 3, 1, 10, 5, 100, "0 115 230 ", 345, 3 * 105 },
    { "deep enough", 4, 4, 1, 10, 5, 100, "0 10 20 30 ", 415, 75 },
    { "no limit in reach", 1000, 4, 1, 10, 5, 100, "0 10 20 30 ", 415, 0 },
    { "two at once", 2, 2, 2, 10, 5, 100, "0 115 ", 415, 105 + 190 },
    { "no cost", 2, 4, 1, 0, 0, 7, "0 0 7 14 ", 28, 7 + 7 + 7 },
    { "no durations", 1, 3, 1, 0, 0, 0, "0 0 0 ", 0, 0 },
    { "items without a launch", 1, 3, 0, 10, 0, 0, "0 10 20 ", 30, 0 },
    { "nothing to issue", 1, 0, 1, 10, 0, 0, "", 0, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    check_host (&rows[i]);
}

Test (host, waiting_time_grows_while_it_waits)
{
  g_autoptr (SsEngine) engine = ss_engine_new ();
  g_autoptr (SsStream) stream = ss_stream_new (engine, "compute");
  g_autoptr (GString) log = g_string_new (NULL);
  Issuer issuer = { engine, stream, NULL, log, 5, 1, 10, 0, 1000 };
  g_autoptr (SsHost) host = ss_host_new (engine, 1, issue, &issuer);

  issuer.host = host;
  ss_host_start (host);
  ss_engine_run_until (engine, 500);
  cr_assert (eq (i64, ss_host_waiting_ns (host), 490));
}

Test (host, a_million_items_of_no_cost_do_not_recurse)
{
  g_autoptr (SsEngine) engine = ss_engine_new ();
  g_autoptr (SsStream) stream = ss_stream_new (engine, "compute");
  g_autoptr (GString) log = g_string_new (NULL);
  Issuer issuer = { engine, stream, NULL, log, 1000000, 1, 0, 0, 0 };
  g_autoptr (SsHost) host = ss_host_new (engine, 8, issue, &issuer);

  issuer.host = host;
  ss_host_start (host);
  ss_engine_run (engine);
  cr_assert (eq (uint, issuer.n_left, 0));
  cr_assert (ss_stream_is_idle (stream));
}

/* The second of its items reads a value. */
static gint64
issue_and_read (SsHost *host,
                gpointer user_data)
{
  Issuer *issuer = user_data;
  gint64 cost_ns = issue (host, user_data);

  if (issuer->n_left == 2)
    ss_host_synchronize (host);
  return cost_ns;
}

/* Work runs 15..115 and 115..215; at 20 the host waits for both, then issues at 215 what runs
 * 230..330, and at 225, without waiting, what runs 330..430. */
Test (host, a_read_waits_for_all_that_was_launched)
{
  g_autoptr (SsEngine) engine = ss_engine_new ();
  g_autoptr (SsStream) stream = ss_stream_new (engine, "compute");
  g_autoptr (GString) log = g_string_new (NULL);
  Issuer issuer = { engine, stream, NULL, log, 4, 1, 10, 5, 100 };
  g_autoptr (SsHost) host = ss_host_new (engine, 1000, issue_and_read, &issuer);

  issuer.host = host;
  ss_host_start (host);
  ss_engine_run (engine);
  cr_assert (eq (str, log->str, "0 10 215 225 "));
  cr_assert (eq (i64, ss_engine_now_ns (engine), 430));
  cr_assert (eq (i64, ss_host_waiting_ns (host), 195));
}
