/* SPDX-License-Identifier: MIT
 *
 * SsExplanation: what an out-of-memory message means for a scenario: the requests of its run that
 * print as the message's number, what was tried that does away with them, and, if there are none,
 * what comes near.  Self-contained like a recording: it knows no program, device or scenario
 * object any more.  The caller owns it.
 */
#pragma once

#include "study/oom-message.h"

G_BEGIN_DECLS

/* From this size on the allocator asks the driver for the tensor alone; below for 20 MiB, and up to
 * 1 MiB for 2 MiB: kMinLargeAlloc and kSmallSize of c10/core/AllocatorConfig.h. */
#define SS_EXPLAIN_LARGE_BYTES G_GUINT64_CONSTANT (10485760)
#define SS_EXPLAIN_SMALL_BYTES G_GUINT64_CONSTANT (1048576)

/* What a tensor is there for, as far as it decides what can be done about it. */
typedef enum
{
  SS_TENSOR_LOGITS,              /* the head's output and what the loss makes of it */
  SS_TENSOR_SCORES,              /* attention, token by token */
  SS_TENSOR_MASK,                /* tokens by tokens, the same for all heads */
  SS_TENSOR_ACTIVATION,          /* anything else made by forward, or by its repetition */
  SS_TENSOR_FLOW,                /* a gradient of activations on its way */
  SS_TENSOR_CAST,                /* a parameter in the type that autocast computes in */
  SS_TENSOR_PARAMETER,
  SS_TENSOR_MASTER,              /* the fp32 copy of a parameter */
  SS_TENSOR_GRADIENT,            /* of a parameter */
  SS_TENSOR_STATE,               /* of the optimizer */
  SS_TENSOR_UPDATE,              /* the optimizer's temporary */
  SS_TENSOR_CLIP,                /* a temporary between backward and the update */
  SS_TENSOR_WORKSPACE,           /* of the matrix library */
  SS_N_TENSOR_KINDS
} SsTensorKind;

/* "logits": the key of the JSON. (transfer none) */
const char *ss_tensor_kind_name (SsTensorKind kind);

/* Requests for tensors of one shape that are one thing in the run: the same op in the same module
 * of whichever layer, in the same phase of whichever step. */
typedef struct
{
  SsTensorKind kind;
  char *what;                    /* "fp32 logits" */
  char *factors;                 /* "4 x 1024 tokens x 50304 words x 4 bytes" */
  char *module;                  /* "model.layers.*.mlp"; "" outside modules */
  const char *op_name;           /* "aten::mm"; NULL: made by no op; static */
  const char *phase;             /* "forward"; static */
  guint64 bytes;                 /* of the tensor */
  guint64 segment_bytes;         /* what the driver is asked for if no free block serves it */
  guint64 element_bytes;         /* of its type; 0: the shape is not known */
  guint n_batch_factors;         /* how often the micro-batch is a factor of its size: 0 or 1 */
  guint n_token_factors;         /* and the sequence length: 0 to 2 */
  gboolean has_words;            /* the vocabulary is one */
  gboolean is_recompute;
  guint n_layers;                /* in how many layers; 0: outside layers */
  gint first_layer, last_layer;
  guint first_step, last_step;   /* 0: while loading */
  guint n_requests;
  guint n_from_driver;           /* of these, that no free block serves */
  /* allocated just before it, at least and at most, of those that reach the driver if any does */
  guint64 least_allocated_bytes, allocated_bytes;
  gboolean is_fatal;             /* the scenario runs out of memory at one of them */
} SsRequest;

SsRequest *ss_request_new (void);
SsRequest *ss_request_ref (SsRequest *self);
void ss_request_unref (SsRequest *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsRequest, ss_request_unref)

/* A change of the scenario that was simulated. */
typedef struct
{
  char **settings;               /* "kernels/loss=direct" ..., NULL-terminated */
  const char *why;               /* what it does, in a few words; static */
  guint64 segment_bytes;         /* of the same tensor, changed; 0: it is gone */
  guint64 allocated_bytes;       /* before that request, as in SsRequest; 0 if it is gone */
  guint64 peak_allocated_bytes;  /* of the whole run, without limit */
  gboolean fits;                 /* in the scenario's capacity */
} SsExplainedChange;

/* A scenario that differs in a few settings and has a request of that number. */
typedef struct
{
  char **settings;               /* NULL-terminated */
  char *what, *factors;          /* of the tensor there */
} SsNearScenario;

typedef struct
{
  SsOomMessage message;
  char *scenario_name, *model_name, *device_name;
  guint64 capacity_bytes;        /* G_MAXINT64: unlimited */
  guint64 context_bytes;         /* gone before the first allocation */
  gboolean fits;                 /* the scenario itself */
  guint64 fatal_bytes;           /* the segment it dies of asking for; 0 if it fits */
  guint64 fatal_allocated_bytes; /* and what is allocated then */
  guint fatal_step;
  guint64 peak_allocated_bytes;  /* without limit */
  GPtrArray *found;              /* SsRequest: the likeliest first */
  SsRequest *below, *above;      /* the nearest sizes if nothing was found; NULL: there is none */
  GPtrArray *changes;            /* SsExplainedChange: for the first of `found` */
  GPtrArray *near;               /* SsNearScenario, if nothing was found */
  guint64 vocabulary_low, vocabulary_high;   /* words with which the logits would print as the
                                              * number, if nothing was found; 0: none would */
} SsExplanation;

/* It is a number that the driver is asked for whatever the tensor, if that is small: a tensor of
 * less than 10 MiB was found. */
gboolean ss_explanation_names_no_tensor (const SsExplanation *self);

SsExplanation *ss_explanation_new (void);
void ss_explanation_free (SsExplanation *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsExplanation, ss_explanation_free)
void ss_explained_change_free (SsExplainedChange *self);
void ss_near_scenario_free (SsNearScenario *self);

G_END_DECLS
