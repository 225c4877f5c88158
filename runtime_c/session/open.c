/* Opening a session: all its tables, measured and taken by the same code, and what of them does not
 * depend on sizes. */
#include "session/session.h"

#include <stddef.h>
#include <string.h>

#include "core/error.h"
#include "core/kept.h"
#include "gen/ops.h"
#include "session/delegates.h"
#include "session/kept.h"
#include "session/values.h"

/* How long the tables are. */
typedef struct counts {
  uint64_t works, operands, loops, attr_bytes, delegate_operands;
} counts;

static bool attrs_are_short(const pte_program *p, const pte_file_instr *instr,
                            const pte_op_row *row) {
  if (instr->attrs == PTE_NONE) return false;
  uint32_t size;
  memcpy(&size, (const unsigned char *)p->attrs + instr->attrs, sizeof size);
  return size < row->attrs_bytes;
}

/* Operands that an instruction has with trailing optional ones that its lists leave out: a kernel
 * may look at each port of its row. */
static uint32_t operand_count(uint32_t listed, uint32_t ports, bool variadic) {
  uint32_t fixed = ports - (variadic ? 1 : 0);
  return listed < fixed ? fixed : listed;
}

static uint32_t input_count(const pte_file_instr *instr, const pte_op_row *row) {
  return operand_count(instr->inputs.count, row->input_count, row->input_variadic);
}

static uint32_t output_count(const pte_file_instr *instr, const pte_op_row *row) {
  return operand_count(instr->outputs.count, row->output_count, row->output_variadic);
}

static counts count_method(const pte_program *p, uint32_t method) {
  counts n = {0};
  for (uint32_t b = 0; b < p->block_count; b++) {
    const pte_file_block *block = &p->blocks[b];
    if (block->method != method) continue;
    n.works += block->instrs.count;
    for (uint32_t i = 0; i < block->instrs.count; i++) {
      const pte_file_instr *instr = &p->instrs[block->instrs.start + i];
      const pte_op_row *row = pte_program_row(instr);
      uint64_t operands = (uint64_t)input_count(instr, row) + output_count(instr, row);
      n.operands += operands;
      if (row->id == PTE_OP_LOOP) n.loops++;
      if (attrs_are_short(p, instr, row)) n.attr_bytes += PTE_MAX_ATTRS_BYTES;
      if (row->id == PTE_OP_DELEGATE && operands > n.delegate_operands)
        n.delegate_operands = operands;
    }
  }
  return n;
}

/* Room for operand pointers, loop counters and completed attributes, handed out one instruction
 * after the other. */
typedef struct pool {
  pte_tensor **operands;
  int64_t *iterations;
  unsigned char *attrs;
} pool;

/* One table: how many elements (a member of a struct of uint64_t), of how many bytes, and which
 * pointer of a struct it becomes. */
typedef struct table_row {
  uint8_t count, size;
  uint16_t pointer;
} table_row;

typedef struct lengths {
  uint64_t exprs, dims, values, blocks, delegates, states;
  counts method;
} lengths;

#define TABLE(COUNT, STRUCT, MEMBER)                                                               \
  {offsetof(lengths, COUNT), sizeof *((STRUCT *)0)->MEMBER, offsetof(STRUCT, MEMBER)}

static const table_row SESSION_TABLES[] = {
    TABLE(exprs, pte_session, exprs.values),
    TABLE(exprs, pte_session, exprs.known),
    TABLE(exprs, pte_session, exprs.dynamic),
    TABLE(exprs, pte_session, exprs.used),
    TABLE(dims, pte_session, exprs.dim_values),
    TABLE(dims, pte_session, exprs.dim_capacity),
    TABLE(dims, pte_session, exprs.dim_known),
    TABLE(values, pte_session, tensors),
    TABLE(values, pte_session, slots),
    TABLE(values, pte_session, caller_bound),
    TABLE(method.works, pte_session, works),
    TABLE(blocks, pte_session, first_work),
    TABLE(delegates, pte_session, placed),
    TABLE(method.delegate_operands, pte_session, delegate_tensors),
    TABLE(states, pte_session, state_values),
    TABLE(states, pte_session, state_kept),
};
static const table_row POOL_TABLES[] = {
    TABLE(method.operands, pool, operands),
    TABLE(method.loops, pool, iterations),
    TABLE(method.attr_bytes, pool, attrs),
};

