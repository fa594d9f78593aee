/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>
#include <math.h>
#include <signal.h>

#include "sim/engine.h"

/* Letters in the order they ran, each by an event whose user_data is a Letter. */
typedef struct
{
  GString *log;
  char letter;
} Letter;

static void
write_letter (G_GNUC_UNUSED SsEngine *engine,
              gpointer user_data)
{
  Letter *letter = user_data;

  g_string_append_c (letter->log, letter->letter);
}

typedef struct
{
  SsEngine *engine;
  GString *log;
  Letter letters[26];
} Bench;

static Bench *
bench_new (void)
{
  Bench *bench = g_new0 (Bench, 1);

  bench->engine = ss_engine_new ();
  bench->log = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (bench->letters); i++)
    bench->letters[i] = (Letter) { bench->log, (char) ('a' + i) };
  return bench;
}

static void
bench_free (Bench *bench)
{
  ss_engine_free (bench->engine);
  g_string_free (bench->log, TRUE);
  g_free (bench);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Bench, bench_free)

static SsEventId
bench_at (Bench *bench,
          gint64 time_ns,
          gint priority,
          char letter)
{
  return ss_engine_schedule (bench->engine, time_ns, priority, write_letter,
                             &bench->letters[letter - 'a']);
}

Test (engine, order_is_time_then_priority_then_sequence)
{
  g_autoptr (Bench) bench = bench_new ();

  bench_at (bench, 20, 0, 'g');
  bench_at (bench, 10, 5, 'e');
  bench_at (bench, 10, 5, 'f');
  bench_at (bench, 10, 0, 'c');
  bench_at (bench, 10, 0, 'd');
  bench_at (bench, 10, -7, 'b');
  bench_at (bench, 20, G_MAXINT16, 'h');
  bench_at (bench, 0, G_MAXINT16, 'a');
  cr_assert (eq (uint, ss_engine_n_pending (bench->engine), 8));
  ss_engine_run (bench->engine);
  cr_assert (eq (str, bench->log->str, "abcdefgh"));
  cr_assert (eq (i64, ss_engine_now_ns (bench->engine), 20));
  cr_assert (eq (uint, ss_engine_n_pending (bench->engine), 0));
}

Test (engine, an_event_at_the_end_of_time_runs)
{
  g_autoptr (Bench) bench = bench_new ();

  bench_at (bench, G_MAXINT64, 0, 'b');
  bench_at (bench, G_MAXINT64, -1, 'a');
  ss_engine_run (bench->engine);
  cr_assert (eq (str, bench->log->str, "ab"));
}

Test (engine, a_cancelled_event_does_not_run_and_is_cancelled_once)
{
  g_autoptr (Bench) bench = bench_new ();
  SsEventId a = bench_at (bench, 1, 0, 'a'), b = bench_at (bench, 2, 0, 'b'), c;

  cr_assert (ss_engine_cancel (bench->engine, a));
  cr_assert (not (ss_engine_cancel (bench->engine, a)));
  cr_assert (eq (uint, ss_engine_n_pending (bench->engine), 1));
  /* c takes a's place inside, but not its name */
  c = bench_at (bench, 3, 0, 'c');
  cr_assert (not (ss_engine_cancel (bench->engine, a)));
  ss_engine_run (bench->engine);
  cr_assert (eq (str, bench->log->str, "bc"));
  cr_assert (not (ss_engine_cancel (bench->engine, b)));
  cr_assert (not (ss_engine_cancel (bench->engine, c)));
}

Test (engine, what_never_was_cannot_be_cancelled)
{
  g_autoptr (Bench) bench = bench_new ();
  SsEventId id;

  cr_assert (not (ss_engine_cancel (bench->engine, 0)));
  cr_assert (not (ss_engine_cancel (bench->engine, G_MAXUINT64)));
  id = bench_at (bench, 1, 0, 'a');
  cr_assert (ss_engine_cancel (bench->engine, id));
  /* the name the next event would get, before there is one */
  cr_assert (not (ss_engine_cancel (bench->engine, id + (G_GUINT64_CONSTANT (1) << 32))));
  cr_assert (eq (uint, ss_engine_n_pending (bench->engine), 0));
}

