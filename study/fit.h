/* SPDX-License-Identifier: MIT
 *
 * SsFit: parameters of a model of times, fitted to measured ones: GSL's nonlinear least squares on
 * logarithms, with a robust loss, bounds and priors, and what it is worth on rows left out.  It
 * knows no model.  Plain values.
 */
#pragma once

#include <glib.h>

#include "study/error-summary.h"

G_BEGIN_DECLS

/* Deviations beyond this share count by their size, not its square (soft L1). */
#define SS_FIT_ROBUST 0.1
#define SS_FIT_FOLDS 10
#define SS_FIT_MAX_PARAMETERS 16

typedef struct
{
  const char *name;
  double value;                  /* before and prior; after the fit the fitted one */
  double min, max;
  double prior_sigma;            /* how far from the prior costs as much as a row off by
                                  * SS_FIT_ROBUST; 0: no prior */
  double sigma;                  /* found: standard error of the value, 0: at a bound */
} SsFitParameter;

/* Seconds of a row with the parameters' values. */
typedef double (*SsFitModel) (const double *values, guint row, gpointer user_data);

typedef struct
{
  SsFitParameter *parameters;    /* in and out */
  guint n_parameters;
  guint n_rows;
  const double *measured_s;
  char *const *group;            /* rows of one group are left out together */
  double step;                   /* relative, of numeric derivatives; 0: the smallest that works */
  SsFitModel model;
  gpointer user_data;
} SsFitProblem;

typedef struct
{
  SsErrorSummary before, fitted, left_out;
} SsFitResult;

/* Fits, then fits again without each of SS_FIT_FOLDS parts of the groups and predicts those. FALSE:
 * there is nothing to fit, or fewer rows than parameters. */
gboolean ss_fit (const SsFitProblem *problem, SsFitResult *result);

G_END_DECLS
