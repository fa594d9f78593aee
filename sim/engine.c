/* SPDX-License-Identifier: MIT */
#include "sim/engine.h"

#include <math.h>

#define ARITY 4
/* Below this many cancelled entries the heap is not worth rebuilding. */
#define MIN_STALE 64
#define NO_SLOT G_MAXUINT32

/* Of an entry's order; at ten million events a second they last for ten months. */
#define SEQUENCE_BITS 48

/* What the heap moves. The event is still meant if its slot is of the same generation. */
typedef struct
{
  gint64 time_ns;
  guint64 order;         /* priority, and below it the sequence */
  guint32 slot;
  guint32 generation;
} HeapEntry;

/* What stays in place while the event is pending. */
typedef struct
{
  SsEventFunc func;      /* NULL: the slot is free */
  gpointer user_data;
  guint32 generation;    /* the upper half of the event's id, never 0 */
  guint32 next_free;
} Slot;

struct _SsEngine
{
  gint64 now_ns;
  guint64 n_scheduled;

  HeapEntry *heap;
  guint32 n_heap;
  guint32 heap_size;
  guint32 n_stale;       /* entries of the heap whose event was cancelled or is running */
  gboolean top_is_running;

  Slot *slots;
  guint32 n_slots;
  guint32 slots_size;
  guint32 first_free;

  gboolean is_running;
  gboolean is_stopping;
};

/* Time and order as one number. */
__extension__ typedef __int128 EntryKey;

static inline EntryKey
entry_key (const HeapEntry *entry)
{
  return (EntryKey) entry->time_ns << 64 | entry->order;
}

static inline gboolean
is_before (const HeapEntry *a,
           const HeapEntry *b)
{
  return entry_key (a) < entry_key (b);
}

/* Which of two events comes first is a toss, and a branch on it would be mispredicted half of the
 * time: hence sums instead of branches. */
static inline const HeapEntry *
least_of_four (const HeapEntry *first)
{
  const HeapEntry *left = first + is_before (first + 1, first);
  const HeapEntry *right = first + 2 + is_before (first + 3, first + 2);

  return is_before (right, left) ? right : left;
}

static void
heap_sift_up (HeapEntry *heap,
              guint32 at,
              HeapEntry entry)
{
  while (at > 0)
    {
      guint32 parent = (at - 1) / ARITY;

      if (!is_before (&entry, &heap[parent]))
        break;
      heap[at] = heap[parent];
      at = parent;
    }
  heap[at] = entry;
}

static void
heap_sift_down (HeapEntry *heap,
                guint32 n,
                guint32 at,
                HeapEntry entry)
{
  for (guint32 first = at * ARITY + 1; first < n; first = at * ARITY + 1)
    {
      guint32 least = first;

      if (G_LIKELY (first + ARITY <= n))
        least = (guint32) (least_of_four (&heap[first]) - heap);
      else
        for (guint32 child = first + 1; child < n; child++)
          least = is_before (&heap[child], &heap[least]) ? child : least;
      if (!is_before (&heap[least], &entry))
        break;
      heap[at] = heap[least];
      at = least;
    }
  heap[at] = entry;
}

static guint32
grown_size (guint32 size)
{
  /* so that the children of the last entry can still be numbered */
  g_assert (size <= G_MAXUINT32 / (4 * ARITY));
  return MAX (64, size * 2);
}

/* The entry of the running event stays at the top until its callback has returned: what the
 * callback schedules first takes its place, which saves half the work of a pop and a push. */
static void
heap_push (SsEngine *self,
           HeapEntry entry)
{
  if (self->top_is_running)
    {
      self->top_is_running = FALSE;
      self->n_stale--;
      heap_sift_down (self->heap, self->n_heap, 0, entry);
      return;
    }
  if (G_UNLIKELY (self->n_heap == self->heap_size))
    {
      self->heap_size = grown_size (self->heap_size);
      self->heap = g_renew (HeapEntry, self->heap, self->heap_size);
    }
  heap_sift_up (self->heap, self->n_heap++, entry);
}

static void
heap_drop_stale_top (SsEngine *self)
{
  self->n_stale--;
  self->n_heap--;
  if (self->n_heap > 0)
    heap_sift_down (self->heap, self->n_heap, 0, self->heap[self->n_heap]);
}

static inline gboolean
entry_is_stale (const SsEngine *self,
                const HeapEntry *entry)
{
  return self->slots[entry->slot].generation != entry->generation;
}

/* Cancelled entries never outnumber the pending ones for long, so a rebuild is paid for by the
 * cancellations since the one before. */
static void
heap_drop_stale (SsEngine *self)
{
  guint32 n_kept = 0;

  for (guint32 i = 0; i < self->n_heap; i++)
    if (!entry_is_stale (self, &self->heap[i]))
      self->heap[n_kept++] = self->heap[i];
  self->n_heap = n_kept;
  self->n_stale = 0;
  self->top_is_running = FALSE;
  if (n_kept < 2)
    return;
  for (guint32 i = (n_kept - 2) / ARITY + 1; i-- > 0;)
    heap_sift_down (self->heap, n_kept, i, self->heap[i]);
}

