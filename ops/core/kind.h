/* SPDX-License-Identifier: MIT
 *
 * SsOpKind: all there is to know of one kernel: outputs, what autograd saves, its backward, its
 * scratch, its cost.  One static const struct each, in ops/kinds/.  It knows no device but
 * SsTarget.
 */
#pragma once

#include "ops/core/op.h"
#include "ops/core/target.h"
#include "ops/core/value.h"

G_BEGIN_DECLS

#define SS_MAX_OUTPUTS 8
#define SS_MAX_SCRATCH 24
#define SS_MAX_SAVES 12
#define SS_N_ATTRIBUTES 12
#define SS_MAX_EDGES 16

/* One call while it is being recorded.  `in` are kept by the recorder. */
typedef struct
{
  SsTape *tape;
  const SsOpKind *kind;
  SsValue *const *in;
  guint n_in;
  const gint64 *attribute;       /* SS_N_ATTRIBUTES numbers, or NULL */
  guint n_out;
  gboolean has_node;             /* autograd records it */
  /* a kernel that writes output i over input j (an autograd.Function that returns what it was
   * given): infer sets shares[i] = j + 1; the output shares j's storage and holds its base, as a
   * view does */
  guint8 shares[SS_MAX_OUTPUTS];
  SsStorage *result[SS_MAX_OUTPUTS];
  guint n_scratch;
  /* from here on nothing is cleared before `infer` */
  SsTensor out[SS_MAX_OUTPUTS];
  SsStorage *scratch[SS_MAX_SCRATCH];
} SsCall;

/* What a call costs; `infer` has run. The recorder presets bytes = every operand once, and the
 * variant of a call that is bound by bytes from the kind or the layout of its operands. */
typedef struct
{
  SsOpClass op_class;
  guint64 flops, model_flops, bytes, side_bytes;
  gint64 shape[4];
  guint n_launches;
  guint8 variant, alignment;
  guint8 dtype;                  /* of the arithmetic: preset to the first output's */
  gboolean is_causal;
} SsCost;

/* SsOpKind.memory: a kind of traffic; 0 is by the layout of the operands. */
#define SS_IS_MEMORY(UPPER) (1 + SS_MEMORY_##UPPER)

/* what: input i, or SS_RESULT (i); when: only if input `when` needs a gradient, SS_ALWAYS for
 * always. */
typedef struct
{
  gint8 what, when;
} SsSave;
#define SS_RESULT(i) (32 + (i))
#define SS_ALWAYS (-1)

struct _SsOpKind
{
  const char *name;              /* required: "aten::mul", as a profiler shows it */
  const char *overload;          /* "Tensor": which of its signatures; NULL: "default" */
  const char *node_name;         /* "MulBackward0"; NULL: no derivative */
  /* optional: out[], n_out: sizes, types, strides of the outputs; none without it */
  void (*infer) (SsCall *c);
  SsSave saves[SS_MAX_SAVES];    /* in order of release */
  guint n_saves;
  /* optional: writes gradients of the inputs, made with ordinary ops, to out[] (floating; NULL for
   * none); may return a grad[i] itself.  Only inputs with ss_node_needs are wanted. */
  void (*backward) (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out);
  void (*scratch) (SsCall *c);   /* optional: the kernel's temporaries, after its outputs */
  void (*allocate) (SsCall *c);  /* optional: outputs and scratch in the kernel's own order */
  void (*cost) (const SsCall *c, SsCost *cost);   /* optional: memory-bound, every operand once */
  guint8 memory;                 /* SS_IS_MEMORY (...), of a kind bound by bytes; 0: by layout */
  guint n_carriers;              /* outputs that carry a gradient; 0 means 1 */
  guint is_view : 1;             /* outputs share the first input's storage; no kernel */
  guint holds_base : 1;          /* an autograd view: holds the value it views */
  guint in_place : 1;            /* no outputs of its own */
  guint returned : 4;            /* 1 + the input that an in-place kind returns; 0: nothing */
  guint is_synchronous : 1;      /* the host waits until it and all before it have run */
  guint uses_workspace : 1;      /* a matrix product: brings the thread's workspace */
};

/* ---- within infer, scratch, allocate, cost ---- */
static inline const SsTensor *
ss_call_in (const SsCall *c, guint i)
{
  return &c->in[i]->tensor;
}
const SsTarget *ss_call_target (const SsCall *c);
/* Allocates output i now (if not yet). */
void ss_call_result (SsCall *c, guint i);
/* Allocates scratch; freed in reverse after the run. */
void ss_call_scratch (SsCall *c, guint64 bytes);
/* Frees the last scratch now. */
void ss_call_drop_scratch (SsCall *c);
/* Frees scratch number i now; later ones keep their order. */
void ss_call_drop_scratch_at (SsCall *c, guint i);
/* For `infer`: a problem of the user's sizes (fails the tape with this message). */
void ss_call_fail (SsCall *c, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* ---- within backward ---- */
gboolean ss_node_needs (const SsNode *n, guint i);
/* Shape and type the gradient of input i must have. */
const SsTensor *ss_node_wanted (const SsNode *n, guint i);
/* Saved entry i (index into kind->saves). (transfer none) */
SsValue *ss_node_saved (const SsNode *n, guint i);
gint64 ss_node_attribute (const SsNode *n, guint i);
const gint64 *ss_node_attributes (const SsNode *n);

/* ---- recording ---- */
/* Records one call.  Returns its first output (floating), or NULL for an in-place kind; others are
 * dropped. */
SsValue *ss_record (SsTape *t, const SsOpKind *kind, const gint64 *attribute, guint n_in,
                    SsValue *const *in);
/* The same with every output (floating) in out[SS_MAX_OUTPUTS]. */
void ss_record_multi (SsTape *t, const SsOpKind *kind, const gint64 *attribute, guint n_in,
                      SsValue *const *in, SsValue **out);

/* RUN (kind, attributes or NULL, inputs...): record a call with a list of inputs. */
#define SS_VALUES(...)                                                                             \
  (guint) (sizeof ((SsValue *[]) { __VA_ARGS__ }) / sizeof (SsValue *)),                           \
  (SsValue *[]) { __VA_ARGS__ }
#define SS_RUN_KIND(t, kind, attribute, ...)                                                       \
  ss_record (t, &kind, attribute, SS_VALUES (__VA_ARGS__))
#define SS_ATTRIBUTES(...) ((gint64[SS_N_ATTRIBUTES]) { __VA_ARGS__ })
/* DIMS (a, b, c): the pair n_dims, sizes. */
#define SS_DIMS(...)                                                                               \
  (guint) (sizeof ((gint64[]) { __VA_ARGS__ }) / sizeof (gint64)), (gint64[]) { __VA_ARGS__ }

G_END_DECLS
