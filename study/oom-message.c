/* SPDX-License-Identifier: MIT */
#include "study/oom-message.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK (ss-oom-message-error-quark, ss_oom_message_error)

/* The longest sentence, with a list of processes, is below 1 KiB; so much is looked at behind
 * "Tried to allocate". */
#define WINDOW 4096
/* So much of what is no size is repeated. */
#define SHOWN 48
#define MAX_DIGITS 15

/* As PyTorch prints them, and as people write them. */
static const struct
{
  const char *name;
  double bytes;
} units[] = {
  { "bytes", 1 },          { "byte", 1 },           { "B", 1 },
  { "KiB", 1024 },         { "MiB", 1048576 },      { "GiB", 1073741824 },
  { "TiB", 1099511627776 }, { "kB", 1e3 },           { "KB", 1e3 },
  { "MB", 1e6 },           { "GB", 1e9 },           { "TB", 1e12 },
};

/* one_exa_bytes of c10/cuda/CUDACachingAllocator.cpp */
#define MONSTROUS_BYTES 1152921504606846976.0

typedef struct
{
  gsize start, end;              /* in the text */
  gsize end_of_number;
  double low_bytes, high_bytes, bytes;
} Size;

/* ---- sizes ---- */

static gboolean
read_unit (const char *text, gsize *n, double *bytes)
{
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    {
      gsize length = strlen (units[i].name);

      if (strncmp (text, units[i].name, length) != 0 || g_ascii_isalnum (text[length]))
        continue;
      *n = length;
      *bytes = units[i].bytes;
      return TRUE;
    }
  return FALSE;
}

/* "786.00 MiB" at text[at]; digits that go on before it are not its beginning. */
static gboolean
read_size (const char *text, gsize at, Size *size)
{
  gsize i = at, n_unit;
  guint n_digits = 0, n_decimals = 0;
  gsize end_of_number;
  double number = 0, step = 1, unit;

  for (; g_ascii_isdigit (text[i]); i++, n_digits++)
    number = number * 10 + (text[i] - '0');
  if (n_digits == 0)
    return FALSE;
  if (text[i] == '.' && g_ascii_isdigit (text[i + 1]))
    for (i++; g_ascii_isdigit (text[i]); i++, n_decimals++)
      {
        number = number * 10 + (text[i] - '0');
        step *= 10;
      }
  if (n_digits + n_decimals > MAX_DIGITS)
    return FALSE;
  end_of_number = i;
  if (text[i] == ' ')
    i++;
  if (!read_unit (text + i, &n_unit, &unit))
    return FALSE;
  *size = (Size) {
    .start = at, .end = i + n_unit, .end_of_number = end_of_number,
    .bytes = number / step * unit,
    .low_bytes = ceil ((number - 0.5) / step * unit),
    .high_bytes = floor ((number + 0.5) / step * unit),
  };
  return TRUE;
}

/* The next size from text[*at] on; *at (inout) is then behind it. */
static gboolean
next_size (const char *text, gsize *at, gsize end, Size *size)
{
  for (gsize i = *at; i < end; i++)
    {
      if (!g_ascii_isdigit (text[i])
          || (i > 0 && (g_ascii_isalnum (text[i - 1]) || text[i - 1] == '.')))
        continue;
      if (!read_size (text, i, size))
        continue;
      *at = size->end;
      return TRUE;
    }
  return FALSE;
}

/* ---- the text ---- */

/* One line of printable ASCII, any run of other bytes being one space: terminals and loggers
 * break lines, and a log may hold anything. */
static char *
flatten (const char *text, gsize length)
{
  GString *flat = g_string_sized_new (length);

  for (gsize i = 0; i < length; i++)
    {
      if (g_ascii_isgraph (text[i]))
        g_string_append_c (flat, text[i]);
      else if (flat->len > 0 && flat->str[flat->len - 1] != ' ')
        g_string_append_c (flat, ' ');
    }
  if (flat->len > 0 && flat->str[flat->len - 1] == ' ')
    g_string_truncate (flat, flat->len - 1);
  return g_string_free (flat, FALSE);
}

/* Behind the last `phrase` (in lower case), or NULL. */
static const char *
behind_last (const char *flat, const char *phrase)
{
  gsize n = strlen (phrase);
  const char *found = NULL;

  for (const char *c = flat; *c != '\0'; c++)
    if (g_ascii_tolower (*c) == *phrase && g_ascii_strncasecmp (c, phrase, n) == 0)
      found = c + n;
  return found;
}

