/* SPDX-License-Identifier: MIT */
#include "ops/core/program.h"

#include "memory/stream-id.h"
#include "ops/core/tape-private.h"

SsProgram *
ss_program_new (void)
{
  SsProgram *self = g_new0 (SsProgram, 1);
  SsModuleInfo root = { .parent = 0, .layer = -1, .index = -1, .name = "" };

  g_atomic_ref_count_init (&self->ref_count);
  self->code = g_array_sized_new (FALSE, FALSE, sizeof (SsInstruction), 1024);
  self->storages = g_array_new (FALSE, FALSE, sizeof (SsStorageInfo));
  self->ops = g_array_new (FALSE, FALSE, sizeof (SsOp));
  self->operands = g_array_new (FALSE, FALSE, sizeof (SsTensor));
  self->marks = g_array_new (FALSE, FALSE, sizeof (SsMark));
  self->modules = g_array_new (FALSE, FALSE, sizeof (SsModuleInfo));
  g_array_append_val (self->modules, root);
  return self;
}

SsProgram *
ss_program_ref (SsProgram *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
ss_program_unref (SsProgram *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_array_unref (self->code);
  g_array_unref (self->storages);
  g_array_unref (self->ops);
  g_array_unref (self->operands);
  g_array_unref (self->marks);
  g_array_unref (self->modules);
  g_free (self);
}

guint
ss_program_n_instructions (const SsProgram *self)
{
  return self->code->len;
}

const SsInstruction *
ss_program_instruction (const SsProgram *self, guint i)
{
  return &g_array_index (self->code, SsInstruction, i);
}

guint
ss_program_play (const SsProgram *self, guint first, const SsProgramVisitor *visitor,
                 gpointer user_data)
{
  guint i = first;

  while (i < self->code->len)
    {
      const SsInstruction *instruction = &g_array_index (self->code, SsInstruction, i++);
      SsInstructionFunc meet = visitor->by_type[instruction->type];

      if (meet && !meet (self, instruction, user_data))
        break;
    }
  return i;
}

gboolean
ss_program_needs_clock (const SsProgram *self)
{
  return self->n_uses > 0;
}

guint
ss_program_n_storages (const SsProgram *self)
{
  return self->storages->len;
}

const SsStorageInfo *
ss_program_storage (const SsProgram *self, guint32 id)
{
  return &g_array_index (self->storages, SsStorageInfo, id);
}

guint
ss_program_n_ops (const SsProgram *self)
{
  return self->ops->len;
}

const SsOp *
ss_program_op (const SsProgram *self, guint32 id)
{
  return &g_array_index (self->ops, SsOp, id);
}

guint
ss_program_n_marks (const SsProgram *self)
{
  return self->marks->len;
}

const SsMark *
ss_program_mark (const SsProgram *self, guint32 id)
{
  return &g_array_index (self->marks, SsMark, id);
}

gboolean
ss_mark_ends_step (const SsMark *mark)
{
  return mark->type == SS_MARK_END
         || (mark->type == SS_MARK_PHASE && mark->phase == SS_PHASE_FORWARD && mark->step > 1
             && mark->micro_batch == 1);
}

const SsTensor *
ss_program_operand (const SsProgram *self, guint32 index)
{
  return &g_array_index (self->operands, SsTensor, index);
}

/* ---- modules ---- */

static const SsModuleInfo *
module (const SsProgram *self, guint32 id)
{
  return &g_array_index (self->modules, SsModuleInfo, id);
}

guint
ss_program_n_modules (const SsProgram *self)
{
  return self->modules->len;
}

guint32
ss_program_module_parent (const SsProgram *self, guint32 module_id)
{
  return module (self, module_id)->parent;
}

gint
ss_program_module_layer (const SsProgram *self, guint32 module_id)
{
  return module (self, module_id)->layer;
}

gint
ss_program_layer_in_phase (const SsProgram *self, guint32 module_id, SsPhase phase)
{
  switch (phase)
    {
    case SS_PHASE_FORWARD:
    case SS_PHASE_LOSS:
    case SS_PHASE_BACKWARD:
      return ss_program_module_layer (self, module_id);
    case SS_PHASE_LOAD:
    case SS_PHASE_OPTIMIZER:
    case SS_PHASE_ZERO_GRAD:
    case SS_N_PHASES:
      break;
    }
  return -1;
}

char *
ss_program_module_path (const SsProgram *self, guint32 module_id)
{
  GString *path = g_string_new (NULL);

  for (guint32 id = module_id; id != 0; id = module (self, id)->parent)
    {
      const SsModuleInfo *m = module (self, id);
      g_autofree char *part
        = m->index < 0 ? g_strdup (m->name) : g_strdup_printf ("%s.%d", m->name, m->index);

      if (path->len > 0)
        g_string_prepend_c (path, '.');
      g_string_prepend (path, part);
    }
  return g_string_free (path, FALSE);
}

/* A module comes after its parent. */
GPtrArray *
ss_program_module_paths (const SsProgram *self)
{
  GPtrArray *paths = g_ptr_array_new_full (self->modules->len, g_free);

  for (guint32 id = 0; id < self->modules->len; id++)
    {
      const SsModuleInfo *m = module (self, id);
      const char *parent = id > 0 ? paths->pdata[m->parent] : "";
      const char *dot = *parent != '\0' ? "." : "";
      char index[16] = "";

      if (m->index >= 0)
        g_snprintf (index, sizeof index, ".%d", m->index);
      g_ptr_array_add (paths, g_strconcat (parent, dot, m->name, index, NULL));
    }
  return paths;
}

guint64
ss_program_n_parameters (const SsProgram *self)
{
  return self->n_parameters;
}

guint64
ss_program_n_trainable_parameters (const SsProgram *self)
{
  return self->n_trainable_parameters;
}

guint64
ss_program_peaks_bytes (const SsProgram *self, guint categories, guint64 *some_bytes)
{
  const SsInstruction *i = (const SsInstruction *) (gpointer) self->code->data;
  const SsInstruction *end = i + self->code->len;
  const SsStorageInfo *storages = (const SsStorageInfo *) (gpointer) self->storages->data;
  guint64 alive = 0, peak = 0, some_alive = 0, some_peak = 0;

  for (; i < end; i++)
    {
      const SsStorageInfo *storage;
      guint64 change;

      if (i->type != SS_ALLOCATE && i->type != SS_RELEASE)
        continue;
      storage = &storages[i->index];
      /* what is alive fits 63 bits, as a storage does: its sum with one more cannot wrap */
      change = i->type == SS_ALLOCATE ? storage->bytes : -storage->bytes;
      alive += change;
      if (alive > G_MAXINT64)
        return *some_bytes = SS_SIZE_OVERFLOW;
      peak = MAX (peak, alive);
      if (!(categories & 1u << storage->category))
        continue;
      some_alive += change;
      some_peak = MAX (some_peak, some_alive);
    }
  *some_bytes = some_peak;
  return peak;
}

guint64
ss_program_peak_bytes (const SsProgram *self, guint categories)
{
  guint64 some_bytes;

  ss_program_peaks_bytes (self, categories, &some_bytes);
  return some_bytes;
}

const char *
ss_phase_name (SsPhase phase)
{
  static const char *const names[SS_N_PHASES] = {
    "load", "forward", "loss", "backward", "optimizer", "zero_grad",
  };

  g_return_val_if_fail (phase < SS_N_PHASES, NULL);
  return names[phase];
}

const char *
ss_op_name (const SsOp *op)
{
  return op->kind->name;
}

const char *
ss_op_overload (const SsOp *op)
{
  if (!g_str_has_prefix (op->kind->name, "aten::"))
    return NULL;
  return op->kind->overload ? op->kind->overload : "default";
}

/* ---- text ---- */

static void
dump_place (const SsProgram *self, guint32 module_id, const char *remark, GString *out)
{
  g_autofree char *path = ss_program_module_path (self, module_id);

  g_string_append_printf (out, ",%s%s", path, remark);
}

static gboolean
dump_allocate (const SsProgram *self, const SsInstruction *i, gpointer user_data)
{
  const SsStorageInfo *s = ss_program_storage (self, i->index);

  g_string_append_printf (user_data, ",%u,%" G_GUINT64_FORMAT ",%s", i->index, s->bytes,
                          ss_category_name (s->category));
  dump_place (self, s->module_id, s->is_scratch ? " (scratch)" : "", user_data);
  return TRUE;
}

static gboolean
dump_run (const SsProgram *self, const SsInstruction *i, gpointer user_data)
{
  const SsOp *op = ss_program_op (self, i->index);

  g_string_append_printf (user_data, ",%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT,
                          op->kind->name, op->flops, op->bytes);
  dump_place (self, op->module_id,
              op->is_recompute  ? " (recompute)"
              : op->is_backward ? " (backward)"
                                : "",
              user_data);
  return TRUE;
}

static gboolean
dump_release (const SsProgram *self, const SsInstruction *i, gpointer user_data)
{
  g_string_append_printf (user_data, ",%u,%" G_GUINT64_FORMAT, i->index,
                          ss_program_storage (self, i->index)->bytes);
  return TRUE;
}

static gboolean
dump_mark (const SsProgram *self, const SsInstruction *i, gpointer user_data)
{
  static const char *const types[] = { "phase", "forward_end", "backward_begin", "saved", "end" };
  const SsMark *m = ss_program_mark (self, i->index);

  g_string_append_printf (user_data, ",%s", types[m->type]);
  if (m->type == SS_MARK_PHASE)
    g_string_append_printf (user_data, ",%u.%u,%s", m->step, m->micro_batch,
                            ss_phase_name (m->phase));
  else if (m->type == SS_MARK_SAVED)
    g_string_append_printf (user_data, ",%" G_GUINT64_FORMAT, m->bytes);
  else if (m->type != SS_MARK_END)
    g_string_append_printf (user_data, ",%d", m->layer);
  return TRUE;
}

static gboolean
dump_index (const SsProgram *self G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  g_string_append_printf (user_data, ",%u", i->index);
  return TRUE;
}

#define dump_record_event dump_index
#define dump_wait_event dump_index
#define dump_host_wait dump_index
#define dump_use_on_stream dump_index

static gboolean
dump_instruction (const SsProgram *self, const SsInstruction *i, gpointer user_data)
{
  static const struct
  {
    const char *word;
    SsInstructionFunc rest;
  } lines[] = {
#define X(NAME, member, word, meaning) { word, dump_##member },
    SS_INSTRUCTION_LIST (X)
#undef X
  };

  g_string_append (user_data, lines[i->type].word);
  lines[i->type].rest (self, i, user_data);
  if (i->stream != SS_STREAM_COMPUTE)
    g_string_append_printf (user_data, " [%s]", ss_stream_id_name (i->stream));
  g_string_append_c (user_data, '\n');
  return TRUE;
}

void
ss_program_dump (const SsProgram *self, GString *out)
{
  static const SsProgramVisitor visitor = { {
#define X(NAME, member, word, meaning) dump_instruction,
    SS_INSTRUCTION_LIST (X)
#undef X
  } };

  ss_program_play (self, 0, &visitor, out);
}
