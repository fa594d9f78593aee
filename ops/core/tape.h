/* SPDX-License-Identifier: MIT
 *
 * SsTape: the tracer, the only mutable thing in ops/: records kernels, allocations and releases
 * while a family's code runs, and ends as a sealed SsProgram. It knows no device but SsTarget,
 * no clock. The creator owns it until ss_tape_seal, which consumes it.
 */
#pragma once

#include "ops/core/kind.h"
#include "ops/core/program.h"
#include "ops/core/target.h"
#include "ops/core/value.h"

G_BEGIN_DECLS

#define SS_OPS_ERROR (ss_ops_error_quark ())
GQuark ss_ops_error_quark (void);

typedef enum
{
  SS_OPS_ERROR_OVERFLOW,         /* a size, a flop count or the program itself is too large */
  SS_OPS_ERROR_SHAPE,            /* sizes that a kernel refuses */
  SS_OPS_ERROR_UNSUPPORTED,      /* a combination of choices that no rule is known for */
  SS_OPS_ERROR_STOPPED           /* it was asked to stop there; never leaves ops/ */
} SsOpsError;

SsTape *ss_tape_new (const SsTarget *target);

/* Called for each instruction once it is in the program. FALSE for an allocation: the request
 * fails, and is the last of which it is told. */
typedef SsInstructionFunc SsTraceWatch;
void ss_tape_watch (SsTape *t, SsTraceWatch watch, gpointer user_data);
/* A request that fails ends the trace. */
void ss_tape_stop_where_unwound (SsTape *t);
/* What the exception of the request that failed has released: guint32 storage ids, rising; NULL:
 * none failed. (transfer full) */
GArray *ss_tape_take_unwound (SsTape *t);
/* Also keep every op's operand tensors (for dump-ops). */
void ss_tape_keep_operands (SsTape *t);
/* From here on nothing is recorded: what is still alive at the end of a run stays. */
void ss_tape_finish (SsTape *t);
/* Consumes the tape. NULL and SS_OPS_ERROR_OVERFLOW, _SHAPE, _UNSUPPORTED if the trace failed.
 * Every value must be gone. (transfer full) */
SsProgram *ss_tape_seal (SsTape *t, GError **error);
/* The first problem wins; the tape stops: ops make values without storage and record nothing. */
void ss_tape_fail (SsTape *t, SsOpsError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
gboolean ss_tape_has_failed (const SsTape *t);
/* As an exception of a hook's own passes: records nothing more, until whoever catches it calls
 * ss_tape_go_on, after which a failed tape is still stopped. */
void ss_tape_stop (SsTape *t);
void ss_tape_go_on (SsTape *t);
gboolean ss_tape_is_stopped (const SsTape *t);
const SsTarget *ss_tape_target (const SsTape *t);

/* ---- where we are ---- */
void ss_tape_begin_phase (SsTape *t, SsPhase phase, guint step, guint micro_batch);
SsPhase ss_tape_phase (const SsTape *t);
/* The layer's forward has returned (nothing is marked in a recompute). */
void ss_tape_mark_forward_end (SsTape *t, gint layer);
/* The first op of a layer's backward comes next; later calls for the same layer mark nothing. */
void ss_tape_mark_backward_begin (SsTape *t, gint layer);
void ss_tape_mark (SsTape *t, SsMarkType type, guint64 bytes);

/* Enters a module until the end of the C scope: SS_MODULE (t, "mlp"); names are not copied.
 * SS_LAYER (t, "layers", 3) also says which decoder layer. Ops of backward run under the module
 * of their node. */
typedef struct
{
  SsTape *tape;
  guint32 outer;
} SsModuleScope;
SsModuleScope ss_module_enter (SsTape *t, const char *name, gint layer);
void ss_module_leave (SsModuleScope *scope);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsModuleScope, ss_module_leave)
#define SS_MODULE(t, name)                                            \
  G_GNUC_UNUSED g_auto (SsModuleScope) G_PASTE (ss_module_, __LINE__) \
    = ss_module_enter (t, name, -1)
/* The module we are in, by a number that lasts as long as the tape; and back into it. */
guint32 ss_tape_module (const SsTape *t);
SsModuleScope ss_module_enter_again (SsTape *t, guint32 module_id);
#define SS_MODULE_AGAIN(t, module_id)                                 \
  G_GNUC_UNUSED g_auto (SsModuleScope) G_PASTE (ss_module_, __LINE__) \
    = ss_module_enter_again (t, module_id)
#define SS_LAYER(t, name, layer)                                      \
  G_GNUC_UNUSED g_auto (SsModuleScope) G_PASTE (ss_module_, __LINE__) \
    = ss_module_enter (t, name, layer)

/* Until the end of the C scope names stand for locals of compiled code, which go when an
 * exception passes, while Python's are kept by the traceback: SS_NATIVE (t). */
typedef struct
{
  SsTape *tape;
} SsNativeScope;
SsNativeScope ss_native_enter (SsTape *t);
void ss_native_leave (SsNativeScope *scope);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsNativeScope, ss_native_leave)
#define SS_NATIVE(t) \
  G_GNUC_UNUSED g_auto (SsNativeScope) G_PASTE (ss_native_, __LINE__) = ss_native_enter (t)

/* ---- values from nothing ---- */
/* torch.empty: a new storage. (transfer floating) */
SsValue *ss_empty (SsTape *t, const SsTensor *x);
SsValue *ss_empty_sizes (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);
/* A parameter: a leaf if `requires_grad`; counted, category parameters. (transfer full, not
 * floating) */
SsValue *ss_parameter (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size,
                       gboolean requires_grad);
/* Says which values (SsValue) are the model's parameters, for the program's counts. */
void ss_tape_count_parameters (SsTape *t, const GPtrArray *parameters);
/* tensor.requires_grad_ (True) */
void ss_require_grad (SsValue *value);
void ss_freeze (SsValue *value);
/* A plain handle to the same storage, without history. (transfer full, not floating) */
SsValue *ss_detach (SsTape *t, SsValue *value);

/* ---- gradient mode and autocast ---- */
gboolean ss_tape_set_grad_enabled (SsTape *t, gboolean is_enabled);   /* returns what it was */
gboolean ss_tape_grad_enabled (const SsTape *t);
/* An outermost autocast context with its cast cache, until ss_autocast_end. */
void ss_autocast_begin (SsTape *t, SsDtype lower);
void ss_autocast_end (SsTape *t);
gboolean ss_autocast_is_on (const SsTape *t);
/* The lower type, if it is on. */
SsDtype ss_autocast_dtype (const SsTape *t);
/* The argument of an op that autocast runs in the lower type: cast (leaves through the cache).
 * (transfer floating, or the value itself) */
SsValue *ss_lower (SsTape *t, SsValue *x);
/* The argument of an op that autocast runs in f32. */
SsValue *ss_raise (SsTape *t, SsValue *x);

/* ---- optimizer code ---- */
void ss_tape_set_optimizer (SsTape *t, gboolean is_optimizer);

G_END_DECLS
