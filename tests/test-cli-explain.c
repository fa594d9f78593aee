/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <json-glib/json-glib.h>
#include <string.h>

#include "cli-fixture.h"

TestSuite (cli_explain, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

/* fp32 logits of the teaching model: 2 x 4096 x 8192 x 4 bytes are 256 MiB. */
#define LOGITS "256.00 MiB"
#define HEAD "256.00 MiB = 2 x 4096 tokens x 8192 words x 4 bytes: fp32 logits, at the loss.\n"

static void
expect_contains (const char *text, const char *wanted)
{
  cr_expect (ne (ptr, strstr (text, wanted), NULL), "no \"%s\" in:\n%s", wanted, text);
}

Test (cli_explain, a_message_is_taken_from_wherever_it_is)
{
  g_autofree char *log = ss_cli_write ("train.log",
                                       "step 1\nTried to allocate 20.00 MiB\nstep 2\n"
                                       "OutOfMemoryError: CUDA out of memory. Tried to allocate\n"
                                       LOGITS ". GPU 0 has\nbye\n", -1);
  static const char *const lines[] = {
    "$S explain $F '" LOGITS "'",
    "$S explain $F 'Tried to allocate " LOGITS "'",
    "$S explain $F CUDA out of memory. Tried to allocate " LOGITS "",
    "$S explain $F train.log",
    "$S explain $F - < train.log",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (lines[i]);

      cr_expect (eq (int, result.status, 0), "%s: %s", lines[i], result.err);
      cr_expect (g_str_has_prefix (result.out, HEAD), "%s:\n%s", lines[i], result.out);
      cr_expect (eq (str, result.err, (char *) ""), "%s", lines[i]);
    }
}

Test (cli_explain, nothing_of_that_size_is_another_answer)
{
  g_auto (SsCliResult) result = ss_cli_shell ("$S explain $F '7.77 GiB'");

  cr_expect (eq (int, result.status, 1));
  expect_contains (result.out, "No request of this run prints as 7.77 GiB.");
  expect_contains (result.out, "below: ");
}

Test (cli_explain, bad_input_is_said_in_one_line)
{
  static const struct
  {
    const char *line, *said;
  } rows[] = {
    { "$S explain $F", "wants FILE MESSAGE" },
    { "$S explain $F nothing.log", "no such file" },
    { "$S explain $F 786", "is no size" },
    { "$S explain $F .", "Is a directory" },
    { "$S explain $F /dev/zero", "/dev/zero: is a device; a log is expected" },
    { "printf 'no such thing' | $S explain $F -", "standard input: no \"Tried to allocate\"" },
    { "$S explain nothing.xml '786.00 MiB'", "nothing.xml" },
    { "$S explain $F '786.00 MiB' --set training/steps=none", "steps" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (rows[i].line);

      cr_expect (eq (int, result.status, 2), "%s", rows[i].line);
      cr_expect (eq (str, result.out, (char *) ""), "%s", rows[i].line);
      expect_contains (result.err, rows[i].said);
      cr_expect (ss_cli_lines_are_ours (result.err), "%s", result.err);
    }
}

Test (cli_explain, json_has_what_the_text_says)
{
  g_auto (SsCliResult) result = ss_cli_shell ("$S explain --json $F '" LOGITS "'");
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *object, *first;

  cr_assert (json_parser_load_from_data (parser, result.out, -1, NULL), "%s", result.out);
  object = json_node_get_object (json_parser_get_root (parser));
  cr_expect (eq (str, (char *) json_object_get_string_member (object, "verdict"),
                 (char *) "fits"));
  first = json_array_get_object_element (json_object_get_array_member (object, "found"), 0);
  cr_expect (eq (str, (char *) json_object_get_string_member (first, "kind"), (char *) "logits"));
  cr_expect (eq (i64, json_object_get_int_member (first, "tensor_bytes"), 256 * 1048576));
  cr_expect (json_object_get_null_member (json_object_get_object_member (object, "message"),
                                          "capacity_bytes"));
  cr_expect (json_array_get_length (json_object_get_array_member (object, "changes")) > 0);
}
