/* SPDX-License-Identifier: MIT */
#include "output/formats/pickle-reader.h"

#include <string.h>

#include "output/formats/pickle-private.h"

/* A file under way: Python's unpickling machine without the opcodes that call anything. */
typedef struct
{
  SsPickle *pickle;
  gsize at, opcode_at;
  GArray *filled;                /* SsPickleId: all that went into containers, in order */
  GArray *pieces;                /* SsPicklePiece */
  GArray *stack;                 /* SsPickleId */
  GArray *marks;                 /* guint: heights of the stack */
  GArray *memo;                  /* SsPickleId */
  gboolean is_done;
  GError **error;
} Machine;

/* What a group of opcodes says to one of them. */
typedef enum
{
  NOT_MINE,
  DONE,
  FAILED
} Outcome;

static Outcome G_GNUC_PRINTF (2, 3)
refuse (Machine *self, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list arguments;

  va_start (arguments, format);
  why = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT,
               "byte %" G_GSIZE_FORMAT ": %s", self->opcode_at, why);
  return FAILED;
}

/* NULL, and refused, if the file ends before. */
static const guint8 *
take (Machine *self, gsize n_bytes)
{
  const guint8 *bytes = self->pickle->data + self->at;

  if (self->pickle->size - self->at < n_bytes)
    {
      refuse (self, "the file ends in the middle");
      return NULL;
    }
  self->at += n_bytes;
  return bytes;
}

/* An unsigned number, the lowest byte first. */
static gboolean
take_number (Machine *self, guint n_bytes, guint64 *value)
{
  const guint8 *bytes = take (self, n_bytes);

  if (bytes == NULL)
    return FALSE;
  *value = 0;
  for (guint i = n_bytes; i-- > 0;)
    *value = *value << 8 | bytes[i];
  return TRUE;
}

/* ---- stack ---- */

static Outcome
push (Machine *self, SsPickleId id)
{
  if (self->stack->len >= SS_PICKLE_MAX_WAITING)
    return refuse (self, "more than %u objects that are in no list or dict yet",
                   SS_PICKLE_MAX_WAITING);
  g_array_append_val (self->stack, id);
  return DONE;
}

static Outcome
push_new (Machine *self, SsPickleNode node)
{
  SsPickleId id = self->pickle->nodes->len;

  if (id >= SS_PICKLE_MAX_OBJECTS)
    return refuse (self, "more than %u objects", SS_PICKLE_MAX_OBJECTS);
  node.offset = (guint32) self->opcode_at;
  g_array_append_val (self->pickle->nodes, node);
  return push (self, id);
}

static Outcome
push_int (Machine *self, SsPickleType type, gint64 value)
{
  return push_new (self, (SsPickleNode) { .type = (guint8) type, .integer = value });
}

static Outcome
push_container (Machine *self, SsPickleType type)
{
  return push_new (self, (SsPickleNode) { .type = (guint8) type });
}

/* How many objects lie above the last mark, or on the whole stack. */
static guint
n_free (const Machine *self)
{
  guint bottom = 0;

  if (self->marks->len > 0)
    bottom = g_array_index (self->marks, guint, self->marks->len - 1);
  return self->stack->len - bottom;
}

static SsPickleId
on_stack (const Machine *self, guint from_top)
{
  return g_array_index (self->stack, SsPickleId, self->stack->len - 1 - from_top);
}

/* ---- containers ---- */

/* Moves the upper `count` objects of the stack into the container. */
static Outcome
fill (Machine *self, SsPickleId container, guint count)
{
  SsPickleNode *node = ss_pickle_node (self->pickle, container);
  guint first = self->stack->len - count;
  SsPicklePiece piece = { container, count };

  if (count == 0)
    return DONE;
  for (guint i = first; i < self->stack->len; i++)
    {
      SsPickleId id = g_array_index (self->stack, SsPickleId, i);
      guint depth = ss_pickle_node (self->pickle, id)->depth + 1U;

      if (depth > SS_PICKLE_MAX_DEPTH)
        return refuse (self, "nested more than %u deep", SS_PICKLE_MAX_DEPTH);
      node->depth = (guint8) MAX (node->depth, depth);
    }
  node->n_items += count;
  g_array_append_val (self->pieces, piece);
  g_array_append_vals (self->filled, &g_array_index (self->stack, SsPickleId, first), count);
  g_array_set_size (self->stack, first);
  return DONE;
}

/* Takes the last mark off; *count objects lay above it, and something below. */
static gboolean
take_mark (Machine *self, guint *count, gboolean wants_one_below)
{
  guint height;

  if (self->marks->len == 0)
    {
      refuse (self, "there is no mark");
      return FALSE;
    }
  height = g_array_index (self->marks, guint, self->marks->len - 1);
  *count = self->stack->len - height;
  g_array_set_size (self->marks, self->marks->len - 1);
  if (wants_one_below && n_free (self) <= *count)
    {
      refuse (self, "there is nothing to fill");
      return FALSE;
    }
  return TRUE;
}

