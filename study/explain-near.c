/* SPDX-License-Identifier: MIT */
#include "study/explain-private.h"

#include <math.h>


/* So many are simulated, and so many told. */
#define MAX_TRIED 12
#define MAX_TOLD 3
/* Two settings that are far off are no answer. */
#define MAX_COST 40
#define NEAR_COST 6
/* Numbers that nobody trains with are not proposed. */
#define MAX_MICRO_BATCH 4096
#define MIN_LENGTH 16
#define MAX_LENGTH (1 << 20)
/* Where micro-batch and length may both be others there is always some pair: only lengths that
 * are a multiple of this count then. */
#define ROUND_LENGTH 128
/* kRoundLarge of c10/core/AllocatorConfig.h */
#define SEGMENT_STEP_BYTES G_GUINT64_CONSTANT (2097152)

typedef struct
{
  SsTensorKind kind;
  gint64 micro_batch, length;    /* 0: as it is */
  const char *precision;         /* NULL: as it is */
  guint cost;                    /* the less the likelier */
} Guess;

typedef struct
{
  SsExplanation *explanation;
  const SsScenario *scenario;
  const SsTraceConfig *config;
  guint64 low_bytes, high_bytes; /* tensors that would print as the number */
  GArray *guesses;               /* Guess */
} Search;

/* Two to the power of 0 to 10 by which a number can be divided, turned into a cost. */
static guint
roughness (gint64 n)
{
  guint twos = 0;

  while (twos < 10 && n % 2 == 0)
    {
      n /= 2;
      twos++;
    }
  return 10 - twos;
}

/* The roundest of [low, high]. */
static gint64
roundest (gint64 low, gint64 high)
{
  for (gint64 step = G_GINT64_CONSTANT (1) << 20; step > 1; step /= 2)
    {
      gint64 multiple = (low + step - 1) / step * step;

      if (multiple <= high)
        return multiple;
    }
  return low;
}

static guint
kind_cost (SsTensorKind kind)
{
  return kind == SS_TENSOR_LOGITS ? 0 : kind == SS_TENSOR_SCORES ? 2 : 6;
}

/* The farther from the scenario's, in powers of two, the less likely. */
static guint
cost_of_number (gint64 now, gint64 new, guint rough)
{
  if (now == new)
    return 0;
  return 12 + rough + (guint) (2 * fabs (log2 ((double) new / (double) now)));
}

static void
guess (Search *search, const SsRequest *request, gint64 micro_batch, gint64 length,
       const char *precision)
{
  Guess new = {
    .kind = request->kind, .precision = precision,
    .micro_batch = micro_batch != search->config->micro_batch ? micro_batch : 0,
    .length = length != search->config->sequence_length ? length : 0,
  };

  if (micro_batch < 1 || micro_batch > MAX_MICRO_BATCH || length < MIN_LENGTH
      || length > MAX_LENGTH)
    return;
  for (guint i = 0; i < search->guesses->len; i++)
    {
      const Guess *old = &g_array_index (search->guesses, Guess, i);

      if (old->micro_batch == new.micro_batch && old->length == new.length
          && g_strcmp0 (old->precision, new.precision) == 0)
        return;
    }
  new.cost = kind_cost (request->kind) + (precision != NULL ? 15 : 0)
             + cost_of_number (search->config->micro_batch, micro_batch,
                               (micro_batch & (micro_batch - 1)) != 0 ? 4 : 0)
             + cost_of_number (search->config->sequence_length, length, roughness (length));
  if (new.cost > MAX_COST)
    return;
  g_array_append_val (search->guesses, new);
}

/* ---- arithmetic ---- */

/* Sequence lengths at which `unit` bytes for each combination of tokens come to the number. */
static gboolean
lengths (const Search *search, double unit, guint n_token_factors, gint64 *low, gint64 *high)
{
  double least = (double) search->low_bytes / unit, most = (double) search->high_bytes / unit;

  if (n_token_factors > 1)
    {
      least = sqrt (least);
      most = sqrt (most);
    }
  if (!(most < MAX_LENGTH))
    return FALSE;
  *low = (gint64) ceil (least);
  *high = (gint64) floor (most);
  return *low <= *high;
}

