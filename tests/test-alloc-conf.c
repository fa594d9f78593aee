/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "memory/alloc-conf.h"
#include "memory/tensor.h"

#define MIB G_GUINT64_CONSTANT (1048576)

static SsAllocConf
parsed (const char *text)
{
  g_autoptr (GError) error = NULL;
  SsAllocConf conf;
  gboolean ok = ss_alloc_conf_parse (text, &conf, &error);

  cr_assert (ok, "%s: %s", text, error ? error->message : "");
  return conf;
}

Test (alloc_conf, nothing_named_gives_the_defaults)
{
  static const char *const texts[] = { NULL, "", "  " };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      SsAllocConf conf = parsed (texts[i]);

      cr_assert (eq (u64, conf.max_split_bytes, G_MAXUINT64));
      cr_assert (eq (u64, conf.large_segment_bytes, 20 * MIB));
      cr_assert (eq (u64, conf.max_non_split_rounding_bytes, 20 * MIB));
      cr_assert (not (conf.is_expandable));
      cr_assert (not (conf.throws_early));
      cr_assert (conf.memory_fraction < 0);
    }
}

Test (alloc_conf, every_option_is_read_and_spaces_do_not_count)
{
  SsAllocConf conf = parsed (
    " max_split_size_mb : 20 , garbage_collection_threshold:0.6, backend:native,"
    "expandable_segments:True,throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.25,"
    "roundup_power2_divisions:4,max_non_split_rounding_mb:30,release_lock_on_cudamalloc:False,"
    "pinned_num_register_threads:8,pinned_use_cuda_host_register:True,"
    "pinned_reserve_segment_size_mb:64,graph_capture_record_stream_reuse:False,");

  cr_assert (eq (u64, conf.max_split_bytes, 20 * MIB));
  cr_assert (eq (u64, conf.max_non_split_rounding_bytes, 30 * MIB));
  cr_assert (epsilon_eq (dbl, conf.gc_threshold, 0.6, 1e-12));
  cr_assert (epsilon_eq (dbl, conf.memory_fraction, 0.25, 1e-12));
  cr_assert (conf.is_expandable);
  cr_assert (conf.throws_early);
  cr_assert (eq (u64, conf.roundup_divisions[0], 4));
  cr_assert (eq (u64, conf.roundup_divisions[15], 4));
}

/* it bounds the two sizes after it, so it is read first; 33 need not be even */
Test (alloc_conf, the_large_segment_size_is_read_first_wherever_it_stands)
{
  SsAllocConf conf = parsed ("max_split_size_mb:12,large_segment_size_mb:12");

  cr_assert (eq (u64, conf.max_split_bytes, 12 * MIB));
  cr_assert (eq (u64, conf.max_non_split_rounding_bytes, 12 * MIB));
  cr_assert (eq (u64, parsed ("large_segment_size_mb:33").large_segment_bytes, 34603008));
  cr_assert (eq (u64, parsed ("large_segment_size_mb:33").max_non_split_rounding_bytes, 34603008));
}