/* The container below the upper `count` objects takes them. */
static Outcome
add_to (Machine *self, SsPickleType type, guint count)
{
  SsPickleId container;

  if (n_free (self) <= count)
    return refuse (self, "the stack is too short");
  container = on_stack (self, count);
  if (ss_pickle_node (self->pickle, container)->type != type)
    return refuse (self, "what is to be filled is no %s", type == SS_PICKLE_LIST ? "list" : "dict");
  if (type == SS_PICKLE_DICT && count % 2 != 0)
    return refuse (self, "a key without a value");
  return fill (self, container, count);
}

/* A container of the upper `count` objects takes their place. */
static Outcome
collect (Machine *self, SsPickleType type, guint count)
{
  SsPickleId container;

  if (n_free (self) < count)
    return refuse (self, "the stack is too short");
  if (type == SS_PICKLE_DICT && count % 2 != 0)
    return refuse (self, "a key without a value");
  if (push_container (self, type) == FAILED)
    return FAILED;
  container = on_stack (self, 0);
  g_array_set_size (self->stack, self->stack->len - 1);
  if (fill (self, container, count) == FAILED)
    return FAILED;
  return push (self, container);
}

static Outcome
do_container (Machine *self, guint8 opcode)
{
  guint count;

  switch (opcode)
    {
    case ']': return push_container (self, SS_PICKLE_LIST);
    case '}': return push_container (self, SS_PICKLE_DICT);
    case ')': return push_container (self, SS_PICKLE_TUPLE);
    case '(':
      if (self->marks->len >= SS_PICKLE_MAX_DEPTH)
        return refuse (self, "nested more than %u deep", SS_PICKLE_MAX_DEPTH);
      g_array_append_val (self->marks, self->stack->len);
      return DONE;
    case 'a': return add_to (self, SS_PICKLE_LIST, 1);
    case 's': return add_to (self, SS_PICKLE_DICT, 2);
    case 'e': return take_mark (self, &count, TRUE) ? add_to (self, SS_PICKLE_LIST, count) : FAILED;
    case 'u': return take_mark (self, &count, TRUE) ? add_to (self, SS_PICKLE_DICT, count) : FAILED;
    case 'l':
      return take_mark (self, &count, FALSE) ? collect (self, SS_PICKLE_LIST, count) : FAILED;
    case 'd':
      return take_mark (self, &count, FALSE) ? collect (self, SS_PICKLE_DICT, count) : FAILED;
    case 't':
      return take_mark (self, &count, FALSE) ? collect (self, SS_PICKLE_TUPLE, count) : FAILED;
    case 0x85: return collect (self, SS_PICKLE_TUPLE, 1);
    case 0x86: return collect (self, SS_PICKLE_TUPLE, 2);
    case 0x87: return collect (self, SS_PICKLE_TUPLE, 3);
    default: return NOT_MINE;
    }
}

/* ---- numbers and texts ---- */

/* Two's complement of any length; more than 64 bits are no size or address. */
static Outcome
do_long (Machine *self)
{
  guint64 n_bytes, value;

  if (!take_number (self, 1, &n_bytes))
    return FAILED;
  if (n_bytes > 8)
    return refuse (self, "an integer of more than 64 bits");
  if (!take_number (self, (guint) n_bytes, &value))
    return FAILED;
  if (n_bytes > 0 && n_bytes < 8 && (value >> (8 * n_bytes - 1)) != 0)
    value |= G_MAXUINT64 << (8 * n_bytes);
  return push_int (self, SS_PICKLE_INT, (gint64) value);
}

static Outcome
do_real (Machine *self)
{
  const guint8 *bytes = take (self, 8);
  SsPickleNode node = { .type = SS_PICKLE_REAL };
  guint64 bits;

  if (bytes == NULL)
    return FAILED;
  memcpy (&bits, bytes, sizeof bits);
  bits = GUINT64_FROM_BE (bits);
  memcpy (&node.real, &bits, sizeof bits);
  return push_new (self, node);
}

static Outcome
do_text (Machine *self, guint n_length_bytes)
{
  SsPickleNode node = { .type = SS_PICKLE_TEXT };
  guint64 length;

  if (!take_number (self, n_length_bytes, &length))
    return FAILED;
  if (length > G_MAXINT32)
    return refuse (self, "a text of %" G_GUINT64_FORMAT " bytes", length);
  node.text_offset = (guint32) self->at;
  node.n_items = (guint32) length;
  if (take (self, (gsize) length) == NULL)
    return FAILED;
  return push_new (self, node);
}

static Outcome
do_number (Machine *self, guint n_bytes)
{
  guint64 value;

  if (!take_number (self, n_bytes, &value))
    return FAILED;
  return push_int (self, SS_PICKLE_INT, n_bytes == 4 ? (gint32) (guint32) value : (gint64) value);
}

