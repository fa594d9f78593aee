/* SPDX-License-Identifier: MIT */
#include "study/kernel-table.h"

#include <string.h>

#include "study/csv-table.h"

/* The tables' operands are bf16 or f16. */
#define ELEMENT_BYTES 2

/* ---- reading ---- */

typedef struct
{
  const SsCsvTable *csv;
  guint row;
  GError *error;
} Reader;

static double
number (Reader *r, const char *column)
{
  double value = 0;

  if (r->error == NULL && !ss_csv_table_number (r->csv, r->row, column, &value, &r->error)
      && r->error == NULL)
    g_set_error (&r->error, SS_CSV_ERROR, SS_CSV_ERROR_INPUT, "row %s: %s is empty",
                 ss_csv_table_get (r->csv, r->row, "id"), column);
  return value;
}

static guint
alignment_of (gint64 n, gint64 k)
{
  gint64 leading = n | k | 8;

  return (guint) (leading & -leading);
}

/* The weight's gradient is added to an fp32 one: read and written (MooreThreads/SimuMax). */
static double
bytes_of_product (const SsProduct *p)
{
  double operands = ELEMENT_BYTES * ((double) p->m * (double) p->k + (double) p->n * (double) p->k);
  double result = (double) p->m * (double) p->n;

  return operands + result * (p->pass == SS_PRODUCT_WEIGHT_GRADIENT ? 8 : ELEMENT_BYTES);
}

static void
read_product (Reader *r, SsKernelRow *row)
{
  SsProduct *p = &row->product;

  p->batch = 1;
  p->m = (gint64) MIN (number (r, "m"), 1e9);
  p->n = (gint64) MIN (number (r, "n"), 1e9);
  p->k = (gint64) MIN (number (r, "k"), 1e9);
  p->alignment = alignment_of (p->n, p->k);
  p->pass = g_str_equal (row->kernel, "wgrad")   ? SS_PRODUCT_WEIGHT_GRADIENT
            : g_str_equal (row->kernel, "dgrad") ? SS_PRODUCT_INPUT_GRADIENT
                                                 : SS_PRODUCT_FORWARD;
  p->bytes = bytes_of_product (p);
  row->group = g_strdup_printf ("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, p->n, p->k);
}

static void
read_attention (Reader *r, SsKernelRow *row)
{
  const char *const *names = ss_attention_kernel_names ();
  double heads = number (r, "heads"), keys = number (r, "seq"), size = number (r, "head_dim");
  gboolean is_causal = number (r, "causal") > 0;
  guint kernel = 0;

  while (names[kernel] != NULL && !g_str_equal (names[kernel], row->kernel))
    kernel++;
  if (names[kernel] == NULL)
    {
      row->not_expressible = g_strdup_printf ("kernel: %s is no fused one", row->kernel);
      return;
    }
  row->attention = (SsAttentionKernel) kernel;
  row->has_forward = !g_str_equal (row->pass, "backward");
  row->has_backward = !g_str_equal (row->pass, "forward");
  row->call = (SsAttentionCall) {
    .flops = (is_causal ? 2 : 4) * heads * keys * keys * size,
    .bytes = 4 * ELEMENT_BYTES * heads * keys * size,
    .n_keys = keys, .head_size = size, .is_causal = is_causal,
  };
  row->group = g_strdup_printf ("%s %g %s %s %g", row->kernel, size, row->pass,
                                is_causal ? "causal" : "full", keys);
}

/* "broadcast" is told by its bytes an element: 2 in and 2 out are 16-bit; log-softmax is a row of
 * a vocabulary's length, which is read three times and written: 4 passes where 2 are stated. */
static gboolean
kind_of (const char *word, double bytes_per_element, SsKernelPart *part)
{
  static const char *const names[] = {
#define WORD(UPPER, text) text,
    SS_MEMORY_KINDS (WORD)
#undef WORD
  };

  part->bytes = bytes_per_element;
  if (g_str_equal (word, "broadcast"))
    {
      part->kind = bytes_per_element > 4 ? SS_MEMORY_BROADCAST_F32 : SS_MEMORY_BROADCAST_HALF;
      return TRUE;
    }
  if (g_str_equal (word, "log-softmax"))
    {
      part->kind = SS_MEMORY_SOFTMAX;
      part->bytes *= 2;
      return TRUE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], word))
      {
        part->kind = (SsMemoryKind) i;
        return TRUE;
      }
  return FALSE;
}

static void
read_memory (Reader *r, SsKernelRow *row)
{
  double elements = number (r, "elements");
  g_auto (GStrv) parts = g_strsplit_set (ss_csv_table_get (r->csv, r->row, "parts"), " ;", -1);

  for (char **part = parts; *part != NULL; part++)
    {
      char *colon = strchr (*part, ':');

      if (**part == '\0')
        continue;
      if (colon != NULL)
        *colon = '\0';
      if (colon == NULL || row->n_parts == SS_KERNEL_MAX_PARTS
          || !kind_of (*part, g_ascii_strtod (colon + 1, NULL), &row->part[row->n_parts]))
        {
          row->not_expressible = g_strdup_printf ("part \"%s\" is no kind of bytes", *part);
          return;
        }
      row->part[row->n_parts++].bytes *= elements;
    }
  row->group = g_strdup (row->kernel);
}

