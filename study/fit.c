/* SPDX-License-Identifier: MIT */
#include "study/fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <string.h>

#define MAX_ITERATIONS 60
#define TOLERANCE 1e-7

/* One solution: rows of `fold` are left out. */
typedef struct
{
  const SsFitProblem *problem;
  const guint *fold;             /* of each row */
  guint left_out;                /* SS_FIT_FOLDS: none */
} Part;

/* ---- within bounds: any real number stands for a value between min and max ---- */

static double
bounded (const SsFitParameter *p, double u)
{
  return p->min + (p->max - p->min) / (1 + exp (-u));
}

static double
unbounded (const SsFitParameter *p, double value)
{
  double share = CLAMP ((value - p->min) / (p->max - p->min), 1e-4, 1 - 1e-4);

  return log (share / (1 - share));
}

static void
values_of (const SsFitProblem *problem, const gsl_vector *u, double *values)
{
  for (guint i = 0; i < problem->n_parameters; i++)
    values[i] = bounded (&problem->parameters[i], gsl_vector_get (u, i));
}

/* ---- residuals ---- */

/* Its square is the soft L1 loss of the deviation: 2 c^2 (sqrt (1 + (r / c)^2) - 1). */
static double
robust (double deviation)
{
  double scaled = deviation / SS_FIT_ROBUST;
  double loss = 2 * (sqrt (1 + scaled * scaled) - 1);

  return copysign (SS_FIT_ROBUST * sqrt (MAX (loss, 0)), deviation);
}

static int
residuals (const gsl_vector *u, void *data, gsl_vector *out)
{
  const Part *part = data;
  const SsFitProblem *problem = part->problem;
  double values[SS_FIT_MAX_PARAMETERS];
  gsize n = 0;

  values_of (problem, u, values);
  for (guint i = 0; i < problem->n_rows; i++)
    if (part->fold[i] != part->left_out)
      {
        double time_s = problem->model (values, i, problem->user_data);

        gsl_vector_set (out, n++, robust (log (time_s / problem->measured_s[i])));
      }
  for (guint i = 0; i < problem->n_parameters; i++)
    {
      const SsFitParameter *p = &problem->parameters[i];
      double off = p->prior_sigma > 0 ? (values[i] - p->value) / p->prior_sigma : 0;

      gsl_vector_set (out, n++, SS_FIT_ROBUST * off);
    }
  return GSL_SUCCESS;
}

/* ---- one solution ---- */

static guint
n_rows_of (const Part *part)
{
  guint n = 0;

  for (guint i = 0; i < part->problem->n_rows; i++)
    n += part->fold[i] != part->left_out;
  return n;
}

/* Standard errors of the values, through the slope of the bounds. */
static void
note_sigmas (const SsFitProblem *problem, gsl_multifit_nlinear_workspace *w, guint n_residuals,
             double *sigma)
{
  gsize n = problem->n_parameters;
  gsl_matrix *covariance = gsl_matrix_alloc (n, n);
  const gsl_vector *f = gsl_multifit_nlinear_residual (w);
  double chi2 = 0, freedom = MAX ((double) n_residuals - 2 * (double) n, 1);

  for (gsize i = 0; i < f->size; i++)
    chi2 += gsl_vector_get (f, i) * gsl_vector_get (f, i);
  gsl_multifit_nlinear_covar (gsl_multifit_nlinear_jac (w), 0, covariance);
  for (gsize i = 0; i < n; i++)
    {
      const SsFitParameter *p = &problem->parameters[i];
      double u = gsl_vector_get (gsl_multifit_nlinear_position (w), i);
      double slope = (p->max - p->min) * exp (-u) / ((1 + exp (-u)) * (1 + exp (-u)));

      sigma[i] = slope * sqrt (MAX (gsl_matrix_get (covariance, i, i), 0) * chi2 / freedom);
    }
  gsl_matrix_free (covariance);
}

