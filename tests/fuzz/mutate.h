/* Changes a program within its structure: ranks, extents, dtypes, views, operands, attributes,
 * steps.
 *
 * Random bytes rarely pass the verifier. Here each change is of one field, found by the reader's
 * own tables, to something that exists or that is telling; sizes stay, so every offset stays true.
 * The caller makes the digests right again. */
#ifndef PTE_TEST_MUTATE_H
#define PTE_TEST_MUTATE_H

#include <stdlib.h>
#include <string.h>

#include "core/op.h"
#include "gen/layout.h"
#include "gen/ops.h"
#include "gen/steps.h"
#include "program/flatbuf.h"
#include "pteron/types.h"
#include "sample.h"

typedef struct rows {
  void *data;
  uint32_t count;
} rows;

typedef struct mutant {
  uint64_t state; /* of the random numbers */
  rows of[PTE_PROGRAM_FIELDS];
  uint8_t *constants; /* the first segment of constants, or NULL */
  uint64_t constant_bytes;
} mutant;

static inline uint32_t pick(mutant *m, uint32_t below) {
  m->state = m->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return below == 0 ? 0 : (uint32_t)(m->state >> 33) % below;
}

static inline int64_t telling_int(mutant *m) {
  static const int64_t some[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 7,
                                 8,
                                 9,
                                 16,
                                 17,
                                 64,
                                 255,
                                 256,
                                 4096,
                                 -1,
                                 -2,
                                 -7,
                                 -64,
                                 INT32_MAX,
                                 INT64_C(1) << 31,
                                 INT64_C(1) << 32,
                                 INT64_C(1) << 40,
                                 INT64_C(1) << 50,
                                 INT64_C(1) << 62,
                                 -(INT64_C(1) << 31),
                                 -(INT64_C(1) << 40),
                                 INT64_MAX,
                                 INT64_MIN};
  return some[pick(m, sizeof some / sizeof *some)];
}

static inline double telling_float(mutant *m) {
  static const double some[] = {0,
                                -0.0,
                                1,
                                -1,
                                0.5,
                                1e-3,
                                1e30,
                                -1e30,
                                1e-45,
                                __builtin_inf(),
                                -__builtin_inf(),
                                __builtin_nan("")};
  return some[pick(m, sizeof some / sizeof *some)];
}

/* An entry of a table, or NULL where it is empty. */
static inline void *any_of(mutant *m, uint32_t field, size_t size) {
  if (m->of[field].count == 0) return NULL;
  return (char *)m->of[field].data + size * pick(m, m->of[field].count);
}
#define ANY(m, FIELD, TYPE) ((TYPE *)any_of(m, PTE_PROGRAM_##FIELD, sizeof(TYPE)))

/* Element `i` of the lists that all tables share, or somewhere harmless. */
static inline uint32_t *ref_at(mutant *m, uint64_t i) {
  static uint32_t nowhere;
  return i < m->of[PTE_PROGRAM_REFS].count ? (uint32_t *)m->of[PTE_PROGRAM_REFS].data + i
                                           : &nowhere;
}

static inline void change_shape(mutant *m, pte_file_value *v) {
  uint32_t exprs = m->of[PTE_PROGRAM_EXPRS].count;
  const pte_file_value *other = ANY(m, VALUES, pte_file_value);
  switch (pick(m, 7)) {
  case 0: /* the last axis goes, or one comes */
    v->rank = (uint8_t)(v->rank + 1 - 2 * pick(m, 2));
    break;
  case 1: /* the first axis goes */
    v->rank--;
    v->shape++;
    if (v->strides != PTE_NONE) v->strides++;
    break;
  case 2:
    v->rank = other->rank;
    v->shape = other->shape;
    break;
  case 3: *ref_at(m, (uint64_t)v->shape + pick(m, v->rank)) = pick(m, exprs); break;
  case 4:
    if (v->strides != PTE_NONE)
      *ref_at(m, (uint64_t)v->strides + pick(m, v->rank)) = pick(m, exprs);
    else if (v->storage == PTE_STORAGE_VIEW || pick(m, 8) == 0) v->strides = other->shape;
    break;
  case 5:
    if (v->storage == PTE_STORAGE_VIEW || pick(m, 8) == 0) v->offset = pick(m, exprs);
    break;
  default: /* a view of another value, lower ones rather, with extents for strides */
    if (v->storage != PTE_STORAGE_PLANNED && v->storage != PTE_STORAGE_VIEW && pick(m, 8) != 0)
      return;
    if (other >= v && pick(m, 8) != 0) other = m->of[PTE_PROGRAM_VALUES].data;
    v->storage = PTE_STORAGE_VIEW;
    v->base = (uint32_t)(other - (const pte_file_value *)m->of[PTE_PROGRAM_VALUES].data);
    v->strides = pick(m, 2) ? other->shape : PTE_NONE;
    v->offset = pick(m, 2) ? pick(m, exprs) : PTE_NONE;
    v->above = (pte_range){0, 0};
  }
}

