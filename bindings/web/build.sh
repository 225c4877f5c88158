#!/usr/bin/env bash
# build.sh OUT: OUT/pteron.wasm (SIMD, no libc, no threads) and OUT/pteron.js. Needs clang-19 and lld-19, or CLANG and WASM_LD.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
mkdir -p "$out/objects"
flags="--target=wasm32-unknown-unknown -std=c11 -msimd128 -mbulk-memory -ffreestanding -ffp-contract=off -fno-math-errno
  -ffunction-sections -fdata-sections -fvisibility=hidden -DNDEBUG -Wall -Wextra -Werror
  -isystem bindings/web/libc -Iruntime_c -Iruntime_c/include"
compile() { # compile SOURCE: what runs once an element fast, the rest small
  local speed=-Oz
  case $1 in runtime_c/kernels/*/*.c | runtime_c/core/math*) speed=-O2 ;; esac
  # shellcheck disable=SC2086
  ${CLANG:-clang-19} $flags $speed -c "$1" -o "$out/objects/${1//\//.}.o"
}
failed=0
rm -f "$out"/objects/*.o
for source in runtime_c/{core,gen,program,session,kernels,kernels/*}/*.c bindings/web/pteron_web.c bindings/web/libc/memory.c; do
  case $source in *__portable.c) ;; *__*) continue ;; esac
  if [ "$(jobs -rp | wc -l)" -ge 2 ]; then wait -n || failed=1; fi
  compile "$source" &
done
while [ -n "$(jobs -p)" ]; do wait -n || failed=1; done
[ $failed = 0 ]
${WASM_LD:-wasm-ld-19} --no-entry --gc-sections --strip-all -z stack-size=262144 --max-memory=4294967296 "$out"/objects/*.o \
  -o "$out/pteron.wasm"
cp bindings/web/pteron.js "$out/"