static guint32
slot_take (SsEngine *self)
{
  guint32 slot = self->first_free;

  if (G_LIKELY (slot != NO_SLOT))
    {
      self->first_free = self->slots[slot].next_free;
      return slot;
    }
  if (self->n_slots == self->slots_size)
    {
      self->slots_size = grown_size (self->slots_size);
      self->slots = g_renew (Slot, self->slots, self->slots_size);
    }
  slot = self->n_slots++;
  self->slots[slot].generation = 1;
  return slot;
}

/* A slot whose generations are used up is left unused, lest an id come again. */
static void
slot_give_back (SsEngine *self,
                guint32 index)
{
  Slot *slot = &self->slots[index];

  slot->func = NULL;
  if (G_UNLIKELY (++slot->generation == 0))
    return;
  slot->next_free = self->first_free;
  self->first_free = index;
}

static void
engine_run_to (SsEngine *self,
               gint64 limit_ns)
{
  self->is_running = TRUE;
  self->is_stopping = FALSE;
  while (self->n_heap > 0 && self->heap[0].time_ns <= limit_ns && !self->is_stopping)
    {
      HeapEntry entry = self->heap[0];
      Slot event = self->slots[entry.slot];

      if (G_UNLIKELY (event.generation != entry.generation))
        {
          heap_drop_stale_top (self);
          continue;
        }
      slot_give_back (self, entry.slot);
      self->n_stale++;
      self->top_is_running = TRUE;
      self->now_ns = entry.time_ns;
      event.func (self, event.user_data);
      if (self->top_is_running)
        heap_drop_stale_top (self);
      self->top_is_running = FALSE;
    }
  self->is_running = FALSE;
}

SsEngine *
ss_engine_new (void)
{
  SsEngine *self = g_new0 (SsEngine, 1);

  self->first_free = NO_SLOT;
  return self;
}

void
ss_engine_free (SsEngine *self)
{
  if (self == NULL)
    return;
  g_return_if_fail (!self->is_running);
  g_free (self->heap);
  g_free (self->slots);
  g_free (self);
}

gint64
ss_engine_now_ns (const SsEngine *self)
{
  return self->now_ns;
}

SsEventId
ss_engine_schedule (SsEngine *self,
                    gint64 time_ns,
                    gint priority,
                    SsEventFunc func,
                    gpointer user_data)
{
  guint32 index;
  guint64 order;
  Slot *slot;

  g_return_val_if_fail (time_ns >= self->now_ns, 0);
  g_return_val_if_fail (priority >= G_MININT16 && priority <= G_MAXINT16, 0);
  g_return_val_if_fail (func != NULL, 0);
  g_assert (self->n_scheduled < G_GUINT64_CONSTANT (1) << SEQUENCE_BITS);

  index = slot_take (self);
  slot = &self->slots[index];
  slot->func = func;
  slot->user_data = user_data;
  order = (guint64) (priority - G_MININT16) << SEQUENCE_BITS | self->n_scheduled++;
  heap_push (self, (HeapEntry) { time_ns, order, index, slot->generation });
  return (SsEventId) slot->generation << 32 | index;
}

gboolean
ss_engine_cancel (SsEngine *self,
                  SsEventId id)
{
  guint32 index = (guint32) id;
  guint32 generation = (guint32) (id >> 32);

  if (index >= self->n_slots || self->slots[index].func == NULL
      || self->slots[index].generation != generation)
    return FALSE;
  slot_give_back (self, index);
  self->n_stale++;
  if (self->n_stale > MIN_STALE && self->n_stale > self->n_heap / 2)
    heap_drop_stale (self);
  return TRUE;
}

guint
ss_engine_n_pending (const SsEngine *self)
{
  return self->n_heap - self->n_stale;
}

void
ss_engine_run (SsEngine *self)
{
  g_return_if_fail (!self->is_running);
  engine_run_to (self, G_MAXINT64);
}

void
ss_engine_run_until (SsEngine *self,
                     gint64 time_ns)
{
  g_return_if_fail (!self->is_running);
  g_return_if_fail (time_ns >= self->now_ns);

  engine_run_to (self, time_ns);
  if (!self->is_stopping)
    self->now_ns = time_ns;
}

void
ss_engine_stop (SsEngine *self)
{
  self->is_stopping = self->is_running;
}

gint64
ss_ns_from_seconds (double seconds)
{
  double ns = seconds * 1e9;

  /* written so that what is not a number falls through to 0; 2^63 is the first double too large */
  if (ns >= 0x1p63)
    return G_MAXINT64;
  return ns > 0 ? llround (ns) : 0;
}

gint64
ss_ns_add (gint64 time_ns,
           gint64 duration_ns)
{
  g_return_val_if_fail (duration_ns >= 0, time_ns);

  return time_ns > G_MAXINT64 - duration_ns ? G_MAXINT64 : time_ns + duration_ns;
}
