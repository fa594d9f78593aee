/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "output/tables/timeline-csv.h"
#include "recording-fixture.h"

static char **
rows_of (const SsRecording *recording)
{
  SsOutputSettings settings = { SS_MEMORY_GIB };
  g_autoptr (GBytes) bytes = ss_output_timeline_csv.render (recording, &settings, NULL);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));

  return g_strsplit (text, "\n", -1);
}

Test (timeline_csv, header_names_units)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_auto (GStrv) rows = rows_of (recording);

  cr_assert (eq (str, rows[0],
                 "seq,time_ms,host_ms,step,micro_batch,phase,layer,op,module,action,category,"
                 "requested_bytes,block_bytes,allocated_bytes,reserved_bytes,parameters_bytes,"
                 "master_weights_bytes,gradients_bytes,gradient_accumulation_bytes,"
                 "optimizer_states_bytes,workspace_bytes,logits_bytes,activations_bytes,"
                 "temporaries_bytes,stream,stream_ms"));
  cr_assert (eq (uint, g_strv_length (rows), recording->memory->len + 2));
}

/* Load takes a segment of 8 MiB, then the parameters in it; then 1 MiB of workspace; then the first
 * op of layer 0 takes half a MiB of scratch in a segment of its own and gives it back 0.1 ms later.
 */
Test (timeline_csv, each_row_carries_the_state_after_it)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_auto (GStrv) rows = rows_of (recording);

  cr_expect (
      eq (str, rows[1], "0,0,0,0,0,load,,,,segment_alloc,,8388608,0,0,8388608,0,0,0,0,0,0,0,0,0,"
               "compute,0"));
  cr_expect (eq (str, rows[2], "1,0,0,0,0,load,,,,alloc,parameters,8388608,8388608,8388608,8388608,"
                               "8388608,0,0,0,0,0,0,0,0,compute,0"));
  cr_expect (eq (str, rows[6],
                 "5,0,0,1,1,forward,0,aten::mm,model.layers.0,alloc,temporaries,524288,524288,"
                 "9961472,9961472,8388608,0,0,0,0,1048576,0,0,524288,compute,0"));
  cr_expect (eq (str, rows[7],
                 "6,0.1,0.01,1,1,forward,0,aten::mm,model.layers.0,free,temporaries,524288,"
                 "524288,9437184,9961472,8388608,0,0,0,0,1048576,0,0,0,compute,0"));
}

Test (timeline_csv, the_last_row_is_the_failed_request)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_auto (GStrv) rows = rows_of (recording);

  cr_assert (ne (ptr, strstr (rows[recording->memory->len],
                              ",oom,temporaries,524288,0,35651584,35651584,"), NULL));
}

Test (timeline_csv, names_with_commas_and_quotes_are_quoted)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_auto (GStrv) rows = NULL;

  g_free (g_ptr_array_index (recording->modules, 1));
  g_ptr_array_index (recording->modules, 1) = g_strdup ("a,\"b\"\nc");
  rows = rows_of (recording);
  cr_assert (ne (ptr, strstr (rows[6], ",\"a,\"\"b\"\"c\","), NULL), "%s", rows[6]);
}
