/* SPDX-License-Identifier: MIT */
#include "plan/chain-schedule.h"

#include <string.h>

#include "plan/chain.h"

static const char letters[] = "FSB";

SsChainSchedule *
ss_chain_schedule_new (void)
{
  SsChainSchedule *self = g_new0 (SsChainSchedule, 1);

  self->ops = g_array_new (FALSE, FALSE, sizeof (SsChainOp));
  return self;
}

void
ss_chain_schedule_free (SsChainSchedule *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->ops);
  g_free (self);
}

void
ss_chain_schedule_add (SsChainSchedule *self, SsChainOpKind kind, guint stage)
{
  SsChainOp op = { kind, stage };

  g_array_append_val (self->ops, op);
}

void
ss_chain_schedule_add_up (SsChainSchedule *self, SsChainOpKind kind, guint first, guint last)
{
  for (guint i = first; i <= last; i++)
    ss_chain_schedule_add (self, kind, i);
}

void
ss_chain_schedule_add_backward (SsChainSchedule *self, guint first, guint last)
{
  for (guint i = last; i >= first && i > 0; i--)
    ss_chain_schedule_add (self, SS_CHAIN_BACKWARD, i);
}

guint
ss_chain_schedule_n_ops (const SsChainSchedule *self)
{
  return self->ops->len;
}

const SsChainOp *
ss_chain_schedule_op (const SsChainSchedule *self, guint index)
{
  return &g_array_index (self->ops, SsChainOp, index);
}

static gboolean
parse_word (const char *word, SsChainOp *op)
{
  const char *letter = strchr (letters, word[0]);
  guint64 stage;

  if (letter == NULL || *letter == '\0'
      || !g_ascii_string_to_unsigned (word + 1, 10, 1, SS_CHAIN_MAX_STAGES, &stage, NULL))
    return FALSE;
  op->kind = (SsChainOpKind) (letter - letters);
  op->stage = (guint) stage;
  return TRUE;
}

SsChainSchedule *
ss_chain_schedule_parse (const char *text, GError **error)
{
  g_autoptr (SsChainSchedule) self = ss_chain_schedule_new ();
  g_auto (GStrv) words = g_strsplit_set (text, " \t\r\n", -1);

  for (char **word = words; *word != NULL; word++)
    {
      SsChainOp op;

      if (**word == '\0')
        continue;
      if (!parse_word (*word, &op))
        {
          g_set_error (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_SCHEDULE,
                       "op %u, \"%.20s\", is not F, S or B with the number of a stage",
                       self->ops->len, *word);
          return NULL;
        }
      g_array_append_val (self->ops, op);
    }
  return g_steal_pointer (&self);
}

char *
ss_chain_schedule_to_string (const SsChainSchedule *self)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->ops->len; i++)
    {
      const SsChainOp *op = ss_chain_schedule_op (self, i);

      g_string_append_printf (text, "%s%c%u", i > 0 ? " " : "", letters[op->kind], op->stage);
    }
  return g_string_free (text, FALSE);
}
