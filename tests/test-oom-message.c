/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "study/oom-message.h"

#define MIB G_GUINT64_CONSTANT (1048576)
#define GIB (1024 * MIB)
#define NOT_SAID SS_OOM_NOT_SAID

/* The first is of PyTorch 2.14.1, with the warning in front of it; those of other versions are from
 * public threads: karpathy/nanoGPT#61, Morizeyao/GPT2-Chinese#104, pytorch/pytorch#111729,
 * zjunlp/EasyEdit#563. */
static const struct
{
  const char *name, *message;
  guint64 low, high;
  double capacity, free, allocated, unallocated;   /* GiB; negative: not said */
  gboolean is_request;
} messages[] = {
  { "2.14",
    "[W1129 10:00:00.1 CUDACachingAllocator.cpp:3934] memory allocation failed with OOM on device "
    "0 while trying to allocate 901775360 bytes (free: 633339904, total: 1073741824).\n"
    "Traceback (most recent call last):\n  File \"t.py\", line 3\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 860.00 MiB. GPU 0 has a total "
    "capacity of 1024.00 MiB of which 604.00 MiB is free. Process 1234 has 286.10 MiB memory in "
    "use. Including non-PyTorch memory, this process has 476.84 MiB memory in use. Process 77 has "
    "1.95 KiB memory in use. Of the allocated memory 303.00 MiB is allocated by PyTorch, and 17.00 "
    "MiB is reserved by PyTorch but unallocated.",
    860 * MIB, 860 * MIB, 1, 604. / 1024, 303. / 1024, 17. / 1024, FALSE },
  { "2.0",
    "RuntimeError: CUDA out of memory. Tried to allocate 786.00 MiB (GPU 0; 15.78 GiB total "
    "capacity; 14.28 GiB already allocated; 620.69 MiB free; 14.32 GiB reserved in total by "
    "PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb",
    /* 785.995 and 786.005 MiB, 824175493.1 and 824185978.9 bytes */
    824175494, 824185978, 15.78, 620.69 / 1024, 14.28, 0.04, FALSE },
  { "1.3, where cached is what is not allocated",
    "RuntimeError: CUDA out of memory. Tried to allocate 384.00 MiB (GPU 2; 10.73 GiB total "
    "capacity; 9.59 GiB already allocated; 290.56 MiB free; 25.84 MiB cached)",
    402647942, 402658426, 10.73, 290.56 / 1024, 9.59, 25.84 / 1024, FALSE },
  { "2.1, its spelling and broken lines",
    "| torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to\n  allocate 355.43 GiB. GPU 0 has "
    "a total capacty of\n  79.32 GiB of which 18.06 GiB is free. Including non-PyTorch memory, "
    "this process has 61.25 GiB memory in use. Of the allocated memory 52.51 GiB is allocated by "
    "PyTorch, and 8.25 GiB is reserved by PyTorch but unallocated.",
    /* 355.425 and 355.435 GiB */
    381634687796, 381645425213, 79.32, 18.06, 52.51, 8.25, FALSE },
  { "a sentence", "it said: tried to allocate 512 bytes", 512, 512, -1, -1, -1, -1, FALSE },
  { "a number", " 786 MiB\n", 823656448, 824705024, -1, -1, -1, -1, FALSE },
  { "no space", "2.00MiB", 2091910, 2102394, -1, -1, -1, -1, FALSE },
  { "rejected",
    "CUDA out of memory. Allocation was preemptively rejected because it would exceed "
    "per_process_memory_fraction limit. Requested size: 858.31 MiB",
    899998024, 900008509, -1, -1, -1, -1, TRUE },
  { "the warning alone",
    "memory allocation failed with OOM on device 0 while trying to allocate 901775360 bytes (free: "
    "633339904, total: 1073741824).",
    860 * MIB, 860 * MIB, 1, 604. / 1024, -1, -1, FALSE },
  { "the last of two",
    "Tried to allocate 20.00 MiB (GPU 0; 10.00 GiB total capacity; 1.00 GiB already allocated; "
    "1.00 GiB free; 1.00 GiB reserved in total by PyTorch)\nTried to allocate 3 KiB.",
    2560, 3584, -1, -1, -1, -1, FALSE },
};

/* Two decimals, so half of a hundredth of a GiB. */
static void
expect_about (const char *row, const char *what, guint64 bytes, double gib)
{
  double low = (gib - 0.0051) * (double) GIB, high = (gib + 0.0051) * (double) GIB;

  if (gib < 0)
    cr_expect (eq (u64, bytes, NOT_SAID), "%s: %s", row, what);
  else
    cr_expect (bytes > low && bytes < high, "%s: %s is %" G_GUINT64_FORMAT, row, what, bytes);
}

