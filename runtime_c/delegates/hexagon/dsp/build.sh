#!/usr/bin/env bash
# Builds the image: build.sh CLANG LLD OUT. HVX of 128 bytes on v67, the one core that qemu 7.2 has.
set -e
clang=$1 lld=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
flags="--target=hexagon-unknown-none-elf -mcpu=hexagonv67 -mhvx=v67 -mhvx-length=128b -std=c11 -O2 -ffreestanding
  -fno-builtin -nostdlib -nostdlibinc -ffunction-sections -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror -I$root -I$root/include"
objects=()
mkdir -p "$out.objects"
for source in "$here"/*.c "$here/../protocol.c"; do
  object="$out.objects/$(basename "$source" .c).o"
  # shellcheck disable=SC2086
  "$clang" $flags -c "$source" -o "$object"
  objects+=("$object")
done
"$lld" -static -e _start --gc-sections "${objects[@]}" -o "$out"
rm -rf "$out.objects"
