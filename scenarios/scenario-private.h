/* SPDX-License-Identifier: MIT
 *
 * What a scenario is made of, for the files of this room that fill it.
 */
#pragma once

#include "memory/allocator.h"
#include "ops/kernel-profile.h"
#include "scenarios/scenario.h"

G_BEGIN_DECLS

struct _SsScenario
{
  gatomicrefcount ref_count;
  SsScenario *base;              /* all that is borrowed but `ranges` is this one's; or NULL */
  char *path, *file;
  char **overrides;              /* as given, NULL-terminated */

  char *name;
  char *model_name;
  char *model_href;              /* as stated; after loading, as it is found from anywhere */
  gint64 n_layers_kept;          /* layers="...": 0 for all */
  gint64 n_layers_whole;         /* of the model as its file has it */
  char *device_name, *device_href;   /* one of them; the href as model_href */
  SsDevice *device;
  SsDeviceSettings running;      /* how it runs; its host is `host` */
  char *host;                    /* a name of hw/hosts, or NULL: the device's */
  gboolean has_host_mode;        /* stated */
  gboolean has_capacity, has_context;
  guint64 capacity_bytes, context_bytes, other_processes_bytes;
  gboolean empties_cache;
  double clip_grad_norm;         /* 0: none */
  double dropout;                /* below 0: the model's */
  const SsKernelProfile *profile;
  const SsAllocatorClass *allocator;
  char *alloc_conf;
  char *segments;                /* of the checkpoint policy, as stated */
  SsLayerRange *ranges;          /* its list of segments; config.checkpointing borrows it */
  SsTraceConfig config;
};

/* Empty, to be filled. (transfer full) */
SsScenario *ss_scenario_new (void);
/* Takes `segments` in as the policy means it: a number, or a list; FALSE and *problem (transfer
 * full). */
gboolean ss_scenario_read_segments (SsScenario *self, char **problem);

G_END_DECLS
