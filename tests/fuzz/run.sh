#!/usr/bin/env bash
# Builds the fuzzers with clang and runs each for SECONDS (default 60) from the sample programs.
# Usage: tests/fuzz/run.sh [SECONDS | runs=N]; N runs come from a fixed seed, the same each time. A finding is left in build/fuzz/.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
limit="-max_total_time=${1:-60}"
case ${1:-} in runs=*) limit="-$1 -seed=1" ;; esac
cc=${FUZZ_CC:-clang-19}
python=${PYTHON:-${VENV:-.venv}/bin/python}
cmake -S . -B build/fuzz/library -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER="$cc" -DPTE_BUILD_SHARED=OFF \
  -DPTE_BUILD_TOOLS=OFF -DPTE_BUILD_TESTS=OFF -DCMAKE_C_FLAGS="-O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" >build/fuzz.log 2>&1
cmake --build build/fuzz/library -j 2 >>build/fuzz.log 2>&1 || { tail -30 build/fuzz.log; exit 1; }
PYTHONPATH=.tree "$python" tests/program/samples.py build/fuzz/corpus
PYTHONPATH=.tree "$python" tests/program/op_samples.py build/fuzz/corpus
for target in fuzz_verify fuzz_run; do
  $cc -std=c11 -g -O1 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iruntime_c -Iruntime_c/include \
    -Itests/c -Itests/fuzz tests/fuzz/$target.c tests/fuzz/exercise.c build/fuzz/library/runtime_c/libpteron.a \
    -lm -pthread -o build/fuzz/$target
  mkdir -p build/fuzz/found_$target
  echo "$target"
  build/fuzz/$target $limit -max_len=8192 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/ build/fuzz/found_$target build/fuzz/corpus 2>&1 | tail -12
done
