/* SPDX-License-Identifier: MIT
 *
 * SsBlockReplay: how large the blocks of a recorded history were.  A history has addresses and what
 * was asked for; a block is larger by rounding, and by a rest that was too small to split off.
 * Segments, addresses and PyTorch's rule of splitting give both.  It decides nothing: where a block
 * lies is what the history says.  The creator owns it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SsBlockReplay SsBlockReplay;

/* max_split_bytes: max_split_size_mb in bytes, G_MAXUINT64 without it. (transfer full) */
SsBlockReplay *ss_block_replay_new (guint64 max_split_bytes);
void ss_block_replay_free (SsBlockReplay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsBlockReplay, ss_block_replay_free)

void ss_block_replay_add_segment (SsBlockReplay *self, guint64 address, guint64 bytes,
                                  gboolean is_expandable);
void ss_block_replay_drop_segment (SsBlockReplay *self, guint64 address, guint64 bytes);
/* A block whose size is known.  Outside all segments, and over others, it only counts. */
void ss_block_replay_add_block (SsBlockReplay *self, guint64 address, guint64 bytes);
/* A request: its block's size follows. */
void ss_block_replay_alloc (SsBlockReplay *self, guint64 address, guint64 requested_bytes);
/* The block counts no more, but nobody else can have it yet. FALSE: it is not known. */
gboolean ss_block_replay_request_free (SsBlockReplay *self, guint64 address);
void ss_block_replay_complete_free (SsBlockReplay *self, guint64 address);

guint64 ss_block_replay_allocated_bytes (const SsBlockReplay *self);
guint64 ss_block_replay_reserved_bytes (const SsBlockReplay *self);

G_END_DECLS
