# Other C libraries than this machine's, by zig (pip install ziglang): an old glibc, or musl and static programs.
#   cmake -S . -B build/musl -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/zig.cmake -DPTE_ZIG=/path/to/zig -DPTE_ZIG_TARGET=x86_64-linux-musl
# PTE_ZIG_TARGET: x86_64-linux-gnu.2.17, aarch64-linux-musl ... Needs llvm-ar-19 (Debian: llvm-19), or PTE_AR and PTE_RANLIB.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PTE_ZIG PTE_ZIG_TARGET PTE_AR PTE_RANLIB)
string(REGEX MATCH "^[^-]+" machine "${PTE_ZIG_TARGET}")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${machine})
set(CMAKE_C_COMPILER ${PTE_ZIG} cc -target ${PTE_ZIG_TARGET})
find_program(PTE_AR NAMES llvm-ar-19 llvm-ar)
find_program(PTE_RANLIB NAMES llvm-ranlib-19 llvm-ranlib)
set(CMAKE_AR ${PTE_AR})
set(CMAKE_RANLIB ${PTE_RANLIB})
