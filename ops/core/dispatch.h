/* SPDX-License-Identifier: MIT
 *
 * SsDispatchMode: code that sees every call below autograd, as PyTorch's TorchDispatchMode: it runs
 * the kernel, or says itself what the results are. It knows no user.
 */
#pragma once

#include "ops/core/kind.h"

G_BEGIN_DECLS

/* The call's outputs are inferred, its inputs saved; its results follow from result[] and out[].
 * It calls ss_call_run, or fills result[]. `data` as pushed. */
typedef void (*SsDispatch) (SsCall *c, gpointer data);

/* `with mode:`: a variable of the C scope that pushes it. */
typedef struct _SsDispatchMode
{
  SsDispatch dispatch;
  gpointer data;
  const struct _SsDispatchMode *outer;
} SsDispatchMode;

/* The innermost is asked first, till ss_dispatch_mode_pop or until the context is restored. */
void ss_dispatch_mode_push (SsTape *t, SsDispatchMode *mode, SsDispatch dispatch, gpointer data);
void ss_dispatch_mode_pop (SsTape *t, SsDispatchMode *mode);

/* Runs the call under the modes around this one, the kernel itself under none. */
void ss_call_run (SsCall *c);
/* What output i is now, a plain handle as of `detach`. (transfer full) */
SsValue *ss_call_output (const SsCall *c, guint i);
/* In place of a run: output i is what `value` is. */
void ss_call_set_output (SsCall *c, guint i, const SsValue *value);

G_END_DECLS
