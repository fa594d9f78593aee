/* SPDX-License-Identifier: MIT */
#include "sim/advice.h"

#include "sim/replay-memory.h"

/* Options that change where blocks go, in the order in which PyTorch's notes name them; the first
 * is the one its own message recommends. */
static const struct
{
  const char *key, *option, *what;
} options[] = {
  { "expandable_segments", "expandable_segments:True",
    "segments that grow instead of many of fixed size" },
  { "max_split_size_mb", "max_split_size_mb:512", "large blocks are not split" },
  { "max_split_size_mb", "max_split_size_mb:128", "blocks above 128 MiB are not split" },
  { "roundup_power2_divisions", "roundup_power2_divisions:8",
    "sizes rounded so that blocks can be used again" },
  { "garbage_collection_threshold", "garbage_collection_threshold:0.8",
    "idle segments given back before the memory is full" },
};

/* The options as they stand with one more; NULL if that one is named already. */
static char *
with_option (const char *conf, guint i)
{
  if (conf && strstr (conf, options[i].key))
    return NULL;
  return conf && *conf ? g_strconcat (conf, ",", options[i].option, NULL)
                       : g_strdup (options[i].option);
}

static void
try_option (SsRecording *recording, const SsReplay *replay, guint i)
{
  g_autofree char *conf = with_option (replay->settings.conf, i);
  SsAllocatorSettings settings = replay->settings;
  SsMemoryVerdict verdict;
  SsAdvice *advice;

  settings.conf = conf;
  if (!conf || !ss_replay_memory (replay->program, replay->allocator, &settings,
                                    replay->empties_cache, &verdict, NULL)
      || !verdict.fits)
    return;
  advice = g_new0 (SsAdvice, 1);
  advice->path = g_strdup ("allocator/alloc-conf");
  advice->value = g_steal_pointer (&conf);
  advice->what = g_strdup (options[i].what);
  advice->peak_allocated_bytes = verdict.peak_allocated_bytes;
  advice->peak_reserved_bytes = verdict.peak_reserved_bytes;
  g_ptr_array_add (recording->advice, advice);
}

void
ss_advise_allocator (SsRecording *recording, const SsReplay *replay)
{
  if (!recording->is_oom)
    return;
  recording->least_bytes = ss_size_add (ss_replay_peak_requested_bytes (replay->program, FALSE),
                                        replay->settings.external_bytes);
  recording->least_state_bytes = ss_replay_peak_requested_bytes (replay->program, TRUE);
  /* where memory is short of what is asked for, no placing of blocks helps */
  if (recording->least_bytes > replay->settings.capacity_bytes
      || !g_str_equal (replay->allocator->name, "caching"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    try_option (recording, replay, i);
}
