/* SPDX-License-Identifier: MIT */
#include "study/request-table.h"

#include <string.h>

#include "memory/alloc-conf.h"
#include "memory/allocator-caching.h"
#include "study/optimal-plan.h"
#include "study/tensor-name.h"

/* How a request was answered. */
enum
{
  NOT_REACHED,
  BY_CACHE,
  BY_DRIVER,
  REFUSED
};

/* Requests that are one thing, while they are counted. */
typedef struct
{
  SsTensorTrait trait;           /* module_id: index into `modules` of the walk */
  SsRequest *request;
  guint8 *layers;                /* by layer: 1 where one was met; NULL: none in a layer */
} Row;

typedef struct
{
  const SsScenario *scenario;
  const SsProgram *program;
  SsAllocatorSettings settings;
  SsAllocConf conf;
  guint8 *answers;               /* by storage: of the run within the capacity */
  gboolean asked_driver;         /* since the last request */
  GHashTable *rows;              /* Row, by itself */
  GPtrArray *order;              /* Row, as first met */
  guint32 *modules;              /* by module of the program: index into names */
  GPtrArray *names;              /* char *: "model.layers.*.mlp" */
  SsPhase phase;
  guint step;
  SsRequestTable *table;
  /* of the replay under way */
  SsAllocator *allocator;
  SsBlock **blocks;              /* by storage */
  gboolean is_limited, fits;
} Walk;

static guint
row_hash (gconstpointer data)
{
  const SsTensorTrait *trait = &((const Row *) data)->trait;

  return (guint) (trait->bytes ^ trait->bytes >> 32) * 31 + trait->module_id * 17 + trait->phase;
}

static gboolean
row_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (&((const Row *) a)->trait, &((const Row *) b)->trait, sizeof (SsTensorTrait))
         == 0;
}

static void
row_free (gpointer data)
{
  Row *row = data;

  ss_request_unref (row->request);
  g_free (row->layers);
  g_free (row);
}

/* ---- modules ---- */

/* "model.layers.3.mlp" and its like in other layers have one name. */
static char *
name_of_module (const SsProgram *program, guint32 id)
{
  g_autofree char *path = ss_program_module_path (program, id);
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);

  for (char **part = parts; *part != NULL; part++)
    if (**part != '\0' && strspn (*part, "0123456789") == strlen (*part))
      strcpy (*part, "*");
  return g_strjoinv (".", parts);
}

static void
name_modules (Walk *walk)
{
  guint n = ss_program_n_modules (walk->program);
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);

  walk->modules = g_new (guint32, n);
  walk->names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++)
    {
      char *name = name_of_module (walk->program, i);
      gpointer index;

      if (g_hash_table_lookup_extended (known, name, NULL, &index))
        g_free (name);
      else
        {
          index = GUINT_TO_POINTER (walk->names->len);
          g_ptr_array_add (walk->names, name);
          g_hash_table_insert (known, name, index);
        }
      walk->modules[i] = GPOINTER_TO_UINT (index);
    }
}

/* ---- rows ---- */

static Row *
row_of (Walk *walk, guint32 storage_id)
{
  Row key = { 0 }, *row;

  ss_tensor_trait_of (walk->program, storage_id, walk->phase, &key.trait);
  key.trait.module_id = walk->modules[key.trait.module_id];
  row = g_hash_table_lookup (walk->rows, &key);
  if (row != NULL)
    return row;
  row = g_memdup2 (&key, sizeof key);
  row->request = ss_request_new ();
  ss_tensor_name (&row->trait, ss_scenario_trace_config (walk->scenario), row->request);
  row->request->module = g_strdup (walk->names->pdata[row->trait.module_id]);
  row->request->segment_bytes
    = ss_alloc_conf_segment (&walk->conf, ss_alloc_conf_round (&walk->conf, row->trait.bytes));
  row->request->first_layer = row->request->last_layer = -1;
  row->request->first_step = walk->step;
  g_hash_table_add (walk->rows, row);
  g_ptr_array_add (walk->order, row);
  return row;
}