static pte_status take_rows(pte_arena *arena, const lengths *n, const table_row *rows, size_t count,
                            void *into) {
  for (size_t i = 0; i < count; i++) {
    uint64_t elements;
    void *taken = NULL;
    memcpy(&elements, (const unsigned char *)n + rows[i].count, sizeof elements);
    PTE_TRY(pte_arena_take(arena, elements, rows[i].size, _Alignof(max_align_t), &taken));
    memcpy((unsigned char *)into + rows[i].pointer, &taken, sizeof taken);
  }
  return PTE_OK;
}

static pte_status take_tables(pte_arena *arena, const pte_program *p, uint32_t method,
                              pte_session *s, pool *rooms) {
  const lengths n = {p->expr_count,     p->dim_count,   s->value_count,         p->block_count,
                     p->delegate_count, s->state_count, count_method(p, method)};
  s->exprs.exprs = p->exprs;
  s->exprs.dims = p->dims;
  s->exprs.expr_count = p->expr_count;
  s->exprs.dim_count = p->dim_count;
  PTE_TRY(take_rows(arena, &n, SESSION_TABLES, sizeof SESSION_TABLES / sizeof *SESSION_TABLES, s));
  return take_rows(arena, &n, POOL_TABLES, sizeof POOL_TABLES / sizeof *POOL_TABLES, rooms);
}

/* The fields that say which method of which program this is. */
static void name_method(pte_session *s, const pte_program *p, uint32_t method) {
  memset(s, 0, sizeof *s);
  s->program = p;
  s->method = &p->methods[method];
  s->method_index = method;
  s->first_value = s->method->values.start;
  s->value_count = s->method->values.count;
  for (uint32_t v = 0; v < s->value_count; v++)
    if (pte_session_file_value(s, v)->storage == PTE_STORAGE_STATE) s->state_count++;
}

static uint8_t storage_flags(uint8_t storage) {
  switch (storage) {
  case PTE_STORAGE_INPUT: return PTE_SLOT_CALLER | PTE_SLOT_READ_ONLY;
  case PTE_STORAGE_OUTPUT: return PTE_SLOT_CALLER;
  case PTE_STORAGE_CONSTANT: return PTE_SLOT_READ_ONLY;
  case PTE_STORAGE_PARAM: return PTE_SLOT_PARAM;
  default: return 0;
  }
}

static void use_refs(pte_session *s, uint32_t start, uint32_t count) {
  if (start == PTE_NONE) return;
  for (uint32_t i = 0; i < count; i++) s->exprs.used[s->program->tables.refs[start + i]] = true;
}

/* What relations compare is of interest too, though no value may have it: an element of a shape
 * input that only they name. In a program of several methods they may speak of another's inputs. */
static void use_relations(pte_session *s) {
  const pte_program *p = s->program;
  for (uint32_t i = 0; p->method_count == 1 && i < p->check_count; i++)
    s->exprs.used[p->checks[i].a] = s->exprs.used[p->checks[i].b] = true;
}

/* What of a value does not depend on sizes: its kind, its base, its lists of expressions. */
static void open_values(pte_session *s) {
  for (uint32_t v = 0; v < s->value_count; v++) {
    const pte_file_value *file = pte_session_file_value(s, v);
    pte_tensor *t = &s->tensors[v];
    pte_slot *slot = &s->slots[v];
    memset(t, 0, sizeof *t);
    memset(slot, 0, sizeof *slot);
    t->dtype = file->dtype;
    t->rank = file->rank;
    t->layout = file->layout;
    t->format = file->format;
    t->block = file->block;
    t->groups = file->groups;
    slot->base = file->storage == PTE_STORAGE_VIEW ? file->base - s->first_value : v;
    slot->flags = file->storage == PTE_STORAGE_VIEW ? s->slots[slot->base].flags
                                                    : storage_flags(file->storage);
    use_refs(s, file->shape, file->rank);
    use_refs(s, file->strides, file->rank);
    if (file->offset != PTE_NONE) s->exprs.used[file->offset] = true;
    if ((slot->flags & (PTE_SLOT_CALLER | PTE_SLOT_PARAM)) != 0)
      s->caller_bound[s->caller_bound_count++] = v;
    if (file->storage == PTE_STORAGE_STATE) {
      s->state_kept[s->state_count] = 0;
      s->state_values[s->state_count++] = v;
    }
  }
}

