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

/* What decides an op's time; hw/ has one model for each. */
typedef enum
{
  SS_OP_MATMUL,      /* shape: batch, m, n, k; variant: SsProductPass */
  SS_OP_ATTENTION,   /* fused; shape: batch * heads, S_q, S_k, head_dim; variant:
                      * SsAttentionKernel */
  SS_OP_MEMORY,      /* everything bound by bytes; variant: SsMemoryKind */
  SS_OP_MULTI_TENSOR, /* foreach and fused optimizer passes over many tensors */
  SS_OP_HOST_COPY    /* between host and device; shape[0]: 1 if the host's memory is pinned */
} SsOpClass;

/* Which product of a linear layer it is, by the layout of its operands: x W^T, g W, g^T x. */
typedef enum
{
  SS_PRODUCT_FORWARD,
  SS_PRODUCT_INPUT_GRADIENT,
  SS_PRODUCT_WEIGHT_GRADIENT,
  SS_N_PRODUCTS
} SsProductPass;

/* Whose fused attention: enum member, word of device files and tables of measurements. */
#define SS_ATTENTION_KERNELS(X)                                                                    \
  X (FLASH, "flash") X (FA3, "fa3") X (FA4, "fa4") X (CUDNN, "cudnn") X (EFFICIENT, "efficient")
#define SS_ATTENTION_KERNEL_M(UPPER, word) SS_KERNEL_##UPPER,
typedef enum { SS_ATTENTION_KERNELS (SS_ATTENTION_KERNEL_M) SS_N_ATTENTION_KERNELS }
SsAttentionKernel;

/* What a kernel bound by bytes does to them. */
#define SS_MEMORY_KINDS(X)                                                                         \
  X (PLAIN, "plain")                   /* pointwise of one shape, contiguous copies, fills */      \
  X (CAST, "cast")                     /* copies between types */                                  \
  X (BROADCAST_F32, "broadcast-fp32")  /* an operand of another shape, 4 bytes and more */         \
  X (BROADCAST_HALF, "broadcast-16")   /* the same of 2 bytes: not vectorised */                   \
  X (STRIDED, "strided")               /* views that are no block of memory, cat */                \
  X (REDUCE, "reduce")                 /* sums and means over rows or columns */                   \
  X (SOFTMAX, "softmax")                                                                           \
  X (LAYER_NORM, "layer-norm")         /* PyTorch's own fused norms */                             \
  X (DROPOUT, "dropout")                                                                           \
  X (GATHER, "gather")                 /* rows by index */                                         \
  X (FUSED, "fused")                   /* Triton's: norms, gated activations, compiled graphs */
#define SS_MEMORY_KIND_M(UPPER, word) SS_MEMORY_##UPPER,
typedef enum { SS_MEMORY_KINDS (SS_MEMORY_KIND_M) SS_N_MEMORY_KINDS } SsMemoryKind;

typedef struct
{
  const SsOpKind *kind;
  guint64 flops;                 /* what the kernel computes (recomputed work included) */
  guint64 model_flops; /* of these, what the model's mathematics asks for; 0 in a recompute */
  guint64 bytes;                 /* read and written in device memory, each pass counted */
  guint64 side_bytes;            /* moved by copies that the call makes around its kernel */
  gint64 shape[4];               /* see SsOpClass */
  guint32 module_id;             /* where it stands: ss_program_module_path */
  guint32 first_operand;         /* index into the program's operands, if those were kept */
  guint16 n_inputs, n_outputs;   /* operands kept: inputs first */
  guint16 n_launches;            /* kernels behind this call: multi-tensor passes have several */
  guint8 op_class;               /* SsOpClass */
  guint8 variant;                /* see SsOpClass */
  guint8 alignment;              /* of a product: 1, 2, 4 or 8 elements, of which all leading
                                  * dimensions are multiples */
  guint8 dtype;                  /* SsDtype the arithmetic runs in */
  guint8 rank;
  guint is_backward : 1;         /* issued by autograd's thread */
  guint is_recompute : 1;        /* a checkpointed forward run again */
  guint is_causal : 1;           /* attention over the lower triangle only */
  guint is_optimizer : 1;        /* issued by the optimizer's Python code */
  guint is_synchronous : 1;      /* the host waits for it: a value was read */
  guint is_recorded : 1;         /* autograd made a node for it */
} SsOp;

/* "aten::mm": the name a profiler shows. (transfer none) */
const char *ss_op_name (const SsOp *op);
/* "Tensor" of aten.add.Tensor, "default" where there is but one; NULL: no operator of PyTorch's.
 * (transfer none) */
const char *ss_op_overload (const SsOp *op);

G_END_DECLS
