/* SPDX-License-Identifier: MIT */
#include "study/calibrate.h"

#include <string.h>

/* [E] How far a parameter may be from its family's, as a share of it, before the prior costs as
 * much as one row that is off by SS_FIT_ROBUST. */
#define PRIOR_SHARE 0.25
/* a parameter near nothing still has room */
#define PRIOR_OF_RANGE 0.02

/* Rows of one element, and where its parameters are. */
typedef struct
{
  SsCalibration *calibration;
  const SsDevice *device;
  GPtrArray *rows;               /* SsKernelRow */
  gsize offset[SS_FIT_MAX_PARAMETERS];   /* in the model */
  double scale[SS_FIT_MAX_PARAMETERS];   /* to the model's unit */
  double floor_s;
} Fit;

gboolean
ss_calibrate_is_of (const char *row_device, const char *device_id)
{
  gsize n = strlen (row_device);

  return n > 0 && g_str_has_prefix (device_id, row_device)
         && (device_id[n] == '\0' || device_id[n] == '-');
}

void
ss_calibration_free (gpointer data)
{
  SsCalibration *self = data;

  g_free (self->title);
  g_free (self->sources);
  g_free (self);
}

/* ---- one element ---- */

static void
place (const Fit *fit, const double *values, gpointer model)
{
  for (guint i = 0; i < fit->calibration->n_parameters; i++)
    *(double *) ((char *) model + fit->offset[i]) = values[i] * fit->scale[i];
}

static double
time_of_row (const double *values, guint i, gpointer user_data)
{
  const Fit *fit = user_data;
  const SsKernelRow *row = fit->rows->pdata[i];
  SsCalibration trial = *fit->calibration;
  SsChip chip = ss_device_chip (fit->device, SS_BF16);

  place (fit, values, &trial.model);
  return ss_kernel_row_model_s (row, &chip, fit->floor_s, &trial.model.gemm,
                                &trial.model.attention, &trial.model.memory);
}

static void
add_parameter (Fit *fit, const SsParameter *p, gconstpointer prior)
{
  SsCalibration *c = fit->calibration;
  guint i = c->n_parameters++;
  /* microseconds, so that all are of one order */
  double scale = p->is_time ? 1e-6 : 1, value = *ss_parameter_in (p, (gpointer) prior) / scale;
  double range = (p->max - p->min) / scale;

  fit->offset[i] = p->offset;
  fit->scale[i] = scale;
  c->before[i] = value;
  c->parameters[i] = (SsFitParameter) {
    .name = p->name, .value = value, .min = p->min / scale, .max = p->max / scale,
    .prior_sigma = MAX (PRIOR_SHARE * value, p->is_time ? PRIOR_SHARE : PRIOR_OF_RANGE * range),
  };
}

static gint
by_count (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* "740 aiconfigurator, 224 vidur", by name. (transfer full) */
static char *
count_sources (const GPtrArray *rows)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < rows->len; i++)
    g_ptr_array_add (names, ((const SsKernelRow *) rows->pdata[i])->source);
  g_ptr_array_sort (names, by_count);
  for (guint i = 0, n = 0; i < names->len; i += n)
    {
      for (n = 0; i + n < names->len && g_str_equal (names->pdata[i], names->pdata[i + n]);)
        n++;
      g_string_append_printf (text, "%s%u %s", i > 0 ? ", " : "", n, (char *) names->pdata[i]);
    }
  return g_string_free (text, FALSE);
}

/* Takes `calibration` into the list if its rows determine it. */
static void
run_fit (Fit *fit, GPtrArray *list)
{
  SsCalibration *c = fit->calibration;
  g_autofree double *measured = g_new (double, fit->rows->len);
  g_autofree char **group = g_new (char *, fit->rows->len);
  SsFitProblem problem = {
    .parameters = c->parameters, .n_parameters = c->n_parameters, .n_rows = fit->rows->len,
    .measured_s = measured, .group = group, .model = time_of_row, .user_data = fit,
  };
  double values[SS_FIT_MAX_PARAMETERS];

  for (guint i = 0; i < fit->rows->len; i++)
    {
      measured[i] = ((const SsKernelRow *) fit->rows->pdata[i])->measured_s;
      group[i] = ((const SsKernelRow *) fit->rows->pdata[i])->group;
    }
  c->n_rows = fit->rows->len;
  c->sources = count_sources (fit->rows);
  if (!ss_fit (&problem, &c->result))
    {
      ss_calibration_free (c);
      return;
    }
  for (guint i = 0; i < c->n_parameters; i++)
    values[i] = c->parameters[i].value;
  place (fit, values, &c->model);
  g_ptr_array_add (list, c);
}

static Fit
start_fit (const SsDevice *device, SsTimeClass time_class, char *title)
{
  SsCalibration *c = g_new0 (SsCalibration, 1);

  c->time_class = time_class;
  c->title = title;
  return (Fit) { .calibration = c, .device = device, .rows = g_ptr_array_new (),
                 .floor_s = ss_device_kernel_floor_s (device, FALSE) };
}

/* ---- products ---- */

