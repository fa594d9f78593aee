/* SPDX-License-Identifier: MIT */
#include "study/trace-cache.h"

#include "study/optimal-plan.h"

typedef struct
{
  SsProgram *program;            /* NULL while somebody traces it */
  SsScenario *planned;           /* what it was traced from, where its plan was searched for */
  guint64 last_use;
} Entry;

struct _SsTraceCache
{
  GMutex mutex;
  GCond changed;
  GHashTable *entries;           /* key -> Entry */
  guint n_kept, n_traces;
  guint64 n_uses;
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_clear_pointer (&entry->program, ss_program_unref);
  g_clear_pointer (&entry->planned, ss_scenario_unref);
  g_free (entry);
}

SsTraceCache *
ss_trace_cache_new (guint n_kept)
{
  SsTraceCache *self = g_new0 (SsTraceCache, 1);

  g_return_val_if_fail (n_kept > 0, NULL);
  g_mutex_init (&self->mutex);
  g_cond_init (&self->changed);
  self->entries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, entry_free);
  self->n_kept = n_kept;
  return self;
}

void
ss_trace_cache_free (SsTraceCache *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->entries);
  g_cond_clear (&self->changed);
  g_mutex_clear (&self->mutex);
  g_free (self);
}

/* ---- the key ---- */

/* Every attribute but those that only the replay sees, so that a new one is part of it. */
static void
on_element (GMarkupParseContext *context G_GNUC_UNUSED, const char *element, const char **names,
            const char **values, gpointer user_data, GError **error G_GNUC_UNUSED)
{
  GString *key = user_data;

  if (g_str_equal (element, "scenario") || g_str_equal (element, "hardware")
      || g_str_equal (element, "allocator"))
    return;
  for (guint i = 0; names[i] != NULL; i++)
    g_string_append_printf (key, "%s/%s=%s\n", element, names[i], values[i]);
}

static void
append_target (GString *key, const SsTarget *target)
{
  /* a member that is new belongs here too */
  G_STATIC_ASSERT (sizeof (SsTarget) == 4 * sizeof (guint) + 2 * sizeof (guint64));
  g_string_append_printf (key, "target=%u,%u,%u,%" G_GUINT64_FORMAT ",%d\n",
                          target->compute_capability, target->n_multiprocessors,
                          target->threads_per_multiprocessor, target->workspace_bytes,
                          target->is_deterministic);
}

char *
ss_trace_key (const SsScenario *scenario)
{
  static const GMarkupParser parser = { .start_element = on_element };
  GString *key = g_string_new (NULL);
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, key, NULL);
  g_autofree char *xml = ss_scenario_to_xml (scenario);

  g_markup_parse_context_parse (context, xml, -1, NULL);
  append_target (key, ss_device_target (ss_scenario_device (scenario)));
  /* this one is planned by what fits the device and takes least time on it */
  if (ss_scenario_trace_config (scenario)->checkpointing.policy->is_searched)
    g_string_append (key, xml);
  return g_string_free (key, FALSE);
}

/* ---- the programs ---- */

/* Of those that are there, the longest unused go.  Who holds a program keeps it. */
static void
evict (SsTraceCache *self)
{
  while (g_hash_table_size (self->entries) > self->n_kept)
    {
      GHashTableIter iter;
      gpointer key, value, oldest = NULL;
      guint64 last_use = G_MAXUINT64;

      /* the smallest of a set: its order does not matter */
      g_hash_table_iter_init (&iter, self->entries);
      while (g_hash_table_iter_next (&iter, &key, &value))
        if (((Entry *) value)->program != NULL && ((Entry *) value)->last_use < last_use)
          {
            oldest = key;
            last_use = ((Entry *) value)->last_use;
          }
      if (oldest == NULL)
        return;
      g_hash_table_remove (self->entries, oldest);
    }
}

/* With the mutex held; NULL: it is the caller's to trace, and says so. */
static const Entry *
find_or_claim (SsTraceCache *self, const char *key)
{
  Entry *entry;

  while ((entry = g_hash_table_lookup (self->entries, key)) != NULL && entry->program == NULL)
    g_cond_wait (&self->changed, &self->mutex);
  if (entry == NULL)
    {
      g_hash_table_insert (self->entries, g_strdup (key), g_new0 (Entry, 1));
      self->n_traces++;
      return NULL;
    }
  entry->last_use = ++self->n_uses;
  return entry;
}

/* The scenario gets the entry's plan: the key of one that is searched for is all of the file. */
static SsProgram *
take (const Entry *entry, SsScenario **scenario)
{
  if (entry->planned != NULL)
    {
      ss_scenario_unref (*scenario);
      *scenario = ss_scenario_ref (entry->planned);
    }
  return ss_program_ref (entry->program);
}

/* The claim is settled: with the program, or, if there is none, given up. */
static void
settle (SsTraceCache *self, const char *key, SsScenario *scenario, SsProgram *program)
{
  Entry *entry = g_hash_table_lookup (self->entries, key);

  if (program == NULL)
    g_hash_table_remove (self->entries, key);
  else
    {
      entry->program = ss_program_ref (program);
      if (ss_scenario_trace_config (scenario)->checkpointing.policy->is_searched)
        entry->planned = ss_scenario_ref (scenario);
      entry->last_use = ++self->n_uses;
      evict (self);
    }
  g_cond_broadcast (&self->changed);
}

static SsProgram *
trace (SsScenario **scenario, GError **error)
{
  SsScenario *planned = ss_optimal_plan (*scenario, error);

  if (planned == NULL)
    return NULL;
  ss_scenario_unref (*scenario);
  *scenario = planned;
  return ss_scenario_trace (planned, FALSE, error);
}

SsProgram *
ss_trace_cache_get (SsTraceCache *self, SsScenario **scenario, GError **error)
{
  g_autofree char *key = NULL;
  SsProgram *program = NULL;
  const Entry *entry;

  g_return_val_if_fail (self != NULL && scenario != NULL && *scenario != NULL, NULL);
  key = ss_trace_key (*scenario);
  g_mutex_lock (&self->mutex);
  entry = find_or_claim (self, key);
  if (entry != NULL)
    program = take (entry, scenario);
  g_mutex_unlock (&self->mutex);
  if (program != NULL)
    return program;
  program = trace (scenario, error);
  g_mutex_lock (&self->mutex);
  settle (self, key, *scenario, program);
  g_mutex_unlock (&self->mutex);
  return program;
}

guint
ss_trace_cache_n_traces (SsTraceCache *self)
{
  guint n;

  g_return_val_if_fail (self != NULL, 0);
  g_mutex_lock (&self->mutex);
  n = self->n_traces;
  g_mutex_unlock (&self->mutex);
  return n;
}
