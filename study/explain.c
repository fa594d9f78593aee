/* SPDX-License-Identifier: MIT */
#include "study/explain.h"

#include "memory/tensor.h"
#include "study/explain-private.h"

/* A state of the simulation that is as near as this to the message's is taken for the same one:
 * contexts, workspaces and versions make a few hundred MiB. */
#define LIKE_THE_MESSAGE 0.1
#define A_FEW 4

/* ---- order ---- */

typedef struct
{
  SsRequest *request;
  guint index;                   /* in the table: as first met in the run */
  gboolean is_fatal, is_of_driver;
  guint64 distance_bytes;        /* of what was allocated, from what the message tells */
  guint64 room_bytes;            /* and from what the device has for PyTorch */
  guint64 room_place;            /* the same, roughly: in so many tensors */
} Candidate;

/* How far a state is from those in which a tensor is asked for. */
static guint64
distance (const SsRequest *request, guint64 allocated_bytes)
{
  if (allocated_bytes < request->least_allocated_bytes)
    return request->least_allocated_bytes - allocated_bytes;
  if (allocated_bytes > request->allocated_bytes)
    return allocated_bytes - request->allocated_bytes;
  return 0;
}

/* What the scenario dies of; what is asked for in the state the message tells of; what reaches the
 * driver; what is asked for when the device is fullest, and of these what is asked for first. */
static gint
compare_candidates (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a, *y = b;

  if (x->is_fatal != y->is_fatal)
    return x->is_fatal ? -1 : 1;
  if (x->distance_bytes != y->distance_bytes)
    return x->distance_bytes < y->distance_bytes ? -1 : 1;
  if (x->is_of_driver != y->is_of_driver)
    return x->is_of_driver ? -1 : 1;
  if (x->room_place != y->room_place)
    return x->room_place < y->room_place ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

/* A few such tensors more or less are no reason to put the later of two before the earlier one. */
static void
blur (GArray *candidates)
{
  guint64 least_bytes = G_MAXUINT64;

  for (guint i = 0; i < candidates->len; i++)
    {
      const Candidate *candidate = &g_array_index (candidates, Candidate, i);

      if (candidate->is_of_driver)
        least_bytes = MIN (least_bytes, candidate->room_bytes);
    }
  for (guint i = 0; i < candidates->len; i++)
    {
      Candidate *candidate = &g_array_index (candidates, Candidate, i);
      guint64 more_bytes
        = candidate->room_bytes > least_bytes ? candidate->room_bytes - least_bytes : 0;

      candidate->room_place = more_bytes / (A_FEW * candidate->request->segment_bytes);
    }
}

static void
rank (const SsExplanation *self, GArray *candidates)
{
  guint64 allocated_bytes = self->message.allocated_bytes;
  guint64 room_bytes
    = self->capacity_bytes - MIN (self->context_bytes, self->capacity_bytes);

  for (guint i = 0; i < candidates->len; i++)
    {
      Candidate *candidate = &g_array_index (candidates, Candidate, i);
      guint64 apart = distance (candidate->request, allocated_bytes);

      candidate->is_fatal = candidate->request->is_fatal;
      candidate->is_of_driver = candidate->request->n_from_driver > 0;
      candidate->room_bytes = distance (candidate->request, room_bytes);
      candidate->distance_bytes = G_MAXUINT64;
      if (allocated_bytes != SS_OOM_NOT_SAID
          && (double) apart <= LIKE_THE_MESSAGE * (double) allocated_bytes)
        candidate->distance_bytes = apart;
    }
  blur (candidates);
  g_array_sort (candidates, compare_candidates);
}

/* ---- finding ---- */

static void
find (SsExplanation *self, const SsRequestTable *table)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, TRUE, sizeof (Candidate));

  for (guint i = 0; i < table->requests->len; i++)
    {
      Candidate candidate = { .request = table->requests->pdata[i], .index = i };

      if (ss_oom_message_fits (&self->message, candidate.request->bytes,
                               candidate.request->segment_bytes))
        g_array_append_val (candidates, candidate);
    }
  rank (self, candidates);
  for (guint i = 0; i < candidates->len; i++)
    g_ptr_array_add (self->found,
                     ss_request_ref (g_array_index (candidates, Candidate, i).request));
}

static void
take_nearer (SsRequest **nearest, SsRequest *request, gboolean is_nearer)
{
  if (*nearest != NULL && !is_nearer)
    return;
  g_clear_pointer (nearest, ss_request_unref);
  *nearest = ss_request_ref (request);
}

static void
find_nearest (SsExplanation *self, const SsRequestTable *table)
{
  for (guint i = 0; i < table->requests->len; i++)
    {
      SsRequest *request = table->requests->pdata[i];
      guint64 bytes = self->message.is_request ? request->bytes : request->segment_bytes;

      if (bytes < self->message.low_bytes)
        take_nearer (&self->below, request,
                     self->below != NULL && request->bytes > self->below->bytes);
      else
        take_nearer (&self->above, request,
                     self->above != NULL && request->bytes < self->above->bytes);
    }
}

static void
tell_scenario (SsExplanation *self, const SsScenario *scenario, const SsRequestTable *table)
{
  self->scenario_name = g_strdup (ss_scenario_name (scenario));
  self->model_name = g_strdup (ss_scenario_model_name (scenario));
  self->device_name = g_strdup (ss_device_name (ss_scenario_device (scenario)));
  self->capacity_bytes = ss_scenario_capacity_bytes (scenario);
  self->context_bytes = ss_size_add (ss_scenario_context_bytes (scenario),
                                     ss_scenario_other_processes_bytes (scenario));
  self->fits = table->fits;
  self->fatal_bytes = table->fits ? 0 : table->fatal_segment_bytes;
  self->fatal_allocated_bytes = table->fatal_allocated_bytes;
  self->fatal_step = table->fatal_step;
  self->peak_allocated_bytes = table->peak_allocated_bytes;
}

SsExplanation *
ss_explain (const SsScenario *scenario, const SsOomMessage *message, GError **error)
{
  g_autoptr (SsRequestTable) table = ss_request_table_new ((SsScenario *) scenario, error);
  SsExplanation *self;

  if (table == NULL)
    return NULL;
  self = ss_explanation_new ();
  self->message = *message;
  self->message.text = g_strdup (message->text);
  tell_scenario (self, scenario, table);
  find (self, table);
  if (self->found->len > 0)
    ss_explain_changes (self, scenario, table);
  else
    {
      find_nearest (self, table);
      ss_explain_near (self, scenario, table);
    }
  return self;
}
