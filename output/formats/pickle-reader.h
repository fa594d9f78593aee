/* SPDX-License-Identifier: MIT
 *
 * SsPickle: what is in a pickle of dicts, lists, tuples, numbers and texts, as memory snapshots
 * are: protocols 2 to 5.  Nothing in the file is ever run, and what asks for it is refused; a
 * hostile file costs bounded memory and no recursion.  It knows no snapshot.  The creator owns it.
 * Opcodes: Python's Lib/pickletools.py.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

#define SS_PICKLE_MAX_OBJECTS (1U << 24)
#define SS_PICKLE_MAX_DEPTH 64U
/* Pickler.save_list and save_dict fill containers in pieces of 1000 (Python's Lib/pickle.py,
 * _BATCHSIZE), so that no more than 2000 objects wait for each level. */
#define SS_PICKLE_MAX_WAITING (SS_PICKLE_MAX_DEPTH * 2048U)

typedef enum
{
  SS_PICKLE_NONE,
  SS_PICKLE_BOOL,
  SS_PICKLE_INT,
  SS_PICKLE_REAL,
  SS_PICKLE_TEXT,
  SS_PICKLE_LIST,
  SS_PICKLE_TUPLE,
  SS_PICKLE_DICT
} SsPickleType;

/* An object of the file; the same one may stand in several places. */
typedef guint32 SsPickleId;
#define SS_PICKLE_ABSENT G_MAXUINT32

typedef struct _SsPickle SsPickle;

/* SS_OUTPUT_ERROR_INPUT: "byte N: ...", N the offset of what cannot be read. (transfer full) */
SsPickle *ss_pickle_read (GBytes *bytes, GError **error);
void ss_pickle_free (SsPickle *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsPickle, ss_pickle_free)

SsPickleId ss_pickle_root (const SsPickle *self);
/* TRUE the first time that an object is asked for: one that stands in many places costs its reader
 * no more than what is in the file. */
gboolean ss_pickle_take (SsPickle *self, SsPickleId id);
SsPickleType ss_pickle_type (const SsPickle *self, SsPickleId id);
/* Where in the file the object begins: for messages about it. */
gsize ss_pickle_offset (const SsPickle *self, SsPickleId id);

/* Of a list or tuple; 0 of anything else. */
guint ss_pickle_length (const SsPickle *self, SsPickleId id);
SsPickleId ss_pickle_item (const SsPickle *self, SsPickleId id, guint i);
/* SS_PICKLE_ABSENT: it is no dict or has no such key. */
SsPickleId ss_pickle_get (const SsPickle *self, SsPickleId id, const char *key);

/* FALSE: it is no integer (a truth value is none). */
gboolean ss_pickle_int (const SsPickle *self, SsPickleId id, gint64 *value);
gboolean ss_pickle_is_true (const SsPickle *self, SsPickleId id);
gboolean ss_pickle_text_is (const SsPickle *self, SsPickleId id, const char *text);
/* Of a text; 0 of anything else. */
guint ss_pickle_text_bytes (const SsPickle *self, SsPickleId id);
/* NULL: it is no text.  What is no UTF-8, or a zero byte, is replaced. (transfer full) */
char *ss_pickle_text (const SsPickle *self, SsPickleId id);

G_END_DECLS
