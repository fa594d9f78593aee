/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "output/formats/json-elements.h"
#include "output/formats/pickle-writer.h"
#include "output/formats/real-run.h"
#include "output/formats/snapshot.h"
#include "recording-fixture.h"
#include "scenarios/scenario.h"
#include "sim/simulate.h"

#define SHARED SS_SOURCE_DIR "/../shared/data/snapshot/"
#define BASE G_GINT64_CONSTANT (0x20000000000)

static const SsRealEvent *
event_at (const SsRealRun *run, guint i)
{
  return &g_array_index (run->events, SsRealEvent, i);
}

/* ---- what this program wrote ---- */

static void
expect_same_course (const SsRecording *recording, const SsRealRun *run)
{
  guint n = 0;

  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);
      const SsRealEvent *real;

      if (event->action != SS_EVENT_ALLOC && event->action != SS_EVENT_FREE
          && event->action != SS_EVENT_OOM)
        continue;
      if (event->bytes == 0)
        continue;
      cr_assert (lt (uint, n, run->events->len));
      real = event_at (run, n++);
      cr_assert (eq (u64, real->allocated_bytes, event->allocated_bytes), "event %u", i);
      cr_assert (eq (u64, real->reserved_bytes, event->reserved_bytes), "event %u", i);
      if (event->action != SS_EVENT_OOM)
        cr_assert (eq (u64, real->bytes, event->bytes), "event %u", i);
    }
  cr_assert (eq (uint, n, run->events->len));
}

/* A snapshot says what was asked for; blocks, with their roundings and rests, are found again. */
Test (real_run, a_snapshot_of_this_program_gives_the_course_of_the_run)
{
  static const char *const runs[][4] = {
    { "teaching-4layer.xml", NULL },
    { "llama8b-h100.xml", NULL },
    { "llama8b-h100-fragmentation.xml", NULL },
    { "llama1b-rtx4090.xml", "allocator/alloc-conf=expandable_segments:True", NULL },
    { "llama1b-rtx4090.xml", "checkpointing/policy=full", "training/gradient-accumulation=2",
      NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      g_autofree char *path = g_build_filename (SS_SOURCE_DIR "/scenarios", runs[i][0], NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (SsScenario) scenario = ss_scenario_load (path, runs[i] + 1, &error);
      g_autoptr (SsRecording) recording = NULL;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (SsRealRun) run = NULL;

      cr_assert (ne (ptr, scenario, NULL), "%s", error != NULL ? error->message : "");
      recording = ss_simulate (scenario, NULL, &error);
      cr_assert (ne (ptr, recording, NULL));
      bytes = ss_output_snapshot.render (recording, &(SsOutputSettings) { SS_MEMORY_GIB }, &error);
      run = ss_snapshot_read (bytes, SS_REAL_ANY_DEVICE, &error);
      cr_assert (ne (ptr, run, NULL), "%s", error != NULL ? error->message : "");
      expect_same_course (recording, run);
    }
}

/* ---- what PyTorch wrote ---- */

/* Peaks as `memory_stats` of these runs had them: rows o122 and o001 of the recordings. */
Test (real_run, snapshots_of_pytorch_give_the_peaks_it_counted)
{
  static const struct
  {
    const char *name;
    guint64 peak_bytes;
    guint n_events;
  } rows[] = {
    { SHARED "llama8b_oom.pickle", G_GUINT64_CONSTANT (81623918592), 5705 + 4536 + 1 },
    { SHARED "llama32_1b.pickle", 0, 4407 + 3818 },
    { SHARED "snapshot_small.pickle", 0, 55 + 41 },
    { SHARED "snapshot_oom.pickle", 0, 92 + 74 + 1 },
  };

  if (!g_file_test (SHARED, G_FILE_TEST_IS_DIR))
    cr_skip_test ("no recordings here");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SsRealRun) run = ss_real_run_load (rows[i].name, SS_REAL_ANY_DEVICE, &error);
      guint64 peak_bytes = 0;

      cr_assert (ne (ptr, run, NULL), "%s", error != NULL ? error->message : "");
      cr_expect (eq (uint, run->events->len, rows[i].n_events));
      cr_expect (gt (uint, run->spans->len, 1));
      for (guint k = 0; k < run->events->len; k++)
        peak_bytes = MAX (peak_bytes, event_at (run, k)->allocated_bytes);
      if (rows[i].peak_bytes != 0)
        cr_expect (eq (u64, peak_bytes, rows[i].peak_bytes));
    }
}

/* ---- the head of a history is lost ---- */

