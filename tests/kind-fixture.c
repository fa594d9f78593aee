/* SPDX-License-Identifier: MIT */
#include "kind-fixture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ops/core/autograd.h"
#include "trace-fixture.h"

/* ---- inputs ---- */

SsValue *
kind_input (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size)
{
  return ss_keep (ss_empty_sizes (t, dtype, n_dims, size));
}

SsValue *
kind_leaf (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size)
{
  SsValue *x = kind_input (t, dtype, n_dims, size);

  ss_require_grad (x);
  return x;
}

/* ---- what a program did ---- */

static void
print_operands (const SsProgram *p, guint32 first, guint n, GString *text)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *x = ss_tensor_to_string (ss_program_operand (p, first + i));

      g_string_append_printf (text, " %s", x);
    }
}

/* "aten::mul.Tensor bf16[2x8] bf16[8] -> bf16[2x8] 32": the bytes are those made for the op and
 * alive at once. */
static char *
print_ops (const SsProgram *p)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint64 alive = 0, peak = 0;
  guint32 op_id = G_MAXUINT32;

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index = ss_program_instruction (p, i)->index;
      SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;
      guint32 of = type == SS_RUN ? index : G_MAXUINT32;

      if (type == SS_MARK)
        op_id = G_MAXUINT32;
      if (type == SS_ALLOCATE)
        of = ss_program_storage (p, index)->op_id;
      if (of != G_MAXUINT32 && of != op_id)
        {
          op_id = of;
          alive = peak = 0;
        }
      if (type == SS_ALLOCATE)
        alive += ss_program_storage (p, index)->bytes;
      else if (type == SS_RELEASE && ss_program_storage (p, index)->op_id == op_id)
        alive -= ss_program_storage (p, index)->bytes;
      peak = MAX (peak, alive);
      if (type == SS_RUN)
        {
          const SsOp *op = ss_program_op (p, index);

          g_string_append_printf (text, "%s.%s", ss_op_name (op), ss_op_overload (op));
          print_operands (p, op->first_operand, op->n_inputs, text);
          g_string_append (text, " ->");
          print_operands (p, op->first_operand + op->n_inputs, op->n_outputs, text);
          g_string_append_printf (text, " %" G_GUINT64_FORMAT "\n", peak);
        }
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* ---- the table ---- */

static void
check (const KindRow *row)
{
  SsTarget target = fixture_h100;
  SsTape *t;
  guint64 saved_bytes = 0;
  g_autoptr (SsProgram) p = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *ops = NULL;

  target.workspace_bytes = 0;
  t = ss_tape_new (&target);
  ss_tape_keep_operands (t);
  ss_tape_begin_phase (t, SS_PHASE_FORWARD, 1, 1);
  {
    g_autoptr (SsValue) y = row->run (t);

    if (y && y->node)
      {
        g_autoptr (SsValue) gradient = ss_keep (ss_empty (t, &y->tensor));

        saved_bytes = ss_saved_bytes (t, y);
        KIND_BEGIN (t);
        ss_backward (t, y, gradient);
      }
  }
  p = ss_tape_seal (t, &error);
  cr_assert (eq (ptr, error, NULL), "%s", row->name);
  ops = print_ops (p);
  cr_expect (eq (str, ops, (char *) row->ops), "%s", row->name);
  cr_expect (eq (u64, saved_bytes, row->saved_bytes), "%s", row->name);
}

void
kind_check (guint n, const KindRow *rows)
{
  for (guint i = 0; i < n; i++)
    check (&rows[i]);
}
