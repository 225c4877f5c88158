/* The structs of the text segment.
 * Written by schema/gen from schema/text.fbs; do not edit. */
// clang-format off
#ifndef PTE_GEN_TEXT_H
#define PTE_GEN_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { /* TextModel */
  PTE_TEXT_MODEL_BPE = 0,
  PTE_TEXT_MODEL_UNIGRAM = 1,
  PTE_TEXT_MODEL_WORD_PIECE = 2,
};
#define PTE_TEXT_MODEL_COUNT 3

enum { /* TextUnit */
  PTE_TEXT_UNIT_BYTE = 0,
  PTE_TEXT_UNIT_CHARACTER = 1,
  PTE_TEXT_UNIT_FALLBACK = 2,
};
#define PTE_TEXT_UNIT_COUNT 3

enum { /* TextPart */
  PTE_TEXT_PART_PIECES = 0,
  PTE_TEXT_PART_PIECE_BYTES = 1,
  PTE_TEXT_PART_SHOWN = 2,
  PTE_TEXT_PART_SHOWN_BYTES = 3,
  PTE_TEXT_PART_MARKS = 4,
  PTE_TEXT_PART_LOOKUP = 5,
  PTE_TEXT_PART_MERGES = 6,
  PTE_TEXT_PART_MERGED = 7,
  PTE_TEXT_PART_UNITS = 8,
  PTE_TEXT_PART_SCORES = 9,
  PTE_TEXT_PART_CLASS_INDEX = 10,
  PTE_TEXT_PART_CLASSES = 11,
  PTE_TEXT_PART_TRAITS = 12,
  PTE_TEXT_PART_STEPS = 13,
  PTE_TEXT_PART_STAGES = 14,
  PTE_TEXT_PART_RULES = 15,
  PTE_TEXT_PART_MAP_INDEX = 16,
  PTE_TEXT_PART_MAPS = 17,
  PTE_TEXT_PART_MAP_BYTES = 18,
  PTE_TEXT_PART_ORDER_INDEX = 19,
  PTE_TEXT_PART_ORDERS = 20,
  PTE_TEXT_PART_PAIRS = 21,
  PTE_TEXT_PART_NODES = 22,
  PTE_TEXT_PART_LABELS = 23,
  PTE_TEXT_PART_ADDED = 24,
  PTE_TEXT_PART_FRONT = 25,
  PTE_TEXT_PART_BACK = 26,
  PTE_TEXT_PART_STOPS = 27,
};
#define PTE_TEXT_PART_COUNT 28

enum { /* TextOpening */
  PTE_TEXT_OPENING_AS_SHOWN = 0,
  PTE_TEXT_OPENING_LESS_SPACE = 1,
  PTE_TEXT_OPENING_AS_PIECE = 2,
  PTE_TEXT_OPENING_LESS_MARKS = 3,
};
#define PTE_TEXT_OPENING_COUNT 4

enum { /* TextMark */
  PTE_TEXT_MARK_SPECIAL = 1,
  PTE_TEXT_MARK_ONE_BYTE = 2,
  PTE_TEXT_MARK_WHOLE = 4,
};
#define PTE_TEXT_MARK_COUNT 5

enum { /* TextTrait */
  PTE_TEXT_TRAIT_SPACE = 1,
  PTE_TEXT_TRAIT_WORD = 2,
};
#define PTE_TEXT_TRAIT_COUNT 3

enum { /* TextKeep */
  PTE_TEXT_KEEP_BOTH = 0,
  PTE_TEXT_KEEP_BETWEEN = 1,
  PTE_TEXT_KEEP_FOUND = 2,
  PTE_TEXT_KEEP_PREVIOUS = 3,
  PTE_TEXT_KEEP_NEXT = 4,
  PTE_TEXT_KEEP_RUNS = 5,
};
#define PTE_TEXT_KEEP_COUNT 6

enum { /* TextAct */
  PTE_TEXT_ACT_MAP = 0,
  PTE_TEXT_ACT_DECOMPOSE = 1,
  PTE_TEXT_ACT_COMPOSE = 2,
  PTE_TEXT_ACT_PREPEND = 3,
  PTE_TEXT_ACT_REPLACE = 4,
  PTE_TEXT_ACT_STRIP = 5,
};
#define PTE_TEXT_ACT_COUNT 6

enum { /* TextWhen */
  PTE_TEXT_WHEN_ALWAYS = 0,
  PTE_TEXT_WHEN_UNLESS_THERE = 1,
  PTE_TEXT_WHEN_FIRST = 2,
};
#define PTE_TEXT_WHEN_COUNT 3

