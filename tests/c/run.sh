#!/usr/bin/env bash
# Builds and runs tests/c/test_*.c (or those named) under sanitizers, each linking only the sources that it names.
set -u -o pipefail
cd "$(dirname "$0")/../.."
cc=${CC:-cc}
out=build/ctest
mkdir -p "$out"
flags="-std=c11 -g -O1 -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror -ffp-contract=off
  -fsanitize=address,undefined -fno-sanitize-recover=all -Iruntime_c -Iruntime_c/include -Itests/c"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
failed=0
[ $# -gt 0 ] || set -- tests/c/test_*.c
for test in "$@"; do
  name=$(basename "$test" .c)
  sources=$(sed -n 's/.*sources: *\([^*]*\).*/\1/p' "$test" | head -1)
  # shellcheck disable=SC2086
  if $cc $flags "$test" $(for s in $sources; do echo "runtime_c/$s"; done) -lm -pthread -o "$out/$name" && "$out/$name"; then
    :
  else
    echo "FAIL $name"
    failed=1
  fi
done
exit $failed
