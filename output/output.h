/* SPDX-License-Identifier: MIT
 *
 * SsOutput: the contract of every file that a run can be written as: a pure function from a
 * recording to bytes.  It knows no path, no option and no simulation; the caller owns the recording
 * and the bytes.
 */
#pragma once

#include "output/format.h"
#include "sim/recording.h"
#include "study/advice.h"

G_BEGIN_DECLS

#define SS_OUTPUT_ERROR (ss_output_error_quark ())
GQuark ss_output_error_quark (void);

typedef enum
{
  SS_OUTPUT_ERROR_WRITE,  /* a file could not be written in full; nothing half-written is left */
  SS_OUTPUT_ERROR_READER, /* standard output is a pipe whose reader went away */
  SS_OUTPUT_ERROR_EXISTS, /* a file is there already and was not to be replaced */
  SS_OUTPUT_ERROR_PROGRAM, /* a program that draws is missing or failed; the message names the
                              package */
  SS_OUTPUT_ERROR_INPUT   /* a file of a real run that cannot be read; the message says where */
} SsOutputError;

typedef struct
{
  SsMemoryUnits units;
  const SsAdvice *advice;        /* beside the recording, or NULL */
} SsOutputSettings;

/* All members required. */
typedef struct
{
  const char *name;              /* "memory.png": the file of a run's folder */
  const char *description;       /* one line for `stepsim list outputs` */
  /* SS_OUTPUT_ERROR_PROGRAM. (transfer full) */
  GBytes *(*render) (const SsRecording *recording, const SsOutputSettings *settings,
                     GError **error);
} SsOutput;

/* NULL-terminated list of what a run writes, in that order. */
const SsOutput *const *ss_outputs (void);

G_END_DECLS
