#!/usr/bin/env bash
# sdk.sh OUT TARGET...: for each target OUT/pteron-VERSION-TARGET.tar.gz with library, headers, pkg-config and CMake files, tools.
# TARGET: `native`, this machine, or a toolchain file's name in this folder, as aarch64-linux-gnu. Builds in build/sdk/TARGET.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
shift
mkdir -p "$out"
version=$(sed -n 's/^project(pteron VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
for target in "$@"; do
  options=()
  name=$target
  if [ "$target" = native ]; then
    name=$(uname -m)-linux-gnu
  else
    options=("-DCMAKE_TOOLCHAIN_FILE=$root/runtime_c/cmake/$target.cmake")
  fi
  build=$root/build/sdk/$name
  folder=pteron-$version-$name
  mkdir -p "$build"
  { cmake -S "$root" -B "$build" -DPTE_BUILD_TESTS=OFF -DCMAKE_INSTALL_LIBDIR=lib "${options[@]}" &&
    cmake --build "$build" -j 2 && rm -rf "$build/stage" &&
    cmake --install "$build" --prefix "$build/stage/$folder" --strip; } >"$build/log" 2>&1 || { tail -40 "$build/log"; exit 1; }
  cp "$root/LICENSE" "$root/docs/boards.md" "$build/stage/$folder/"
  mkdir "$build/stage/$folder/examples" && cp "$root"/examples/c/*.c "$build/stage/$folder/examples/"
  tar -C "$build/stage" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - "$folder" | gzip -9n >"$out/$folder.tar.gz"
  echo "$out/$folder.tar.gz"
done