static void
count_layer (Walk *walk, Row *row, guint32 module_id)
{
  gint64 n_layers = ss_scenario_trace_config (walk->scenario)->model.n_layers;
  gint layer = ss_program_module_layer (walk->program, module_id);
  SsRequest *request = row->request;

  if (layer < 0 || layer >= n_layers)
    return;
  if (row->layers == NULL)
    row->layers = g_new0 (guint8, (gsize) n_layers);
  request->n_layers += row->layers[layer] == 0;
  row->layers[layer] = 1;
  if (request->first_layer < 0 || layer < request->first_layer)
    request->first_layer = layer;
  request->last_layer = MAX (request->last_layer, layer);
}

/* What was in use is told of the requests that can fail, if there are any. */
static void
count_state (SsRequest *request, gboolean is_of_driver, guint64 allocated_bytes)
{
  gboolean is_first
    = request->n_requests == 0 || (is_of_driver && request->n_from_driver == 0);

  if (request->n_from_driver > 0 && !is_of_driver)
    return;
  if (is_first || allocated_bytes < request->least_allocated_bytes)
    request->least_allocated_bytes = allocated_bytes;
  if (is_first || allocated_bytes > request->allocated_bytes)
    request->allocated_bytes = allocated_bytes;
}

static void
count (Walk *walk, guint32 storage_id, guint64 allocated_bytes)
{
  Row *row = row_of (walk, storage_id);
  SsRequest *request = row->request;
  guint8 answer = walk->answers[storage_id];
  gboolean is_of_driver
    = answer == NOT_REACHED ? walk->asked_driver : answer == BY_DRIVER || answer == REFUSED;

  count_state (request, is_of_driver, allocated_bytes);
  count_layer (walk, row, ss_program_storage (walk->program, storage_id)->module_id);
  request->last_step = walk->step;
  request->n_requests++;
  request->n_from_driver += is_of_driver;
  request->is_fatal |= answer == REFUSED;
}

/* ---- replay ---- */

static void
on_segment (SsSegmentAction action, G_GNUC_UNUSED guint64 address, G_GNUC_UNUSED guint64 bytes,
            G_GNUC_UNUSED guint stream, gpointer user_data)
{
  Walk *walk = user_data;

  walk->asked_driver |= action == SS_SEGMENT_ALLOC || action == SS_SEGMENT_MAP;
}

/* FALSE: out of memory. */
static gboolean
allocate (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  Walk *walk = user_data;
  const SsStorageInfo *storage = ss_program_storage (program, i->index);
  const SsAllocatorStats *stats = ss_allocator_stats (walk->allocator);
  guint64 before_bytes = stats->allocated_bytes;
  SsOomReport report = { 0 };
  SsBlock *block;

  if (storage->bytes == 0)
    return TRUE;
  walk->asked_driver = FALSE;
  walk->blocks[i->index] = block
    = ss_allocator_allocate (walk->allocator, storage->bytes, i->stream, &report);
  if (block == NULL)
    {
      walk->table->fatal_segment_bytes = report.requested_bytes;
      walk->table->fatal_allocated_bytes = report.allocated_bytes;
      walk->table->fatal_step = walk->step;
    }
  if (walk->is_limited)
    walk->answers[i->index] = block == NULL ? REFUSED : walk->asked_driver ? BY_DRIVER : BY_CACHE;
  else
    count (walk, i->index, before_bytes);
  walk->table->peak_allocated_bytes
    = MAX (walk->table->peak_allocated_bytes, stats->allocated_bytes);
  return walk->fits = block != NULL;
}

static gboolean
release (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  Walk *walk = user_data;

  if (walk->blocks[i->index] != NULL)
    ss_allocator_release (walk->allocator, g_steal_pointer (&walk->blocks[i->index]));
  return TRUE;
}

static gboolean
use_on_stream (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  Walk *walk = user_data;

  if (walk->blocks[i->index] != NULL)
    ss_allocator_record_stream (walk->allocator, walk->blocks[i->index], i->stream);
  return TRUE;
}

