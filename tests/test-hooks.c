/* SPDX-License-Identifier: MIT
 *
 * Hooks: when each kind is called, in the order that PyTorch documents ("Backward Hooks execution"
 * of its autograd notes, torch.nn.Module.register_forward_hook), and what it may change.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "kind-fixture.h"
#include "ops/core/autograd.h"
#include "ops/core/function.h"
#include "ops/kinds/in-place.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/view.h"

static const SsTarget target = { .compute_capability = 90 };

/* What a hook is given: where to write, and what. */
typedef struct
{
  GString *log;
  const char *name;
} Note;

static void
note (gpointer data)
{
  const Note *n = data;

  g_string_append_printf (n->log, "%s%s", n->log->len > 0 ? ", " : "", n->name);
}

static SsValue *
on_tensor (SsTape *t, SsValue *gradient, gpointer data)
{
  cr_assert (gradient->storage && !ss_tape_grad_enabled (t));
  note (data);
  return NULL;
}

static void
before_node (SsTape *t, const SsNode *n, SsValue **gradient, gpointer data)
{
  cr_assert (t && n && gradient[0]);
  note (data);
}

static void
after_node (SsTape *t, const SsNode *n, SsValue **of_inputs, SsValue *const *of_outputs,
            gpointer data)
{
  cr_assert (t && n && of_outputs[0] && (!of_inputs || of_inputs[0]));
  note (data);
}

static void
on_accumulated (SsTape *t, SsValue *leaf, gpointer data)
{
  cr_assert (t && leaf->leaf->grad);
  note (data);
}

static void
at_end_too (SsTape *t, gpointer data)
{
  cr_assert (ss_tape_context (t)->in_backward);
  note (data);
}

typedef struct
{
  Note note, next;
} EndNotes;

static void
at_end (SsTape *t, gpointer data)
{
  EndNotes *notes = data;

  cr_assert (ss_tape_grad_enabled (t));
  note (&notes->note);
  ss_queue_callback (t, at_end_too, &notes->next);
}

static SsValue *
queue (SsTape *t, SsValue *gradient G_GNUC_UNUSED, gpointer data)
{
  ss_queue_callback (t, at_end, data);
  return NULL;
}

static void
seal (SsTape *t)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsProgram) p = ss_tape_seal (t, &error);

  cr_assert (p != NULL, "%s", error ? error->message : "");
}

/* ---- backward ---- */

/* y = x w; z = silu (y).  Registered out of order, called in the engine's. */
Test (hooks, of_backward_run_in_pytorch_order)
{
  SsTape *t = ss_tape_new (&target);
  g_autoptr (GString) log = g_string_new (NULL);
  Note z_note = { log, "z" }, y1 = { log, "y" }, y2 = { log, "y again" }, x_note = { log, "x" };
  Note silu1 = { log, "before silu" }, silu2 = { log, "after silu" };
  Note mul1 = { log, "before mul" }, mul2 = { log, "after mul" };
  Note leaf1 = { log, "before x" }, leaf2 = { log, "after x" }, grad = { log, "x.grad" };
  EndNotes end = { { log, "end" }, { log, "queued at the end" } };

  {
    KIND_LEAF (x, SS_F32, 8);
    KIND_LEAF (w, SS_F32, 8);
    g_autoptr (SsValue) y = ss_keep (ss_mul (t, x, w)), z = ss_keep (ss_silu (t, y));
    SsNode *of_leaf = ss_node_producing (t, x);

    ss_hook_node_after (of_leaf, after_node, &leaf2, NULL);
    ss_hook_accumulated (x, on_accumulated, &grad, NULL);
    ss_hook_node_before (of_leaf, before_node, &leaf1, NULL);
    ss_hook_tensor (x, on_tensor, &x_note, NULL);
    ss_hook_node_after (y->node, after_node, &mul2, NULL);
    ss_hook_node_before (y->node, before_node, &mul1, NULL);
    ss_hook_tensor (y, on_tensor, &y1, NULL);
    ss_hook_tensor (y, on_tensor, &y2, NULL);
    ss_hook_node_after (z->node, after_node, &silu2, NULL);
    ss_hook_node_before (z->node, before_node, &silu1, NULL);
    ss_hook_tensor (z, queue, &end, NULL);
    ss_hook_tensor (z, on_tensor, &z_note, NULL);
    ss_backward (t, z, NULL);
    ss_node_unref (of_leaf);
  }
  seal (t);
  cr_assert (eq (str, log->str,
                 "z, before silu, after silu, y, y again, before mul, after mul, "
                 "x, before x, x.grad, after x, end, queued at the end"));
}