static inline void change_value(mutant *m) {
  pte_file_value *v = ANY(m, VALUES, pte_file_value);
  if (v == NULL) return;
  uint32_t kind = pick(m, 12);
  if (kind < 7) change_shape(m, v);
  else if (kind == 7) v->dtype = (uint8_t)pick(m, PTE_DTYPE_COUNT);
  else if (kind < 10 && v->layout != PTE_PANELS && pick(m, 16) != 0) change_shape(m, v);
  else if (kind == 8)
    v->format = (uint8_t)pick(m, PTE_FORMAT_COUNT), v->block = (uint8_t)pick(m, 10);
  else if (kind == 9) v->groups = (uint16_t)telling_int(m);
  else if (kind == 10) v->layout = (uint8_t)pick(m, PTE_LAYOUT_COUNT);
  else v->above = (pte_range){pick(m, m->of[PTE_PROGRAM_REFS].count), pick(m, 3)};
}

/* All that has a dtype takes another: what agrees goes on agreeing. */
static inline void change_dtype(mutant *m) {
  const pte_file_value *v = ANY(m, VALUES, pte_file_value);
  if (v == NULL) return;
  uint8_t from = v->dtype, to = (uint8_t)pick(m, PTE_DTYPE_COUNT);
  pte_file_value *values = m->of[PTE_PROGRAM_VALUES].data;
  pte_file_constant *constants = m->of[PTE_PROGRAM_CONSTANTS].data;
  for (uint32_t i = 0; i < m->of[PTE_PROGRAM_VALUES].count; i++)
    if (values[i].dtype == from) values[i].dtype = to;
  for (uint32_t i = 0; i < m->of[PTE_PROGRAM_CONSTANTS].count; i++)
    if (constants[i].dtype == from) constants[i].dtype = to;
}

static inline void change_size(mutant *m) {
  pte_file_expr *e = ANY(m, EXPRS, pte_file_expr);
  pte_file_dim *d = ANY(m, DIMS, pte_file_dim);
  if (e != NULL && (d == NULL || pick(m, 4) != 0)) {
    uint32_t i = (uint32_t)(e - (pte_file_expr *)m->of[PTE_PROGRAM_EXPRS].data);
    if (e->op == PTE_EXPR_CONST && pick(m, 8) != 0) {
      uint64_t near = (uint64_t)e->value + 1 - 2 * (uint64_t)pick(m, 2); /* it may wrap */
      e->value = pick(m, 2) ? telling_int(m) : (int64_t)near;
      return;
    }
    e->op = (uint8_t)pick(m, PTE_EXPR_COUNT);
    e->a = pick(m, e->op == PTE_EXPR_DIM ? m->of[PTE_PROGRAM_DIMS].count : i);
    e->b = pick(m, i);
  } else if (d != NULL) {
    uint32_t kind = pick(m, 4);
    if (kind == 0) d->kind = (uint8_t)pick(m, PTE_DIM_COUNT);
    else if (kind == 1) d->min = d->hint = telling_int(m);
    else if (kind == 2) d->max = telling_int(m);
    else d->capacity = pick(m, 2) ? PTE_NONE : pick(m, m->of[PTE_PROGRAM_EXPRS].count);
  }
}

static inline void change_operands(mutant *m, pte_file_instr *instr) {
  pte_range *side = pick(m, 2) ? &instr->inputs : &instr->outputs;
  uint32_t *ref = ref_at(m, (uint64_t)side->start + pick(m, side->count));
  const pte_file_value *values = m->of[PTE_PROGRAM_VALUES].data;
  uint32_t count = m->of[PTE_PROGRAM_VALUES].count, kind = pick(m, 8);
  if (kind == 0) side->count += 1 - 2 * pick(m, 2);
  else if (kind == 1) *ref = PTE_NONE;
  else if (kind == 2)
    *ref = *ref_at(m, (uint64_t)instr->inputs.start + pick(m, instr->inputs.count));
  else
    for (unsigned k = 0; k < 8; k++) { /* of the same dtype and rank, if there is one */
      uint32_t other = pick(m, count);
      bool alike = *ref < count && values[other].dtype == values[*ref].dtype;
      if (k < 7 && (!alike || (k < 4 && values[other].rank != values[*ref].rank))) continue;
      *ref = other;
      break;
    }
}