static gboolean
meet_mark (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  Walk *walk = user_data;
  const SsMark *mark = ss_program_mark (program, i->index);

  if (ss_scenario_empties_cache (walk->scenario) && ss_mark_ends_step (mark))
    ss_allocator_empty_cache (walk->allocator);
  if (mark->type == SS_MARK_PHASE)
    {
      walk->phase = (SsPhase) mark->phase;
      walk->step = mark->step;
    }
  return TRUE;
}

/* FALSE with an error; *fits tells whether the end was reached. */
static gboolean
replay (Walk *walk, gboolean is_limited, gboolean *fits, GError **error)
{
  static const SsProgramVisitor visitor
    = { .allocate = allocate, .release = release, .mark = meet_mark,
        .use_on_stream = use_on_stream };
  SsAllocatorSettings settings = walk->settings;
  g_autoptr (SsAllocator) allocator = NULL;
  g_autofree SsBlock **blocks = g_new0 (SsBlock *, ss_program_n_storages (walk->program));

  if (!is_limited)
    settings.capacity_bytes = G_MAXINT64;
  walk->allocator = allocator = ss_allocator_new (&ss_allocator_caching, &settings, error);
  if (allocator == NULL)
    return FALSE;
  ss_allocator_observe (allocator, on_segment, walk);
  walk->blocks = blocks;
  walk->is_limited = is_limited;
  walk->phase = SS_PHASE_LOAD;
  walk->step = 0;
  walk->fits = TRUE;
  ss_program_play (walk->program, 0, &visitor, walk);
  *fits = walk->fits;
  return TRUE;
}

/* ---- the table ---- */

static gboolean
walk_begin (Walk *walk, const SsScenario *scenario, const SsProgram *program, GError **error)
{
  *walk = (Walk) {
    .scenario = scenario,
    .program = program,
    .settings = {
      .capacity_bytes = ss_scenario_capacity_bytes (scenario),
      .external_bytes = ss_size_add (ss_scenario_context_bytes (scenario),
                                     ss_scenario_other_processes_bytes (scenario)),
      .conf = ss_scenario_alloc_conf (scenario),
    },
  };
  if (!ss_alloc_conf_parse (walk->settings.conf, &walk->conf, error))
    return FALSE;
  walk->answers = g_new0 (guint8, ss_program_n_storages (program));
  walk->rows = g_hash_table_new (row_hash, row_equal);
  walk->order = g_ptr_array_new_with_free_func (row_free);
  name_modules (walk);
  walk->table = g_new0 (SsRequestTable, 1);
  walk->table->requests = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_request_unref);
  return TRUE;
}

static SsRequestTable *
walk_end (Walk *walk)
{
  for (guint i = 0; i < walk->order->len; i++)
    g_ptr_array_add (walk->table->requests,
                     ss_request_ref (((Row *) walk->order->pdata[i])->request));
  g_free (walk->answers);
  g_free (walk->modules);
  g_ptr_array_unref (walk->names);
  g_hash_table_unref (walk->rows);
  g_ptr_array_unref (walk->order);
  return walk->table;
}

SsRequestTable *
ss_request_table_new (SsScenario *scenario, GError **error)
{
  g_autoptr (SsScenario) planned = NULL;
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRequestTable) table = NULL;
  gboolean is_whole = FALSE, fits_unlimited;
  Walk walk;

  g_return_val_if_fail (scenario != NULL, NULL);
  planned = ss_optimal_plan (scenario, error);
  if (planned == NULL)
    return NULL;
  program = ss_scenario_trace (planned, TRUE, error);
  if (program == NULL || !walk_begin (&walk, scenario, program, error))
    return NULL;
  is_whole = replay (&walk, TRUE, &walk.table->fits, error)
             && replay (&walk, FALSE, &fits_unlimited, error);
  table = walk_end (&walk);
  return is_whole ? g_steal_pointer (&table) : NULL;
}

void
ss_request_table_free (SsRequestTable *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->requests);
  g_free (self);
}
