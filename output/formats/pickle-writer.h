/* SPDX-License-Identifier: MIT
 *
 * SsPickleWriter: Python's pickle, protocol 4, as far as dicts, lists, numbers and texts need it
 * and torch's memory viewer understands it (MemoryViz.js: no frames, chunks of at most 1000).
 * It knows nothing of what is written.  The creator owns it.
 * Opcodes: Python's Lib/pickletools.py.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SsPickleWriter SsPickleWriter;

SsPickleWriter *ss_pickle_writer_new (void);
void ss_pickle_writer_free (SsPickleWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsPickleWriter, ss_pickle_writer_free)

/* Containers are opened, filled and closed; every value of a list is announced, every value of a
 * dict has its key before it. */
void ss_pickle_writer_begin_list (SsPickleWriter *self);
void ss_pickle_writer_item (SsPickleWriter *self);
void ss_pickle_writer_end_list (SsPickleWriter *self);
void ss_pickle_writer_begin_dict (SsPickleWriter *self);
void ss_pickle_writer_key (SsPickleWriter *self, const char *key);
void ss_pickle_writer_end_dict (SsPickleWriter *self);

void ss_pickle_writer_int (SsPickleWriter *self, gint64 value);
void ss_pickle_writer_bool (SsPickleWriter *self, gboolean value);
/* (0, 0) */
void ss_pickle_writer_pair (SsPickleWriter *self, gint64 first, gint64 second);
/* Written once, referred to from then on; what is no UTF-8 is replaced. */
void ss_pickle_writer_text (SsPickleWriter *self, const char *text);

/* Gives what was written last a number by which it can be written again. */
guint32 ss_pickle_writer_remember (SsPickleWriter *self);
void ss_pickle_writer_again (SsPickleWriter *self, guint32 number);

/* Ends the file. (transfer full) */
GBytes *ss_pickle_writer_finish (SsPickleWriter *self);

G_END_DECLS
