/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "memory/allocator.h"

#define MIB G_GUINT64_CONSTANT (1048576)

Test (allocator, an_unknown_name_is_answered_with_the_known_ones)
{
  g_autoptr (GError) error = NULL;

  cr_assert (eq (ptr, (void *) ss_allocator_class_find ("slab", &error), NULL));
  cr_assert (g_error_matches (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_UNKNOWN));
  cr_assert (strstr (error->message, "unknown allocator 'slab'; known: ") != NULL);
  cr_assert (strstr (error->message, "exact") != NULL);
}

Test (allocator, every_listed_class_is_found_by_its_name_and_works)
{
  const SsAllocatorClass *const *classes = ss_allocator_classes ();
  SsAllocatorSettings settings = { .capacity_bytes = 100 * MIB, .external_bytes = MIB };

  for (; *classes; classes++)
    {
      g_autoptr (SsAllocator) allocator = ss_allocator_new (*classes, &settings, NULL);
      SsOomReport report;
      SsBlock *block, *empty;

      cr_assert (ss_allocator_class_find ((*classes)->name, NULL) == *classes);
      block = ss_allocator_allocate (allocator, 5 * MIB, 0, &report);
      empty = ss_allocator_allocate (allocator, 0, 0, &report);
      cr_assert (eq (u64, ss_allocator_stats (allocator)->allocated_bytes, 5 * MIB), "%s",
                 (*classes)->name);
      cr_assert (eq (u64, empty->bytes, 0));
      cr_assert (eq (ptr, ss_allocator_allocate (allocator, 100 * MIB, 0, &report), NULL));
      cr_assert (eq (u64, report.tensor_bytes, 100 * MIB));
      ss_allocator_release (allocator, empty);
      ss_allocator_release (allocator, block);
      ss_allocator_empty_cache (allocator);
      cr_assert (eq (u64, ss_allocator_stats (allocator)->reserved_bytes, 0), "%s",
                 (*classes)->name);
    }
}

Test (allocator, a_wrong_option_or_fraction_is_refused_by_every_class)
{
  const SsAllocatorClass *const *classes = ss_allocator_classes ();
  SsAllocatorSettings bad_conf = { .capacity_bytes = MIB, .conf = "max_split_size_mb:19" };
  SsAllocatorSettings bad_fraction = { .capacity_bytes = MIB, .memory_fraction = 1.5 };

  for (; *classes; classes++)
    {
      g_autoptr (GError) conf_error = NULL;
      g_autoptr (GError) fraction_error = NULL;

      cr_assert (eq (ptr, ss_allocator_new (*classes, &bad_conf, &conf_error), NULL));
      cr_assert (g_error_matches (conf_error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_CONF));
      cr_assert (eq (ptr, ss_allocator_new (*classes, &bad_fraction, &fraction_error), NULL));
      cr_assert (eq (str, fraction_error->message,
                     "memory fraction 1.5 is not a number from 0 to 1"));
    }
}

/* ---- the sentence: the state of specs' example, 1 GiB in all, 100 MiB of others, 303 MiB
 * allocated of 320 MiB reserved, 900,000,000 bytes asked, so free is 1024 - 100 - 320 = 604 MiB
 * ---- */

static const SsOomReport example = {
  .tensor_bytes = 900000000,
  .requested_bytes = 901775360,
  .free_bytes = 604 * MIB,
  .allocated_bytes = 303 * MIB,
  .reserved_bytes = 320 * MIB,
};

#define ADVICE                                                                                     \
  " If reserved but unallocated memory is large try setting "                                      \
  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "   \
  "for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html"                   \
  "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
#define TRIED                                                                                      \
  "CUDA out of memory. Tried to allocate 860.00 MiB. GPU 0 has a total capacity of 1024.00 MiB "   \
  "of which 604.00 MiB is free. "
#define HELD                                                                                       \
  "Of the allocated memory 303.00 MiB is allocated by PyTorch, and 17.00 MiB is reserved by "      \
  "PyTorch but unallocated."

Test (allocator, the_message_is_that_of_pytorch)
{
  static const struct
  {
    const char *conf;
    double fraction;
    const char *text;
  } rows[] = {
    { NULL, 0, TRIED HELD ADVICE },
    { NULL, 0.5, TRIED "512.00 MiB allowed; " HELD ADVICE },
    { NULL, 1.0, TRIED HELD ADVICE },
    { "expandable_segments:True", 0, TRIED HELD },
    { "expandable_segments:True,per_process_memory_fraction:0.5", 0,
      TRIED "512.00 MiB allowed; " HELD },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsAllocatorSettings settings = { .capacity_bytes = 1024 * MIB, .external_bytes = 100 * MIB,
                                       .conf = rows[i].conf, .memory_fraction = rows[i].fraction };
      g_autofree char *text = ss_oom_message (&example, &settings);

      cr_assert (eq (str, text, (char *) rows[i].text), "row %u", i);
    }
}

Test (allocator, a_rejected_and_a_monstrous_request_have_sentences_of_their_own)
{
  SsAllocatorSettings settings = { .capacity_bytes = 1024 * MIB,
                                   .conf = "throw_on_cudamalloc_oom:True" };
  SsOomReport rejected = example, monster = example, byte = example;
  g_autofree char *rejected_text = NULL, *monster_text = NULL, *byte_text = NULL;

  rejected.is_rejected = byte.is_rejected = TRUE;
  byte.tensor_bytes = 1;
  monster.tensor_bytes = G_GUINT64_CONSTANT (1) << 60;
  rejected_text = ss_oom_message (&rejected, &settings);
  byte_text = ss_oom_message (&byte, &settings);
  monster_text = ss_oom_message (&monster, &settings);
  cr_assert (eq (str, rejected_text,
                 "CUDA out of memory. Allocation was preemptively rejected because it would "
                 "exceed per_process_memory_fraction limit. Requested size: 858.31 MiB"));
  cr_assert (g_str_has_suffix (byte_text, "Requested size: 1 bytes"));
  cr_assert (eq (str, monster_text, "CUDA out of memory. Tried to allocate more than 1EB memory."));
}

/* each unit's upper end is still its own: 1024 bytes, 1024.00 KiB, 1024.00 MiB; there is no TiB */
Test (allocator, sizes_print_with_two_decimals_and_stay_in_the_lower_unit)
{
  static const struct
  {
    guint64 bytes;
    const char *text;
  } rows[] = {
    { 1024, "Tried to allocate 1024 bytes." },
    { 1025, "Tried to allocate 1.00 KiB." },
    { MIB, "Tried to allocate 1024.00 KiB." },
    { 1024 * MIB, "Tried to allocate 1024.00 MiB." },
    { 80655481344, "Tried to allocate 75.12 GiB." },
    { G_GUINT64_CONSTANT (1) << 50, "Tried to allocate 1048576.00 GiB." },
  };
  SsAllocatorSettings settings = { .capacity_bytes = 1024 * MIB };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsOomReport report = example;
      g_autofree char *text = NULL;

      report.requested_bytes = rows[i].bytes;
      text = ss_oom_message (&report, &settings);
      cr_assert (strstr (text, rows[i].text) != NULL, "%s", text);
    }
}