static inline void change_list(mutant *m, uint8_t kind, pte_range *list) {
  uint32_t i = list->start + pick(m, list->count);
  rows *ints = &m->of[PTE_PROGRAM_INTS];
  if (pick(m, 6) == 0) list->count += 1 - 2 * pick(m, 2);
  else if (kind == PTE_ATTR_DIMS) *ref_at(m, i) = pick(m, m->of[PTE_PROGRAM_EXPRS].count);
  else if (i < ints->count && kind == PTE_ATTR_FLOATS) {
    double value = telling_float(m);
    memcpy((int64_t *)ints->data + i, &value, 8);
  } else if (i < ints->count) ((int64_t *)ints->data)[i] = telling_int(m);
}

static inline void change_attr(mutant *m, const pte_file_instr *instr) {
  const pte_op_row *row = pte_op_find(instr->op);
  rows *attrs = &m->of[PTE_PROGRAM_ATTRS];
  if (row == NULL || row->attr_count == 0 || instr->attrs % 8 != 0) return;
  const pte_op_attr *attr = &pte_op_attrs[row->attrs + pick(m, row->attr_count)];
  uint64_t at = (uint64_t)instr->attrs + attr->offset;
  if (at + 16 > (uint64_t)attrs->count * 8) return;
  uint8_t *bytes = (uint8_t *)attrs->data + at;
  int64_t number = telling_int(m);
  double real = telling_float(m);
  switch (attr->kind) {
  case PTE_ATTR_BOOL: bytes[0] ^= 1; break;
  case PTE_ATTR_ENUM: bytes[0] = (uint8_t)pick(m, attr->values); break;
  case PTE_ATTR_INTS:
  case PTE_ATTR_FLOATS:
  case PTE_ATTR_DIMS: change_list(m, attr->kind, (pte_range *)(void *)bytes); break;
  case PTE_ATTR_FLOAT: memcpy(bytes, &real, 8); break;
  case PTE_ATTR_INT: memcpy(bytes, &number, 8); break;
  default: break;
  }
}

static inline void change_instr(mutant *m) {
  pte_file_instr *instr = ANY(m, INSTRS, pte_file_instr), *other = ANY(m, INSTRS, pte_file_instr);
  if (instr == NULL) return;
  uint32_t kind = pick(m, 16);
  if (kind < 7) change_operands(m, instr);
  else if (kind < 14) change_attr(m, instr);
  else if (kind == 14) *instr = *other;
  else instr->op = (uint16_t)pick(m, 100);
}

static inline void change_step(mutant *m) {
  pte_step *step = ANY(m, STEPS, pte_step);
  if (step == NULL) return;
  switch (pick(m, 6)) {
  case 0: step->op = (uint8_t)pick(m, PTE_STEP_ROWS); break;
  case 1: step->type = (uint8_t)pick(m, 5); break;
  case 2: step->dst = (uint8_t)pick(m, 17); break;
  case 3: step->a = (uint8_t)pick(m, 17); break;
  case 4: step->b = (uint8_t)pick(m, 17); break;
  default: step->arg = (uint16_t)pick(m, 20); break;
  }
}

static inline void put_in_place(mutant *m, pte_range list, uint32_t from, uint32_t to) {
  for (uint32_t k = 0; k < list.count && k < m->of[PTE_PROGRAM_REFS].count; k++) {
    uint32_t *ref = ref_at(m, (uint64_t)list.start + k);
    if (*ref == from) *ref = to;
  }
}

/* A param of a block gives way to one that another block may bind, in its instructions too. */
static inline void change_param(mutant *m, const pte_file_block *block) {
  const pte_file_value *values = m->of[PTE_PROGRAM_VALUES].data;
  const pte_file_instr *instrs = m->of[PTE_PROGRAM_INSTRS].data;
  uint32_t from = *ref_at(m, (uint64_t)block->params.start + pick(m, block->params.count));
  uint32_t to = pick(m, m->of[PTE_PROGRAM_VALUES].count);
  for (unsigned k = 0; k < 8 && values[to].storage != PTE_STORAGE_PARAM; k++)
    to = pick(m, m->of[PTE_PROGRAM_VALUES].count);
  put_in_place(m, block->params, from, to);
  put_in_place(m, block->results, from, to);
  for (uint64_t i = block->instrs.start; i < (uint64_t)block->instrs.start + block->instrs.count;
       i++) {
    if (i >= m->of[PTE_PROGRAM_INSTRS].count) return;
    put_in_place(m, instrs[i].inputs, from, to);
    put_in_place(m, instrs[i].outputs, from, to);
  }
}

/* What saving and going back rely on: few programs have states, and these have them often changed.
 */
static inline void change_state(mutant *m) {
  pte_file_state *state = ANY(m, STATES, pte_file_state);
  uint32_t field = pick(m, 5);
  if (state == NULL) return;
  if (field == 0) state->shape.start = pick(m, m->of[PTE_PROGRAM_REFS].count);
  else if (field == 1) state->axis = (uint8_t)pick(m, state->shape.count);
  else if (field == 2) state->reach = pick(m, 20);
  else state->role = (uint8_t)pick(m, PTE_ROLE_PANELS + 1);
}