static gboolean
any_row (const Fit *fit, gboolean (*is_so) (const SsKernelRow *row, const char *name),
         const char *name)
{
  for (guint i = 0; i < fit->rows->len; i++)
    if (is_so (fit->rows->pdata[i], name))
      return TRUE;
  return FALSE;
}

static gboolean
tells_of_product (const SsKernelRow *row, const char *name)
{
  if (g_str_equal (name, "weight-gradient"))
    return row->product.pass == SS_PRODUCT_WEIGHT_GRADIENT;
  return !g_str_equal (name, "sustained");       /* of whole steps, not of kernels */
}

static void
fit_products (const SsDevice *device, const SsDevice *prior, GPtrArray *rows, GPtrArray *list)
{
  Fit fit = start_fit (device, SS_TIME_GEMM, g_strdup ("gemm"));
  guint n;
  const SsParameter *parameters = ss_gemm_parameters (&n);

  fit.calibration->model.gemm = *ss_device_gemm (device);
  g_ptr_array_extend (fit.rows, rows, NULL, NULL);
  for (guint i = 0; i < n; i++)
    if (any_row (&fit, tells_of_product, parameters[i].name))
      add_parameter (&fit, &parameters[i], ss_device_gemm (prior));
  run_fit (&fit, list);
  g_ptr_array_unref (fit.rows);
}

/* ---- attention ---- */

/* Of "forward-64" and the like: rows of that pass and about that head size. */
static gboolean
tells_of_attention (const SsKernelRow *row, const char *name)
{
  const char *size = strrchr (name, '-');
  double head = size != NULL ? g_ascii_strtod (size + 1, NULL) : 0, met = row->call.head_size;

  if (g_str_equal (name, "mask"))
    return row->call.is_causal;
  if (head <= 0)
    return TRUE;
  if (g_str_has_prefix (name, "forward") ? !row->has_forward : !row->has_backward)
    return FALSE;
  return head < 100 ? met < 128 : head < 200 ? met > 64 && met < 256 : met > 128;
}

static void
fit_attention (const SsDevice *device, const SsDevice *prior, GPtrArray *rows, GPtrArray *list)
{
  guint n;
  const SsParameter *parameters = ss_attention_parameters (&n);

  for (guint k = 0; k < SS_N_ATTENTION_KERNELS; k++)
    {
      const SsAttentionModel *start = ss_device_attention (prior, (SsAttentionKernel) k);
      const SsAttentionModel *own = ss_device_owns_attention (device, (SsAttentionKernel) k)
                                      ? ss_device_attention (device, (SsAttentionKernel) k) : start;
      Fit fit = start_fit (device, SS_TIME_ATTENTION,
                           g_strconcat ("attention ", ss_attention_kernel_names ()[k], NULL));

      fit.calibration->kernel = (SsAttentionKernel) k;
      if (own != NULL)
        fit.calibration->model.attention = *own;
      for (guint i = 0; start != NULL && i < rows->len; i++)
        if (((const SsKernelRow *) rows->pdata[i])->attention == k)
          g_ptr_array_add (fit.rows, rows->pdata[i]);
      for (guint i = 0; i < n; i++)
        if (any_row (&fit, tells_of_attention, parameters[i].name))
          add_parameter (&fit, &parameters[i], start);
      run_fit (&fit, list);
      g_ptr_array_unref (fit.rows);
    }
}

/* ---- bound by bytes ---- */

static gboolean
tells_of_memory (const SsKernelRow *row, const char *name)
{
  guint n;
  const SsParameter *parameters = ss_memory_parameters (&n);

  for (guint i = 0; i < row->n_parts; i++)
    if (g_str_equal (parameters[row->part[i].kind].name, name))
      return TRUE;
  return FALSE;
}

static void
fit_memory (const SsDevice *device, const SsDevice *prior, GPtrArray *rows, GPtrArray *list)
{
  Fit fit = start_fit (device, SS_TIME_MEMORY, g_strdup ("memory"));
  guint n;
  const SsParameter *parameters = ss_memory_parameters (&n);

  fit.calibration->model.memory = *ss_device_memory (device);
  g_ptr_array_extend (fit.rows, rows, NULL, NULL);
  for (guint i = 0; i < n; i++)
    if (any_row (&fit, tells_of_memory, parameters[i].name))
      add_parameter (&fit, &parameters[i], ss_device_memory (prior));
  run_fit (&fit, list);
  g_ptr_array_unref (fit.rows);
}

GPtrArray *
ss_calibrate_kernels (const SsDevice *device, const SsDevice *prior, const SsKernelTable *table,
                      SsTimeClass time_class, const char *source)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (ss_calibration_free);
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();

  for (guint i = 0; i < table->rows->len; i++)
    {
      SsKernelRow *row = table->rows->pdata[i];

      if (row->not_expressible == NULL && row->time_class == time_class
          && ss_calibrate_is_of (row->device, ss_device_id (device))
          && (source == NULL || g_str_equal (row->source, source)))
        g_ptr_array_add (rows, row);
    }
  if (time_class == SS_TIME_GEMM)
    fit_products (device, prior, rows, list);
  else if (time_class == SS_TIME_ATTENTION)
    fit_attention (device, prior, rows, list);
  else
    fit_memory (device, prior, rows, list);
  return list;
}
