/* SPDX-License-Identifier: MIT */
#include "output/output.h"

#include <string.h>

#include "output/figures/memory-figure.h"
#include "output/formats/run-json.h"
#include "output/tables/timeline-csv.h"

G_DEFINE_QUARK (ss-output-error-quark, ss_output_error)

static GBytes *
render_json (const SsRecording        *recording,
             const SsOutputSettings   *settings,
             GError                  **error G_GNUC_UNUSED)
{
  char *json = ss_run_to_json (recording, settings->advice);

  return g_bytes_new_take (json, strlen (json));
}

static const SsOutput output_run_json = {
  .name = "run.json",
  .description = "the run as one JSON object",
  .render = render_json,
};

const SsOutput *const *
ss_outputs (void)
{
  static const SsOutput *const outputs[] = {
    &ss_output_memory_png,
    &ss_output_memory_svg,
    &ss_output_timeline_csv,
    &output_run_json,
    NULL,
  };

  return outputs;
}
