/* SPDX-License-Identifier: MIT
 *
 * SsConfigField: a field of a model's config.json: where its number goes, and what holds when it is
 * not there.  Rows of the families' tables; scenarios/ reads files by them.
 */
#pragma once

#include "ops/nn/rope.h"

G_BEGIN_DECLS

typedef enum
{
  SS_FIELD_COUNT,                /* gint64 > 0 */
  SS_FIELD_FLAG,                 /* gboolean */
  SS_FIELD_PROBABILITY,          /* double, 0 <= p < 1 */
  SS_FIELD_WORD,                 /* gint: which of `words`; without an offset they mean the same */
  SS_FIELD_ROPE                  /* SsRopeType: "rope_type" (older: "type") within an object of that
                                  * name, which newer files call "rope_parameters"; "default" or
                                  * "llama3" */
} SsFieldType;

/* What an absent field means. */
typedef enum
{
  SS_ABSENT_REQUIRED,            /* an error that names it */
  SS_ABSENT_CONSTANT,            /* `value` */
  SS_ABSENT_ZERO,                /* 0: the model has no such thing */
  SS_ABSENT_SAME_AS,             /* field at `offset_b` */
  SS_ABSENT_QUOTIENT,            /* field at `offset_b` over field at `offset_c` */
  SS_ABSENT_MULTIPLE             /* `value` times the field at `offset_b` */
} SsFieldAbsent;

/* One field of config.json; fields are resolved in the order of the table. */
typedef struct
{
  const char *name;              /* "num_key_value_heads"; in model XML "num-key-value-heads" */
  SsFieldType type;
  gsize offset;                  /* in SsModelConfig */
  SsFieldAbsent absent;          /* what it means that the field is not there */
  SsFieldAbsent null;            /* what it means that it is null */
  double value;
  gsize offset_b, offset_c;
  const char *const *words;      /* NULL-terminated, for SS_FIELD_WORD: what the family's code does;
                                  * the first is meant where the field is absent */
} SsConfigField;

G_END_DECLS
