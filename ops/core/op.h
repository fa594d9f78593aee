/* SPDX-License-Identifier: MIT
 *
 * SsOp: one kernel launch of the traced program, as later stages see it: what it is, its flops, the
 * bytes it moves, where in the model it stands.  It knows no tensor, tape, clock or allocator.
 * Owned by SsProgram.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SsOpKind SsOpKind;

/* What decides an op's time; hw/op-time has one model for each. */
typedef enum
{
  SS_OP_MATMUL,      /* shape: batch, m, n, k */
  SS_OP_ATTENTION,   /* fused attention; shape: batch * heads, S_q, S_k, head_dim */
  SS_OP_MEMORY,      /* everything bound by bytes: pointwise, reductions, norms, copies, gathers */
  SS_OP_MULTI_TENSOR, /* foreach and fused optimizer passes over many tensors */
  SS_OP_HOST_COPY    /* between host and device; shape[0]: 1 if the host's memory is pinned */
} SsOpClass;

typedef struct
{
  const SsOpKind *kind;
  guint64 flops;                 /* what the kernel computes (recomputed work included) */
  guint64 model_flops; /* of these, what the model's mathematics asks for; 0 in a recompute */
  guint64 bytes;                 /* read and written in device memory */
  gint64 shape[4];               /* see SsOpClass */
  guint32 module_id;             /* where it stands: ss_program_module_path */
  guint32 first_operand;         /* index into the program's operands, if those were kept */
  guint16 n_inputs, n_outputs;   /* operands kept: inputs first */
  guint16 n_launches;            /* kernels behind this call: multi-tensor passes have several */
  guint8 op_class;               /* SsOpClass */
  guint8 dtype;                  /* SsDtype the arithmetic runs in */
  guint8 rank;
  guint is_backward : 1;         /* issued by autograd's thread */
  guint is_recompute : 1;        /* a checkpointed forward run again */
  guint is_causal : 1;           /* attention over the lower triangle only */
  guint is_optimizer : 1;        /* issued by the optimizer's Python code */
  guint is_synchronous : 1;      /* the host waits for it: a value was read */
} SsOp;

/* "aten::mm": the name a profiler shows. (transfer none) */
const char *ss_op_name (const SsOp *op);
/* "Tensor" of aten.add.Tensor, "default" where there is but one; NULL: no operator of PyTorch's.
 * (transfer none) */
const char *ss_op_overload (const SsOp *op);

G_END_DECLS
