/* SPDX-License-Identifier: MIT
 *
 * SsModelFamily: the contract of a model architecture: the fields of its config, its parameters in
 * constructor order, its forward.  One file each.  It knows no device, precision recipe or
 * optimizer beyond what SsModelSetup says.
 */
#pragma once

#include "ops/core/tape.h"
#include "ops/families/config-field.h"
#include "ops/nn/setup.h"

G_BEGIN_DECLS

typedef struct _SsModelFamily SsModelFamily;

/* Bytes of a family's own config. */
#define SS_MODEL_OWN_BYTES 256

/* Numbers of a model: what every room may ask, and a family's own struct, which only its files
 * read.  Plain data, copied by value; filled by scenarios/ by the family's table of fields. */
struct _SsModelConfig
{
  const SsModelFamily *family;
  const char *model_type;        /* interned: "llama", "mistral", "qwen3", "gpt2" */
  gint64 n_layers;               /* of the stack that policies and layers="..." mean */
  gint64 max_position_embeddings;
  _Alignas (8) guint8 own[SS_MODEL_OWN_BYTES];
};

/* Offsets of a field that all have, and of one in the family's own struct. */
#define SS_MODEL_AT(field) G_STRUCT_OFFSET (SsModelConfig, field)
#define SS_MODEL_OWN_AT(Own, field) (SS_MODEL_AT (own) + G_STRUCT_OFFSET (Own, field))

/* One value of config.json's model_type that the family answers for. */
typedef struct
{
  const char *model_type;
  const SsConfigField *fields;
  guint n_fields;
  /* optional: settles flags that follow from the type (qwen2's biases); FALSE and *problem
   * (transfer full): a combination that no such model can have */
  gboolean (*finish) (SsModelConfig *config, char **problem);
} SsModelType;

/* ---- what others ask of a model ---- */

/* Closed forms of a step, as papers and lessons state them, for the ledger. */
typedef struct
{
  guint64 layer_bytes;           /* activations that a layer keeps for backward */
  const char *layer_form;        /* the formula, in the letters of ops/ledger.h */
  guint64 softmax_bytes;         /* of a layer, if its attention is not fused */
  guint64 logits_bytes;          /* in fp32 */
  guint64 core_flops;            /* of causal attention's core, one sequence, all layers */
  guint64 n_active;              /* parameters that a token passes: of experts those chosen */
  guint64 n_embedding, n_head;   /* head 0: tied to the embedding */
  guint64 n_attention, n_mlp;    /* matrices of a layer */
  guint64 kv_width;              /* elements of a token's keys in a layer, and of its values */
} SsModelAccount;

typedef enum
{
  SS_WIDTH_FEATURES,
  SS_WIDTH_HIDDEN,               /* of what goes from layer to layer */
  SS_WIDTH_WORDS,                /* the vocabulary */
  SS_WIDTH_HEADS,                /* how many, not their size */
  SS_WIDTH_KEY_HEADS
} SsWidthRole;

/* A size that tensors of the model have, by the name it has in messages. */
typedef struct
{
  gint64 size;
  const char *name;              /* "MLP features"; NULL: none */
  SsWidthRole role;
} SsWidth;

#define SS_MAX_WIDTHS 16

/* ---- an instance ---- */

/* A linear as an adapter's targets call it: by the family's short name, or by its module's. */
typedef struct
{
  const char *target;            /* "q" */
  const char *module;            /* "q_proj" */
  gboolean is_default;           /* of those that peft takes for the model type (0.21.2,
                                  * TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING) */
} SsLinearName;

typedef struct _SsModel SsModel;

#define SS_MAX_HELD 4

/* A micro-batch: what the data loader brought, and what the loop does around the call. */
typedef struct
{
  gint64 n_sequences, n_tokens;  /* n_tokens: of a sequence */
  guint step, micro_batch;       /* both from 1 */
  gboolean is_scaled;            /* the loss is divided or scaled: its gradient is not 1 */
  GPtrArray *inputs;             /* SsValue, in the family's order; held */
  SsValue **outputs;             /* hold-outputs: SS_MAX_HELD names that the family rebinds, the
                                  * loss first; NULL: the loop lets the outputs go */
} SsBatch;

struct _SsModelFamily
{
  const char *name;              /* "llama" */
  const char *description;
  const SsModelType *types;
  guint n_types;
  const SsLinearName *linears;   /* ends with a NULL: what an adapter can target */
  gboolean has_learned_positions;   /* a table of them, which ends */
  /* closed form, ledger section 1 */
  guint64 (*count_parameters) (const SsModelConfig *config);
  /* `s` tokens of `b` sequences */
  void (*account) (const SsModelConfig *config, guint64 s, guint64 b, SsModelAccount *out);
  /* into out[SS_MAX_WIDTHS], what a size is called first where two are equal: how many */
  guint (*widths) (const SsModelConfig *config, SsWidth *out);
  /* parameters and buffers in the order and with the temporaries of the constructor
   * (transfer full) */
  SsModel *(*build) (SsTape *t, const SsModelSetup *setup);
  /* one micro-batch's inputs, appended to batch->inputs */
  void (*make_inputs) (SsTape *t, SsModel *model, SsBatch *batch);
  /* the model's forward with labels: begins the loss phase where its loss does (transfer
   * floating) */
  SsValue *(*loss) (SsTape *t, SsModel *model, const SsBatch *batch);
  void (*destroy) (SsModel *model);
};

/* NULL-terminated list. */
const SsModelFamily *const *ss_model_families (void);
/* The row for a model_type, and its family; NULL if no family answers for it. */
const SsModelType *ss_model_type_find (const char *model_type, const SsModelFamily **family);
/* The linear that a target means, by either of its names; NULL if the family has none. */
const SsLinearName *ss_family_linear (const SsModelFamily *family, const char *target);
/* The model's width of that role; 0: it has none. */
gint64 ss_model_width (const SsModelConfig *config, SsWidthRole role);
/* "q, k, v" (transfer full) */
char *ss_family_linears_known (const SsModelFamily *family);
/* "llama, mistral, qwen2, qwen3, gpt2" (transfer full) */
char *ss_model_types_known (void);

G_END_DECLS