static bool refs_are_dynamic(const pte_session *s, uint32_t start, uint32_t count) {
  if (start == PTE_NONE) return false;
  for (uint32_t i = 0; i < count; i++)
    if (s->exprs.dynamic[s->program->tables.refs[start + i]]) return true;
  return false;
}

/* A state outlives the run that counted: its extents would not. */
static pte_status mark_dynamic_values(pte_session *s, pte_error *err) {
  for (uint32_t v = 0; PTE_COUNTED_KEPT && v < s->value_count; v++) {
    const pte_file_value *file = pte_session_file_value(s, v);
    const uint8_t moving = PTE_SLOT_PARAM | PTE_SLOT_DYNAMIC; /* a base whose room changes too */
    if (!refs_are_dynamic(s, file->shape, file->rank) &&
        !refs_are_dynamic(s, file->strides, file->rank) &&
        !(file->offset != PTE_NONE && s->exprs.dynamic[file->offset]) &&
        (s->slots[s->slots[v].base].flags & moving) != moving)
      continue;
    if (file->storage == PTE_STORAGE_STATE)
      return pte_value_misfit(s, v, PTE_BAD_PROGRAM, "a state of counted size", err);
    s->slots[v].flags |= PTE_SLOT_DYNAMIC;
    s->has_dynamic = true;
  }
  return PTE_OK;
}

/* The `Dims` of an instruction: marked as used, or (second pass) asked whether one is dynamic. */
static bool visit_dims(pte_session *s, const pte_work *work, bool mark) {
  bool dynamic = false;
  for (uint32_t a = 0; a < work->row->attr_count; a++) {
    const pte_op_attr *attr = &pte_op_attrs[work->row->attrs + a];
    if (attr->kind != PTE_ATTR_DIMS) continue;
    pte_range list;
    memcpy(&list, (const unsigned char *)work->call.attrs + attr->offset, sizeof list);
    if (mark) use_refs(s, list.start, list.count);
    else dynamic = dynamic || refs_are_dynamic(s, list.start, list.count);
  }
  return dynamic;
}

static pte_tensor **fill_operands(pte_session *s, pte_range refs, uint32_t count,
                                  pte_tensor **room) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t value = i < refs.count ? s->program->tables.refs[refs.start + i] : PTE_NONE;
    *room++ = value == PTE_NONE ? NULL : &s->tensors[value - s->first_value];
  }
  return room;
}

static void open_work(pte_session *s, uint32_t index, pte_work *work, pool *rooms) {
  const pte_file_instr *instr = &s->program->instrs[index];
  memset(work, 0, sizeof *work);
  work->instr = index;
  work->row = pte_program_row(instr);
  work->call.attrs = pte_program_attrs(s->program, instr, rooms->attrs);
  if (work->call.attrs == rooms->attrs) rooms->attrs += PTE_MAX_ATTRS_BYTES;
  work->call.in_count = input_count(instr, work->row);
  work->call.out_count = output_count(instr, work->row);
  work->call.in = (const pte_tensor *const *)rooms->operands;
  rooms->operands = fill_operands(s, instr->inputs, work->call.in_count, rooms->operands);
  work->call.out = rooms->operands;
  rooms->operands = fill_operands(s, instr->outputs, work->call.out_count, rooms->operands);
  if (work->row->id == PTE_OP_LOOP) work->call.kept = rooms->iterations++;
  visit_dims(s, work, true);
}