static Outcome
do_value (Machine *self, guint8 opcode)
{
  switch (opcode)
    {
    case 'N': return push (self, SS_PICKLE_ID_NONE);
    case 0x88: return push (self, SS_PICKLE_ID_TRUE);
    case 0x89: return push (self, SS_PICKLE_ID_FALSE);
    case 'K': return do_number (self, 1);
    case 'M': return do_number (self, 2);
    case 'J': return do_number (self, 4);
    case 0x8a: return do_long (self);
    case 'G': return do_real (self);
    case 0x8c: return do_text (self, 1);
    case 'X': return do_text (self, 4);
    case 0x8d: return do_text (self, 8);
    default: return NOT_MINE;
    }
}

/* ---- memo ---- */

/* Numbers are given in order, so that no file can ask for a large memo with few bytes. */
static Outcome
remember (Machine *self, guint64 number)
{
  SsPickleId id;

  if (n_free (self) == 0)
    return refuse (self, "nothing to remember");
  if (number > self->memo->len)
    return refuse (self, "memo number %" G_GUINT64_FORMAT " is out of order", number);
  id = on_stack (self, 0);
  if (number == self->memo->len)
    g_array_append_val (self->memo, id);
  else
    g_array_index (self->memo, SsPickleId, number) = id;
  return DONE;
}

static Outcome
recall (Machine *self, guint n_bytes)
{
  guint64 number;

  if (!take_number (self, n_bytes, &number))
    return FAILED;
  if (number >= self->memo->len)
    return refuse (self, "there is no memo number %" G_GUINT64_FORMAT, number);
  return push (self, g_array_index (self->memo, SsPickleId, number));
}

static Outcome
do_memo (Machine *self, guint8 opcode)
{
  guint64 number;

  switch (opcode)
    {
    case 0x94: return remember (self, self->memo->len);
    case 'q': return take_number (self, 1, &number) ? remember (self, number) : FAILED;
    case 'r': return take_number (self, 4, &number) ? remember (self, number) : FAILED;
    case 'h': return recall (self, 1);
    case 'j': return recall (self, 4);
    default: return NOT_MINE;
    }
}

/* ---- the file ---- */

static Outcome
do_frame (Machine *self, guint8 opcode)
{
  guint64 number;

  switch (opcode)
    {
    case 0x80:
      if (!take_number (self, 1, &number))
        return FAILED;
      if (number < 2 || number > 5)
        return refuse (self, "pickle protocol %" G_GUINT64_FORMAT "; known: 2 to 5", number);
      return DONE;
    case 0x95: return take (self, 8) != NULL ? DONE : FAILED;
    case '.':
      if (self->stack->len != 1 || self->marks->len != 0)
        return refuse (self, "the file ends with %u objects, not one", self->stack->len);
      self->pickle->root = on_stack (self, 0);
      self->is_done = TRUE;
      return DONE;
    default: return NOT_MINE;
    }
}

static Outcome
refuse_opcode (Machine *self, guint8 opcode)
{
  static const struct
  {
    guint8 opcode;
    const char *name;
  } calls[] = {
    { 'c', "GLOBAL" },       { 0x93, "STACK_GLOBAL" }, { 'R', "REDUCE" },     { 'b', "BUILD" },
    { 'i', "INST" },         { 'o', "OBJ" },           { 0x81, "NEWOBJ" },    { 0x92, "NEWOBJ_EX" },
    { 'P', "PERSID" },       { 'Q', "BINPERSID" },     { 0x82, "EXT1" },      { 0x83, "EXT2" },
    { 0x84, "EXT4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (calls[i].opcode == opcode)
      return refuse (self, "%s makes objects by running code: no memory snapshot has it",
                     calls[i].name);
  return refuse (self, "opcode 0x%02x is none that a memory snapshot has", opcode);
}

static Outcome
do_opcode (Machine *self)
{
  static Outcome (*const groups[]) (Machine *self, guint8 opcode)
    = { do_value, do_container, do_memo, do_frame };
  const guint8 *opcode;

  self->opcode_at = self->at;
  opcode = take (self, 1);
  if (opcode == NULL)
    return FAILED;
  if (self->opcode_at == 0 && *opcode != 0x80)
    return refuse (self, "0x%02x does not begin a pickle of protocol 2 to 5", *opcode);
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      Outcome outcome = groups[i] (self, *opcode);

      if (outcome != NOT_MINE)
        return outcome;
    }
  return refuse_opcode (self, *opcode);
}

SsPickle *
ss_pickle_read (GBytes *bytes, GError **error)
{
  g_autoptr (SsPickle) pickle = ss_pickle_new (bytes);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (SsPickleId));
  g_autoptr (GArray) marks = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) memo = g_array_new (FALSE, FALSE, sizeof (SsPickleId));
  g_autoptr (GArray) filled = g_array_new (FALSE, FALSE, sizeof (SsPickleId));
  g_autoptr (GArray) pieces = g_array_new (FALSE, FALSE, sizeof (SsPicklePiece));
  Machine machine = { .pickle = pickle, .stack = stack, .marks = marks, .memo = memo,
                      .filled = filled, .pieces = pieces, .error = error };

  while (!machine.is_done)
    if (do_opcode (&machine) == FAILED)
      return NULL;
  ss_pickle_place_items (pickle, filled, pieces);
  return g_steal_pointer (&pickle);
}