static void
put_int (SsPickleWriter *w, const char *key, gint64 value)
{
  ss_pickle_writer_key (w, key);
  ss_pickle_writer_int (w, value);
}

static void
put_text (SsPickleWriter *w, const char *key, const char *text)
{
  ss_pickle_writer_key (w, key);
  ss_pickle_writer_text (w, text);
}

static void
put_entry (SsPickleWriter *w, const char *action, gint64 address, gint64 size, gint64 time_us)
{
  ss_pickle_writer_item (w);
  ss_pickle_writer_begin_dict (w);
  put_text (w, "action", action);
  put_int (w, "addr", address);
  put_int (w, "size", size);
  put_int (w, "time_us", time_us);
  ss_pickle_writer_end_dict (w);
}

static void
put_block (SsPickleWriter *w, gint64 size, const char *state)
{
  ss_pickle_writer_item (w);
  ss_pickle_writer_begin_dict (w);
  put_int (w, "size", size);
  put_text (w, "state", state);
  ss_pickle_writer_end_dict (w);
}

/* A segment of 20 MiB: at first blocks of 4 and 2 MiB; the second is freed; 15.5 MiB are taken from
 * what is then free, 16 MiB, of which half a MiB is too little to split off. */
static GBytes *
headless_snapshot (gint64 size)
{
  g_autoptr (SsPickleWriter) w = ss_pickle_writer_new ();
  const gint64 mib = 1 << 20;

  ss_pickle_writer_begin_dict (w);
  ss_pickle_writer_key (w, "device_traces");
  ss_pickle_writer_begin_list (w);
  ss_pickle_writer_item (w);
  ss_pickle_writer_begin_list (w);
  put_entry (w, "free_requested", BASE + 4 * mib, 2 * mib - 100, 10);
  put_entry (w, "free_completed", BASE + 4 * mib, 2 * mib - 100, 10);
  put_entry (w, "alloc", BASE + 4 * mib, size, 20);
  ss_pickle_writer_end_list (w);
  ss_pickle_writer_end_list (w);
  ss_pickle_writer_key (w, "segments");
  ss_pickle_writer_begin_list (w);
  ss_pickle_writer_item (w);
  ss_pickle_writer_begin_dict (w);
  put_int (w, "device", 0);
  put_int (w, "address", BASE);
  put_int (w, "total_size", 20 * mib);
  ss_pickle_writer_key (w, "blocks");
  ss_pickle_writer_begin_list (w);
  put_block (w, 4 * mib, "active_allocated");
  put_block (w, 16 * mib, "active_allocated");
  ss_pickle_writer_end_list (w);
  ss_pickle_writer_end_dict (w);
  ss_pickle_writer_end_list (w);
  ss_pickle_writer_end_dict (w);
  return ss_pickle_writer_finish (w);
}

Test (real_run, what_was_there_before_the_history_counts)
{
  g_autoptr (GBytes) bytes = headless_snapshot (15 * (1 << 20) + (1 << 19));
  g_autoptr (GError) error = NULL;
  g_autoptr (SsRealRun) run = ss_snapshot_read (bytes, SS_REAL_ANY_DEVICE, &error);

  cr_assert (ne (ptr, run, NULL), "%s", error != NULL ? error->message : "");
  cr_assert (eq (uint, run->events->len, 2));
  cr_expect (eq (u64, run->start_reserved_bytes, 20 * SS_MIB));
  /* the freed block's true size is gone with it; what was asked for stands in */
  cr_expect (eq (u64, run->start_allocated_bytes, 6 * SS_MIB - 100));
  cr_expect (eq (u64, event_at (run, 0)->allocated_bytes, 4 * SS_MIB));
  cr_expect (eq (u64, event_at (run, 1)->allocated_bytes, 20 * SS_MIB));
}

Test (real_run, sizes_that_cannot_be_are_refused_where_they_stand)
{
  g_autoptr (GBytes) bytes = headless_snapshot (-1);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsRealRun) run = ss_snapshot_read (bytes, SS_REAL_ANY_DEVICE, &error);

  cr_assert (eq (ptr, run, NULL));
  cr_expect (g_str_has_prefix (error->message, "byte "), "%s", error->message);
  cr_expect (ne (ptr, strstr (error->message, "\"size\" is missing"), NULL), "%s", error->message);
}

