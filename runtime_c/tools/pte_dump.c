/* Prints a program as text: header, segments, manifest, dimensions, constants, values,
 * instructions.
 *
 *   pte_dump model.pte
 *
 * The program is verified first; what is printed can be relied on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/header.h"
#include "pteron/host.h"

static const char *const expr_marks[PTE_EXPR_COUNT] = {
    [PTE_EXPR_ADD] = "+",       [PTE_EXPR_SUB] = "-",      [PTE_EXPR_MUL] = "*",
    [PTE_EXPR_FLOORDIV] = "//", [PTE_EXPR_CEILDIV] = "/^", [PTE_EXPR_MOD] = "%",
    [PTE_EXPR_MIN] = "min",     [PTE_EXPR_MAX] = "max"};

/* Expressions are trees with shared parts: cut where they get deep. */
static void print_expr(const pte_program *p, uint32_t i, int depth) {
  const pte_file_expr *e = &p->exprs[i];
  if (e->op == PTE_EXPR_CONST) printf("%lld", (long long)e->value);
  else if (e->op == PTE_EXPR_DIM) printf("%s", pte_program_string(p, p->dims[e->a].name));
  else if (depth == 0) printf("...");
  else {
    printf("(");
    print_expr(p, e->a, depth - 1);
    printf(" %s ", expr_marks[e->op]);
    print_expr(p, e->b, depth - 1);
    printf(")");
  }
}

static void print_refs(const pte_program *p, uint32_t start, uint32_t count) {
  printf("[");
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) printf(", ");
    print_expr(p, p->tables.refs[start + i], 4);
  }
  printf("]");
}

static void print_segments(const pte_program *p) {
  static const char *const kinds[PTE_SEGMENT_COUNT] = {"",          "manifest", "program",
                                                       "constants", "blob",     "debug"};
  printf("file: %llu bytes, %u segments\n", (unsigned long long)p->size, p->segment_count);
  for (uint32_t i = 0; i < p->segment_count; i++) {
    pte_file_entry entry = pte_segment_entry_at(p->head, i);
    printf("  segment %u: %-9s %10llu bytes at %llu%s ", i, kinds[entry.kind],
           (unsigned long long)entry.size, (unsigned long long)entry.offset,
           entry.flags != 0 ? ", external" : "");
    for (unsigned d = 0; d < 8; d++) printf("%02x", entry.digest[d]);
    printf("\n");
  }
}

static void print_manifest(const pte_program *p) {
  printf("manifest: producer '%s', model '%s', activations '%s', %llu bytes of constants\n",
         pte_flat_get_string(p->manifest, PTE_MANIFEST_PRODUCER),
         pte_flat_get_string(p->manifest, PTE_MANIFEST_MODEL),
         pte_flat_get_string(p->manifest, PTE_MANIFEST_ACTIVATIONS),
         (unsigned long long)pte_flat_get_scalar(p->manifest, PTE_MANIFEST_CONSTANT_BYTES, 8));
  pte_flat_vector memory = pte_flat_get_vector(p->manifest, PTE_MANIFEST_MEMORY);
  const pte_file_method_memory *rows = memory.data;
  for (uint32_t i = 0; i < memory.count; i++)
    printf("  method %u at hints: planned %llu bytes, live %llu, states %llu\n", rows[i].method,
           (unsigned long long)rows[i].planned_bytes, (unsigned long long)rows[i].live_bytes,
           (unsigned long long)rows[i].state_bytes);
}

static void print_dims(const pte_program *p) {
  static const char *const kinds[PTE_DIM_COUNT] = {"symbolic", "shape", "counted"};
  for (uint32_t i = 0; i < p->dim_count; i++) {
    const pte_file_dim *d = &p->dims[i];
    printf("dim %u: %s, %s, %lld to %lld, hint %lld", i, pte_program_string(p, d->name),
           kinds[d->kind], (long long)d->min, (long long)d->max, (long long)d->hint);
    if (d->kind == PTE_DIM_SHAPE) printf(", element %u of input %u", d->element, d->port);
    if (d->kind == PTE_DIM_COUNTED && d->capacity != PTE_NONE) {
      printf(", capacity ");
      print_expr(p, d->capacity, 4);
    }
    printf("\n");
  }
  for (uint32_t i = 0; i < p->check_count; i++)
    printf("check %u: %s\n", i, pte_program_string(p, p->checks[i].text));
}

