/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/config.h"
#include "cli/console.h"

#define PLAIN_WIDTH 80

void
ss_terminal_options_clear (SsTerminalOptions *self)
{
  g_clear_pointer (&self->units, g_free);
  g_clear_pointer (&self->color, g_free);
}

static gboolean
read_units (const char *text, SsMemoryUnits *units)
{
  *units = SS_MEMORY_GIB;
  if (text == NULL || g_str_equal (text, "GiB"))
    return TRUE;
  *units = SS_MEMORY_GB;
  if (g_str_equal (text, "GB"))
    return TRUE;
  ss_console_error ("--units: \"%s\" is neither GiB nor GB", text);
  return FALSE;
}

/* NO_COLOR as no-color.org has it: set and not empty; what the user's own file says goes before. */
static gboolean
terminal_has_colour (void)
{
  const char *no_color = g_getenv ("NO_COLOR"), *term = g_getenv ("TERM");

  return isatty (STDOUT_FILENO) && (no_color == NULL || *no_color == '\0') && term != NULL
         && *term != '\0' && !g_str_equal (term, "dumb");
}

static gboolean
read_color (const char *text, gboolean *has_colour)
{
  *has_colour = FALSE;
  if (text != NULL && g_str_equal (text, "never"))
    return TRUE;
  *has_colour = TRUE;
  if (text != NULL && g_str_equal (text, "always"))
    return TRUE;
  *has_colour = terminal_has_colour ();
  if (text == NULL || g_str_equal (text, "auto"))
    return TRUE;
  ss_console_error ("--color: \"%s\" is none of auto, always, never", text);
  return FALSE;
}

/* COLUMNS wins, as in other programs; what is no terminal is 80 wide. */
static guint
terminal_width (void)
{
  const char *columns = g_getenv ("COLUMNS");
  guint64 asked = columns != NULL ? g_ascii_strtoull (columns, NULL, 10) : 0;
  struct winsize size;

  if (asked > 0)
    return (guint) MIN (asked, 1000);
  if (isatty (STDOUT_FILENO) && ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return PLAIN_WIDTH;
}

/* A file that is wrong is refused even where options leave nothing to it: it is not to be found out
 * later. */
static gboolean
load_config (SsConfig *config)
{
  g_autoptr (GError) error = NULL;

  if (ss_config_load (config, &error))
    return TRUE;
  ss_console_error ("%s", error->message);
  return FALSE;
}

gboolean
ss_terminal_units (const SsTerminalOptions *self, SsMemoryUnits *units)
{
  g_auto (SsConfig) config = { NULL };

  return load_config (&config)
         && read_units (self->units != NULL ? self->units : config.units, units);
}

gboolean
ss_terminal_style (const SsTerminalOptions *self, SsReportStyle *style)
{
  g_auto (SsConfig) config = { NULL };

  style->width = terminal_width ();
  style->is_utf8 = g_get_charset (NULL);
  return load_config (&config)
         && read_units (self->units != NULL ? self->units : config.units, &style->units)
         && read_color (self->color != NULL ? self->color : config.color, &style->has_colour);
}