/* `sigma` may be NULL. */
static void
solve (const Part *part, double *values, double *sigma)
{
  const SsFitProblem *problem = part->problem;
  gsize n = n_rows_of (part) + problem->n_parameters, n_p = problem->n_parameters;
  gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters ();
  gsl_multifit_nlinear_workspace *w;
  gsl_multifit_nlinear_fdf system = { .f = residuals, .n = n, .p = n_p, .params = (void *) part };
  gsl_vector *start = gsl_vector_alloc (n_p);
  int info;

  /* the smallest step is for smooth models */
  if (problem->step > 0)
    settings.h_df = problem->step;
  w = gsl_multifit_nlinear_alloc (gsl_multifit_nlinear_trust, &settings, n, n_p);
  for (guint i = 0; i < n_p; i++)
    gsl_vector_set (start, i, unbounded (&problem->parameters[i], values[i]));
  if (gsl_multifit_nlinear_init (start, &system, w) == GSL_SUCCESS)
    {
      /* what it has reached by then is good, whatever it says of convergence */
      gsl_multifit_nlinear_driver (MAX_ITERATIONS, TOLERANCE, TOLERANCE, TOLERANCE, NULL, NULL,
                                   &info, w);
      values_of (problem, gsl_multifit_nlinear_position (w), values);
      if (sigma != NULL)
        note_sigmas (problem, w, (guint) n, sigma);
    }
  gsl_vector_free (start);
  gsl_multifit_nlinear_free (w);
}

/* ---- folds ---- */

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Groups in the order of their names, dealt out in turn. (transfer full) */
static guint *
deal_folds (const SsFitProblem *problem)
{
  guint *fold = g_new (guint, problem->n_rows), n = 0;
  g_autofree char **sorted = g_memdup2 (problem->group, problem->n_rows * sizeof *sorted);
  g_autoptr (GHashTable) numbers = g_hash_table_new (g_str_hash, g_str_equal);

  qsort (sorted, problem->n_rows, sizeof *sorted, compare_names);
  for (guint i = 0; i < problem->n_rows; i++)
    if (!g_hash_table_contains (numbers, sorted[i]))
      g_hash_table_insert (numbers, sorted[i], GUINT_TO_POINTER (n++ % SS_FIT_FOLDS));
  for (guint i = 0; i < problem->n_rows; i++)
    fold[i] = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, problem->group[i]));
  return fold;
}

/* Errors of the rows of one fold, or of all (SS_FIT_FOLDS), appended. */
static void
append_errors (const SsFitProblem *problem, const double *values, const guint *fold, guint which,
               GArray *errors)
{
  for (guint i = 0; i < problem->n_rows; i++)
    if (which == SS_FIT_FOLDS || fold[i] == which)
      {
        double error = ss_relative_error (problem->measured_s[i],
                                          problem->model (values, i, problem->user_data));

        g_array_append_val (errors, error);
      }
}

static SsErrorSummary
summary_of (const SsFitProblem *problem, const double *values)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));

  append_errors (problem, values, NULL, SS_FIT_FOLDS, errors);
  return ss_error_summary (errors);
}

gboolean
ss_fit (const SsFitProblem *problem, SsFitResult *result)
{
  g_autofree guint *fold = NULL;
  g_autoptr (GArray) left_out = g_array_new (FALSE, FALSE, sizeof (double));
  double start[SS_FIT_MAX_PARAMETERS], values[SS_FIT_MAX_PARAMETERS];
  double sigma[SS_FIT_MAX_PARAMETERS] = { 0 };
  gsl_error_handler_t *handler;

  if (problem->n_parameters == 0 || problem->n_rows < problem->n_parameters)
    return FALSE;
  g_return_val_if_fail (problem->n_parameters <= SS_FIT_MAX_PARAMETERS, FALSE);
  /* GSL's own ends the program */
  handler = gsl_set_error_handler_off ();
  fold = deal_folds (problem);
  for (guint i = 0; i < problem->n_parameters; i++)
    start[i] = values[i] = problem->parameters[i].value;
  result->before = summary_of (problem, start);
  solve (&(Part) { problem, fold, SS_FIT_FOLDS }, values, sigma);
  result->fitted = summary_of (problem, values);
  for (guint k = 0; k < SS_FIT_FOLDS; k++)
    {
      double without[SS_FIT_MAX_PARAMETERS];

      memcpy (without, start, sizeof without);
      solve (&(Part) { problem, fold, k }, without, NULL);
      append_errors (problem, without, fold, k, left_out);
    }
  result->left_out = ss_error_summary (left_out);
  for (guint i = 0; i < problem->n_parameters; i++)
    {
      problem->parameters[i].value = values[i];
      problem->parameters[i].sigma = sigma[i];
    }
  gsl_set_error_handler (handler);
  return TRUE;
}