/* `unit`: bytes of the tensor for a micro-batch of one and one token. */
static void
guess_sizes (Search *search, const SsRequest *request, double unit, const char *precision)
{
  static const gint64 batches[] = { 1, 2, 4, 8, 16, 32, 64, 3, 6, 12, 24 };
  gint64 batch = search->config->micro_batch, length = search->config->sequence_length;
  double of_tokens = pow ((double) length, request->n_token_factors), other;
  gint64 low, high;

  if (precision != NULL)
    {
      other = unit * of_tokens * (request->n_batch_factors > 0 ? (double) batch : 1);
      if (other >= (double) search->low_bytes && other <= (double) search->high_bytes)
        guess (search, request, batch, length, precision);
    }
  if (request->n_batch_factors > 0)
    {
      other = ceil ((double) search->low_bytes / (unit * of_tokens));
      if (other <= MAX_MICRO_BATCH && other * unit * of_tokens <= (double) search->high_bytes)
        guess (search, request, (gint64) other, length, precision);
    }
  other = request->n_batch_factors > 0 ? (double) batch : 1;
  if (lengths (search, unit * other, request->n_token_factors, &low, &high))
    guess (search, request, batch, roundest (low, high), precision);
  for (guint i = 0; i < G_N_ELEMENTS (batches) && request->n_batch_factors > 0; i++)
    if (lengths (search, unit * (double) batches[i], request->n_token_factors, &low, &high)
        && roundest (low, high) % ROUND_LENGTH == 0)
      guess (search, request, batches[i], roundest (low, high), precision);
}

static void
guess_of (Search *search, const SsRequest *request)
{
  double tokens = pow ((double) search->config->sequence_length, request->n_token_factors);
  double unit = (double) request->bytes / tokens;

  if (request->element_bytes == 0 || request->n_token_factors == 0
      || request->bytes < SS_EXPLAIN_SMALL_BYTES)
    return;
  if (request->n_batch_factors > 0)
    unit /= (double) search->config->micro_batch;
  guess_sizes (search, request, unit, NULL);
  if (request->element_bytes == 2)
    guess_sizes (search, request, unit * 2, "fp32");
  else if (request->element_bytes == 4)
    guess_sizes (search, request, unit / 2, "bf16");
}

/* The words of a vocabulary with which the largest logits would come to the number. */
static void
find_vocabulary (Search *search, const SsRequestTable *table)
{
  const SsRequest *largest = NULL;
  guint64 bytes_of_word, low, high;

  for (guint i = 0; i < table->requests->len; i++)
    {
      const SsRequest *request = table->requests->pdata[i];

      if (request->kind == SS_TENSOR_LOGITS && request->has_words && request->n_token_factors > 0
          && (largest == NULL || request->bytes > largest->bytes))
        largest = request;
    }
  if (largest == NULL)
    return;
  bytes_of_word
    = largest->bytes / (guint64) ss_model_width (&search->config->model, SS_WIDTH_WORDS);
  low = (search->low_bytes + bytes_of_word - 1) / bytes_of_word;
  high = search->high_bytes / bytes_of_word;
  /* from the 256 bytes of a vocabulary without words to a million */
  if (low > high || low < 256 || high > 1000000 || (high - low) * 20 > low)
    return;
  search->explanation->vocabulary_low = low;
  search->explanation->vocabulary_high = high;
}

/* ---- trying ---- */

static char **
settings_of (const Guess *g)
{
  char **settings = g_new0 (char *, 4);
  guint n = 0;

  if (g->micro_batch > 0)
    settings[n++] = g_strdup_printf ("training/micro-batch=%" G_GINT64_FORMAT, g->micro_batch);
  if (g->length > 0)
    settings[n++] = g_strdup_printf ("training/sequence-length=%" G_GINT64_FORMAT, g->length);
  if (g->precision != NULL)
    settings[n++] = g_strconcat ("precision/recipe=", g->precision, NULL);
  return settings;
}