/* Hooks on a tensor and on a leaf's gradient stay for the next backward; a node's go with it. */
Test (hooks, of_a_leaf_stay)
{
  SsTape *t = ss_tape_new (&target);
  g_autoptr (GString) log = g_string_new (NULL);
  Note tensor = { log, "x" }, grad = { log, "x.grad" }, of_node = { log, "silu" };

  {
    KIND_LEAF (x, SS_F32, 8);

    ss_hook_tensor (x, on_tensor, &tensor, NULL);
    ss_hook_accumulated (x, on_accumulated, &grad, NULL);
    for (guint i = 0; i < 2; i++)
      {
        g_autoptr (SsValue) y = ss_keep (ss_silu (t, x));

        if (i == 0)
          ss_hook_node_before (y->node, before_node, &of_node, NULL);
        ss_backward (t, y, NULL);
      }
  }
  seal (t);
  cr_assert (eq (str, log->str, "silu, x, x.grad, x, x.grad"));
}

static SsValue *
replace (SsTape *t, SsValue *gradient, gpointer data)
{
  SsValue **made = data;

  return *made = ss_value_sink (ss_scale (t, gradient));
}

static void
replace_before (SsTape *t, const SsNode *n G_GNUC_UNUSED, SsValue **gradient, gpointer data)
{
  SsValue *old = gradient[0];

  gradient[0] = replace (t, old, data);
  ss_value_unref (old);
}

static void
replace_after (SsTape *t, const SsNode *n G_GNUC_UNUSED, SsValue **of_inputs,
               SsValue *const *of_outputs G_GNUC_UNUSED, gpointer data)
{
  replace_before (t, n, of_inputs, data);
}

/* What a hook returns goes on in the gradient's place: silu is one op forward and one back, each
 * hook one more, and the ones. The leaf takes over the last one made. */
Test (hooks, may_put_another_gradient_in_place)
{
  for (guint n_hooks = 0; n_hooks <= 4; n_hooks++)
    {
      SsTape *t = ss_tape_new (&target);
      g_autoptr (SsProgram) p = NULL;
      SsValue *made = NULL;

      {
        KIND_LEAF (x, SS_F32, 8);
        g_autoptr (SsValue) y = ss_keep (ss_silu (t, x));

        if (n_hooks > 0)
          ss_hook_tensor (y, replace, &made, NULL);
        if (n_hooks > 1)
          ss_hook_node_before (y->node, replace_before, &made, NULL);
        if (n_hooks > 2)
          ss_hook_node_after (y->node, replace_after, &made, NULL);
        if (n_hooks > 3)
          ss_hook_tensor (x, replace, &made, NULL);
        ss_backward (t, y, NULL);
        if (n_hooks > 2)
          cr_assert (x->leaf->grad == made, "%u hooks", n_hooks);
      }
      p = ss_tape_seal (t, NULL);
      cr_assert (eq (u32, ss_program_n_ops (p), 3 + n_hooks));
    }
}

/* Megatron-LM's main gradients (megatron/core/distributed/distributed_data_parallel.py,
 * _make_backward_post_hook): main_grad.add_ (param.grad); param.grad = None. */
static void
add_to_main_gradient (SsTape *t, SsValue *leaf, gpointer main_gradient)
{
  ss_add_in_place (t, main_gradient, leaf->leaf->grad);
  g_clear_pointer (&leaf->leaf->grad, ss_value_unref);
}

Test (hooks, make_main_gradients)
{
  SsTape *t = ss_tape_new (&target);

  {
    KIND_LEAF (x, SS_BF16, 8);
    KIND_INPUT (main_gradient, SS_F32, 8);
    g_autoptr (SsValue) y = ss_keep (ss_silu (t, x));
    guint32 n_values;

    ss_hook_accumulated (x, add_to_main_gradient, ss_value_ref (main_gradient),
                         &ss_value_holder);
    n_values = main_gradient->ref_count;
    ss_backward (t, y, NULL);
    cr_assert (x->leaf->grad == NULL);
    cr_assert (eq (u32, main_gradient->ref_count, n_values));
  }
  /* the leaf has let go what its hook held, or the tape would not seal */
  seal (t);
}

/* ---- saved tensors ---- */