/* the example of PyTorch's manual: 1 up to 256 MiB, 2 at 512, 4 at 1024, 8 above */
Test (alloc_conf, the_greater_mark_starts_one_entry_after_the_last_named)
{
  static const struct
  {
    const char *text;
    guint64 divisions[SS_ALLOC_CONF_N_ROUNDUPS];
  } rows[] = {
    { "[256:1,512:2,1024:4,>:8]", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8 } },
    { "[1:8,4:4,>:2]", { 8, 0, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
    { "[>:8]", { 0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 } },
    { "[32768:2,>:8]", { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
    { "[16:0,65536:4]", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4 } },
    { "[]", { 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = g_strconcat ("roundup_power2_divisions:", rows[i].text, NULL);
      SsAllocConf conf = parsed (text);

      for (guint j = 0; j < SS_ALLOC_CONF_N_ROUNDUPS; j++)
        cr_assert (eq (u64, conf.roundup_divisions[j], rows[i].divisions[j]), "%s, entry %u", text,
                   j);
    }
}

/* hand sums: 1030 MiB lies in [1024, 2048), a quarter step is 256 MiB, so 1280 MiB; 84 MiB in
 * [64, 128): with 4 divisions steps of 16, so 96, with 8 steps of 8, so 88 (PyTorch's own test
 * of this option) */
Test (alloc_conf, sizes_round_to_512_or_to_a_division_of_a_power_of_two)
{
  static const struct
  {
    const char *divisions;
    guint64 bytes, rounded;
  } rows[] = {
    { "1", 1, 512 },
    { "1", 512, 512 },
    { "1", 513, 1024 },
    { "4", 84 * MIB, 96 * MIB },
    { "8", 84 * MIB, 88 * MIB },
    { "2", 400 * MIB, 512 * MIB },
    { "2", 512 * MIB, 512 * MIB },
    { "[256:1,512:2,1024:4,>:8]", 1030 * MIB, 1280 * MIB },
    { "[64:8,256:4,1024:1,>:8]", 1100 * MIB, 1100 * MIB },
    /* 512 * 4 = 2048 is not above 2048: rounded to 512, which changes nothing */
    { "4", 2048, 2048 },
    { "4", 2049, 2560 },
    { "[1:0,>:4]", 1536 * 1024 + 1, 1536 * 1024 + 512 },
    { "4", G_MAXUINT64, SS_SIZE_OVERFLOW },
    { "9223372036854775808", 1536, 1536 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = g_strconcat ("roundup_power2_divisions:", rows[i].divisions, NULL);
      SsAllocConf conf = parsed (text);

      cr_assert (eq (u64, ss_alloc_conf_round (&conf, rows[i].bytes), rows[i].rounded), "row %u",
                 i);
    }
}

Test (alloc_conf, a_fraction_of_one_sets_no_limit_and_the_call_wins)
{
  static const struct
  {
    const char *conf;
    double fraction;
    gboolean is_set;
    guint64 limit_bytes;
  } rows[] = {
    { "", 0, FALSE, 0 },
    { "", 1, FALSE, 0 },
    { "per_process_memory_fraction:1.0", 0, FALSE, 0 },
    { "per_process_memory_fraction:0", 0, TRUE, 0 },
    { "per_process_memory_fraction:0.5", 0, TRUE, 500 },
    { "per_process_memory_fraction:0.5", 0.7505, TRUE, 750 },
    { "per_process_memory_fraction:0.5", 1, FALSE, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsAllocConf conf = parsed (rows[i].conf);
      SsAllocatorSettings settings = { .capacity_bytes = 1000,
                                       .memory_fraction = rows[i].fraction };
      guint64 limit_bytes = 0;

      cr_assert (eq (int, ss_alloc_conf_limit (&conf, &settings, &limit_bytes), rows[i].is_set),
                 "row %u", i);
      cr_assert (eq (u64, limit_bytes, rows[i].limit_bytes), "row %u", i);
    }
}

Test (alloc_conf, what_is_wrong_is_said_with_what_would_be_right)
{
  static const struct
  {
    const char *text, *reason;
  } rows[] = {
    { "max_split_size_mb:19",
      "allocator option max_split_size_mb: '19' is not MiB, a whole number from" },
    { "max_split_size_mb:64MB", "'64MB' is not MiB" },
    { "max_split_size_mb:-1", "'-1' is not MiB" },
    { "max_split_size_mb:99999999999999999999", "'99999999999999999999' is not MiB" },
    { "max_split_size_mb", "max_split_size_mb: the end is not the ':' expected here" },
    { "max_split_size_mb:", "max_split_size_mb: the end is not MiB" },
    { "max_split_size_mb=64",
      "unrecognized allocator option 'max_split_size_mb=64'; known: roundup_power2_divisions" },
    { "max_split_size_mb:64 expandable_segments:True", "':' is not the ','" },
    { "max_split_size_mb:64:5", "':' is not the ',' expected here" },
    { "max_split_size_mb:40,large_segment_size_mb:64", "'40' is not MiB" },
    { "max_non_split_rounding_mb:19", "max_non_split_rounding_mb: '19'" },
    { "large_segment_size_mb:10",
      "large_segment_size_mb: '10' is not MiB, a whole number above 10" },
    { "garbage_collection_threshold:1", "'1' is not a number above 0 and below 1" },
    { "garbage_collection_threshold:0", "'0' is not a number above 0 and below 1" },
    { "garbage_collection_threshold:nan", "'nan' is not a number" },
    { "per_process_memory_fraction:1.01", "'1.01' is not a number from 0 to 1" },
    { "expandable_segments:true", "expandable_segments: 'true' is not True or False" },
    { "expandable_segments:1", "'1' is not True or False" },
    { "expandable_segments:\033c", "'\\033c' is not True or False" },
    { "throw_on_cudamalloc_oom:yes", "'yes' is not True or False" },
    { "backend:cudaMallocAsync", "'cudaMallocAsync' is not native (no other backend is modelled)" },
    { "pinned_num_register_threads:3", "'3' is not a power of two up to 128" },
    { "roundup_power2_divisions:0", "'0' is not a power of two or a list" },
    { "roundup_power2_divisions:", "the end is not a power of two or a list" },
    { "roundup_power2_divisions:[3:1]", "'3' is not '>' or MiB, a power of two" },
    { "roundup_power2_divisions:[4:3]", "'3' is not 0 or a power of two" },
    { "roundup_power2_divisions:[4:2", "the end is not the ',' expected here" },
    { "roundup_power2_divisions:[4:2,", "the end is not the ']' expected here" },
    { "roundup_power2_divisions:[4", "the end is not the ':' expected here" },
    { "expandable_segments:True,,backend:native", "unrecognized allocator option ','" },
    { "expandable_segments_reserve:1",
      "unrecognized allocator option 'expandable_segments_reserve'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      SsAllocConf conf;

      cr_assert (not (ss_alloc_conf_parse (rows[i].text, &conf, &error)), "%s", rows[i].text);
      cr_assert (g_error_matches (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_CONF));
      cr_assert (strstr (error->message, rows[i].reason) != NULL, "%s: %s", rows[i].text,
                 error->message);
    }
}
