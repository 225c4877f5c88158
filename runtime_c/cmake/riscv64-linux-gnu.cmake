# 64-bit RISC-V Linux (rv64gc; vectors where the processor has them) by clang 19, or Debian's cross compiler, which has no
# intrinsics for vectors and leaves their variants out:
#   cmake -S . -B build/riscv64 -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/riscv64-linux-gnu.cmake
# Needs gcc-riscv64-linux-gnu and libc6-dev-riscv64-cross. With qemu-user, ctest runs what was built.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(PTE_TRIPLET riscv64-linux-gnu)
set(PTE_EMULATOR qemu-riscv64 -cpu rv64)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
find_program(PTE_RISCV_CLANG clang-19)
if(PTE_RISCV_CLANG)
  set(CMAKE_C_COMPILER ${PTE_RISCV_CLANG})
  set(CMAKE_C_COMPILER_TARGET riscv64-linux-gnu)
  set(CMAKE_AR riscv64-linux-gnu-ar)
  set(CMAKE_RANLIB riscv64-linux-gnu-ranlib)
  set(CMAKE_STRIP riscv64-linux-gnu-strip)
endif()
