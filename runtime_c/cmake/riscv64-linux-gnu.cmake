# 64-bit RISC-V Linux (rv64gc; vectors where the processor has them) by clang 19, or Debian's cross compiler, which has no
# intrinsics for vectors and leaves their variants out:
#   cmake -S . -B build/riscv64 -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/riscv64-linux-gnu.cmake
# Needs gcc-riscv64-linux-gnu and libc6-dev-riscv64-cross. With qemu-user, ctest runs what was built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
find_program(PTE_RISCV_CLANG clang-19)
if(PTE_RISCV_CLANG)
  set(CMAKE_C_COMPILER ${PTE_RISCV_CLANG})
  set(CMAKE_C_COMPILER_TARGET riscv64-linux-gnu)
  set(CMAKE_AR riscv64-linux-gnu-ar)
  set(CMAKE_RANLIB riscv64-linux-gnu-ranlib)
  set(CMAKE_STRIP riscv64-linux-gnu-strip)
else()
  set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
endif()
set(CMAKE_FIND_ROOT_PATH /usr/riscv64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # Python, ninja: this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
find_program(PTE_QEMU qemu-riscv64)
if(PTE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PTE_QEMU} -cpu rv64 -L /usr/riscv64-linux-gnu)
endif()