static const char *layout_name(uint8_t layout) {
  static const char *const names[PTE_LAYOUT_COUNT] = {"", " panels", " taps"};
  return names[layout];
}

static const char *const format_names[] = PTE_FORMAT_NAMES;

static void print_constants(const pte_program *p) {
  for (uint32_t i = 0; i < p->constant_count; i++) {
    const pte_file_constant *c = &p->constants[i];
    printf("constant %u: '%s' %s[", i, pte_program_string(p, c->name), pte_dtype_names[c->dtype]);
    for (uint32_t axis = 0; axis < c->shape.count; axis++)
      printf("%s%lld", axis == 0 ? "" : ", ", (long long)p->tables.ints[c->shape.start + axis]);
    printf("]%s %s of %u, %llu bytes at %llu of segment %u\n", layout_name(c->layout),
           format_names[c->format], 1u << c->block & ~1u, (unsigned long long)c->size,
           (unsigned long long)c->offset, c->segment);
  }
  for (uint32_t i = 0; i < p->state_count; i++) {
    const pte_file_state *s = &p->states[i];
    printf("state %u: '%s' %s", i, pte_program_string(p, s->name), pte_dtype_names[s->dtype]);
    print_refs(p, s->shape.start, s->shape.count);
    printf("%s\n", s->initial == PTE_NONE ? ", zeros" : ", from a constant");
  }
}

static void print_values(const pte_program *p) {
  static const char *const storages[PTE_STORAGE_COUNT] = {"planned", "input", "output", "constant",
                                                          "state",   "view",  "param"};
  for (uint32_t i = 0; i < p->value_count; i++) {
    const pte_file_value *v = &p->values[i];
    printf("%%%u: %s", i, pte_dtype_names[v->dtype]);
    print_refs(p, v->shape, v->rank);
    printf("%s %s", layout_name(v->layout), storages[v->storage]);
    if (v->storage == PTE_STORAGE_VIEW) printf(" of %%%u", v->base);
    else if (v->storage != PTE_STORAGE_PLANNED && v->storage != PTE_STORAGE_PARAM)
      printf(" %u", v->base);
    if (v->strides != PTE_NONE) {
      printf(", strides ");
      print_refs(p, v->strides, v->rank);
    }
    if (v->offset != PTE_NONE) {
      printf(", from ");
      print_expr(p, v->offset, 4);
    }
    for (uint32_t a = 0; a < v->above.count; a++)
      printf("%s%%%u", a == 0 ? ", above " : " ", p->tables.refs[v->above.start + a]);
    printf("\n");
  }
}

static void print_value_list(const pte_program *p, pte_range refs) {
  for (uint32_t i = 0; i < refs.count; i++) {
    uint32_t value = p->tables.refs[refs.start + i];
    if (value == PTE_NONE) printf("%s-", i == 0 ? "" : ", ");
    else printf("%s%%%u", i == 0 ? "" : ", ", value);
  }
}

static void print_attr(const pte_op_attr *attr, const unsigned char *at) {
  int64_t whole;
  double real;
  uint32_t word;
  pte_range range;
  memcpy(&word, at, sizeof word);
  switch (attr->kind) {
  case PTE_ATTR_INT:
    memcpy(&whole, at, sizeof whole);
    printf(" %s=%lld", pte_op_text(attr->name), (long long)whole);
    break;
  case PTE_ATTR_FLOAT:
    memcpy(&real, at, sizeof real);
    printf(" %s=%g", pte_op_text(attr->name), real);
    break;
  case PTE_ATTR_BOOL:
  case PTE_ATTR_ENUM:
  case PTE_ATTR_BLOCK: printf(" %s=%u", pte_op_text(attr->name), word); break;
  default:
    memcpy(&range, at, sizeof range);
    printf(" %s=%u..+%u", pte_op_text(attr->name), range.start, range.count);
  }
}

