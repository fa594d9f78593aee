/* SPDX-License-Identifier: MIT
 *
 * SsAttribute: every element and attribute of the scenario file with its default, in one table: the
 * loader, `stepsim show`, `stepsim list` and the reference in docs/ all follow it.
 * Static const data; it knows no file.
 */
#pragma once

#include "scenarios/scenario.h"

G_BEGIN_DECLS

typedef enum
{
  SS_ELEMENT_REQUIRED,           /* must be in the file */
  SS_ELEMENT_DEFAULTED,          /* may be left out: its defaults hold */
  SS_ELEMENT_OPTIONAL            /* left out: there is no such thing in the run */
} SsElementPresence;

typedef struct
{
  const char *name;              /* "training"; "scenario" is the root */
  SsElementPresence presence;
  const char *meaning;           /* one line */
} SsElement;

typedef struct _SsAttribute SsAttribute;

/* How a kind of value is read and said. */
typedef struct
{
  /* optional: the words there are, NULL-terminated (transfer full) */
  char **(*words) (const SsAttribute *attribute);
  /* required: takes the text into a scenario that is being loaded; FALSE and *problem (transfer
   * full), one clause */
  gboolean (*read) (const SsAttribute *attribute, SsScenario *scenario, const char *text,
                    char **problem);
  /* required: the value in force as the file would say it, NULL to say nothing (transfer full) */
  char *(*print) (const SsAttribute *attribute, const SsScenario *scenario);
  /* optional: an XML Schema pattern of what is read, for editors; NULL: the words, the limits, or
   * any text */
  const char *pattern;
} SsValueKind;

struct _SsAttribute
{
  const char *element;           /* "training" */
  const char *name;              /* "steps" */
  const char *fallback;          /* text of the default, or NULL */
  const char *otherwise;         /* what holds without it and `fallback`; both NULL: required */
  const char *meaning;           /* one line */
  const char *accepts;           /* in words; NULL where the kind's words or the limits say it */
  const SsValueKind *kind;
  gint64 min, max;               /* of a count; of a text's bytes */
  gsize offset;                  /* of a count, flag or text in SsScenario */
};

/* The elements in the order of the file; the root is the first. */
const SsElement *ss_scenario_elements (guint *n_elements);
/* All attributes, grouped by element in the same order. */
const SsAttribute *ss_scenario_attributes (guint *n_attributes);
/* NULL if there is none. */
const SsAttribute *ss_scenario_attribute_find (const char *element, const char *name);
/* "1 to 1000", "none | zero": what the reference says. (transfer full) */
char *ss_scenario_attribute_accepts (const SsAttribute *attribute);
/* "training/steps", or "name" for the root's: the PATH of --set. (transfer full) */
char *ss_scenario_attribute_path (const SsAttribute *attribute);
/* Every such path, NULL-terminated. (transfer full) */
char **ss_scenario_attribute_paths (void);

/* The XML Schema of a scenario file; only its structure, without the types of values and what they
 * mean, for a loader that reads them itself. (transfer full) */
char *ss_scenario_schema (gboolean is_structure);

G_END_DECLS
