#!/usr/bin/env bash
# Builds and runs tests/c/test_*.c (or those named) under sanitizers, each linking only the sources that it names.
# SANITIZE=thread takes that one in place of address,undefined; SHARE=K/N every Nth program, from the Kth.
# In a test: `// sources: files or folders of runtime_c`, or `library` for all of it, `// samples: yes` (build/samples/*.pte), `// flags:` of the compiler.
set -u -o pipefail
cd "$(dirname "$0")/../.."
cc=${CC:-cc}
python=${PYTHON:-${VENV:-.venv}/bin/python}
sanitize=${SANITIZE:-address,undefined}
out=build/ctest
[ "$sanitize" = address,undefined ] || out=build/ctest-$sanitize
mkdir -p "$out"
flags="-std=c11 -g -O1 -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror -ffp-contract=off
  -D_POSIX_C_SOURCE=200809L -fsanitize=$sanitize -fno-sanitize-recover=all -Iruntime_c -Iruntime_c/include -Itests/c"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
failed=0
[ $# -gt 0 ] || set -- tests/c/test_*.c
share=${SHARE:-1/1} every=() i=0
for test in "$@"; do
  i=$((i + 1))
  if [ $((i % ${share#*/})) = $((${share%/*} % ${share#*/})) ]; then every+=("$test"); fi
done
set -- "${every[@]}"
said() { sed -n "s,^// $2: *,,p" "$1"; }
sources() {
  [ "$(said "$1" sources)" != library ] || { echo $out/library/runtime_c/libpteron.a; return; }
  for s in $(said "$1" sources); do if [ -d "runtime_c/$s" ]; then ls "runtime_c/$s"/*.c; else echo "runtime_c/$s"; fi; done
}
if grep -ql '^// samples: yes' "$@"; then
  PYTHONPATH=.tree "$python" tests/program/samples.py build/samples || exit 1
fi
if grep -ql '^// sources: library' "$@"; then
  cmake -S . -B $out/library -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER="$cc" -DPTE_SANITIZE="$sanitize" -DPTE_BUILD_SHARED=OFF \
    -DPTE_BUILD_TOOLS=OFF -DPTE_BUILD_TESTS=OFF >$out/library.log && cmake --build $out/library -j 2 >>$out/library.log ||
    { tail -40 $out/library.log; exit 1; }
fi
one() { # compiles and runs a test
  local name
  name=$(basename "$1" .c)
  # shellcheck disable=SC2046,SC2086
  $cc $flags $(said "$1" flags) "$1" $(sources "$1") -lm -pthread -o "$out/$name" && "$out/$name" && return
  echo "FAIL $name"
  return 1
}
for test in "$@"; do # two at a time
  if [ "$(jobs -rp | wc -l)" -ge 2 ]; then wait -n || failed=1; fi
  one "$test" &
done
while [ -n "$(jobs -p)" ]; do wait -n || failed=1; done
exit $failed