static gboolean
follows (const char *text, const Size *size, const char *words)
{
  return g_ascii_strncasecmp (text + size->end, words, strlen (words)) == 0;
}

static gboolean
precedes (const char *text, const Size *size, const char *words)
{
  gsize n = strlen (words);

  return size->start >= n && g_ascii_strncasecmp (text + size->start - n, words, n) == 0;
}

static guint64
told (const Size *size)
{
  return size->bytes < MONSTROUS_BYTES ? (guint64) (size->bytes + 0.5) : SS_OOM_NOT_SAID;
}

/* What a number is of.  2.1 spelt "capacty"; up to 1.3 "cached" was what is now called reserved
 * but unallocated, and "reserved in total" has the allocated in it. */
static void
take_number (SsOomMessage *self, const char *text, const Size *size, guint64 *reserved_bytes)
{
  guint64 bytes = told (size);

  if (precedes (text, size, "total capacity of ") || precedes (text, size, "total capacty of ")
      || follows (text, size, " total capacity"))
    self->capacity_bytes = bytes;
  else if (follows (text, size, " already allocated")
           || follows (text, size, " is allocated by PyTorch"))
    self->allocated_bytes = bytes;
  else if (follows (text, size, " is reserved by PyTorch but unallocated")
           || follows (text, size, " cached)"))
    self->unallocated_bytes = bytes;
  else if (follows (text, size, " reserved in total"))
    *reserved_bytes = bytes;
  else if (follows (text, size, " is free") || follows (text, size, " free;"))
    self->free_bytes = bytes;
  else if (follows (text, size, " allowed;"))
    self->limit_bytes = bytes;
  else if (precedes (text, size, "this process has "))
    self->process_bytes = bytes;
}

static void
take_numbers (SsOomMessage *self, const char *text)
{
  gsize at = 0, end = MIN (strlen (text), (gsize) WINDOW);
  guint64 reserved_bytes = SS_OOM_NOT_SAID;
  Size size;

  while (next_size (text, &at, end, &size))
    take_number (self, text, &size, &reserved_bytes);
  if (reserved_bytes != SS_OOM_NOT_SAID && self->allocated_bytes != SS_OOM_NOT_SAID
      && reserved_bytes >= self->allocated_bytes)
    self->unallocated_bytes = reserved_bytes - self->allocated_bytes;
}

static gboolean
refuse (GError **error, const char *text)
{
  g_autofree char *shown = g_strndup (text, SHOWN);

  g_set_error (error, SS_OOM_MESSAGE_ERROR, SS_OOM_MESSAGE_ERROR_SIZE,
               "\"%s\" is no size; one as PyTorch prints it was expected: 786.00 MiB", shown);
  return FALSE;
}

/* The size at the beginning of `text` is what was asked for. */
static gboolean
take_asked (SsOomMessage *self, const char *text, GError **error)
{
  g_autofree char *number = NULL, *unit = NULL;
  Size size;

  if (*text == ' ')
    text++;
  if (g_ascii_strncasecmp (text, "more than 1EB", strlen ("more than 1EB")) == 0)
    {
      g_set_error (error, SS_OOM_MESSAGE_ERROR, SS_OOM_MESSAGE_ERROR_SIZE,
                   "a request for more than 1EB (2^60 bytes) is no tensor of any run, but a size "
                   "that went wrong, as a negative one does");
      return FALSE;
    }
  if (!read_size (text, 0, &size) || size.high_bytes < 1 || size.high_bytes >= MONSTROUS_BYTES)
    return refuse (error, text);
  number = g_strndup (text, size.end_of_number);
  unit = g_strndup (text + size.end_of_number, size.end - size.end_of_number);
  self->text = g_strdup_printf ("%s %s", number, g_strchug (unit));
  self->low_bytes = (guint64) MAX (size.low_bytes, 1);
  self->high_bytes = (guint64) size.high_bytes;
  return TRUE;
}

/* "trying to allocate 901775360 bytes (free: 4194304, total: 1073741824)": of 2.14's warning, which
 * stands in front of the exception and has all digits. */
