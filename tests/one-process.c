/* SPDX-License-Identifier: MIT
 *
 * The whole suite in one process, for valgrind and the leak sanitizer: a Criterion worker costs a
 * second under valgrind, and loses the exit status of a leak.  It stands in for those functions of
 * Criterion 2.4 that a test calls to report; main here wins over the one in the library.  Tests
 * that end their process are left out.  The first failure ends the run.
 *
 *   one-process [SUITE...]: without the tests of these suites
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* the linker's names for the ends of the sections where Test () and TestSuite () put pointers */
extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[], *__stop_cr_sts[];

static const struct criterion_test *present;
static jmp_buf skipped;

static _Noreturn void
fail (const char *what)
{
  printf ("%s/%s: %s\n", present->category, present->name, what);
  fflush (stdout);
  _Exit (1);
}

/* NULL if the present test's suite has nothing of its own. */
static const struct criterion_test_extra_data *
suite_data (void)
{
  for (struct criterion_suite **suite = __start_cr_sts; suite < __stop_cr_sts; suite++)
    if (*suite != NULL && strcmp ((*suite)->name, present->category) == 0)
      return (*suite)->data;
  return NULL;
}

void
criterion_internal_test_setup (void)
{
  const struct criterion_test_extra_data *suite = suite_data ();

  if (suite != NULL && suite->init != NULL)
    suite->init ();
  if (present->data->init != NULL)
    present->data->init ();
}

void
criterion_internal_test_main (void (*test) (void))
{
  if (setjmp (skipped) == 0)
    test ();
}

void
criterion_internal_test_teardown (void)
{
  const struct criterion_test_extra_data *suite = suite_data ();

  if (present->data->fini != NULL)
    present->data->fini ();
  if (suite != NULL && suite->fini != NULL)
    suite->fini ();
}

void
cri_assert_node_send (const char *file, size_t line, struct cri_assert_node *tree)
{
  if (tree->pass)
    return;
  printf ("%s:%zu: %s\n", file, line, tree->message != NULL ? tree->message : "");
  fail ("failed");
}

void
criterion_abort_test (void)
{
  fail ("aborted");
}

void
criterion_continue_test (void)
{
  fail ("failed");
}

void
criterion_skip_test (const char *format, ...)
{
  (void) format;
  longjmp (skipped, 1);
}

static bool
is_wanted (const struct criterion_test *test, int n_suites, char **suites)
{
  if (test->data->signal != 0 || test->data->exit_code != 0 || test->data->disabled ||
      test->data->kind_ != CR_TEST_NORMAL)
    return false;
  for (int i = 0; i < n_suites; i++)
    if (strcmp (suites[i], test->category) == 0)
      return false;
  return true;
}

int
main (int argc, char **argv)
{
  unsigned n_run = 0, n_left_out = 0;

  for (struct criterion_test **test = __start_cr_tst; test < __stop_cr_tst; test++)
    if (*test != NULL && is_wanted (*test, argc - 1, argv + 1))
      {
        present = *test;
        present->test ();
        n_run++;
      }
    else
      n_left_out++;
  printf ("%u tests in one process, %u left out\n", n_run, n_left_out);
  return n_run > 0 ? 0 : 1;
}
