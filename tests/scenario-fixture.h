/* SPDX-License-Identifier: MIT
 *
 * Scenario files for tests, in a folder of their own that goes with the test.
 */
#pragma once

#include "scenarios/scenario.h"

/* A folder for one test; discard removes it with the files in it. */
char *fixture_folder (void);
void fixture_discard (char *folder);

/* Writes `n` bytes (-1: a text) as `name` into the folder. (transfer full): the path */
char *fixture_write (const char *folder, const char *name, const char *bytes, gssize n);

/* Path of a file of the source tree, or of ../shared/data, which may be absent. (transfer full) */
char *fixture_source (const char *name);

/* Names, without ".xml", of the XML files in a folder of the tree, sorted. (transfer full) */
char **fixture_list (const char *folder);

/* Loads; the test fails with the message if that fails. (transfer full) */
SsScenario *fixture_load (const char *path, const char *const *overrides);

/* What loading `bytes` as s.xml says, the folder cut off each line; "" if nothing is wrong.
 * *code is that of the error. (transfer full) */
char *fixture_said (const char *bytes, gssize n, const char *const *overrides, gint *code);