static const SsRequest *
of_the_number (const Search *search, const SsRequestTable *table, SsTensorKind kind)
{
  for (guint i = 0; i < table->requests->len; i++)
    {
      const SsRequest *request = table->requests->pdata[i];

      if (request->kind == kind
          && ss_oom_message_fits (&search->explanation->message, request->bytes,
                                  request->segment_bytes))
        return request;
    }
  return NULL;
}

static void
try_guess (Search *search, const Guess *g)
{
  g_auto (GStrv) settings = settings_of (g);
  g_autoptr (SsScenario) scenario
    = ss_scenario_derive (search->scenario, (const char *const *) settings, NULL);
  g_autoptr (SsRequestTable) table = scenario ? ss_request_table_new (scenario, NULL) : NULL;
  const SsRequest *request = table ? of_the_number (search, table, g->kind) : NULL;
  SsNearScenario *near;

  if (request == NULL)
    return;
  near = g_new0 (SsNearScenario, 1);
  near->settings = g_steal_pointer (&settings);
  near->what = g_strdup (request->what);
  near->factors = g_strdup (request->factors);
  g_ptr_array_add (search->explanation->near, near);
}

/* Once one is found, others only if they are about as likely. */
static void
try_guesses (Search *search)
{
  guint most_cost = MAX_COST;

  for (guint i = 0; i < MIN (search->guesses->len, MAX_TRIED)
                    && search->explanation->near->len < MAX_TOLD; i++)
    {
      const Guess *g = &g_array_index (search->guesses, Guess, i);

      if (g->cost > most_cost)
        return;
      try_guess (search, g);
      if (search->explanation->near->len == 1)
        most_cost = MIN (most_cost, g->cost + NEAR_COST);
    }
}

static gint
compare_guesses (gconstpointer a, gconstpointer b)
{
  const Guess *x = a, *y = b;

  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  if (x->micro_batch != y->micro_batch)
    return x->micro_batch < y->micro_batch ? -1 : 1;
  return x->length < y->length ? -1 : x->length > y->length;
}

/* The segments that print as the number are multiples of 2 MiB; their tensors are larger than the
 * segment before. FALSE: there are none. */
static gboolean
tensors_of_segments (guint64 *low_bytes, guint64 *high_bytes)
{
  guint64 low = (*low_bytes + SEGMENT_STEP_BYTES - 1) / SEGMENT_STEP_BYTES;
  guint64 high = *high_bytes / SEGMENT_STEP_BYTES;

  if (low > high)
    return FALSE;
  *low_bytes = MAX ((low - 1) * SEGMENT_STEP_BYTES + 1, SS_EXPLAIN_LARGE_BYTES);
  *high_bytes = high * SEGMENT_STEP_BYTES;
  return TRUE;
}

void
ss_explain_near (SsExplanation *explanation, const SsScenario *scenario,
                 const SsRequestTable *table)
{
  const SsOomMessage *message = &explanation->message;
  g_autoptr (GArray) guesses = g_array_new (FALSE, FALSE, sizeof (Guess));
  Search search = {
    .explanation = explanation, .scenario = scenario,
    .config = ss_scenario_trace_config (scenario),
    .low_bytes = message->low_bytes, .high_bytes = message->high_bytes, .guesses = guesses,
  };

  if (message->high_bytes < SS_EXPLAIN_LARGE_BYTES)
    return;
  if (!message->is_request && !tensors_of_segments (&search.low_bytes, &search.high_bytes))
    return;
  for (guint i = 0; i < table->requests->len; i++)
    guess_of (&search, table->requests->pdata[i]);
  g_array_sort (guesses, compare_guesses);
  try_guesses (&search);
  find_vocabulary (&search, table);
}
