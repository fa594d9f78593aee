/* SPDX-License-Identifier: MIT
 *
 * The kinds of values that the attributes of a scenario have: static const structs, named by the
 * table in attribute.c.  They know one value each, no file and no line.
 */
#pragma once

#include "scenarios/attribute.h"

G_BEGIN_DECLS

/* ss_units_bytes takes these; a bare number is refused */
#define SS_BYTES_PATTERN "[0-9]+(\\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB)"

extern const SsValueKind ss_value_count;
extern const SsValueKind ss_value_small;
extern const SsValueKind ss_value_text;
extern const SsValueKind ss_value_yes_no;
extern const SsValueKind ss_value_zero_grad;
extern const SsValueKind ss_value_layers;
extern const SsValueKind ss_value_device;
extern const SsValueKind ss_value_capacity;
extern const SsValueKind ss_value_context;
extern const SsValueKind ss_value_bytes;
extern const SsValueKind ss_value_clock;
extern const SsValueKind ss_value_host;
extern const SsValueKind ss_value_host_mode;
extern const SsValueKind ss_value_float32_matmul;
extern const SsValueKind ss_value_empty_cache;
extern const SsValueKind ss_value_clip;
extern const SsValueKind ss_value_dropout;
extern const SsValueKind ss_value_precision;
extern const SsValueKind ss_value_optimizer;
extern const SsValueKind ss_value_implementation;
extern const SsValueKind ss_value_grouping;
extern const SsValueKind ss_value_policy;
extern const SsValueKind ss_value_budget;
extern const SsValueKind ss_value_policy_count;
extern const SsValueKind ss_value_convention;
extern const SsValueKind ss_value_segments;
extern const SsValueKind ss_value_end;
extern const SsValueKind ss_value_keep;
extern const SsValueKind ss_value_drop;
extern const SsValueKind ss_value_levels;
extern const SsValueKind ss_value_policy_flag;
extern const SsValueKind ss_value_profile;
extern const SsValueKind ss_value_choice;
extern const SsValueKind ss_value_input;
extern const SsValueKind ss_value_adapter;
extern const SsValueKind ss_value_targets;
extern const SsValueKind ss_value_adapter_dtype;
extern const SsValueKind ss_value_adapter_dropout;
extern const SsValueKind ss_value_allocator;

/* For the files of other kinds: a number as text (transfer full); a probability below 1, or
 * `otherwise`, FALSE and *problem (transfer full). */
char *ss_number_print (double number);
gboolean ss_probability_read (const char *text, double otherwise, double *probability,
                              char **problem);

G_END_DECLS
