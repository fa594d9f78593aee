/* SPDX-License-Identifier: MIT
 *
 * SsModelFamily: the contract of a model architecture: the fields of its config, its parameters in
 * constructor order, its forward.  One file each.  It knows no device, precision recipe or
 * optimizer beyond what SsModelSetup says.
 */
#pragma once

#include "plan/policy.h"
#include "ops/kernel-profile.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

typedef struct _SsModelFamily SsModelFamily;

typedef enum
{
  SS_ROPE_DEFAULT,
  SS_ROPE_LLAMA3                 /* three bands of wavelengths */
} SsRopeType;

/* Numbers of a model.  Filled by scenarios/ by the family's table of fields; 0 where a family has
 * no use. */
typedef struct
{
  const SsModelFamily *family;
  const char *model_type;        /* interned: "llama", "mistral", "qwen3", "gpt2" */
  gint64 hidden_size, intermediate_size, vocab_size;
  gint64 n_layers, n_heads, n_kv_heads, head_dim;
  gint64 max_position_embeddings;
  gboolean tie_word_embeddings;
  gboolean attention_bias, mlp_bias;        /* every projection of the block */
  gboolean qkv_bias;                        /* qwen2: q, k and v only */
  gboolean has_qk_norm;                     /* qwen3: RMSNorm of q and k over a head */
  gint64 sliding_window;                    /* tokens a query looks back; 0: all */
  gboolean uses_sliding_window;             /* qwen: a switch beside it */
  SsRopeType rope_type;
  gint activation;                          /* gpt2: which of the words its config may say */
  double embd_pdrop, attn_pdrop, resid_pdrop;   /* dropout probabilities */
} SsModelConfig;

typedef enum
{
  SS_FIELD_COUNT,                /* gint64 > 0 */
  SS_FIELD_FLAG,                 /* gboolean */
  SS_FIELD_PROBABILITY,          /* double, 0 <= p < 1 */
  SS_FIELD_WORD,                 /* gint: which of `words`; without an offset they mean the same */
  SS_FIELD_ROPE                  /* SsRopeType: "rope_type" (older: "type") within an object of that
                                  * name, which newer files call "rope_parameters"; "default" or
                                  * "llama3" */
} SsFieldType;

/* What an absent field means. */
typedef enum
{
  SS_ABSENT_REQUIRED,            /* an error that names it */
  SS_ABSENT_CONSTANT,            /* `value` */
  SS_ABSENT_ZERO,                /* 0: the model has no such thing */
  SS_ABSENT_SAME_AS,             /* field at `offset_b` */
  SS_ABSENT_QUOTIENT,            /* field at `offset_b` over field at `offset_c` */
  SS_ABSENT_MULTIPLE             /* `value` times the field at `offset_b` */
} SsFieldAbsent;

/* One field of config.json; fields are resolved in the order of the table. */
typedef struct
{
  const char *name;              /* "num_key_value_heads"; in model XML "num-key-value-heads" */
  SsFieldType type;
  gsize offset;                  /* in SsModelConfig */
  SsFieldAbsent absent;          /* what it means that the field is not there */
  SsFieldAbsent null;            /* what it means that it is null */
  double value;
  gsize offset_b, offset_c;
  const char *const *words;      /* NULL-terminated, for SS_FIELD_WORD: what the family's code does;
                                  * the first is meant where the field is absent */
} SsConfigField;

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

typedef struct
{
  char *type;                    /* "lora", or NULL for none */
  guint rank;
  char **targets;                /* SsLinearName of the family, NULL-terminated */
  gboolean is_fp32;              /* dtype="fp32": adapters in fp32 over a bf16 base */
} SsAdapter;

/* What a family is told besides its numbers. */
typedef struct
{
  const SsModelConfig *config;
  SsKernels kernels;
  SsCheckpointing checkpointing;
  const GArray *ranges;          /* SsLayerRange: what its policy makes of the layers */
  guint drops;                   /* SsDrop, or-ed */
  SsDtype dtype;                 /* of the parameters */
  const SsAdapter *adapter;      /* NULL: none */
} SsModelSetup;

/* A linear as an adapter's targets call it: by the family's short name, or by its module's. */
typedef struct
{
  const char *target;            /* "q" */
  const char *module;            /* "q_proj" */
  gboolean is_default;           /* of those that peft takes for the model type (0.21.2,
                                  * TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING) */
} SsLinearName;

typedef struct _SsModel SsModel;

struct _SsModelFamily
{
  const char *name;              /* "llama" */
  const char *description;
  const SsModelType *types;
  guint n_types;
  const SsLinearName *linears;   /* ends with a NULL: what an adapter can target */
  /* closed form, ledger section 1 */
  guint64 (*count_parameters) (const SsModelConfig *config);
  /* parameters and buffers in the order and with the temporaries of the constructor
   * (transfer full) */
  SsModel *(*build) (SsTape *t, const SsModelSetup *setup);
  /* token ids (B, S) -> hidden states (B, S, H), final norm done (transfer floating) */
  SsValue *(*hidden) (SsTape *t, SsModel *model, SsValue *ids);
  /* weight of the head (V, H); its bias or NULL (transfer none) */
  SsValue *(*head) (SsModel *model, SsValue **bias);
  /* optional: forward and loss under torch.compile, the loss phase begun when the logits are made:
   * the loss (transfer floating); *logits (transfer full), NULL if the tape failed */
  SsValue *(*compiled) (SsTape *t, SsModel *model, SsValue *ids, SsValue **logits);
  void (*destroy) (SsModel *model);
};

/* NULL-terminated list. */
const SsModelFamily *const *ss_model_families (void);
/* The row for a model_type, and its family; NULL if no family answers for it. */
const SsModelType *ss_model_type_find (const char *model_type, const SsModelFamily **family);
/* The linear that a target means, by either of its names; NULL if the family has none. */
const SsLinearName *ss_family_linear (const SsModelFamily *family, const char *target);
/* "q, k, v" (transfer full) */
char *ss_family_linears_known (const SsModelFamily *family);
/* "llama, mistral, qwen2, qwen3, gpt2" (transfer full) */
char *ss_model_types_known (void);

G_END_DECLS
