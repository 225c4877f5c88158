# 64-bit Arm Linux by Debian's cross compiler:
#   cmake -S . -B build/aarch64 -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/aarch64-linux-gnu.cmake
# Needs gcc-aarch64-linux-gnu and libc6-dev-arm64-cross. With qemu-user, ctest runs what was built.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(PTE_TRIPLET aarch64-linux-gnu)
set(PTE_EMULATOR qemu-aarch64 -cpu max)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
