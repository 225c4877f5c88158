# 32-bit Arm Linux with NEON and VFPv4 (Cortex-A7, A15, A17 and later) by Debian's cross compiler:
#   cmake -S . -B build/armv7 -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/armv7-linux-gnueabihf.cmake
# Needs gcc-arm-linux-gnueabihf and libc6-dev-armhf-cross. With qemu-user, ctest runs what was built.
set(CMAKE_SYSTEM_PROCESSOR armv7)
set(CMAKE_C_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4 -mfloat-abi=hard")
set(PTE_TRIPLET arm-linux-gnueabihf)
set(PTE_EMULATOR qemu-arm -cpu cortex-a7)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
