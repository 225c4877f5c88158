#include "core/error.h"

#include <stdbool.h>
#include <string.h>

typedef struct sink {
  char *text;
  size_t count, room;
} sink;

static void put(sink *out, char c) {
  if (out->count + 1 < out->room) out->text[out->count++] = c;
}

static void put_string(sink *out, const char *s) {
  if (s == NULL) s = "?";
  for (; *s != 0 && out->count + 1 < out->room; s++) put(out, *s >= ' ' && *s <= '~' ? *s : '?');
}

static void put_number(sink *out, uint64_t magnitude, bool negative) {
  char digits[20];
  unsigned count = 0;
  do digits[count++] = (char)('0' + magnitude % 10);
  while ((magnitude /= 10) != 0);
  if (negative) put(out, '-');
  while (count > 0) put(out, digits[--count]);
}

static void put_signed(sink *out, int64_t value) {
  put_number(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

/* Prints what `mark` (the text behind '%') asks for; returns the last character of the mark. */
static const char *put_mark(sink *out, const char *mark, va_list *args) {
  if (mark[0] == 'l' && mark[1] == 'l') {
    if (mark[2] == 'd') put_signed(out, va_arg(*args, int64_t));
    else put_number(out, va_arg(*args, uint64_t), false);
    return mark + 2;
  }
  if (*mark == 'u') put_number(out, va_arg(*args, uint32_t), false);
  else if (*mark == 'd') put_signed(out, va_arg(*args, int32_t));
  else if (*mark == 's') put_string(out, va_arg(*args, const char *));
  else put(out, *mark);
  return mark;
}

static size_t length_of(const char *s) {
  size_t length = 0;
  while (s[length] != 0) length++;
  return length;
}

pte_status pte_fail_list(pte_error *err, pte_status status, const char *format, va_list *args) {
  if (err == NULL) return status;
  if (*format == '+') format++;
  else {
    memset(err, 0, sizeof *err);
    err->status = (int32_t)status;
    err->instr = err->op = err->node = PTE_NONE;
  }
  sink out = {err->text, length_of(err->text), sizeof err->text};
  for (const char *at = format; *at != 0; at++) {
    if (*at == '%') at = put_mark(&out, at + 1, args);
    else put(&out, *at);
  }
  return status;
}

pte_status pte_fail(pte_error *err, pte_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  pte_fail_list(err, status, format, &args);
  va_end(args);
  return status;
}

void pte_error_at(pte_error *err, uint32_t instr, uint32_t op, uint32_t node, const char *name) {
  if (err == NULL) return;
  err->instr = instr;
  err->op = op;
  err->node = node;
  const size_t around = sizeof " [node ...]", least = around + 8; /* room for a word of it */
  size_t room = sizeof err->text - length_of(err->text), length = length_of(name);
  if (length == 0 || room < least) return;
  bool cut = length > room - around;
  if (cut) name += length - (room - around);
  (void)pte_fail(err, PTE_OK, "+ [node %s%s]", cut ? "..." : "", name);
}
