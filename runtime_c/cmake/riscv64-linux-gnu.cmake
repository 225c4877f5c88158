# 64-bit RISC-V Linux (rv64gc) by Debian's cross compiler:
#   cmake -S . -B build/riscv64 -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/riscv64-linux-gnu.cmake
# Needs gcc-riscv64-linux-gnu and libc6-dev-riscv64-cross. With qemu-user, ctest runs what was built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/riscv64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # Python, ninja: this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
find_program(PTE_QEMU qemu-riscv64)
if(PTE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PTE_QEMU} -cpu rv64 -L /usr/riscv64-linux-gnu)
endif()
