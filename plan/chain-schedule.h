/* SPDX-License-Identifier: MIT
 *
 * SsChainSchedule: what is run on a chain, in order: forwards that save nothing, forwards that save
 * all, backwards.  It knows no sizes and does not say whether the order can be run.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  SS_CHAIN_FORWARD,              /* F: reads x_{i-1}, makes x_i */
  SS_CHAIN_SAVE,                 /* S: and what backward of the stage needs */
  SS_CHAIN_BACKWARD              /* B: makes the gradient of x_{i-1} */
} SsChainOpKind;

typedef struct
{
  SsChainOpKind kind;
  guint stage;                   /* from 1 */
} SsChainOp;

typedef struct
{
  GArray *ops;                   /* SsChainOp */
} SsChainSchedule;

SsChainSchedule *ss_chain_schedule_new (void);
void ss_chain_schedule_free (SsChainSchedule *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsChainSchedule, ss_chain_schedule_free)

void ss_chain_schedule_add (SsChainSchedule *self, SsChainOpKind kind, guint stage);
/* Stages first .. last in this order, or nothing if first > last. */
void ss_chain_schedule_add_up (SsChainSchedule *self, SsChainOpKind kind, guint first,
                               guint last);
/* Backward of stages last .. first. */
void ss_chain_schedule_add_backward (SsChainSchedule *self, guint first, guint last);
guint ss_chain_schedule_n_ops (const SsChainSchedule *self);
const SsChainOp *ss_chain_schedule_op (const SsChainSchedule *self, guint index);

/* "F1 S2 B2": words of F, S or B with the number of a stage.  SS_CHAIN_ERROR_SCHEDULE, which names
 * the word. (transfer full) */
SsChainSchedule *ss_chain_schedule_parse (const char *text, GError **error);
/* The same words, with one blank between two. (transfer full) */
char *ss_chain_schedule_to_string (const SsChainSchedule *self);

G_END_DECLS