static void open_works(pte_session *s, pool rooms) {
  for (uint32_t b = 0; b < s->program->block_count; b++) {
    const pte_file_block *block = &s->program->blocks[b];
    s->first_work[b] = PTE_NONE;
    if (block->method != s->method_index) continue;
    s->first_work[b] = s->work_count;
    for (uint32_t i = 0; i < block->instrs.count; i++)
      open_work(s, block->instrs.start + i, &s->works[s->work_count++], &rooms);
  }
}

static uint8_t operand_flags(const pte_session *s, const pte_work *work) {
  unsigned flags = 0;
  for (uint32_t i = 0; i < work->call.in_count; i++)
    if (work->call.in[i] != NULL)
      flags |= s->slots[pte_session_value_of(s, work->call.in[i])].flags;
  for (uint32_t i = 0; i < work->call.out_count; i++)
    if (work->call.out[i] != NULL)
      flags |= s->slots[pte_session_value_of(s, work->call.out[i])].flags;
  return (uint8_t)flags;
}

static void mark_works(pte_session *s) {
  for (uint32_t w = 0; w < s->work_count; w++) {
    pte_work *work = &s->works[w];
    uint8_t flags = operand_flags(s, work);
    work->bound = (flags & PTE_SLOT_PARAM) != 0;
    work->dynamic = (flags & PTE_SLOT_DYNAMIC) != 0 || visit_dims(s, work, false);
    bool more = work->bound || work->dynamic || work->row->control || work->row->counts;
    work->run = more ? NULL : work->row->kernel->run;
  }
}

static pte_status check_method(const pte_program *p, uint32_t method, pte_error *err) {
  if (p == NULL) return pte_fail(err, PTE_BAD_ARGUMENT, "program: is NULL");
  if (method < p->method_count) return PTE_OK;
  return pte_fail(err, PTE_BAD_ARGUMENT, "method %u: the program has %u", method, p->method_count);
}

pte_status pte_session_size(const pte_program *p, uint32_t method, size_t *out_bytes,
                            pte_error *err) {
  PTE_TRY(check_method(p, method, err));
  pte_session probe;
  name_method(&probe, p, method);
  pool rooms;
  pte_arena arena = pte_arena_measure();
  void *self = NULL;
  PTE_TRY(pte_arena_take(&arena, 1, sizeof(pte_session), PTE_ARENA_ALIGN, &self));
  PTE_TRY(take_tables(&arena, p, method, &probe, &rooms)); /* counts of 32 bits: it fits in 64 */
  PTE_TRY(pte_delegates_measure(p, method, &arena, err));
  if (arena.used > SIZE_MAX)
    return pte_fail(err, PTE_LIMIT, "session: tables do not fit in memory");
  *out_bytes = (size_t)arena.used;
  return PTE_OK;
}

pte_status pte_session_open(const pte_program *p, uint32_t method, pte_memory memory,
                            pte_session **out, pte_error *err) {
  size_t needed = 0;
  PTE_TRY(pte_session_size(p, method, &needed, err));
  if (memory.data == NULL || memory.size_bytes < needed)
    return pte_fail(err, PTE_NO_MEMORY, "session: got %llu bytes, needs %llu",
                    (uint64_t)memory.size_bytes, (uint64_t)needed);
  if ((uintptr_t)memory.data % PTE_ARENA_ALIGN != 0)
    return pte_fail(err, PTE_BAD_ARGUMENT, "session memory: expected 64-byte alignment");
  pte_arena arena = pte_arena_open(memory);
  pool rooms;
  void *self = NULL;
  PTE_TRY(pte_arena_take(&arena, 1, sizeof(pte_session), PTE_ARENA_ALIGN, &self));
  pte_session *s = self;
  name_method(s, p, method);
  PTE_TRY(take_tables(&arena, p, method, s, &rooms));
  memset(s->exprs.used, 0, p->expr_count * sizeof *s->exprs.used);
  s->state_count = 0;
  open_values(s);
  open_works(s, rooms);
  use_relations(s);
  pte_exprs_trace(&s->exprs);
  PTE_TRY(mark_dynamic_values(s, err));
  mark_works(s);
  pte_kept_mark(s);
  PTE_TRY(pte_delegates_open(s, &arena, err));
  s->tables = p->tables;
  s->tables.extents = s->exprs.values;
  *out = s;
  return PTE_OK;
}
