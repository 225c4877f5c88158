#!/usr/bin/env bash
# CPython, NumPy and CFFI for 64-bit Arm in FOLDER, from Debian and PyPI; this machine's packages stay as they are.
# Usage: tests/arm/sysroot.sh FOLDER. Then: PYTHONHOME=FOLDER/usr qemu-aarch64 -L FOLDER FOLDER/usr/bin/python3.11
# Needs apt-get, dpkg and the network; a folder that is complete is left alone. No root.
set -eu -o pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-python3}
[ ! -e "$folder/complete" ] || exit 0
packages="python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 libffi8 libexpat1 zlib1g"
apt=$folder/apt # lists and downloads of our own, for the foreign architecture
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/deb"
: >"$apt/status"
options=(-q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt" -o Dir::State::Lists="$apt/lists"
  -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User= -o Acquire::Languages=none)
apt-get "${options[@]}" update >"$apt/log" 2>&1 || { tail -5 "$apt/log"; exit 1; }
# shellcheck disable=SC2086
(cd "$apt/deb" && apt-get "${options[@]}" download $packages) >>"$apt/log" 2>&1 || { tail -5 "$apt/log"; exit 1; }
for package in "$apt"/deb/*.deb; do dpkg -x "$package" "$folder"; done
platforms="--platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64"
# shellcheck disable=SC2086
"$python" -m pip install -q --target "$folder/site" --only-binary=:all: --implementation cp --python-version 3.11 \
  $platforms "numpy>=1.26" "cffi>=1.16"
rm -rf "$apt"
touch "$folder/complete"
