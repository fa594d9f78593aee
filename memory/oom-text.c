/* SPDX-License-Identifier: MIT */
#include "memory/oom-text-private.h"

#include "memory/alloc-conf.h"

#define ADVICE                                                                                     \
  " If reserved but unallocated memory is large try setting "                                      \
  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "   \
  "for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html"                   \
  "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"

/* format_size of c10/cuda/CUDACachingAllocator.cpp */
char *
ss_oom_size_text (guint64 bytes)
{
  static const char *const units[] = { "KiB", "MiB", "GiB" };
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  double value = (double) bytes / 1024;
  guint unit = 0;

  if (bytes <= 1024)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " bytes", bytes);
  for (; value > 1024 && unit < 2; unit++)
    value /= 1024;
  return g_strdup_printf ("%s %s", g_ascii_formatd (number, sizeof number, "%.2f", value),
                          units[unit]);
}

static void
append (GString *text, const char *before, guint64 bytes, const char *after)
{
  g_autofree char *size = ss_oom_size_text (bytes);

  g_string_append_printf (text, "%s%s%s", before, size, after);
}

char *
ss_oom_message (const SsOomReport *report, const SsAllocatorSettings *settings)
{
  GString *text = g_string_new ("CUDA out of memory. ");
  SsAllocConf conf;
  guint64 limit_bytes;

  /* an allocator was made with these settings, so they are well formed */
  if (!ss_alloc_conf_parse (settings->conf, &conf, NULL))
    g_return_val_if_reached (g_string_free (text, FALSE));
  if (report->tensor_bytes >= SS_OOM_MONSTROUS_BYTES)
    {
      g_string_append (text, "Tried to allocate more than 1EB memory.");
      return g_string_free (text, FALSE);
    }
  if (report->is_rejected)
    {
      append (text,
              "Allocation was preemptively rejected because it would exceed "
              "per_process_memory_fraction limit. Requested size: ",
              report->tensor_bytes, "");
      return g_string_free (text, FALSE);
    }
  append (text, "Tried to allocate ", report->requested_bytes, ". ");
  append (text, "GPU 0 has a total capacity of ", settings->capacity_bytes, " of which ");
  append (text, "", report->free_bytes, " is free. ");
  if (ss_alloc_conf_limit (&conf, settings, &limit_bytes))
    append (text, "", limit_bytes, " allowed; ");
  append (text, "Of the allocated memory ", report->allocated_bytes,
          " is allocated by PyTorch, and ");
  append (text, "", report->reserved_bytes - report->allocated_bytes,
          " is reserved by PyTorch but unallocated.");
  if (!conf.is_expandable)
    g_string_append (text, ADVICE);
  return g_string_free (text, FALSE);
}
