/* SPDX-License-Identifier: MIT */
#include "memory/stream-id.h"

const char *
ss_stream_id_name (guint stream)
{
  static const char *const names[] = {
#define X(NAME, name) name,
    SS_STREAM_ID_LIST (X)
#undef X
  };

  return stream < G_N_ELEMENTS (names) ? names[stream] : NULL;
}
