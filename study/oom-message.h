/* SPDX-License-Identifier: MIT
 *
 * SsOomMessage: an out-of-memory message as PyTorch prints it, read back: the size that was asked
 * for, as the interval of bytes that prints so, and the other numbers it tells.  It knows no
 * scenario and no allocator.  A plain value with one string: clear it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_OOM_MESSAGE_ERROR (ss_oom_message_error_quark ())
GQuark ss_oom_message_error_quark (void);

typedef enum
{
  SS_OOM_MESSAGE_ERROR_NONE,     /* no message in the text, nor a size alone */
  SS_OOM_MESSAGE_ERROR_SIZE      /* a size that is none: no unit, an unknown one, 0, 2^60 or more */
} SsOomMessageError;

/* A number that the message does not tell. */
#define SS_OOM_NOT_SAID G_MAXUINT64

typedef struct
{
  char *text;                    /* "786.00 MiB", with the digits it has there */
  guint64 low_bytes, high_bytes; /* what prints as that, both ends included */
  gboolean is_request;           /* it is the request itself, not the segment asked of the driver */
  /* as printed, so within half of their last digit, or SS_OOM_NOT_SAID */
  guint64 capacity_bytes;
  guint64 free_bytes;            /* after the cache was flushed */
  guint64 allocated_bytes;       /* by PyTorch */
  guint64 unallocated_bytes;     /* reserved by PyTorch, but not allocated */
  guint64 process_bytes;         /* of this process, memory that is not PyTorch's included */
  guint64 limit_bytes;           /* what a memory fraction allows PyTorch to reserve */
} SsOomMessage;

/* Reads the last message in `text` of `length` bytes (a log, a traceback, a sentence of any
 * version since 1.0), or a size alone.  Nothing in `text` is trusted.  FALSE with
 * SS_OOM_MESSAGE_ERROR_NONE, _SIZE; *out is then cleared. */
gboolean ss_oom_message_parse (const char *text, gsize length, SsOomMessage *out, GError **error);
void ss_oom_message_clear (SsOomMessage *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsOomMessage, ss_oom_message_clear)

/* Whether a request for `segment_bytes`, made for a tensor of `bytes`, prints as the message. */
gboolean ss_oom_message_fits (const SsOomMessage *self, guint64 bytes, guint64 segment_bytes);
/* What the process could still have used at that moment, were it in one piece: free for it, and
 * reserved but unallocated; SS_OOM_NOT_SAID. */
guint64 ss_oom_message_unused_bytes (const SsOomMessage *self);

G_END_DECLS
