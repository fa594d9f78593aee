/* SPDX-License-Identifier: MIT */
#include "hw/xml-node-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any file of ours has in one element: libxml2 compares each with every other. */
#define MAX_ATTRIBUTES 256

static const char *
kind_of_file (mode_t mode)
{
  if (S_ISDIR (mode))
    return "is a folder";
  if (S_ISFIFO (mode))
    return "is a pipe; a regular file is expected";
  if (S_ISSOCK (mode))
    return "is a socket; a regular file is expected";
  return "is a device; a regular file is expected";
}

/* Opens without waiting, as a pipe that nobody writes to would make us do. */
static int
open_regular (const char *path, SsProblems *problems)
{
  int fd = g_open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  struct stat info;

  if (fd < 0)
    {
      ss_problems_add (problems, path, 0, "cannot be opened: %s", g_strerror (errno));
      return -1;
    }
  if (fstat (fd, &info) < 0)
    ss_problems_add (problems, path, 0, "cannot be read: %s", g_strerror (errno));
  else if (!S_ISREG (info.st_mode))
    ss_problems_add (problems, path, 0, "%s", kind_of_file (info.st_mode));
  else if (info.st_size > SS_XML_MAX_BYTES)
    ss_problems_add (problems, path, 0, "is %" G_GINT64_FORMAT " bytes long; at most %d are read",
                     (gint64) info.st_size, SS_XML_MAX_BYTES);
  else
    return fd;
  g_close (fd, NULL);
  return -1;
}

/* At most SS_XML_MAX_BYTES, also of a file that grows meanwhile. */
static char *
read_bytes (const char *path, gsize *n_bytes, SsProblems *problems)
{
  int fd = open_regular (path, problems);
  g_autofree char *text = NULL;
  gsize n = 0;
  gssize got = 1;

  if (fd < 0)
    return NULL;
  text = g_malloc (SS_XML_MAX_BYTES + 2);
  while (got > 0 && n <= SS_XML_MAX_BYTES)
    {
      do
        got = read (fd, text + n, SS_XML_MAX_BYTES + 1 - n);
      while (got < 0 && errno == EINTR);
      n += got > 0 ? (gsize) got : 0;
    }
  if (got < 0)
    ss_problems_add (problems, path, 0, "cannot be read: %s", g_strerror (errno));
  else if (n > SS_XML_MAX_BYTES)
    ss_problems_add (problems, path, 0, "is longer than %d bytes", SS_XML_MAX_BYTES);
  g_close (fd, NULL);
  if (got < 0 || n > SS_XML_MAX_BYTES)
    return NULL;
  text[n] = '\0';
  *n_bytes = n;
  return g_steal_pointer (&text);
}

static gint
line_of (const char *text, const char *end)
{
  gint line = 1;

  for (const char *p = text; p < end; p++)
    line += *p == '\n';
  return line;
}

/* The encoding the XML declaration names, or NULL. */
static char *
declared_encoding (const char *text)
{
  const char *end = g_str_has_prefix (text, "<?xml") ? strstr (text, "?>") : NULL;
  const char *word = end == NULL ? NULL : g_strstr_len (text, end - text, "encoding");
  gsize n;

  if (word == NULL)
    return NULL;
  word += strlen ("encoding");
  word += strspn (word, " \t\r\n=\"'");
  n = strcspn (word, "\"' ?>\t\r\n");
  return g_strndup (word, n);
}

/* TRUE if it is UTF-8 and does not say otherwise. */
static gboolean
is_utf8 (const char *path, const char *text, gsize n, SsProblems *problems)
{
  g_autofree char *declared = declared_encoding (text);
  const char *end;

  if (!g_utf8_validate_len (text, n, &end))
    {
      if (*end == '\0')
        ss_problems_add (problems, path, line_of (text, end),
                         "holds a zero byte; it is not a text file");
      else
        ss_problems_add (problems, path, line_of (text, end),
                         "byte 0x%02X is not valid UTF-8; save the file as UTF-8",
                         (guint) (guchar) *end);
      return FALSE;
    }
  if (declared == NULL || g_ascii_strcasecmp (declared, "UTF-8") == 0 || g_str_is_ascii (text))
    return TRUE;
  ss_problems_add (problems, path, 1, "declares the encoding \"%s\"; save the file as UTF-8",
                   declared);
  return FALSE;
}

static gboolean
has_bounded_elements (const char *path, const char *text, SsProblems *problems)
{
  guint n_attributes = 0;

  for (const char *p = text; *p != '\0'; p++)
    if (*p == '<')
      n_attributes = 0;
    else if (*p == '=' && ++n_attributes > MAX_ATTRIBUTES)
      {
        const char *value = p + 1 + strspn (p + 1, " \t\r\n");

        if (*value != '"' && *value != '\'')
          n_attributes--;
        else
          {
            ss_problems_add (problems, path, line_of (text, p),
                             "an element has more than %d attributes", MAX_ATTRIBUTES);
            return FALSE;
          }
      }
  return TRUE;
}

/* UTF-16 with its byte order mark, as some editors save it, becomes UTF-8. */
static char *
utf8_from (const char *path, char *text, gsize n, SsProblems *problems)
{
  const guchar *start = (const guchar *) text;
  gboolean is_utf16
      = n >= 2
        && ((start[0] == 0xFF && start[1] == 0xFE) || (start[0] == 0xFE && start[1] == 0xFF));
  g_autofree char *met = text, *utf8 = NULL;
  gsize n_utf8;

  if (!is_utf16)
    return is_utf8 (path, text, n, problems) ? g_steal_pointer (&met) : NULL;
  utf8 = g_convert (text, (gssize) n, "UTF-8", "UTF-16", NULL, &n_utf8, NULL);
  if (utf8 != NULL && strlen (utf8) == n_utf8)
    return g_steal_pointer (&utf8);
  ss_problems_add (problems, path, 0, "begins as UTF-16 but is not; save the file as UTF-8");
  return NULL;
}

char *
ss_xml_load_text (const char *path, SsProblems *problems)
{
  gsize n = 0;
  char *bytes = read_bytes (path, &n, problems);
  g_autofree char *text = bytes == NULL ? NULL : utf8_from (path, bytes, n, problems);

  if (text == NULL)
    return NULL;
  if (g_str_has_prefix (text, "\xEF\xBB\xBF"))
    memmove (text, text + 3, strlen (text + 3) + 1);
  if (text[strspn (text, " \t\r\n")] == '\0')
    {
      ss_problems_add (problems, path, 0, "is empty");
      return NULL;
    }
  return has_bounded_elements (path, text, problems) ? g_steal_pointer (&text) : NULL;
}
