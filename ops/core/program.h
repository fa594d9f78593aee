/* SPDX-License-Identifier: MIT
 *
 * SsProgram: the immutable result of a trace: instructions in issue order over tables of storages,
 * ops, marks and modules.  It knows nothing of devices, allocators or clocks, which replay it.
 * Reference counted; shared freely after ss_tape_seal made it.
 */
#pragma once

#include <glib.h>

#include "memory/category.h"
#include "memory/tensor.h"
#include "ops/core/instruction-list.h"
#include "ops/core/op.h"

G_BEGIN_DECLS

typedef enum
{
#define X(NAME, member, word, meaning) SS_##NAME,
  SS_INSTRUCTION_LIST (X)
#undef X
  SS_N_INSTRUCTION_TYPES
} SsInstructionType;

/* What each means stands in instruction-list.h. */
typedef struct
{
  guint8 type;                   /* SsInstructionType */
  guint8 stream;                 /* SsStreamId */
  guint32 index;                 /* into the table of its type */
} SsInstruction;

typedef struct
{
  guint64 bytes;                 /* requested */
  guint32 op_id;                 /* the op it was allocated for: the next SS_RUN at that moment */
  guint32 module_id;             /* whose module asked */
  guint8 category;               /* SsCategory */
  guint8 rank;
  guint8 is_scratch;             /* a kernel's own temporary, not an output */
} SsStorageInfo;

typedef enum
{
  SS_PHASE_LOAD,
  SS_PHASE_FORWARD,
  SS_PHASE_LOSS,
  SS_PHASE_BACKWARD,
  SS_PHASE_OPTIMIZER,
  SS_PHASE_ZERO_GRAD,
  SS_N_PHASES
} SsPhase;

typedef enum
{
  SS_MARK_PHASE,          /* a phase begins (and the one before it ends) */
  SS_MARK_FORWARD_END,    /* layer's forward has returned, its input still held */
  SS_MARK_BACKWARD_BEGIN, /* gradient of the layer's output complete, no op of its backward yet */
  SS_MARK_SAVED,          /* end of a micro-batch's loss phase: `bytes` are held by autograd */
  SS_MARK_END             /* the run is over */
} SsMarkType;

typedef struct
{
  guint8 type;                   /* SsMarkType */
  guint8 phase;                  /* SsPhase */
  guint32 step;                  /* from 1; 0 in load */
  guint32 micro_batch;           /* from 1; 0 in load, optimizer, zero_grad */
  gint32 layer;                  /* from 0; -1 outside layers */
  guint64 bytes;
} SsMark;

/* A step is over where the next one begins, and where the run ends. */
gboolean ss_mark_ends_step (const SsMark *mark);

typedef struct _SsProgram SsProgram;

SsProgram *ss_program_ref (SsProgram *self);
void ss_program_unref (SsProgram *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsProgram, ss_program_unref)

guint ss_program_n_instructions (const SsProgram *self);
/* (transfer none) until the program grows */
const SsInstruction *ss_program_instruction (const SsProgram *self, guint i);

/* What to do at each type of instruction; NULL: nothing.  FALSE ends the play. */
typedef gboolean (*SsInstructionFunc) (const SsProgram *program, const SsInstruction *instruction,
                                       gpointer user_data);
typedef union
{
  struct
  {
#define X(NAME, member, word, meaning) SsInstructionFunc member;
    SS_INSTRUCTION_LIST (X)
#undef X
  };
  SsInstructionFunc by_type[SS_N_INSTRUCTION_TYPES];
} SsProgramVisitor;

/* Calls the visitor for each instruction from number `first` on, in order, up to the end or to the
 * one at which it says FALSE.  Returns the number of the next: all of them, if it met the end. */
guint ss_program_play (const SsProgram *self, guint first, const SsProgramVisitor *visitor,
                       gpointer user_data);

/* Whether what the allocator can give depends on when streams get done: then only a replay with a
 * clock can tell. */
gboolean ss_program_needs_clock (const SsProgram *self);

guint ss_program_n_storages (const SsProgram *self);
const SsStorageInfo *ss_program_storage (const SsProgram *self, guint32 id);
guint ss_program_n_ops (const SsProgram *self);
const SsOp *ss_program_op (const SsProgram *self, guint32 id);
guint ss_program_n_marks (const SsProgram *self);
const SsMark *ss_program_mark (const SsProgram *self, guint32 id);
/* Tensor of an operand, kept only when the tape was told to. */
const SsTensor *ss_program_operand (const SsProgram *self, guint32 index);

guint ss_program_n_modules (const SsProgram *self);
/* Parent of a module; 0 is the root, its own parent. */
guint32 ss_program_module_parent (const SsProgram *self, guint32 module_id);
/* Decoder layer from 0, or -1. */
gint ss_program_module_layer (const SsProgram *self, guint32 module_id);
/* The same for what a module does in that phase: loading and the optimizer work on a layer's
 * parameters, but stand outside layers. */
gint ss_program_layer_in_phase (const SsProgram *self, guint32 module_id, SsPhase phase);
/* "model.layers.19.mlp.up_proj"; "" for the root. (transfer full) */
char *ss_program_module_path (const SsProgram *self, guint32 module_id);
/* The paths of all, by id. (transfer full) (element-type utf8) */
GPtrArray *ss_program_module_paths (const SsProgram *self);

/* Elements of the model's parameters, adapters included: all, and those that require a gradient. */
guint64 ss_program_n_parameters (const SsProgram *self);
guint64 ss_program_n_trainable_parameters (const SsProgram *self);

/* The most bytes of storages of these categories (bits 1 << SsCategory) that are alive at one
 * moment; SS_SIZE_OVERFLOW: more than 64 bits hold. */
guint64 ss_program_peak_bytes (const SsProgram *self, guint categories);
/* The same of all, and in *some_bytes (out) of these categories, in one pass. */
guint64 ss_program_peaks_bytes (const SsProgram *self, guint categories, guint64 *some_bytes);
#define SS_EVERY_CATEGORY ((1u << SS_N_CATEGORIES) - 1)

/* "forward", "zero_grad" ... (transfer none) */
const char *ss_phase_name (SsPhase phase);

/* One line per instruction: `alloc,ID,BYTES,CATEGORY,MODULE`, `run,NAME,FLOPS,BYTES,MODULE`,
 * `free,ID,BYTES`, `mark,...`, `record,EVENT`, `wait,EVENT`, `host-wait,EVENT`, `use,ID`; those of
 * another stream than the compute stream end in its name: ` [copies]`.  The text of --dump-program
 * and of the golden tests. */
void ss_program_dump (const SsProgram *self, GString *out);

G_END_DECLS