typedef struct pte_text_head {
  uint8_t magic[4];
  uint32_t version;
  uint32_t bytes;
  uint32_t pieces;
  uint32_t unknown;
  uint32_t begin;
  uint32_t end;
  uint32_t pad;
  uint32_t vocabulary;
  uint32_t inside;
  uint32_t added;
  uint32_t normal;
  uint64_t unknown_score;
  uint32_t longest;
  uint8_t model;
  uint8_t unit;
  uint8_t fuse;
  uint8_t opening;
} pte_text_head;
_Static_assert(sizeof(pte_text_head) == 64, "TextHead");
_Static_assert(offsetof(pte_text_head, magic) == 0, "TextHead.magic");
_Static_assert(offsetof(pte_text_head, version) == 4, "TextHead.version");
_Static_assert(offsetof(pte_text_head, bytes) == 8, "TextHead.bytes");
_Static_assert(offsetof(pte_text_head, pieces) == 12, "TextHead.pieces");
_Static_assert(offsetof(pte_text_head, unknown) == 16, "TextHead.unknown");
_Static_assert(offsetof(pte_text_head, begin) == 20, "TextHead.begin");
_Static_assert(offsetof(pte_text_head, end) == 24, "TextHead.end");
_Static_assert(offsetof(pte_text_head, pad) == 28, "TextHead.pad");
_Static_assert(offsetof(pte_text_head, vocabulary) == 32, "TextHead.vocabulary");
_Static_assert(offsetof(pte_text_head, inside) == 36, "TextHead.inside");
_Static_assert(offsetof(pte_text_head, added) == 40, "TextHead.added");
_Static_assert(offsetof(pte_text_head, normal) == 44, "TextHead.normal");
_Static_assert(offsetof(pte_text_head, unknown_score) == 48, "TextHead.unknown_score");
_Static_assert(offsetof(pte_text_head, longest) == 56, "TextHead.longest");
_Static_assert(offsetof(pte_text_head, model) == 60, "TextHead.model");
_Static_assert(offsetof(pte_text_head, unit) == 61, "TextHead.unit");
_Static_assert(offsetof(pte_text_head, fuse) == 62, "TextHead.fuse");
_Static_assert(offsetof(pte_text_head, opening) == 63, "TextHead.opening");

typedef struct pte_text_stage {
  uint32_t steps;
  uint32_t states;
  uint8_t keep;
  uint8_t zero[3];
} pte_text_stage;
_Static_assert(sizeof(pte_text_stage) == 12, "TextStage");
_Static_assert(offsetof(pte_text_stage, steps) == 0, "TextStage.steps");
_Static_assert(offsetof(pte_text_stage, states) == 4, "TextStage.states");
_Static_assert(offsetof(pte_text_stage, keep) == 8, "TextStage.keep");
_Static_assert(offsetof(pte_text_stage, zero) == 9, "TextStage.zero");

typedef struct pte_text_rule {
  uint8_t act;
  uint8_t when;
  uint8_t late;
  uint8_t growth;
  uint32_t map;
  uint32_t bytes;
  uint32_t with;
} pte_text_rule;
_Static_assert(sizeof(pte_text_rule) == 16, "TextRule");
_Static_assert(offsetof(pte_text_rule, act) == 0, "TextRule.act");
_Static_assert(offsetof(pte_text_rule, when) == 1, "TextRule.when");
_Static_assert(offsetof(pte_text_rule, late) == 2, "TextRule.late");
_Static_assert(offsetof(pte_text_rule, growth) == 3, "TextRule.growth");
_Static_assert(offsetof(pte_text_rule, map) == 4, "TextRule.map");
_Static_assert(offsetof(pte_text_rule, bytes) == 8, "TextRule.bytes");
_Static_assert(offsetof(pte_text_rule, with) == 12, "TextRule.with");

typedef struct pte_text_merge {
  uint32_t left;
  uint32_t right;
  uint32_t rank;
} pte_text_merge;
_Static_assert(sizeof(pte_text_merge) == 12, "TextMerge");
_Static_assert(offsetof(pte_text_merge, left) == 0, "TextMerge.left");
_Static_assert(offsetof(pte_text_merge, right) == 4, "TextMerge.right");
_Static_assert(offsetof(pte_text_merge, rank) == 8, "TextMerge.rank");

typedef struct pte_text_pair {
  uint32_t first;
  uint32_t second;
  uint32_t composed;
} pte_text_pair;
_Static_assert(sizeof(pte_text_pair) == 12, "TextPair");
_Static_assert(offsetof(pte_text_pair, first) == 0, "TextPair.first");
_Static_assert(offsetof(pte_text_pair, second) == 4, "TextPair.second");
_Static_assert(offsetof(pte_text_pair, composed) == 8, "TextPair.composed");

typedef struct pte_text_node {
  uint32_t first;
  uint32_t value;
} pte_text_node;
_Static_assert(sizeof(pte_text_node) == 8, "TextNode");
_Static_assert(offsetof(pte_text_node, first) == 0, "TextNode.first");
_Static_assert(offsetof(pte_text_node, value) == 4, "TextNode.value");

typedef struct pte_text_added {
  uint32_t id;
  uint8_t single;
  uint8_t left;
  uint8_t right;
  uint8_t special;
} pte_text_added;
_Static_assert(sizeof(pte_text_added) == 8, "TextAdded");
_Static_assert(offsetof(pte_text_added, id) == 0, "TextAdded.id");
_Static_assert(offsetof(pte_text_added, single) == 4, "TextAdded.single");
_Static_assert(offsetof(pte_text_added, left) == 5, "TextAdded.left");
_Static_assert(offsetof(pte_text_added, right) == 6, "TextAdded.right");
_Static_assert(offsetof(pte_text_added, special) == 7, "TextAdded.special");

typedef struct pte_text_place {
  uint32_t offset;
  uint32_t bytes;
} pte_text_place;
_Static_assert(sizeof(pte_text_place) == 8, "TextPlace");
_Static_assert(offsetof(pte_text_place, offset) == 0, "TextPlace.offset");
_Static_assert(offsetof(pte_text_place, bytes) == 4, "TextPlace.bytes");

#endif