typedef struct
{
  Note note;
  SsValue *kept[4];
  guint n_kept;
} Keeper;

static SsPacked
keep_packed (SsTape *t, SsValue *value, gpointer data)
{
  Keeper *k = data;

  cr_assert (eq (int, ss_tape_grad_enabled (t), FALSE));
  note (&k->note);
  k->kept[k->n_kept] = ss_value_ref (value);
  return (SsPacked) { k, k->n_kept++ };
}

static SsValue *
give_back (SsTape *t G_GNUC_UNUSED, SsPacked packed)
{
  Keeper *k = packed.object;

  g_string_append_printf (k->note.log, ", %s back", k->note.name);
  return ss_value_ref (k->kept[packed.index]);
}

static void
count_down (gpointer object)
{
  Keeper *k = object;

  ss_value_unref (k->kept[--k->n_kept]);
}

static const SsSavedHooks keeper_hooks = { keep_packed, give_back, { count_down, NULL } };

/* mul saves both of its operands, silu its input.  The innermost pair alone is asked, and the one
 * that packed unpacks, once. */
Test (hooks, on_saved_tensors_nest)
{
  SsTape *t = ss_tape_new (&target);
  g_autoptr (GString) log = g_string_new (NULL);
  Keeper outer = { { log, "outer" } }, inner = { { log, "inner" } };
  SsSavedScope with_outer, with_inner;

  {
    KIND_LEAF (x, SS_F32, 8);
    KIND_LEAF (w, SS_F32, 8);
    g_autoptr (SsValue) y = NULL, z = NULL, plain = NULL;

    ss_saved_hooks_push (t, &with_outer, &keeper_hooks, &outer);
    y = ss_keep (ss_mul (t, x, w));
    ss_saved_hooks_push (t, &with_inner, &keeper_hooks, &inner);
    z = ss_keep (ss_silu (t, y));
    ss_saved_hooks_pop (t, &with_inner);
    ss_saved_hooks_pop (t, &with_outer);
    plain = ss_keep (ss_silu (t, z));
    ss_backward (t, plain, NULL);
  }
  seal (t);
  cr_assert (eq (str, log->str, "outer, outer, inner, inner back, outer back, outer back"));
  cr_assert (eq (u32, outer.n_kept + inner.n_kept, 0));
}

/* A graph without a backward lets go what was packed. */
Test (hooks, on_saved_tensors_end_with_the_graph)
{
  SsTape *t = ss_tape_new (&target);
  g_autoptr (GString) log = g_string_new (NULL);
  Keeper keeper = { { log, "pack" } };
  SsSavedScope with;

  {
    KIND_LEAF (x, SS_F32, 8);
    SsContext outer = *ss_tape_context (t);

    ss_saved_hooks_push (t, &with, &keeper_hooks, &keeper);
    ss_discard (ss_silu (t, x));
    *ss_tape_context (t) = outer;
    cr_assert (ss_tape_context (t)->saved_hooks == NULL);
  }
  seal (t);
  cr_assert (eq (str, log->str, "pack"));
  cr_assert (eq (u32, keeper.n_kept, 0));
}

/* ---- dispatch ---- */

static void
watch_call (SsCall *c, gpointer data)
{
  Note *n = data;

  g_string_append_printf (n->log, "%s%s %s", n->log->len > 0 ? ", " : "", n->name, c->kind->name);
  ss_call_run (c);
}

/* The innermost mode is asked first, of views too, below autograd: nothing of backward's is called
 * here. */
Test (hooks, of_dispatch_nest)
{
  SsTape *t = ss_tape_new (&target);
  g_autoptr (GString) log = g_string_new (NULL);
  Note outer = { log, "outer" }, inner = { log, "inner" };
  SsDispatchMode with_outer, with_inner;

  {
    KIND_INPUT (x, SS_F32, 8);

    ss_dispatch_mode_push (t, &with_outer, watch_call, &outer);
    ss_dispatch_mode_push (t, &with_inner, watch_call, &inner);
    ss_discard (ss_silu (t, x));
    ss_dispatch_mode_pop (t, &with_inner);
    ss_discard (ss_view (t, x, SS_DIMS (2, 4)));
    ss_dispatch_mode_pop (t, &with_outer);
    ss_discard (ss_silu (t, x));
  }
  seal (t);
  cr_assert (eq (str, log->str, "inner aten::silu, outer aten::silu, outer aten::view"));
}