/* A million schedules and cancels beside ten events that stay: were cancelled ones kept, each run
 * of the loop would be slower than the one before. */
Test (engine, cancelled_events_do_not_accumulate)
{
  g_autoptr (Bench) bench = bench_new ();

  for (char letter = 'a'; letter < 'k'; letter++)
    bench_at (bench, 1000 + letter, 0, letter);
  for (guint i = 0; i < 1000000; i++)
    cr_assert (ss_engine_cancel (bench->engine, bench_at (bench, i % 2000, 0, 'z')));
  cr_assert (eq (uint, ss_engine_n_pending (bench->engine), 10));
  ss_engine_run (bench->engine);
  cr_assert (eq (str, bench->log->str, "abcdefghij"));
}

Test (engine, run_until_includes_its_time_and_moves_the_clock)
{
  g_autoptr (Bench) bench = bench_new ();

  bench_at (bench, 9, 0, 'a');
  bench_at (bench, 10, 0, 'b');
  bench_at (bench, 11, 0, 'c');
  ss_engine_run_until (bench->engine, 8);
  cr_assert (eq (str, bench->log->str, ""));
  cr_assert (eq (i64, ss_engine_now_ns (bench->engine), 8));
  ss_engine_run_until (bench->engine, 10);
  cr_assert (eq (str, bench->log->str, "ab"));
  cr_assert (eq (i64, ss_engine_now_ns (bench->engine), 10));
  /* the same time again runs what came for it meanwhile */
  bench_at (bench, 10, 0, 'd');
  ss_engine_run_until (bench->engine, 10);
  ss_engine_run_until (bench->engine, 500);
  cr_assert (eq (str, bench->log->str, "abdc"));
  cr_assert (eq (i64, ss_engine_now_ns (bench->engine), 500));
}

static void
stop_there (SsEngine *engine,
            gpointer user_data)
{
  ss_engine_stop (engine);
  write_letter (engine, user_data);
}

Test (engine, stop_keeps_what_is_pending_and_the_clock)
{
  g_autoptr (Bench) bench = bench_new ();

  ss_engine_stop (bench->engine);
  bench_at (bench, 1, 0, 'a');
  ss_engine_schedule (bench->engine, 5, 0, stop_there, &bench->letters['b' - 'a']);
  bench_at (bench, 5, 0, 'c');
  bench_at (bench, 6, 0, 'd');
  ss_engine_run_until (bench->engine, 100);
  cr_assert (eq (str, bench->log->str, "ab"));
  cr_assert (eq (i64, ss_engine_now_ns (bench->engine), 5));
  cr_assert (eq (uint, ss_engine_n_pending (bench->engine), 2));
  ss_engine_run (bench->engine);
  cr_assert (eq (str, bench->log->str, "abcd"));
}

typedef struct
{
  Bench *bench;
  SsEventId own, victim;
} Meddler;

static void
meddle (SsEngine *engine,
        gpointer user_data)
{
  Meddler *meddler = user_data;

  cr_assert (eq (uint, ss_engine_n_pending (engine), 3));
  cr_assert (not (ss_engine_cancel (engine, meddler->own)));
  cr_assert (ss_engine_cancel (engine, meddler->victim));
  bench_at (meddler->bench, 10, 1, 'c');
  bench_at (meddler->bench, 10, -1, 'a');
  bench_at (meddler->bench, 12, 0, 'e');
  cr_assert (eq (uint, ss_engine_n_pending (engine), 5));
}

/* At 10: meddle (priority 0), b (0), victim (0), d (2). Of what meddle adds for the same time, a
 * (-1) comes at once and c (1) after b. */
Test (engine, a_callback_may_schedule_for_its_own_time_and_cancel)
{
  g_autoptr (Bench) bench = bench_new ();
  Meddler meddler = { .bench = bench };

  meddler.own = ss_engine_schedule (bench->engine, 10, 0, meddle, &meddler);
  bench_at (bench, 10, 0, 'b');
  meddler.victim = bench_at (bench, 10, 0, 'z');
  bench_at (bench, 10, 2, 'd');
  ss_engine_run (bench->engine);
  cr_assert (eq (str, bench->log->str, "abcde"));
}

