/* SPDX-License-Identifier: MIT
 *
 * SsChain: a training step of one micro-batch as a chain of stages, each with its sizes and times.
 * It knows no tape, no model and no file.  Who made it fills it in, checks it once and owns it.
 *
 * Stages count from 1; stage i reads the boundary tensor x_{i-1} and makes x_i.  The last stage is
 * the loss.  Times are whole numbers of any one unit (ns, FLOP, ...).
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_CHAIN_ERROR (ss_chain_error_quark ())
GQuark ss_chain_error_quark (void);

typedef enum
{
  SS_CHAIN_ERROR_MODEL,          /* sizes or times that no chain can have, or that are too large */
  SS_CHAIN_ERROR_SCHEDULE,       /* a schedule that cannot be run: what is missing, at which op */
  SS_CHAIN_ERROR_BUDGET          /* no schedule fits into so few bytes */
} SsChainError;

/* More stages than that are refused: the optimum looks at every part of the chain. */
#define SS_CHAIN_MAX_STAGES 4096

typedef struct
{
  guint64 saved_bytes;           /* w: what backward needs besides x_{i-1}; x_i is not in it */
  guint64 forward_bytes;         /* tf: there during the forward only */
  guint64 backward_bytes;        /* tb: there during the backward only */
  guint64 forward_time;          /* f */
  guint64 recompute_time;        /* fr: of each forward after the first */
  guint64 backward_time;         /* b */
} SsChainStage;

typedef struct
{
  char *name;
  guint n_stages;
  guint first_layer, last_layer; /* stages that policies may checkpoint, both included */
  guint64 *boundary_bytes;       /* a: of x_0 .. x_n */
  guint64 *gradient_bytes;       /* d: of the gradients of x_0 .. x_n; the last is 0 */
  SsChainStage *stages;          /* 1 .. n; the first element is not used */
} SsChain;

/* All sizes and times 0; the layers are the stages before the last, or the only one. The caller
 * fills it in, then calls ss_chain_check. (transfer full) */
SsChain *ss_chain_new (const char *name, guint n_stages);
/* All layers alike, f = 1, b = 2, no transients, and a loss stage that is free: the chain of which
 * closed forms speak. (transfer full) */
SsChain *ss_chain_new_homogeneous (const char *name, guint n_layers, guint64 boundary_bytes,
                                   guint64 saved_bytes);
void ss_chain_free (SsChain *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsChain, ss_chain_free)

/* Whether no sum that a schedule can lead to passes 63 bits, and the range of layers is one.
 * SS_CHAIN_ERROR_MODEL. */
gboolean ss_chain_check (const SsChain *self, GError **error);
guint ss_chain_n_layers (const SsChain *self);
/* x_1 .. x_{n-1} are of one size, and their gradients too: the class in which no schedule was found
 * that beats the persistent optimum. */
gboolean ss_chain_has_uniform_boundary (const SsChain *self);

G_END_DECLS
