/* SPDX-License-Identifier: MIT
 *
 * SsRecording: everything that happened in one simulated run, self-contained: what was asked, when
 * each op ran, every change of memory, peaks, phases, the out-of-memory.  It knows no program,
 * device or scenario object any more; every table and picture is a reader of it.  Reference
 * counted, immutable after simulate has made it.  Times are ns from the start of step 1's forward
 * on; load is at 0.
 */
#pragma once

#include <glib.h>

#include "memory/category.h"
#include "memory/stream-id.h"

G_BEGIN_DECLS

typedef enum
{
  SS_EVENT_ALLOC,
  SS_EVENT_FREE,
  SS_EVENT_SEGMENT_ALLOC,
  SS_EVENT_SEGMENT_FREE,
  SS_EVENT_SEGMENT_MAP,
  SS_EVENT_SEGMENT_UNMAP,
  SS_EVENT_OOM
} SsMemoryAction;

/* One change of memory, in the host's issue order (its index is the sequence number). */
typedef struct
{
  gint64 host_ns;                /* when the host asked */
  gint64 stream_ns;              /* on its stream: start of the op it is for; at a release end of
                                  * the op before */
  gint64 device_ns;              /* where the compute stream is then; never falls */
  guint64 bytes;                 /* requested (alloc, free, oom), or of the segment */
  guint64 block_bytes;           /* of the block, unsplit rest included; 0 for segments */
  guint64 address;
  guint64 allocated_bytes;       /* after the event */
  guint64 reserved_bytes;
  guint32 storage_id;            /* of alloc, free, oom */
  guint32 module_id;             /* index into modules */
  guint32 op;                    /* index into ops of what it is for, G_MAXUINT32 outside */
  guint8 action;                 /* SsMemoryAction */
  guint8 category;               /* SsCategory */
  guint8 is_scratch;
  guint8 stream;
  guint32 phase;                 /* index into phases */
} SsMemoryEvent;

typedef struct
{
  const char *name;              /* "aten::mm"; static */
  guint32 module_id;
  gint64 issue_ns;               /* host time of the call */
  gint64 start_ns, end_ns;       /* on its stream */
  guint64 flops, model_flops, bytes;
  float matmul_utilization, bandwidth_utilization;   /* 0 to 1 */
  guint32 phase;
  gint32 layer;                  /* -1 outside layers */
  guint8 stream, rank, op_class;
  guint8 is_backward, is_recompute, dtype;
} SsOpEvent;

/* One phase of one micro-batch. */
typedef struct
{
  const char *name;              /* "forward"; static */
  guint step, micro_batch;
  gint64 start_ns, end_ns;       /* device time */
  guint64 start_allocated_bytes, peak_allocated_bytes, end_allocated_bytes;
  guint64 peak_reserved_bytes;
  gboolean is_complete;          /* FALSE: it ran out of memory in it */
} SsPhaseRecord;

typedef struct
{
  guint step;
  gint64 start_ns, end_ns;
  guint64 peak_allocated_bytes, peak_reserved_bytes;
  guint32 peak_phase;            /* index into phases */
  guint32 peak_op;               /* index into ops, G_MAXUINT32 */
  guint64 end_of_forward_allocated_bytes;   /* last micro-batch; G_MAXUINT64: did not happen */
  guint64 saved_activation_bytes;           /* G_MAXUINT64: did not happen */
  guint64 model_flops, hardware_flops;
  double tokens_per_s, mfu, hfu;            /* negative: did not happen */
  gboolean is_complete;
} SsStepRecord;

typedef struct
{
  guint step, micro_batch;
  gboolean is_backward;          /* backward_begin, else forward_end */
  gint layer;
  guint64 allocated_bytes;
  gint64 device_ns;
} SsLayerRecord;

/* What a stream of the device did in the whole run. */
typedef struct
{
  const char *name;              /* "compute"; static */
  guint n_ops;
  gint64 busy_ns;                /* it worked */
  gint64 beside_compute_ns;      /* of that, while the compute stream worked too; 0 for itself */
} SsStreamRecord;