Test (oom_message, every_version_is_read)
{
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    {
      g_auto (SsOomMessage) message = { 0 };
      g_autoptr (GError) error = NULL;
      const char *row = messages[i].name, *text = messages[i].message;

      cr_assert (ss_oom_message_parse (text, strlen (text), &message, &error), "%s: %s", row,
                 error ? error->message : "");
      cr_expect (eq (u64, message.low_bytes, messages[i].low), "%s", row);
      cr_expect (eq (u64, message.high_bytes, messages[i].high), "%s", row);
      cr_expect (eq (int, message.is_request, messages[i].is_request), "%s", row);
      expect_about (row, "capacity", message.capacity_bytes, messages[i].capacity);
      expect_about (row, "free", message.free_bytes, messages[i].free);
      expect_about (row, "allocated", message.allocated_bytes, messages[i].allocated);
      expect_about (row, "unallocated", message.unallocated_bytes, messages[i].unallocated);
    }
}

Test (oom_message, what_is_none_is_refused)
{
  static const struct
  {
    const char *text;
    gint code;
    const char *said;
  } rows[] = {
    { "", SS_OOM_MESSAGE_ERROR_NONE, "Tried to allocate" },
    { "Segmentation fault", SS_OOM_MESSAGE_ERROR_NONE, "786.00 MiB" },
    { "786", SS_OOM_MESSAGE_ERROR_SIZE, "\"786\" is no size" },
    { "Tried to allocate 786", SS_OOM_MESSAGE_ERROR_SIZE, "is no size" },
    { "Tried to allocate -3 MiB", SS_OOM_MESSAGE_ERROR_SIZE, "is no size" },
    { "Tried to allocate 3 Mib", SS_OOM_MESSAGE_ERROR_SIZE, "is no size" },
    { "Tried to allocate 0 bytes", SS_OOM_MESSAGE_ERROR_SIZE, "is no size" },
    { "Tried to allocate 9999999999.00 GiB", SS_OOM_MESSAGE_ERROR_SIZE, "is no size" },
    { "Tried to allocate 99999999999999999999 GiB", SS_OOM_MESSAGE_ERROR_SIZE, "is no size" },
    { "CUDA out of memory. Tried to allocate more than 1EB memory.", SS_OOM_MESSAGE_ERROR_SIZE,
      "2^60" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsOomMessage) message = { 0 };
      g_autoptr (GError) error = NULL;

      cr_expect (not (ss_oom_message_parse (rows[i].text, strlen (rows[i].text), &message,
                                            &error)));
      cr_assert (g_error_matches (error, SS_OOM_MESSAGE_ERROR, rows[i].code), "%s", rows[i].text);
      cr_expect (ne (ptr, strstr (error->message, rows[i].said), NULL), "%s", error->message);
    }
}

/* A log may hold anything; each text is also read with its end missing. */
Test (oom_message, bytes_of_any_kind_are_borne)
{
  GRand *random = g_rand_new_with_seed (7);

  for (guint i = 0; i < 2000; i++)
    {
      g_autofree char *text = g_strdup (messages[i % G_N_ELEMENTS (messages)].message);
      gsize n = strlen (text);
      g_auto (SsOomMessage) message = { 0 };

      for (guint k = 0; k < 1 + i % 9; k++)
        text[g_rand_int_range (random, 0, (gint) n)] = (char) g_rand_int_range (random, 0, 256);
      n = (gsize) g_rand_int_range (random, 0, (gint) n);
      if (ss_oom_message_parse (text, n, &message, NULL))
        cr_expect (message.low_bytes <= message.high_bytes && message.high_bytes > 0);
    }
  g_rand_free (random);
}

/* 1 GiB of capacity within a limit of 512 MiB, of which 320 are reserved and 303 in use: 192 + 17
 * are left. */
Test (oom_message, unused_is_what_the_process_may_still_have)
{
  static const char limited[]
    = "Tried to allocate 860.00 MiB. GPU 0 has a total capacity of 1024.00 MiB of which 604.00 MiB "
      "is free. 512.00 MiB allowed; Of the allocated memory 303.00 MiB is allocated by PyTorch, "
      "and 17.00 MiB is reserved by PyTorch but unallocated.";
  g_auto (SsOomMessage) message = { 0 }, bare = { 0 };

  cr_assert (ss_oom_message_parse (limited, strlen (limited), &message, NULL));
  cr_expect (eq (u64, ss_oom_message_unused_bytes (&message), 209 * MIB));
  message.limit_bytes = SS_OOM_NOT_SAID;
  cr_expect (eq (u64, ss_oom_message_unused_bytes (&message), 621 * MIB));
  cr_assert (ss_oom_message_parse ("2 MiB", 5, &bare, NULL));
  cr_expect (eq (u64, ss_oom_message_unused_bytes (&bare), NOT_SAID));
}
