/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/simulation.h"

/* A walk over the program beside the events it led to: each request of it is one event. */
typedef struct
{
  const SsProgram *program;
  const SsRecording *recording;
  GString *csv;
  guint32 next_event;
  guint64 allocated_bytes;
  /* of the op whose row is being made */
  guint32 op_id;                 /* G_MAXUINT32: none */
  gboolean has_run;
  guint64 before_bytes, peak_bytes;
} Walk;

/* A list longer than this is counted, not shown. */
#define MAX_OPERANDS_SHOWN 8

/* As the recordings of data/pytorch have it: types that are seldom met in their full name. */
static void
write_operand (GString *csv, const SsTensor *x)
{
  g_autofree char *text = ss_tensor_to_string (x);

  switch ((SsDtype) x->dtype)
    {
    case SS_U64:
      g_string_append_printf (csv, "torch.uint64%s", strchr (text, '['));
      break;
    case SS_F64:
      g_string_append_printf (csv, "torch.float64%s", strchr (text, '['));
      break;
    case SS_BOOL:
    case SS_U8:
    case SS_I32:
    case SS_I64:
    case SS_F16:
    case SS_BF16:
    case SS_F32:
    case SS_N_DTYPES:
      g_string_append (csv, text);
      break;
    }
}

static void
write_operands (Walk *walk, guint32 first, guint n)
{
  if (n > MAX_OPERANDS_SHOWN)
    g_string_append_printf (walk->csv, "%u tensors", n);
  for (guint i = 0; i < n && n <= MAX_OPERANDS_SHOWN; i++)
    {
      if (i > 0)
        g_string_append_c (walk->csv, ' ');
      write_operand (walk->csv, ss_program_operand (walk->program, first + i));
    }
  g_string_append_c (walk->csv, ',');
}

/* "aten.mul.Tensor", "triton._triton_rope" */
static void
write_name (GString *csv, const SsOp *op)
{
  g_auto (GStrv) parts = g_strsplit (ss_op_name (op), "::", 2);

  g_string_append (csv, parts[0]);
  if (parts[1])
    g_string_append_printf (csv, ".%s", parts[1]);
  if (ss_op_overload (op))
    g_string_append_printf (csv, ".%s", ss_op_overload (op));
  g_string_append_c (csv, ',');
}

/* An op's row can be written when its own temporaries are gone, which is when something else
 * happens. */
static void
finish_row (Walk *walk)
{
  const SsOp *op;
  const SsPhaseRecord *phase;

  if (walk->op_id == G_MAXUINT32 || !walk->has_run)
    return;
  op = ss_program_op (walk->program, walk->op_id);
  phase = &g_array_index (walk->recording->phases, SsPhaseRecord,
                          g_array_index (walk->recording->ops, SsOpEvent, walk->op_id).phase);
  g_string_append_printf (walk->csv, "%u,%u,%s,", phase->step, phase->micro_batch, phase->name);
  write_name (walk->csv, op);
  write_operands (walk, op->first_operand, op->n_inputs);
  write_operands (walk, op->first_operand + op->n_inputs, op->n_outputs);
  g_string_append_printf (walk->csv,
                          "%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "\n",
                          walk->before_bytes, walk->peak_bytes, walk->allocated_bytes);
  walk->op_id = G_MAXUINT32;
}

static void
begin_row (Walk *walk, guint32 op_id)
{
  if (walk->op_id == op_id)
    return;
  finish_row (walk);
  walk->op_id = op_id;
  walk->has_run = FALSE;
  walk->before_bytes = walk->peak_bytes = walk->allocated_bytes;
}

/* FALSE: the run ended in front of this request. */
static gboolean
take_event (Walk *walk)
{
  const GArray *memory = walk->recording->memory;

  while (walk->next_event < memory->len)
    {
      const SsMemoryEvent *event = &g_array_index (memory, SsMemoryEvent, walk->next_event++);

      if (event->action == SS_EVENT_OOM)
        return FALSE;
      if (event->action != SS_EVENT_ALLOC && event->action != SS_EVENT_FREE)
        continue;
      walk->allocated_bytes = event->allocated_bytes;
      walk->peak_bytes = MAX (walk->peak_bytes, event->allocated_bytes);
      return TRUE;
    }
  return FALSE;
}

/* FALSE: the run ended here. */
static gboolean
meet_allocate (const SsProgram *program, const SsInstruction *i, gpointer walk)
{
  const SsStorageInfo *storage = ss_program_storage (program, i->index);

  begin_row (walk, storage->op_id);
  return storage->bytes == 0 || take_event (walk);
}

static gboolean
meet_release (const SsProgram *program, const SsInstruction *i, gpointer walk)
{
  const SsStorageInfo *storage = ss_program_storage (program, i->index);

  if (!storage->is_scratch)
    finish_row (walk);
  return storage->bytes == 0 || take_event (walk);
}

static gboolean
meet_run (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  Walk *walk = user_data;

  begin_row (walk, i->index);
  walk->has_run = TRUE;
  return TRUE;
}

/* What was made before, by no op, is not of the next one. */
static gboolean
meet_mark (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i G_GNUC_UNUSED,
           gpointer user_data)
{
  Walk *walk = user_data;

  finish_row (walk);
  walk->op_id = G_MAXUINT32;
  return TRUE;
}

static void
write_ops (const SsProgram *program, const SsRecording *recording, GString *csv)
{
  static const SsProgramVisitor visitor = { .allocate = meet_allocate, .run = meet_run,
                                              .release = meet_release, .mark = meet_mark };
  Walk walk = { .program = program, .recording = recording, .csv = csv, .op_id = G_MAXUINT32 };

  g_string_append (csv, "step,micro_batch,phase,op,inputs,outputs,"
                        "allocated_before,peak_in_op,allocated_after\n");
  ss_program_play (program, 0, &visitor, &walk);
  finish_row (&walk);
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) options = { 0 };
  g_auto (SsOutputOptions) output = { 0 };
  g_autoptr (SsScenario) scenario = NULL, planned = NULL;
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRecording) recording = NULL;
  g_autoptr (GString) csv = g_string_new (NULL);
  SsSimulateSettings settings = { .detail = SS_SIMULATE_WHOLE };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options),
    SS_OUTPUT_OPTION_ENTRIES (output),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_dump_ops, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_dump_ops, argc, argv, 1, 1))
    return SS_EXIT_INPUT;
  scenario = ss_scenario_options_load (&options, argv[1]);
  if (scenario == NULL)
    return SS_EXIT_INPUT;
  planned = ss_simulation_plan (scenario, argv[1]);
  settings.program = program
    = planned != NULL ? ss_simulation_trace (planned, argv[1], TRUE) : NULL;
  recording = program != NULL ? ss_simulation_run (planned, argv[1], &settings) : NULL;
  if (recording == NULL)
    return SS_EXIT_INPUT;
  write_ops (program, recording, csv);
  if (ss_output_options_write (&output, csv->str) != SS_EXIT_FITS)
    return SS_EXIT_OUTPUT;
  return recording->is_oom ? SS_EXIT_OUT_OF_MEMORY : SS_EXIT_FITS;
}

const SsCommand ss_command_dump_ops = {
  .name = "dump-ops",
  .arguments = "FILE",
  .summary = "print every op with its operands and the memory around it, as CSV",
  .is_for_checking = TRUE,
  .run = run,
};