/* A point of the curve with what was in it. */
typedef struct
{
  guint64 allocated_bytes, reserved_bytes;
  guint step, micro_batch;
  const char *phase;             /* static */
  gint layer;                    /* -1 outside layers */
  guint32 op;                    /* index into ops, or G_MAXUINT32 */
  gint64 device_ns;
  guint64 by_category[SS_N_CATEGORIES];
} SsPeakRecord;

typedef struct
{
  SsPeakRecord at;               /* the state at the failed request, after the flush */
  SsPeakRecord after;            /* the same once the exception has passed through compiled code and
                                  * expressions: what the training loop's `except` sees */
  const char *op_name;           /* the op that asked (it never ran); static */
  char *tensor;                  /* "model.layers.19.mlp.up_proj" */
  guint64 tensor_bytes, requested_bytes, free_bytes, largest_free_block_bytes;
  char *message;                 /* PyTorch's sentence */
} SsOomRecord;

typedef struct _SsRecording SsRecording;

struct _SsRecording
{
  guint ref_count;
  /* what was asked */
  char *scenario_name, *model_name, *device_name;
  char *recipe;                  /* "fp32 weights under bf16 autocast, 16 bytes per parameter" */
  char **settings;               /* "training/steps=2": what the scenario says, defaults too */
  char *date;                    /* "2026-11-29T20:15:18Z", for who asks for it; else NULL */
  char *summary;                 /* "bf16, fused adamw, micro-batch 1 x 8192 ..." */
  char *assumption;              /* what of the recipe follows no recording, or NULL */
  char *attention_note;          /* what is not known of attention's kernel, or NULL */
  guint64 n_parameters, n_trainable_parameters;
  guint64 capacity_bytes, context_bytes;   /* capacity G_MAXINT64: unlimited; context: all that is
                                            * gone before the first allocation */
  guint64 other_processes_bytes;           /* part of context_bytes */
  guint64 device_capacity_bytes;           /* the device's own, whatever capacity was asked for */
  guint64 usable_bytes;                    /* of the capacity, or of the device's own where it is
                                            * unlimited: all that a run may take */
  char *allocator_type, *allocator_asked;
  char *policy;                  /* checkpointing policy's name */
  guint n_layers, n_steps;
  double peak_flop_per_s;        /* what mfu is measured against */
  guint64 tokens_per_step;
  const char *flop_convention;   /* static */
  /* what happened */
  GArray *memory;                /* SsMemoryEvent */
  GArray *ops;                   /* SsOpEvent */
  GArray *phases;                /* SsPhaseRecord, load first */
  GArray *steps;                 /* SsStepRecord */
  GArray *layers;                /* SsLayerRecord */
  GArray *streams;               /* SsStreamRecord, compute first, those that were used */
  GPtrArray *modules;            /* char *, path by module id */
  SsPeakRecord peak;
  SsPeakRecord floor;            /* the most there is beside activations: no checkpoints can bring
                                  * the peak below it */
  guint64 peak_reserved_bytes;
  gboolean is_oom;
  SsOomRecord oom;               /* if is_oom */
  guint64 need_bytes;            /* what the device would show at most, had it no limit; of a run
                                  * that fits its peak; 0: not looked for */
  guint64 least_bytes;           /* if is_oom: context and the most that all steps ask for at one
                                  * moment; no allocator can do with less */
  guint64 least_state_bytes;     /* of that, at most at one moment: parameters, master copy,
                                  * gradients and optimizer states */
  guint64 state_bytes_new;       /* optimizer states made by the first update */
};

/* An empty recording with its arrays made, to be filled by the one who asked. (transfer full) */
SsRecording *ss_recording_new (void);
SsRecording *ss_recording_ref (SsRecording *self);
void ss_recording_unref (SsRecording *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsRecording, ss_recording_unref)

/* The peak: what the device shows at most, context and all that is reserved. */
guint64 ss_recording_peak_bytes (const SsRecording *self);
/* What is left of the usable bytes when the run has what it needs; negative: by how much they are
 * too few.  Peak and headroom of a run that fits are the capacity. */
gint64 ss_recording_headroom_bytes (const SsRecording *self);

/* A time as every file of a run states it: milliseconds with the six decimals of ns, trailing zeros
 * dropped, in integer arithmetic. */
void ss_recording_append_ms (GString *text, gint64 ns);

G_END_DECLS