Test (real_run, files_that_are_no_run_are_refused)
{
#define ROW(file, wanted) { file, sizeof (file) - 1, wanted }
  static const struct
  {
    const char *file;
    gsize size;
    const char *wanted;
  } rows[] = {
    ROW ("", "byte 0: neither a pickle"),
    ROW ("PK\x03\x04....", "byte 0: a zip archive"),
    ROW ("\x80\x04N.", "byte 0: no memory snapshot"),
    ROW ("\x80\x04}.", "byte 2: no memory snapshot"),
    ROW ("\x80\x04}\x8c\x0d" "device_traces]s.", "byte 18: no history"),
    ROW ("\x80\x04}\x8c\x0d" "device_traces](]es.", "byte 18: no history"),
    ROW ("\x80\x04}\x8c\x0d" "device_traces](](Neees.", "there is no mark"),
    ROW ("\x80\x04}\x8c\x0d" "device_traces](](Nees.", "an entry of the history without an action"),
    ROW ("{}", "no trace: there are no \"traceEvents\""),
    ROW ("{\"traceEvents\":[]}", "no \"[memory]\" events of a device"),
    ROW ("[{\"ph\":\"X\"},\n3,null]", "line 2: an element that is no object"),
    ROW ("[{\"ph\":\"X\"},{}]", "no \"[memory]\" events of a device"),
    ROW ("{\"traceEvents\":\n[{}", "line 2: no JSON: unexpected"),
    ROW ("{\"a\":1,\"traceEvents\":\n[{},\n{\"b\":}]}", "line 3: no JSON: "),
    ROW ("{\"traceEvents\":[]}\n{}", "line 2: no JSON: more after the end"),
    ROW ("{\"traceEvents\":[],}", "line 1: no JSON: expected a name in quotes"),
    ROW ("{\"traceEvents\" []}", "line 1: no JSON: unexpected byte"),
    ROW ("[{} {}]", "line 1: no JSON: unexpected byte"),
    ROW ("{\"a\":,\"traceEvents\":[]}", "line 1: no JSON: unexpected byte, expected a value"),
    ROW ("\x1f\x8b\x08 no gzip", ""),
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (SsRealRun) run = NULL;
      int fd = g_file_open_tmp ("stepsim-XXXXXX", &path, NULL);

      cr_assert (ge (int, fd, 0));
      close (fd);
      cr_assert (g_file_set_contents (path, rows[i].file, (gssize) rows[i].size, NULL));
      run = ss_real_run_load (path, SS_REAL_ANY_DEVICE, &error);
      g_unlink (path);
      cr_assert (eq (ptr, run, NULL), "row %u", i);
      cr_expect (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT));
      cr_expect (g_str_has_prefix (error->message, path), "%s", error->message);
      cr_expect (ne (ptr, strstr (error->message, rows[i].wanted), NULL), "%s", error->message);
    }
#undef ROW
}

/* ---- traces of torch.profiler ---- */

#define MEMORY(ts, bytes, allocated)                                                               \
  "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"ts\":" ts                                     \
  ",\"args\":{\"Device Type\":1,\"Device Id\":0,\"Addr\":1,\"Bytes\":" bytes                       \
  ",\"Total Allocated\":" allocated ",\"Total Reserved\":2097152}}"

Test (real_run, a_trace_of_the_profiler_has_the_totals)
{
  static const char trace[]
    = "{\"traceEvents\":[" MEMORY ("20.5", "-512", "1024") "," MEMORY ("10.001", "512", "1536") ","
      "{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1,\"args\":{\"Device Type\":0,\"Device Id\":-1,"
      "\"Bytes\":64,\"Total Allocated\":64,\"Total Reserved\":0}},"
      "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"ts\":15,"
      "\"dur\":9}]}";
  g_autoptr (GBytes) bytes = g_bytes_new_static (trace, sizeof trace - 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsRealRun) run = ss_kineto_read (bytes, SS_REAL_ANY_DEVICE, &error);

  cr_assert (ne (ptr, run, NULL), "%s", error != NULL ? error->message : "");
  cr_assert (eq (uint, run->events->len, 2));
  cr_expect (eq (u64, run->start_allocated_bytes, 1024));
  cr_expect (eq (u64, event_at (run, 0)->allocated_bytes, 1536));
  cr_expect (eq (int, event_at (run, 1)->action, SS_REAL_FREE));
  cr_expect (eq (u64, event_at (run, 1)->reserved_bytes, 2097152));
  cr_assert (eq (uint, run->spans->len, 1));
  cr_expect (eq (uint, g_array_index (run->spans, SsRealSpan, 0).first_event, 1));
  cr_expect (eq (uint, g_array_index (run->spans, SsRealSpan, 0).end_event, 2));
}