static void print_instr(const pte_program *p, uint32_t i) {
  const pte_file_instr *instr = &p->instrs[i];
  const pte_op_row *row = pte_program_row(instr);
  uint64_t scratch[PTE_MAX_ATTRS_BYTES / 8];
  const unsigned char *attrs = pte_program_attrs(p, instr, scratch);
  printf("  %4u  ", i);
  print_value_list(p, instr->outputs);
  printf(" = %s(", pte_op_text(row->name));
  print_value_list(p, instr->inputs);
  printf(")");
  for (uint32_t a = 0; a < row->attr_count; a++) {
    const pte_op_attr *attr = &pte_op_attrs[row->attrs + a];
    print_attr(attr, attrs + attr->offset);
  }
  pte_node_info node = {.size = sizeof node};
  bool named = pte_program_node(p, instr->node, &node) == PTE_OK && node.name[0] != 0;
  printf("%s%s\n", named ? "  ; " : "", named ? node.name : "");
}

static void print_ports(const pte_program *p, const char *what, pte_range ports) {
  printf(" %s", what);
  for (uint32_t i = 0; i < ports.count; i++)
    printf(" %s:%%%u", pte_program_string(p, p->ports[ports.start + i].name),
           p->ports[ports.start + i].value);
}

static void print_blocks(const pte_program *p) {
  for (uint32_t m = 0; m < p->method_count; m++) {
    printf("method %u: '%s', block %u,", m, pte_program_string(p, p->methods[m].name),
           p->methods[m].block);
    print_ports(p, "inputs", p->methods[m].inputs);
    print_ports(p, "outputs", p->methods[m].outputs);
    printf("\n");
  }
  for (uint32_t d = 0; d < p->delegate_count; d++)
    printf("delegate %u: '%s', target '%s', fallback block %d, policy %u\n", d,
           pte_program_string(p, p->delegates[d].name),
           pte_program_string(p, p->delegates[d].target), (int)p->delegates[d].fallback,
           p->delegates[d].policy);
  for (uint32_t b = 0; b < p->block_count; b++) {
    const pte_file_block *block = &p->blocks[b];
    printf("block %u (method %u): ", b, block->method);
    print_value_list(p, block->params);
    printf(" -> ");
    print_value_list(p, block->results);
    printf("\n");
    for (uint32_t i = 0; i < block->instrs.count; i++) print_instr(p, block->instrs.start + i);
  }
}

int main(int count, char **words) {
  if (count != 2) {
    fprintf(stderr, "usage: pte_dump model.pte\n");
    return 2;
  }
  pte_memory file = {NULL, 0}, memory = {NULL, 0};
  pte_error error = {0};
  pte_program *program = NULL;
  pte_open_options options = {.size = sizeof options};
  pte_status status = pte_host_map(words[1], &file, &error);
  size_t bytes = 0;
  if (status == PTE_OK) status = pte_program_size(file.data, file.size_bytes, &bytes, &error);
  if (status == PTE_OK) status = pte_host_alloc(bytes, &memory);
  if (status == PTE_OK)
    status = pte_program_open(file.data, file.size_bytes, &options, memory, &program, &error);
  if (status == PTE_OK) {
    print_segments(program);
    print_manifest(program);
    print_dims(program);
    print_constants(program);
    print_values(program);
    print_blocks(program);
  } else fprintf(stderr, "%s: %s: %s\n", words[1], pte_status_name(status), error.text);
  pte_host_free(memory);
  pte_host_unmap(file);
  return status == PTE_OK ? 0 : 1;
}