static void
count_down (SsEngine *engine,
            gpointer user_data)
{
  guint *n_left = user_data;

  if (--*n_left > 0)
    ss_engine_schedule (engine, ss_engine_now_ns (engine), 0, count_down, n_left);
}

Test (engine, a_million_links_of_a_chain_do_not_recurse)
{
  g_autoptr (SsEngine) engine = ss_engine_new ();
  guint n_left = 1000000;

  ss_engine_schedule (engine, 0, 0, count_down, &n_left);
  ss_engine_run (engine);
  cr_assert (eq (uint, n_left, 0));
  cr_assert (eq (i64, ss_engine_now_ns (engine), 0));
}

Test (engine, the_past_is_a_programming_error, .signal = SIGTRAP)
{
  g_autoptr (Bench) bench = bench_new ();

  cr_redirect_stderr ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  ss_engine_run_until (bench->engine, 10);
  bench_at (bench, 9, 0, 'a');
}

static void
run_again (SsEngine *engine,
           G_GNUC_UNUSED gpointer user_data)
{
  ss_engine_run (engine);
}

Test (engine, running_within_a_run_is_a_programming_error, .signal = SIGTRAP)
{
  g_autoptr (SsEngine) engine = ss_engine_new ();

  cr_redirect_stderr ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  ss_engine_schedule (engine, 0, 0, run_again, NULL);
  ss_engine_run (engine);
}

