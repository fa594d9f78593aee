/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ops/core/tape.h"

static const SsTarget target = { .compute_capability = 90, .n_multiprocessors = 132 };

typedef struct
{
  GString *text;
  guint n_left;                  /* of allocations, until it has seen enough */
} Log;

static gboolean
log_allocate (const SsProgram *p, const SsInstruction *i, gpointer user_data)
{
  Log *log = user_data;

  g_string_append_printf (log->text, "+%u ", (guint) ss_program_storage (p, i->index)->bytes);
  return --log->n_left > 0;
}

static gboolean
log_release (const SsProgram *p, const SsInstruction *i, gpointer user_data)
{
  g_string_append_printf (((Log *) user_data)->text, "-%u ",
                          (guint) ss_program_storage (p, i->index)->bytes);
  return TRUE;
}

/* One after the other: 8 bytes, 16, 24, each released before the next but one is made. */
static SsProgram *
three_tensors (void)
{
  SsTape *t = ss_tape_new (&target);
  SsValue *held = NULL;

  ss_tape_begin_phase (t, SS_PHASE_FORWARD, 1, 1);
  for (gint64 n = 1; n <= 3; n++)
    ss_rebind (&held, ss_empty_sizes (t, SS_I64, SS_DIMS (n)));
  ss_drop (&held);
  ss_tape_finish (t);
  return ss_tape_seal (t, NULL);
}

Test (program, player_passes_over_what_a_visitor_has_no_function_for)
{
  static const SsProgramVisitor visitor = { .release = log_release };
  g_autoptr (SsProgram) p = three_tensors ();
  g_autoptr (GString) text = g_string_new (NULL);
  Log log = { text, 0 };

  cr_assert (eq (u32, ss_program_play (p, 0, &visitor, &log), ss_program_n_instructions (p)));
  cr_assert (eq (str, text->str, "-8 -16 -24 "));
}

Test (program, player_stops_behind_the_instruction_that_ends_it_and_goes_on_from_there)
{
  static const SsProgramVisitor visitor = { .allocate = log_allocate, .release = log_release };
  g_autoptr (SsProgram) p = three_tensors ();
  g_autoptr (GString) text = g_string_new (NULL);
  Log log = { text, 2 };
  guint next = ss_program_play (p, 0, &visitor, &log);

  /* the phase's mark and two allocations */
  cr_assert (eq (u32, next, 3));
  cr_assert (eq (str, text->str, "+8 +16 "));
  log.n_left = G_MAXUINT;
  cr_assert (eq (u32, ss_program_play (p, next, &visitor, &log), ss_program_n_instructions (p)));
  cr_assert (eq (str, text->str, "+8 +16 -8 +24 -16 -24 "));
}

Test (program, every_instruction_has_a_word_of_its_own_and_a_meaning)
{
  static const char *const texts[][2] = {
#define X(NAME, member, word, meaning) { word, meaning },
    SS_INSTRUCTION_LIST (X)
#undef X
  };

  for (guint i = 0; i < SS_N_INSTRUCTION_TYPES; i++)
    {
      cr_assert (gt (sz, strlen (texts[i][1]), 0), "%s", texts[i][0]);
      for (guint k = 0; k < i; k++)
        cr_assert (ne (str, (char *) texts[i][0], (char *) texts[k][0]));
    }
}
