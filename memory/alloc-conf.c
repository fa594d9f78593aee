/* SPDX-License-Identifier: MIT */
#include "memory/alloc-conf.h"

#include <math.h>
#include <string.h>

#include "memory/tensor.h"

#define MIB G_GUINT64_CONSTANT (1048576)
/* kMinBlockSize, kSmallSize, kSmallBuffer, kMinLargeAlloc, kRoundLarge and kLargeBuffer of
 * c10/core/AllocatorConfig.h */
#define MIN_BLOCK_BYTES G_GUINT64_CONSTANT (512)
#define SMALL_MAX_BYTES MIB
#define SMALL_SEGMENT_BYTES (2 * MIB)
#define MIN_LARGE_BYTES (10 * MIB)
#define ROUND_LARGE_BYTES (2 * MIB)
#define LARGE_SEGMENT_BYTES (20 * MIB)

/* ---- values ---- */

static gboolean
read_count (const char *text, guint64 *value)
{
  return g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT64, value, NULL);
}

/* PyTorch clamps what would not fit, too. */
static gboolean
read_mib (const char *text, guint64 *bytes)
{
  guint64 mib;

  if (!read_count (text, &mib))
    return FALSE;
  *bytes = MIN (mib, G_MAXINT64 / MIB) * MIB;
  return TRUE;
}

static gboolean
read_fraction (const char *text, double *value)
{
  char *end;

  *value = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*value);
}

static gboolean
read_boolean (const char *text, gboolean *value)
{
  *value = g_str_equal (text, "True");
  return *value || g_str_equal (text, "False");
}

static gboolean
is_power_of_two (guint64 n)
{
  return n != 0 && (n & (n - 1)) == 0;
}

static guint
log2_of (guint64 n)
{
  return 63 - (guint) __builtin_clzll (n);
}

/* ---- options with one value: FALSE when it is not what `wanted` says ---- */

static gboolean
set_large_segment_size (SsAllocConf *conf, const char *text)
{
  return read_mib (text, &conf->large_segment_bytes) && conf->large_segment_bytes > 10 * MIB;
}

static gboolean
set_max_split_size (SsAllocConf *conf, const char *text)
{
  return read_mib (text, &conf->max_split_bytes)
         && conf->max_split_bytes >= conf->large_segment_bytes;
}

static gboolean
set_max_non_split_rounding (SsAllocConf *conf, const char *text)
{
  return read_mib (text, &conf->max_non_split_rounding_bytes)
         && conf->max_non_split_rounding_bytes >= conf->large_segment_bytes;
}

static gboolean
set_gc_threshold (SsAllocConf *conf, const char *text)
{
  return read_fraction (text, &conf->gc_threshold) && conf->gc_threshold > 0
         && conf->gc_threshold < 1;
}

static gboolean
set_memory_fraction (SsAllocConf *conf, const char *text)
{
  return read_fraction (text, &conf->memory_fraction) && conf->memory_fraction >= 0
         && conf->memory_fraction <= 1;
}

static gboolean
set_expandable (SsAllocConf *conf, const char *text)
{
  return read_boolean (text, &conf->is_expandable);
}

static gboolean
set_throws_early (SsAllocConf *conf, const char *text)
{
  return read_boolean (text, &conf->throws_early);
}

/* ---- options that move nothing on the device: only their value is checked ---- */

static gboolean
check_boolean (G_GNUC_UNUSED SsAllocConf *conf, const char *text)
{
  gboolean value;

  return read_boolean (text, &value);
}

static gboolean
check_mib (G_GNUC_UNUSED SsAllocConf *conf, const char *text)
{
  guint64 bytes;

  return read_mib (text, &bytes);
}

/* at most 128: pinned_max_register_threads in c10/cuda/CUDAAllocatorConfig.h */
static gboolean
check_threads (G_GNUC_UNUSED SsAllocConf *conf, const char *text)
{
  guint64 n_threads;

  return read_count (text, &n_threads) && is_power_of_two (n_threads) && n_threads <= 128;
}

static gboolean
check_backend (G_GNUC_UNUSED SsAllocConf *conf, const char *text)
{
  return g_str_equal (text, "native");
}

typedef struct
{
  const char *key;
  gboolean (*set) (SsAllocConf *conf, const char *text);
  const char *wanted;
} Option;

#define ROUNDUP_KEY "roundup_power2_divisions"
#define MIB_FROM_SEGMENT "MiB, a whole number from large_segment_size_mb (20 unless named) up"
#define TRUE_OR_FALSE "True or False"

/* large_segment_size_mb stands first: PyTorch reads it before all others, for it bounds two of
 * them. */