/* The largest double below 2^63 is 2^63 - 1024. 292 years of 365.25 days are 9.215e18 ns. */
Test (engine, seconds_are_rounded_and_clamped)
{
  static const struct { const char *name; double seconds; gint64 ns; } rows[] = {
    { "zero", 0.0, 0 },
    { "exact", 1.5e-6, 1500 },
    { "down", 1.4e-9, 1 },
    { "half away from zero", 2.5e-9, 3 },
    { "just below a half", 0.49999999999999994e-9, 0 },
    { "an hour", 3600.0, G_GINT64_CONSTANT (3600000000000) },
    { "292 years", 292 * 365.25 * 86400.0, G_GINT64_CONSTANT (9214819200000000000) },
    { "too long", 9.3e9, G_MAXINT64 },
    { "largest double", 1.7e308, G_MAXINT64 },
    { "infinite", INFINITY, G_MAXINT64 },
    { "negative", -1.0, 0 },
    { "negative infinite", -INFINITY, 0 },
    { "not a number", NAN, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    cr_expect (eq (i64, ss_ns_from_seconds (rows[i].seconds), rows[i].ns), "%s", rows[i].name);
}

Test (engine, adding_to_a_time_is_clamped)
{
  cr_assert (eq (i64, ss_ns_add (2, 3), 5));
  cr_assert (eq (i64, ss_ns_add (-2, 3), 1));
  cr_assert (eq (i64, ss_ns_add (G_MAXINT64 - 3, 3), G_MAXINT64));
  cr_assert (eq (i64, ss_ns_add (G_MAXINT64 - 2, 3), G_MAXINT64));
  cr_assert (eq (i64, ss_ns_add (G_MAXINT64, G_MAXINT64), G_MAXINT64));
}

/* The oracle: a plain list, searched from end to end for the least. */
typedef struct
{
  gint64 time_ns;
  gint priority;
  guint sequence;
  SsEventId id;
} ListEntry;

#define N_CLAIMS 6000

typedef struct _Oracle Oracle;

/* user_data of an event: who it says it is */
typedef struct
{
  Oracle *oracle;
  guint sequence;
} Claim;

struct _Oracle
{
  SsEngine *engine;
  GArray *list;          /* of ListEntry */
  GArray *past_ids;      /* of SsEventId that ran or were cancelled */
  guint64 random;
  guint n_scheduled;
  guint n_run;
  Claim claims[N_CLAIMS];
};

static guint
oracle_random (Oracle *oracle,
               guint bound)
{
  oracle->random ^= oracle->random << 13;
  oracle->random ^= oracle->random >> 7;
  oracle->random ^= oracle->random << 17;
  return (guint) (oracle->random % bound);
}

static guint
oracle_least (const Oracle *oracle)
{
  const ListEntry *list = (const ListEntry *) (gpointer) oracle->list->data;
  guint least = 0;

  for (guint i = 1; i < oracle->list->len; i++)
    {
      const ListEntry *a = &list[i], *b = &list[least];

      if (a->time_ns < b->time_ns
          || (a->time_ns == b->time_ns
              && (a->priority < b->priority
                  || (a->priority == b->priority && a->sequence < b->sequence))))
        least = i;
    }
  return least;
}

static void
oracle_remove (Oracle *oracle,
               guint index)
{
  SsEventId id = g_array_index (oracle->list, ListEntry, index).id;

  g_array_append_val (oracle->past_ids, id);
  g_array_remove_index_fast (oracle->list, index);
}

static void oracle_meddle (Oracle *oracle);

static void
oracle_event (SsEngine *engine,
              gpointer user_data)
{
  const Claim *claim = user_data;
  Oracle *oracle = claim->oracle;
  guint least = oracle_least (oracle);
  ListEntry expected = g_array_index (oracle->list, ListEntry, least);

  cr_assert (eq (uint, claim->sequence, expected.sequence));
  cr_assert (eq (i64, ss_engine_now_ns (engine), expected.time_ns));
  oracle_remove (oracle, least);
  oracle->n_run++;
  oracle_meddle (oracle);
}

static void
oracle_schedule (Oracle *oracle)
{
  guint sequence = oracle->n_scheduled++;
  Claim *claim = &oracle->claims[sequence];
  ListEntry entry = { .sequence = sequence, .priority = (gint) oracle_random (oracle, 3) };

  *claim = (Claim) { oracle, sequence };
  entry.time_ns = ss_engine_now_ns (oracle->engine) + oracle_random (oracle, 40);
  entry.id = ss_engine_schedule (oracle->engine, entry.time_ns, entry.priority, oracle_event,
                                 claim);
  g_array_append_val (oracle->list, entry);
}

/* 0 to 3 new events, then perhaps cancels of some that are pending and of one that is past. */
static void
oracle_meddle (Oracle *oracle)
{
  guint n = MIN (oracle_random (oracle, 4), N_CLAIMS - oracle->n_scheduled);

  for (guint i = 0; i < n; i++)
    oracle_schedule (oracle);
  for (guint i = oracle_random (oracle, 3); i-- > 0 && oracle->list->len > 100;)
    {
      guint victim = oracle_random (oracle, oracle->list->len);

      cr_assert (ss_engine_cancel (oracle->engine,
                                   g_array_index (oracle->list, ListEntry, victim).id));
      oracle_remove (oracle, victim);
    }
  if (oracle->past_ids->len > 0)
    {
      guint past = oracle_random (oracle, oracle->past_ids->len);

      cr_assert (not (ss_engine_cancel (oracle->engine,
                                        g_array_index (oracle->past_ids, SsEventId, past))));
    }
  cr_assert (eq (uint, ss_engine_n_pending (oracle->engine), oracle->list->len));
}

Test (engine, agrees_with_a_searched_list_over_random_schedules_and_cancels)
{
  for (guint64 seed = 1; seed <= 5; seed++)
    {
      g_autoptr (SsEngine) engine = ss_engine_new ();
      g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (ListEntry));
      g_autoptr (GArray) past_ids = g_array_new (FALSE, FALSE, sizeof (SsEventId));
      g_autofree Oracle *oracle = g_new0 (Oracle, 1);

      *oracle = (Oracle) { .engine = engine, .list = list, .past_ids = past_ids,
                           .random = seed * 7919 };
      for (guint i = 0; i < 300; i++)
        oracle_schedule (oracle);
      while (list->len > 0)
        {
          ss_engine_run_until (engine, ss_engine_now_ns (engine) + oracle_random (oracle, 20));
          for (guint i = 0; i < list->len; i++)
            cr_assert (gt (i64, g_array_index (list, ListEntry, i).time_ns,
                           ss_engine_now_ns (engine)));
        }
      cr_assert (eq (uint, oracle->n_scheduled, N_CLAIMS));
      cr_assert (gt (uint, oracle->n_run, 1000));
    }
}
