/* SPDX-License-Identifier: MIT */
#include "hw/problems.h"

#include <string.h>

/* A line longer than this helps nobody; it comes from a value that is not what it should be. */
#define MAX_TEXT_BYTES 600
/* A list up to this length is shown whole. */
#define SHORT_LIST 5
#define MAX_LISTED 24
#define MAX_NAME_BYTES 64

typedef struct
{
  char *text;                    /* "file:line: what" */
  guint file_order;
  gint line;
  guint sequence;
} Problem;

struct _SsProblems
{
  GArray *kept;                  /* Problem */
  GPtrArray *files;              /* names in order of first appearance */
  guint count;
};

G_DEFINE_QUARK (ss-hw-error-quark, ss_hw_error)

static void
problem_clear (gpointer data)
{
  g_free (((Problem *) data)->text);
}

SsProblems *
ss_problems_new (void)
{
  SsProblems *self = g_new0 (SsProblems, 1);

  self->kept = g_array_new (FALSE, FALSE, sizeof (Problem));
  g_array_set_clear_func (self->kept, problem_clear);
  self->files = g_ptr_array_new_with_free_func (g_free);
  return self;
}

void
ss_problems_free (SsProblems *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->kept);
  g_ptr_array_unref (self->files);
  g_free (self);
}

static guint
order_of_file (SsProblems *self, const char *file)
{
  for (guint i = 0; i < self->files->len; i++)
    if (g_str_equal (self->files->pdata[i], file))
      return i;
  g_ptr_array_add (self->files, g_strdup (file));
  return self->files->len - 1;
}

/* One line of valid UTF-8 whatever the file held: no control characters, no text that reorders
 * others. */
static char *
one_clean_line (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *line = g_string_new (NULL);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);
      GUnicodeType type = g_unichar_type (c);

      if (line->len >= MAX_TEXT_BYTES)
        {
          g_string_append (line, "...");
          break;
        }
      if (type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT || type == G_UNICODE_LINE_SEPARATOR
          || type == G_UNICODE_PARAGRAPH_SEPARATOR)
        c = '?';
      g_string_append_unichar (line, c);
    }
  return g_string_free (line, FALSE);
}

void
ss_problems_add (SsProblems *self, const char *file, gint line, const char *format, ...)
{
  Problem problem = { .line = MAX (line, 0) };
  g_autofree char *what = NULL, *met = NULL;
  va_list arguments;

  if (self->kept->len >= SS_PROBLEMS_MAX)
    {
      self->count++;
      return;
    }
  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  met = line > 0 ? g_strdup_printf ("%s:%d: %s", file, line, what)
                 : g_strdup_printf ("%s: %s", file, what);
  problem.text = one_clean_line (met);
  for (guint i = 0; i < self->kept->len; i++)
    if (g_str_equal (g_array_index (self->kept, Problem, i).text, problem.text))
      {
        g_free (problem.text);
        return;
      }
  self->count++;
  problem.file_order = order_of_file (self, file);
  problem.sequence = self->count;
  g_array_append_val (self->kept, problem);
}

guint
ss_problems_count (const SsProblems *self)
{
  return self->count;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const Problem *x = a, *y = b;

  if (x->file_order != y->file_order)
    return x->file_order < y->file_order ? -1 : 1;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

gboolean
ss_problems_settle (SsProblems *self, GError **error)
{
  g_autoptr (GString) all = g_string_new (NULL);

  if (self->count == 0)
    return TRUE;
  g_array_sort (self->kept, compare);
  for (guint i = 0; i < self->kept->len; i++)
    g_string_append_printf (all, "%s%s", i ? "\n" : "",
                            g_array_index (self->kept, Problem, i).text);
  if (self->count > self->kept->len)
    g_string_append_printf (all, "\nand %u more problems", self->count - self->kept->len);
  g_set_error_literal (error, SS_HW_ERROR, SS_HW_ERROR_INPUT, all->str);
  return FALSE;
}

/* ---- near names ---- */

/* Levenshtein distance in bytes. */
static guint
distance (const char *a, const char *b)
{
  guint row[MAX_NAME_BYTES + 1], n = (guint) strlen (b);

  for (guint j = 0; j <= n; j++)
    row[j] = j;
  for (guint i = 1; a[i - 1] != '\0'; i++)
    {
      guint diagonal = row[0];

      row[0] = i;
      for (guint j = 1; j <= n; j++)
        {
          guint changed = diagonal + (g_ascii_tolower (a[i - 1]) != g_ascii_tolower (b[j - 1]));

          diagonal = row[j];
          row[j] = MIN (MIN (row[j], row[j - 1]) + 1, changed);
        }
    }
  return row[n];
}

/* How many words of `met` ("h100" of "h100-96gb") stand in `name`. */
static guint
shared_words (const char *met, const char *name)
{
  g_auto (GStrv) words = g_strsplit_set (met, "-_ ./", -1);
  g_autofree char *lower = g_ascii_strdown (name, -1);
  guint n = 0;

  for (guint i = 0; words[i] != NULL; i++)
    {
      g_autofree char *word = g_ascii_strdown (words[i], -1);

      n += strlen (word) >= 3 && strstr (lower, word) != NULL;
    }
  return n;
}

/* "a100" of "a100-sxm-80gb" */
static gboolean
begins_with_words (const char *name, const char *met)
{
  gsize n = strlen (met);

  return g_ascii_strncasecmp (name, met, n) == 0 && name[n] == '-';
}

/* 0: not near. A slip of the keyboard is nearer than any number of shared words, and the first
 * words of a name, whole, are nearer than that. */
static guint
nearness (const char *met, const char *name)
{
  gsize n = strlen (met);

  if (n == 0 || n > MAX_NAME_BYTES || strlen (name) > MAX_NAME_BYTES)
    return 0;
  if (begins_with_words (name, met))
    return 2 * MAX_NAME_BYTES;
  return shared_words (met, name) + (distance (met, name) <= MAX (n / 4, 1) ? MAX_NAME_BYTES : 0);
}

char *
ss_problems_suggest (const char *met, const char *const *known)
{
  guint n = g_strv_length ((char **) known), listed = 0, nearest = 1;
  GString *text = g_string_new (NULL);

  for (guint i = 0; n > SHORT_LIST && i < n; i++)
    nearest = MAX (nearest, nearness (met, known[i]));
  for (guint i = 0; n > SHORT_LIST && i < n && listed < MAX_LISTED; i++)
    if (nearness (met, known[i]) == nearest)
      g_string_append_printf (text, "%s%s", listed++ ? ", " : "near: ", known[i]);
  if (listed == 0)
    for (guint i = 0; i < MIN (n, MAX_LISTED); i++)
      g_string_append_printf (text, "%s%s", i ? ", " : "known: ", known[i]);
  if (listed == 0 && n > MAX_LISTED)
    g_string_append (text, ", ...");
  if (n == 0)
    g_string_append (text, "none is known");
  return g_string_free (text, FALSE);
}
