/* SPDX-License-Identifier: MIT */
#include "optimizer-fixture.h"

/* no workspace: an outer product does not bring one */
static const SsTarget h100 = { 90, 132, 2048, 0, FALSE };

OptimizerFixture
optimizer_fixture (const char *optimizer, SsImplementation implementation)
{
  OptimizerFixture f = {
    .tape = ss_tape_new (&h100),
    .parameters = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_value_unref),
  };

  ss_tape_keep_operands (f.tape);
  ss_tape_set_grad_enabled (f.tape, FALSE);
  /* phase load is what the constructor makes, and no more */
  ss_tape_begin_phase (f.tape, SS_PHASE_FORWARD, 0, 0);
  fixture_add (&f, SS_DIMS (64, 32), TRUE);
  fixture_add (&f, SS_DIMS (100), TRUE);
  if (optimizer)
    fixture_begin (&f, optimizer, implementation);
  return f;
}

void
fixture_add (OptimizerFixture *f, guint n_dims, const gint64 *size, gboolean has_gradient)
{
  SsValue *v = ss_parameter (f->tape, SS_F32, n_dims, size, TRUE);

  if (has_gradient)
    v->leaf->grad = ss_keep (ss_empty (f->tape, &v->tensor));
  g_ptr_array_add (f->parameters, v);
}

void
fixture_begin (OptimizerFixture *f, const char *optimizer, SsImplementation implementation)
{
  ss_tape_begin_phase (f->tape, SS_PHASE_LOAD, 0, 0);
  f->settings.klass = ss_optimizer_find (optimizer);
  f->settings.implementation = implementation;
  ss_optimizer_init (&f->run, &f->settings, f->tape, f->parameters);
  ss_optimizer_construct (&f->run);
}

void
fixture_next_step (OptimizerFixture *f)
{
  ss_tape_begin_phase (f->tape, SS_PHASE_OPTIMIZER, ++f->step, 0);
}

SsProgram *
fixture_seal (OptimizerFixture *f)
{
  ss_tape_finish (f->tape);
  ss_optimizer_clear (&f->run);
  g_ptr_array_unref (f->parameters);
  return ss_tape_seal (f->tape, NULL);
}

/* ---- what the program says ---- */

static gint
larger_first (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x > y ? -1 : x < y;
}

static void
put (GString *text, char sign, guint64 bytes)
{
  g_string_append_printf (text, "%s%c%" G_GUINT64_FORMAT, text->len ? " " : "", sign, bytes);
}

static void
put_releases (GString *text, GArray *releases)
{
  g_array_sort (releases, larger_first);
  for (guint i = 0; i < releases->len; i++)
    put (text, '-', g_array_index (releases, guint64, i));
  g_array_set_size (releases, 0);
}

/* Follows the marks: TRUE between the phase's own and the next. */
static gboolean
is_within (const SsProgram *p, SsInstructionType type, guint32 index, SsPhase phase, guint step,
           gboolean was_within)
{
  const SsMark *mark = type == SS_MARK ? ss_program_mark (p, index) : NULL;

  if (!mark || (mark->type != SS_MARK_PHASE && mark->type != SS_MARK_END))
    return was_within;
  return mark->type == SS_MARK_PHASE && mark->phase == phase && mark->step == step;
}

char *
requests_of (const SsProgram *p, SsPhase phase, guint step)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GArray) releases = g_array_new (FALSE, FALSE, sizeof (guint64));
  gboolean within = FALSE;

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index = ss_program_instruction (p, i)->index;
      SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;

      within = is_within (p, type, index, phase, step, within);
      if (within && type == SS_RELEASE)
        g_array_append_val (releases, ss_program_storage (p, index)->bytes);
      if (within && type == SS_ALLOCATE)
        {
          put_releases (text, releases);
          put (text, '+', ss_program_storage (p, index)->bytes);
        }
    }
  put_releases (text, releases);
  return g_string_free (text, FALSE);
}

guint64
bytes_moved_of (const SsProgram *p, SsPhase phase, guint step)
{
  guint64 bytes = 0;
  gboolean within = FALSE;

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index = ss_program_instruction (p, i)->index;
      SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;

      within = is_within (p, type, index, phase, step, within);
      if (within && type == SS_RUN)
        bytes += ss_program_op (p, index)->bytes;
    }
  return bytes;
}

char *
ops_of (const SsProgram *p, SsPhase phase, guint step)
{
  GString *text = g_string_new (NULL);
  gboolean within = FALSE;

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index = ss_program_instruction (p, i)->index;
      SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;

      within = is_within (p, type, index, phase, step, within);
      if (within && type == SS_RUN)
        g_string_append_printf (text, "%s%s", text->len ? " " : "",
                                ss_op_name (ss_program_op (p, index)));
    }
  return g_string_free (text, FALSE);
}