static SsKernelRow *
read_row (Reader *r)
{
  static const struct
  {
    const char *name;
    SsTimeClass time_class;
    void (*read) (Reader *r, SsKernelRow *row);
  } classes[] = {
    { "gemm", SS_TIME_GEMM, read_product },
    { "attention", SS_TIME_ATTENTION, read_attention },
    { "memory", SS_TIME_MEMORY, read_memory },
  };
  SsKernelRow *row = g_new0 (SsKernelRow, 1);
  const char *name = ss_csv_table_get (r->csv, r->row, "class");

  row->id = g_strdup (ss_csv_table_get (r->csv, r->row, "id"));
  row->device = g_strdup (ss_csv_table_get (r->csv, r->row, "device"));
  row->source = g_strdup (ss_csv_table_get (r->csv, r->row, "source"));
  row->kernel = g_strdup (ss_csv_table_get (r->csv, r->row, "kernel"));
  row->pass = g_strdup (ss_csv_table_get (r->csv, r->row, "pass"));
  row->time_class = SS_N_TIME_CLASSES;
  row->measured_s = number (r, "time_s");
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (g_str_equal (classes[i].name, name))
      {
        row->time_class = classes[i].time_class;
        classes[i].read (r, row);
      }
  if (row->time_class == SS_N_TIME_CLASSES)
    row->not_expressible = g_strdup_printf ("class: \"%s\" has no model", name);
  else if (row->measured_s <= 0 && row->not_expressible == NULL)
    row->not_expressible = g_strdup ("time_s: nothing was measured");
  return row;
}

static void
row_free (gpointer data)
{
  SsKernelRow *row = data;

  g_free (row->id);
  g_free (row->device);
  g_free (row->source);
  g_free (row->kernel);
  g_free (row->pass);
  g_free (row->group);
  g_free (row->not_expressible);
  g_free (row);
}

SsKernelTable *
ss_kernel_table_read (const char *path, GError **error)
{
  static const char *const columns[]
    = { "id",  "class",    "device", "kernel", "m",        "n",     "k",      "heads",
        "seq", "head_dim", "causal", "pass",   "elements", "parts", "time_s", "source", NULL };
  g_autoptr (SsCsvTable) csv = ss_csv_table_read (path, columns, error);
  g_autoptr (SsKernelTable) self = g_new0 (SsKernelTable, 1);

  self->rows = g_ptr_array_new_with_free_func (row_free);
  for (guint i = 0; csv != NULL && i < ss_csv_table_n_rows (csv); i++)
    {
      Reader reader = { csv, i, NULL };

      g_ptr_array_add (self->rows, read_row (&reader));
      if (reader.error != NULL)
        {
          g_propagate_error (error, reader.error);
          return NULL;
        }
    }
  return csv != NULL ? g_steal_pointer (&self) : NULL;
}

void
ss_kernel_table_free (SsKernelTable *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->rows);
  g_free (self);
}

/* ---- the models ---- */

static double
attention_s (const SsKernelRow *row, const SsChip *chip, double floor_s,
             const SsAttentionModel *model)
{
  SsAttentionCall backward = row->call;
  double time_s = 0;

  /* 5 products for 2, twice the operands */
  backward.is_backward = TRUE;
  backward.flops *= 2.5;
  backward.bytes *= 2;
  if (row->has_forward)
    time_s += floor_s + ss_attention_time_s (model, chip, &row->call);
  if (row->has_backward)
    time_s += floor_s + ss_attention_time_s (model, chip, &backward);
  return time_s;
}

static double
memory_s (const SsKernelRow *row, const SsChip *chip, double floor_s, const SsMemoryModel *model)
{
  double time_s = 0;

  for (guint i = 0; i < row->n_parts; i++)
    time_s += floor_s
              + ss_memory_time_s (chip, model->share[row->part[i].kind], row->part[i].bytes);
  return time_s;
}

double
ss_kernel_row_model_s (const SsKernelRow *row, const SsChip *chip, double floor_s,
                       const SsGemmModel *gemm, const SsAttentionModel *attention,
                       const SsMemoryModel *memory)
{
  switch (row->time_class)
    {
    case SS_TIME_GEMM:
      return ss_gemm_time_s (gemm, chip, &row->product);
    case SS_TIME_ATTENTION:
      return attention_s (row, chip, floor_s, attention);
    case SS_TIME_MEMORY:
      return memory_s (row, chip, floor_s, memory);
    case SS_TIME_HOST:
    case SS_N_TIME_CLASSES:
      break;
    }
  g_return_val_if_reached (0);
}

double
ss_kernel_row_time_s (const SsKernelRow *row, const SsDevice *device)
{
  SsChip chip = ss_device_chip (device, SS_BF16);
  const SsAttentionModel *attention = ss_device_attention (device, row->attention);

  if (row->time_class == SS_TIME_ATTENTION && attention == NULL)
    return 0;
  return ss_kernel_row_model_s (row, &chip, ss_device_kernel_floor_s (device, FALSE),
                                ss_device_gemm (device), attention, ss_device_memory (device));
}