static const Option options[] = {
  { "large_segment_size_mb", set_large_segment_size, "MiB, a whole number above 10" },
  { "max_split_size_mb", set_max_split_size, MIB_FROM_SEGMENT },
  { "max_non_split_rounding_mb", set_max_non_split_rounding, MIB_FROM_SEGMENT },
  { "garbage_collection_threshold", set_gc_threshold, "a number above 0 and below 1" },
  { "per_process_memory_fraction", set_memory_fraction, "a number from 0 to 1" },
  { "expandable_segments", set_expandable, TRUE_OR_FALSE },
  { "throw_on_cudamalloc_oom", set_throws_early, TRUE_OR_FALSE },
  { "backend", check_backend, "native (no other backend is modelled)" },
  { "release_lock_on_cudamalloc", check_boolean, TRUE_OR_FALSE },
  { "release_lock_on_hipmalloc", check_boolean, TRUE_OR_FALSE },
  { "graph_capture_record_stream_reuse", check_boolean, TRUE_OR_FALSE },
  { "pinned_use_background_threads", check_boolean, TRUE_OR_FALSE },
  { "pinned_use_cuda_host_register", check_boolean, TRUE_OR_FALSE },
  { "pinned_use_hip_host_register", check_boolean, TRUE_OR_FALSE },
  { "pinned_num_register_threads", check_threads, "a power of two up to 128" },
  { "pinned_reserve_segment_size_mb", check_mib, "MiB, a whole number" },
  { "pinned_max_round_threshold_mb", check_mib, "MiB, a whole number" },
  { "pinned_max_cached_size_mb", check_mib, "MiB, a whole number" },
};

/* ---- tokens: words and the four marks , : [ ] ---- */

typedef struct
{
  GPtrArray *tokens;             /* (element-type char*) */
  guint next;
} Reader;

static void
push_word (GPtrArray *tokens, GString *word)
{
  if (word->len > 0)
    g_ptr_array_add (tokens, g_strdup (word->str));
  g_string_truncate (word, 0);
}

static GPtrArray *
tokens_of (const char *text)
{
  GPtrArray *tokens = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) word = g_string_new (NULL);

  for (const char *c = text; *c; c++)
    if (strchr (",:[]", *c))
      {
        push_word (tokens, word);
        g_ptr_array_add (tokens, g_strndup (c, 1));
      }
    else if (!g_ascii_isspace (*c))
      g_string_append_c (word, *c);
  push_word (tokens, word);
  return tokens;
}

static const char *
peek (const Reader *reader)
{
  return reader->next < reader->tokens->len ? reader->tokens->pdata[reader->next] : NULL;
}

/* A token as an error shows it: the string may be anybody's, so control characters are escaped. */
static char *
shown (const char *token)
{
  g_autofree char *start = g_strndup (token ? token : "", 60);
  g_autofree char *escaped = g_strescape (start, NULL);

  return token ? g_strdup_printf ("'%s'", escaped) : g_strdup ("the end");
}

static gboolean
fail (GError **error, const char *key, const char *met, const char *wanted)
{
  g_autofree char *token = shown (met);

  g_set_error (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_CONF,
               "allocator option %s: %s is not %s", key, token, wanted);
  return FALSE;
}

static gboolean
take_mark (Reader *reader, const char *mark, const char *key, GError **error)
{
  const char *met = peek (reader);
  g_autofree char *wanted = g_strdup_printf ("the '%s' expected here", mark);

  if (met == NULL || !g_str_equal (met, mark))
    return fail (error, key, met, wanted);
  reader->next++;
  return TRUE;
}

/* ---- roundup_power2_divisions ---- */

typedef struct
{
  gboolean is_any;
  guint last;                    /* entry of the last pair with a name; 0 before the first */
} Named;

static void
fill (SsAllocConf *conf, guint from, guint to, guint64 divisions)
{
  for (guint i = from; i < to; i++)
    conf->roundup_divisions[i] = divisions;
}

/* One "name:divisions" of a list.  The first name also fills every entry below its own, ">"
 * fills those after the last one named (2.14.1; 2.4.0 began at it), entries between two names
 * keep 0. */
static gboolean
take_pair (SsAllocConf *conf, Reader *reader, Named *named, GError **error)
{
  const char *name = peek (reader), *text;
  guint64 divisions, interval_mib = 0;
  guint entry;

  if (!g_str_equal (name, ">")
      && !(read_count (name, &interval_mib) && is_power_of_two (interval_mib)))
    return fail (error, ROUNDUP_KEY, name, "'>' or MiB, a power of two");
  reader->next++;
  if (!take_mark (reader, ":", ROUNDUP_KEY, error))
    return FALSE;
  text = peek (reader);
  if (text == NULL || !read_count (text, &divisions)
      || !(divisions == 0 || is_power_of_two (divisions)))
    return fail (error, ROUNDUP_KEY, text, "0 or a power of two");
  reader->next++;
  if (interval_mib == 0)
    {
      fill (conf, named->last + 1, SS_ALLOC_CONF_N_ROUNDUPS, divisions);
      return TRUE;
    }
  entry = MIN (log2_of (interval_mib), SS_ALLOC_CONF_N_ROUNDUPS - 1);
  if (!named->is_any)
    fill (conf, 0, entry, divisions);
  *named = (Named) { TRUE, entry };
  conf->roundup_divisions[entry] = divisions;
  return TRUE;
}

