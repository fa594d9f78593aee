/* SPDX-License-Identifier: MIT */
#include "sim/recipe-text.h"

static const char *
type_name (SsDtype dtype)
{
  return dtype == SS_F32 ? "fp32" : dtype == SS_F16 ? "fp16" : ss_dtype_name (dtype);
}

/* "fp32 weights under bf16 autocast" */
static void
append_recipe (GString *text, const SsPrecision *precision)
{
  g_string_append_printf (text, "%s weights", type_name (precision->parameter_dtype));
  if (precision->autocast_dtype != SS_N_DTYPES)
    g_string_append_printf (text, " under %s autocast", type_name (precision->autocast_dtype));
  if (precision->has_master)
    g_string_append (text, " with fp32 masters");
  if (precision->accumulates_f32)
    g_string_append (text, " and fp32 gradients");
}

/* "16", "4.5": step counters and buffers are too small to show. */
static void
append_bytes (GString *text, double bytes)
{
  guint tenths = (guint) (bytes * 10 + 0.5);

  if (tenths % 10 == 0)
    g_string_append_printf (text, "%u", tenths / 10);
  else
    g_string_append_printf (text, "%u.%u", tenths / 10, tenths % 10);
}

char *
ss_recipe_text (const SsTraceConfig *config, const SsProgram *program)
{
  const SsPrecision *precision = config->precision;
  gboolean has_adapter = config->adapter.type != NULL;
  SsDtype dtype = has_adapter && config->adapter.is_fp32 ? SS_F32 : precision->parameter_dtype;
  double weight = (double) ss_dtype_bytes (dtype);
  guint64 n_trained = ss_program_n_trainable_parameters (program),
          n_frozen = ss_program_n_parameters (program) - n_trained;
  /* fp32 buffers take the place of gradients in the weights' type */
  double gradient = precision->accumulates_f32 ? 0 : weight;
  guint64 kept = ss_program_peak_bytes (program, 1u << SS_CATEGORY_MASTER_WEIGHTS
                                                   | 1u << SS_CATEGORY_GRADIENT_ACCUMULATION
                                                   | 1u << SS_CATEGORY_OPTIMIZER_STATES);
  GString *text = g_string_new (NULL);

  append_recipe (text, precision);
  if (n_trained == 0)
    return g_string_free (text, FALSE);
  if (has_adapter && n_frozen > 0)
    {
      double all = (double) ss_program_peak_bytes (program, 1u << SS_CATEGORY_PARAMETERS);

      g_string_append (text, ", ");
      append_bytes (text, (all - weight * (double) n_trained) / (double) n_frozen);
      g_string_append (text, " bytes per frozen parameter, ");
      append_bytes (text, weight + gradient + (double) kept / (double) n_trained);
      g_string_append (text, " per trained one");
      return g_string_free (text, FALSE);
    }
  g_string_append (text, ", ");
  append_bytes (text, weight + gradient + (double) kept / (double) n_trained);
  g_string_append (text, " bytes per parameter");
  return g_string_free (text, FALSE);
}