static void
answer (SsCall *c, gpointer kept)
{
  ss_call_set_output (c, 0, kept);
}

/* A mode that knows the result: no kernel runs, no byte is allocated, the graph is made. */
Test (hooks, of_dispatch_may_answer)
{
  SsTape *t = ss_tape_new (&target);
  g_autoptr (SsProgram) p = NULL;
  SsDispatchMode mode;

  {
    KIND_LEAF (x, SS_F32, 8);
    g_autoptr (SsValue) y = ss_keep (ss_silu (t, x)), again = NULL;

    ss_dispatch_mode_push (t, &mode, answer, y);
    again = ss_keep (ss_silu (t, x));
    ss_dispatch_mode_pop (t, &mode);
    cr_assert (again->storage == y->storage && again->node && again->node != y->node);
  }
  p = ss_tape_seal (t, NULL);
  cr_assert (eq (u32, ss_program_n_ops (p), 1));
  cr_assert (eq (u32, ss_program_n_storages (p), 2));
}

/* ---- modules ---- */

static void
before_forward (SsTape *t, guint n_in, SsValue **in, gpointer data)
{
  cr_assert (t && n_in == 1 && in[0]);
  note (data);
}

static SsValue *
after_forward (SsTape *t, guint n_in, SsValue *const *in, SsValue *out, gpointer data)
{
  cr_assert (t && n_in == 1 && in[0] && out);
  note (data);
  return NULL;
}

static SsValue *
noted_silu (SsTape *t, gconstpointer self, SsValue *const *in)
{
  note ((gpointer) self);
  return ss_silu (t, in[0]);
}

static guint32
module_named (SsTape *t, const char *name)
{
  SS_MODULE (t, name);

  return ss_tape_module (t);
}

static void
call (SsTape *t, const char *name, Note *forward, SsValue *x)
{
  SS_MODULE (t, name);

  ss_discard (ss_module_call (t, noted_silu, forward, 1, &x));
}

Test (hooks, of_a_module_run_after_those_of_every_module)
{
  SsTape *t = ss_tape_new (&target);
  g_autoptr (GString) log = g_string_new (NULL);
  Note before = { log, "before mlp" }, after = { log, "after mlp" }, forward = { log, "forward" };
  Note any1 = { log, "before any" }, any2 = { log, "after any" };

  {
    KIND_INPUT (x, SS_F32, 8);

    ss_hook_forward_before (t, module_named (t, "mlp"), before_forward, &before);
    ss_hook_forward_after (t, module_named (t, "mlp"), after_forward, &after);
    ss_hook_forward_before (t, SS_EVERY_MODULE, before_forward, &any1);
    ss_hook_forward_after (t, SS_EVERY_MODULE, after_forward, &any2);
    call (t, "mlp", &forward, x);
    call (t, "norm", &forward, x);
  }
  seal (t);
  cr_assert (eq (str, log->str,
                 "before any, before mlp, forward, after any, after mlp, "
                 "before any, forward, after any"));
}

static void
widen (SsTape *t, guint n_in G_GNUC_UNUSED, SsValue **in, gpointer data G_GNUC_UNUSED)
{
  SsValue *old = in[0];

  in[0] = ss_value_sink (ss_to (t, old, SS_F32));
  ss_value_unref (old);
}

static SsValue *
narrow (SsTape *t, guint n_in G_GNUC_UNUSED, SsValue *const *in, SsValue *out,
        gpointer data G_GNUC_UNUSED)
{
  cr_assert (eq (int, ss_value_dtype (in[0]), SS_F32));
  cr_assert (eq (int, ss_value_dtype (out), SS_F32));
  return ss_value_sink (ss_to (t, out, SS_BF16));
}

/* A module in f32 within a bf16 model, by hooks: what they return is what goes on. */
Test (hooks, of_a_module_may_change_input_and_output)
{
  SsTape *t = ss_tape_new (&target);
  g_autoptr (GString) log = g_string_new (NULL);
  Note forward = { log, "forward" };

  ss_hook_forward_before (t, 0, widen, NULL);
  ss_hook_forward_after (t, 0, narrow, NULL);
  {
    KIND_INPUT (x, SS_BF16, 8);
    g_autoptr (SsValue) out = ss_keep (ss_module_call (t, noted_silu, &forward, 1, &x));

    cr_assert (eq (int, ss_value_dtype (out), SS_BF16));
    cr_assert (eq (int, ss_value_dtype (x), SS_BF16));
  }
  seal (t);
}