/* Blocks, methods, constants: what binds the rest. */
static inline void change_frame(mutant *m) {
  pte_file_block *block = ANY(m, BLOCKS, pte_file_block);
  pte_file_constant *constant = ANY(m, CONSTANTS, pte_file_constant);
  uint32_t values = m->of[PTE_PROGRAM_VALUES].count, kind = pick(m, 6);
  if (block != NULL && values != 0 && kind == 5) change_param(m, block);
  else if (block != NULL && kind < 2) {
    pte_range *list = kind == 0 ? &block->params : &block->results;
    if (pick(m, 4) == 0) list->count += 1 - 2 * pick(m, 2);
    else *ref_at(m, (uint64_t)list->start + pick(m, list->count)) = pick(m, values);
  } else if (constant != NULL && kind == 2) {
    constant->offset = (uint64_t)telling_int(m);
  } else if (m->constants != NULL && m->constant_bytes >= 8) { /* an index, perhaps */
    int64_t number = telling_int(m);
    memcpy(m->constants + pick(m, (uint32_t)(m->constant_bytes / 8)) * 8, &number, 8);
  }
}

/* Any field of any table: names, reserved bytes, whatever has no change of its own above. */
static inline void change_field(mutant *m) {
  uint32_t table = pick(m, PTE_PROGRAM_FIELDS), size = pte_program_table.fields[table].size;
  if (table == PTE_PROGRAM_STRINGS || m->of[table].count == 0) return;
  uint8_t *row = (uint8_t *)m->of[table].data + (size_t)size * pick(m, m->of[table].count);
  uint32_t at = pick(m, size), value = (uint32_t)telling_int(m);
  if (pick(m, 2) || size % 4 != 0) row[at] ^= (uint8_t)(1u << pick(m, 8));
  else memcpy(row + at / 4 * 4, &value, 4);
}

/* Header and segment table, but for the digests. */
static inline void change_head(mutant *m, uint8_t *data, size_t size) {
  uint64_t count = sample_word(data + 12, 4) % 64, end = 64 + 64 * count;
  uint32_t at = pick(m, (uint32_t)(end < size ? end : size));
  if (at < 32 || at >= 64) data[at] ^= (uint8_t)(1u << pick(m, 8));
}

/* Where the tables of the program lie. false: the bytes are no program. */
static inline bool mutant_read(mutant *m, uint8_t *data, size_t size) {
  if (size < 64 || (uintptr_t)data % 8 != 0) return false;
  uint64_t count = sample_word(data + 12, 4);
  bool found = false;
  for (uint64_t i = 0; i < count && 128 + 64 * i <= size; i++) {
    uint8_t *entry = data + 64 + 64 * i;
    uint64_t kind = sample_word(entry, 4), at = sample_word(entry + 8, 8);
    uint64_t bytes = sample_word(entry + 16, 8);
    if (sample_word(entry + 4, 4) != 0 || at % 8 != 0 || at > size || bytes > size - at) continue;
    if (kind == PTE_SEGMENT_CONSTANTS && m->constants == NULL) {
      m->constants = data + at;
      m->constant_bytes = bytes;
    }
    pte_flat root;
    if (kind != PTE_SEGMENT_PROGRAM ||
        pte_flat_verify(data + at, (size_t)bytes, &pte_program_table, PTE_FILE_IDENTIFIER, "",
                        &root, NULL) != PTE_OK)
      continue;
    for (uint32_t field = 0; field < PTE_PROGRAM_FIELDS; field++) {
      pte_flat_vector v = pte_flat_get_vector(root, field);
      m->of[field] = (rows){(void *)(uintptr_t)v.data, v.count};
    }
    found = true;
  }
  return found;
}

/* One to four changes. false: the bytes are no program. */
static inline bool mutate_program(uint8_t *data, size_t size, unsigned seed) {
  mutant m = {.state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
  if (!mutant_read(&m, data, size)) return false;
  for (uint32_t left = 1 + pick(&m, 4) * pick(&m, 2); left > 0; left--) {
    uint32_t kind = pick(&m, 16);
    if (pick(&m, 64) == 0) change_head(&m, data, size);
    else if (pick(&m, 12) == 0) change_field(&m);
    else if (m.of[PTE_PROGRAM_STATES].count != 0 && pick(&m, 3) == 0) change_state(&m);
    else if (kind < 5) change_value(&m);
    else if (kind < 7) change_size(&m);
    else if (kind < 12) change_instr(&m);
    else if (kind == 12) change_dtype(&m);
    else if (kind == 13) change_step(&m);
    else change_frame(&m);
  }
  return true;
}

#endif
