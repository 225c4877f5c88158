# 64-bit Arm Linux by Debian's cross compiler:
#   cmake -S . -B build/aarch64 -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/aarch64-linux-gnu.cmake
# Needs gcc-aarch64-linux-gnu and libc6-dev-arm64-cross. With qemu-user, ctest runs what was built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # Python, ninja: this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
find_program(PTE_QEMU qemu-aarch64)
if(PTE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PTE_QEMU} -cpu max -L /usr/aarch64-linux-gnu)
endif()
