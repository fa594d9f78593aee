/* SPDX-License-Identifier: MIT */
#include "cli/error-groups.h"

#include "output/formats/json-text.h"

typedef struct
{
  char *name;
  GArray *errors;                /* double */
} Group;

struct _SsErrorGroups
{
  GPtrArray *groups;             /* Group */
};

static void
group_free (gpointer data)
{
  Group *group = data;

  g_free (group->name);
  g_array_unref (group->errors);
  g_free (group);
}

SsErrorGroups *
ss_error_groups_new (void)
{
  SsErrorGroups *self = g_new (SsErrorGroups, 1);

  self->groups = g_ptr_array_new_with_free_func (group_free);
  return self;
}

void
ss_error_groups_free (SsErrorGroups *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->groups);
  g_free (self);
}

static Group *
find (const SsErrorGroups *self, const char *name)
{
  for (guint i = 0; i < self->groups->len; i++)
    {
      Group *group = self->groups->pdata[i];

      if (g_str_equal (group->name, name))
        return group;
    }
  return NULL;
}

void
ss_error_groups_add (SsErrorGroups *self, const char *name, double error_percent)
{
  Group *group = find (self, name);

  if (group == NULL)
    {
      group = g_new (Group, 1);
      group->name = g_strdup (name);
      group->errors = g_array_new (FALSE, FALSE, sizeof (double));
      g_ptr_array_add (self->groups, group);
    }
  g_array_append_val (group->errors, error_percent);
}

SsErrorSummary
ss_error_groups_summary (const SsErrorGroups *self, const char *name)
{
  const Group *group = find (self, name);

  return group != NULL ? ss_error_summary (group->errors) : (SsErrorSummary) { 0 };
}

void
ss_append_number (GString *text, const char *format, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, g_ascii_formatd (number, sizeof number, format, value));
}

void
ss_error_summary_append_text (SsErrorSummary summary, GString *text)
{
  g_string_append_printf (text, "%4u rows", summary.n);
  if (summary.n > 0)
    {
      g_string_append (text, ", median ");
      ss_append_number (text, "%.1f", summary.median_abs);
      g_string_append (text, " %, p90 ");
      ss_append_number (text, "%.1f", summary.p90_abs);
      g_string_append (text, " %, signed median ");
      ss_append_number (text, "%+.1f", summary.median_signed);
      g_string_append (text, " %");
    }
  g_string_append_c (text, '\n');
}

void
ss_error_summary_append_json (SsErrorSummary summary, GString *json)
{
  g_string_append_printf (json, "\"rows\":%u,\"median_abs_error\":", summary.n);
  if (summary.n == 0)
    {
      g_string_append (json, "null,\"p90_abs_error\":null,\"median_signed_error\":null");
      return;
    }
  ss_append_number (json, "%.4f", summary.median_abs);
  g_string_append (json, ",\"p90_abs_error\":");
  ss_append_number (json, "%.4f", summary.p90_abs);
  g_string_append (json, ",\"median_signed_error\":");
  ss_append_number (json, "%.4f", summary.median_signed);
}

void
ss_error_groups_append_text (const SsErrorGroups *self, GString *text)
{
  for (guint i = 0; i < self->groups->len; i++)
    {
      const Group *group = self->groups->pdata[i];

      g_string_append_printf (text, "  %-28s", group->name);
      ss_error_summary_append_text (ss_error_summary (group->errors), text);
    }
}

void
ss_error_groups_append_json (const SsErrorGroups *self, GString *json)
{
  g_string_append_c (json, '{');
  for (guint i = 0; i < self->groups->len; i++)
    {
      const Group *group = self->groups->pdata[i];

      g_string_append (json, i > 0 ? "," : "");
      ss_json_append_text (json, group->name);
      g_string_append (json, ":{");
      ss_error_summary_append_json (ss_error_summary (group->errors), json);
      g_string_append_c (json, '}');
    }
  g_string_append_c (json, '}');
}
