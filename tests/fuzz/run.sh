#!/usr/bin/env bash
# Builds the fuzzers with clang and runs each for SECONDS (default 60) from the sample programs.
# Usage: tests/fuzz/run.sh [SECONDS | runs=N]; N runs come from a fixed seed, the same each time. A finding is left in build/fuzz/.
# TARGETS="fuzz_run": that one alone.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
limit="-max_total_time=${1:-60}"
case ${1:-} in runs=*) limit="-$1 -seed=1" ;; esac
targets=${TARGETS:-fuzz_verify fuzz_run}
cc=${FUZZ_CC:-clang-19}
python=${PYTHON:-${VENV:-.venv}/bin/python}
cmake -S . -B build/fuzz/library -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER="$cc" -DPTE_BUILD_SHARED=OFF \
  -DPTE_BUILD_TOOLS=OFF -DPTE_BUILD_TESTS=OFF -DPTE_SANITIZE=fuzzer-no-link,address,undefined >build/fuzz.log 2>&1
cmake --build build/fuzz/library -j 2 >>build/fuzz.log 2>&1 || { tail -30 build/fuzz.log; exit 1; }
PYTHONPATH=.tree "$python" tests/program/samples.py build/fuzz/corpus
PYTHONPATH=.tree "$python" tests/program/op_samples.py build/fuzz/corpus
fuzz() { # TARGET: its last lines are in build/fuzz/TARGET.log
  $cc -std=c11 -g -O1 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iruntime_c -Iruntime_c/include \
    -Itests/c -Itests/fuzz "tests/fuzz/$1.c" tests/fuzz/exercise.c build/fuzz/library/runtime_c/libpteron.a \
    -lm -pthread -o "build/fuzz/$1" &&
    mkdir -p "build/fuzz/found_$1" || return 1
  local raw="build/fuzz/$1.raw" failed=0
  "build/fuzz/$1" "$limit" -max_len=8192 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/ "build/fuzz/found_$1" build/fuzz/corpus >"$raw" 2>&1 || failed=1
  if [ $failed = 1 ]; then # what was broken, and the input: base64 -d | gunzip
    grep -aE -m 3 '^broken promise|ERROR: |runtime error:' "$raw" || true
    sed -n "s/.*Test unit written to //p" "$raw" | while read -r found; do gzip -9c "$found" | base64 -w 0; echo; done
  fi
  tail -12 "$raw"
  return $failed
}
failed=0 running=()
for target in $targets; do # side by side
  fuzz "$target" >"build/fuzz/$target.log" 2>&1 &
  running+=($!)
done
for one in "${running[@]}"; do wait "$one" || failed=1; done
for target in $targets; do
  echo "$target"
  cat "build/fuzz/$target.log"
done
exit $failed