static gboolean
take_roundup (SsAllocConf *conf, Reader *reader, GError **error)
{
  const char *text = peek (reader);
  Named named = { FALSE, 0 };
  guint64 divisions;

  if (g_strcmp0 (text, "[") != 0)
    {
      if (text == NULL || !read_count (text, &divisions) || !is_power_of_two (divisions))
        return fail (error, ROUNDUP_KEY, text, "a power of two or a list [MiB:divisions,...]");
      fill (conf, 0, SS_ALLOC_CONF_N_ROUNDUPS, divisions);
      reader->next++;
      return TRUE;
    }
  reader->next++;
  while (peek (reader) && !g_str_equal (peek (reader), "]"))
    {
      if (!take_pair (conf, reader, &named, error))
        return FALSE;
      if (g_strcmp0 (peek (reader), "]") != 0 && !take_mark (reader, ",", ROUNDUP_KEY, error))
        return FALSE;
    }
  return take_mark (reader, "]", ROUNDUP_KEY, error);
}

/* ---- the string ---- */

static gboolean
fail_unknown (const char *key, GError **error)
{
  g_autoptr (GString) known = g_string_new (ROUNDUP_KEY);
  g_autofree char *token = shown (key);

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    g_string_append_printf (known, ", %s", options[i].key);
  g_set_error (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_CONF,
               "unrecognized allocator option %s; known: %s", token, known->str);
  return FALSE;
}

static gboolean
take_option (SsAllocConf *conf, Reader *reader, gboolean segment_only, GError **error)
{
  const char *key = peek (reader), *text;

  reader->next++;
  if (g_str_equal (key, ROUNDUP_KEY))
    return take_mark (reader, ":", key, error) && take_roundup (conf, reader, error);
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    if (g_str_equal (key, options[i].key))
      {
        if (!take_mark (reader, ":", key, error))
          return FALSE;
        text = peek (reader);
        if (text == NULL || ((i == 0 || !segment_only) && !options[i].set (conf, text)))
          return fail (error, key, text, options[i].wanted);
        reader->next++;
        return TRUE;
      }
  return fail_unknown (key, error);
}

/* A comma at the very end is accepted, as by PyTorch. */
static gboolean
take_all (SsAllocConf *conf, Reader *reader, gboolean segment_only, GError **error)
{
  const char *key;

  for (reader->next = 0; (key = peek (reader));)
    if (!take_option (conf, reader, segment_only, error)
        || (peek (reader) && !take_mark (reader, ",", key, error)))
      return FALSE;
  return TRUE;
}

gboolean
ss_alloc_conf_parse (const char *text, SsAllocConf *out, GError **error)
{
  g_autoptr (GPtrArray) tokens = tokens_of (text ? text : "");
  Reader reader = { .tokens = tokens };
  SsAllocConf defaults = { .max_split_bytes = G_MAXUINT64,
                           .large_segment_bytes = LARGE_SEGMENT_BYTES,
                           .memory_fraction = -1 };

  *out = defaults;
  if (!take_all (out, &reader, TRUE, error))
    return FALSE;
  out->max_non_split_rounding_bytes = out->large_segment_bytes;
  memset (out->roundup_divisions, 0, sizeof out->roundup_divisions);
  return take_all (out, &reader, FALSE, error);
}

gboolean
ss_alloc_conf_limit (const SsAllocConf         *conf,
                     const SsAllocatorSettings *settings,
                     guint64                   *limit_bytes)
{
  double fraction = settings->memory_fraction > 0 ? settings->memory_fraction
                                                  : conf->memory_fraction;

  if (fraction < 0 || fraction >= 1)
    return FALSE;
  *limit_bytes = (guint64) (fraction * (double) settings->capacity_bytes);
  return TRUE;
}

guint64
ss_alloc_conf_round (const SsAllocConf *conf, guint64 bytes)
{
  guint log2_bytes = log2_of (bytes);
  guint entry = MIN (MAX (log2_bytes, 20u) - 20, SS_ALLOC_CONF_N_ROUNDUPS - 1);
  guint64 divisions = conf->roundup_divisions[entry], step = MIN_BLOCK_BYTES;

  /* sizes past 2^62 have no next power of two within 63 bits */
  if (bytes > G_MAXINT64 / 2)
    return SS_SIZE_OVERFLOW;
  if (divisions > 1 && bytes > ss_size_mul (MIN_BLOCK_BYTES, divisions))
    step = (G_GUINT64_CONSTANT (1) << log2_bytes) >> log2_of (divisions);
  return (bytes + step - 1) / step * step;
}

guint64
ss_alloc_conf_segment (const SsAllocConf *conf, guint64 size_bytes)
{
  if (size_bytes <= SMALL_MAX_BYTES)
    return SMALL_SEGMENT_BYTES;
  if (size_bytes < MIN_LARGE_BYTES)
    return conf->large_segment_bytes;
  return (size_bytes + ROUND_LARGE_BYTES - 1) / ROUND_LARGE_BYTES * ROUND_LARGE_BYTES;
}