static gboolean
take_warning (SsOomMessage *self, const char *flat, guint64 *free_bytes, guint64 *total_bytes)
{
  const char *at = behind_last (flat, "while trying to allocate ");
  guint64 bytes;
  char *end;

  if (at == NULL || !g_ascii_isdigit (*at))
    return FALSE;
  bytes = g_ascii_strtoull (at, &end, 10);
  if (bytes == 0 || (double) bytes >= MONSTROUS_BYTES || !g_str_has_prefix (end, " bytes (free: "))
    return FALSE;
  *free_bytes = g_ascii_strtoull (end + strlen (" bytes (free: "), &end, 10);
  *total_bytes = g_str_has_prefix (end, ", total: ")
                   ? g_ascii_strtoull (end + strlen (", total: "), NULL, 10) : SS_OOM_NOT_SAID;
  if (self->text != NULL && (bytes < self->low_bytes || bytes > self->high_bytes))
    return FALSE;
  self->low_bytes = self->high_bytes = bytes;
  return TRUE;
}

static gboolean
take_whole (SsOomMessage *self, const char *flat, const char *asked, GError **error)
{
  guint64 free_bytes, total_bytes;

  if (!take_asked (self, asked, error))
    return FALSE;
  take_numbers (self, asked);
  if (!self->is_request)
    take_warning (self, flat, &free_bytes, &total_bytes);
  return TRUE;
}

static gboolean
take_any (SsOomMessage *self, const char *flat, GError **error)
{
  const char *asked = behind_last (flat, "tried to allocate ");
  const char *rejected = behind_last (flat, "limit. requested size: ");
  Size size;

  self->is_request = rejected != NULL && (asked == NULL || rejected > asked);
  if (self->is_request || asked != NULL)
    return take_whole (self, flat, self->is_request ? rejected : asked, error);
  if (take_warning (self, flat, &self->free_bytes, &self->capacity_bytes))
    {
      self->text = g_strdup_printf ("%" G_GUINT64_FORMAT " bytes", self->low_bytes);
      return TRUE;
    }
  if (read_size (flat, 0, &size) && flat[size.end] == '\0')
    return take_asked (self, flat, error);
  if (g_ascii_isdigit (*flat) && strspn (flat, "0123456789.") == strlen (flat))
    return refuse (error, flat);
  g_set_error (error, SS_OOM_MESSAGE_ERROR, SS_OOM_MESSAGE_ERROR_NONE,
               "no \"Tried to allocate\" in it, and it is no size such as 786.00 MiB");
  return FALSE;
}

gboolean
ss_oom_message_parse (const char *text, gsize length, SsOomMessage *out, GError **error)
{
  g_autofree char *flat = flatten (text, length);

  *out = (SsOomMessage) {
    .capacity_bytes = SS_OOM_NOT_SAID, .free_bytes = SS_OOM_NOT_SAID,
    .allocated_bytes = SS_OOM_NOT_SAID, .unallocated_bytes = SS_OOM_NOT_SAID,
    .process_bytes = SS_OOM_NOT_SAID, .limit_bytes = SS_OOM_NOT_SAID,
  };
  if (take_any (out, flat, error))
    return TRUE;
  ss_oom_message_clear (out);
  return FALSE;
}

void
ss_oom_message_clear (SsOomMessage *self)
{
  g_clear_pointer (&self->text, g_free);
}

gboolean
ss_oom_message_fits (const SsOomMessage *self, guint64 bytes, guint64 segment_bytes)
{
  guint64 named_bytes = self->is_request ? bytes : segment_bytes;

  return named_bytes >= self->low_bytes && named_bytes <= self->high_bytes;
}

guint64
ss_oom_message_unused_bytes (const SsOomMessage *self)
{
  guint64 free_bytes = self->free_bytes, reserved_bytes;

  if (free_bytes == SS_OOM_NOT_SAID || self->unallocated_bytes == SS_OOM_NOT_SAID)
    return SS_OOM_NOT_SAID;
  if (self->limit_bytes != SS_OOM_NOT_SAID && self->allocated_bytes != SS_OOM_NOT_SAID)
    {
      reserved_bytes = self->allocated_bytes + self->unallocated_bytes;
      free_bytes = self->limit_bytes > reserved_bytes ? self->limit_bytes - reserved_bytes : 0;
    }
  return free_bytes + self->unallocated_bytes;
}