Test (real_run, deep_json_is_refused_before_it_is_parsed)
{
  g_autofree char *deep = g_strnfill (200000, '[');
  g_autoptr (GBytes) bytes = g_bytes_new_static (deep, 200000);
  g_autoptr (GError) error = NULL;

  memcpy (deep, "[{\"a\":", 6);
  cr_expect (eq (ptr, ss_kineto_read (bytes, SS_REAL_ANY_DEVICE, &error), NULL));
  cr_expect (eq (str, error->message, (char *) "byte 68: nested more than 64 deep"));
}

/* ---- hostile files ---- */

/* A snapshot whose only segment stands `n_segments` times in its list. */
static GBytes *
repeating_snapshot (guint n_segments)
{
  static const char head[] = "\x80\x04}(\x8c\x0d" "device_traces](](}("
                             "\x8c\x06" "action\x8c\x05" "alloc"
                             "\x8c\x04" "addrK\x00\x8c\x04" "sizeM\x00\x02uee"
                             "\x8c\x08" "segments]("
                             "}\x94(\x8c\x07" "addressK\x00\x8c\x0a" "total_sizeM\x00\x02\x8c\x06"
                             "blocks](}\x94(\x8c\x04" "sizeM\x00\x02\x8c\x05" "state\x8c\x08"
                             "inactiveueu";
  GByteArray *file = g_byte_array_new ();

  g_byte_array_append (file, (const guint8 *) head, sizeof head - 1);
  for (guint i = 1; i < n_segments; i++)
    g_byte_array_append (file, (const guint8 *) "h\x00", 2);
  g_byte_array_append (file, (const guint8 *) "eu.", 3);
  return g_byte_array_free_to_bytes (file);
}

/* Else a few kilobytes of it cost seconds: each place is looked at whole. */
Test (real_run, what_stands_in_several_places_is_refused)
{
  g_autoptr (GBytes) once = repeating_snapshot (1), twice = repeating_snapshot (2);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsRealRun) run = ss_snapshot_read (once, SS_REAL_ANY_DEVICE, &error);

  cr_assert (ne (ptr, run, NULL), "%s", error != NULL ? error->message : "");
  cr_assert (eq (ptr, ss_snapshot_read (twice, SS_REAL_ANY_DEVICE, &error), NULL));
  cr_expect (ne (ptr, strstr (error->message, ": a segment that stands in several places"), NULL),
             "%s", error->message);
}

/* An element longer than the parser is given at once. */
Test (real_run, an_element_of_many_megabytes_is_refused)
{
  g_autofree char *text = g_strnfill (SS_JSON_MAX_ELEMENT_BYTES + 4, ' ');
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, SS_JSON_MAX_ELEMENT_BYTES + 4);
  g_autoptr (GError) error = NULL;

  memcpy (text, "\n[{", 3);
  cr_assert (eq (ptr, ss_kineto_read (bytes, SS_REAL_ANY_DEVICE, &error), NULL));
  cr_expect (eq (str, error->message, (char *) "line 2: an element of more than 4 MiB"));
}

/* Bytes changed, cut out, doubled: read or refused, with nothing else happening. */
Test (real_run, damaged_snapshots_are_read_or_refused)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (GBytes) whole
    = ss_output_snapshot.render (recording, &(SsOutputSettings) { SS_MEMORY_GIB }, NULL);
  g_autoptr (GRand) dice = g_rand_new_with_seed (1);
  gsize size;
  const guint8 *data = g_bytes_get_data (whole, &size);

  for (guint i = 0; i < 500; i++)
    {
      g_autoptr (GByteArray) copy = g_byte_array_new ();
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (SsRealRun) run = NULL;

      g_byte_array_append (copy, data, (guint) size);
      for (gint n = g_rand_int_range (dice, 1, 6); n > 0; n--)
        {
          guint at = (guint) g_rand_int_range (dice, 0, (gint32) copy->len - 16);

          if (g_rand_boolean (dice))
            copy->data[at] = (guint8) g_rand_int_range (dice, 0, 256);
          else if (g_rand_boolean (dice))
            g_byte_array_remove_range (copy, at, (guint) g_rand_int_range (dice, 1, 16));
          else
            copy->data[at] = copy->data[g_rand_int_range (dice, 0, (gint32) copy->len)];
        }
      bytes = g_bytes_new (copy->data, copy->len);
      run = ss_snapshot_read (bytes, SS_REAL_ANY_DEVICE, &error);
      cr_expect (eq (int, run == NULL, error != NULL));
    }
}
