# 32-bit Arm Linux with NEON and VFPv4 (Cortex-A7, A15, A17 and later) by Debian's cross compiler:
#   cmake -S . -B build/armv7 -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/armv7-linux-gnueabihf.cmake
# Needs gcc-arm-linux-gnueabihf and libc6-dev-armhf-cross. With qemu-user, ctest runs what was built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_C_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4 -mfloat-abi=hard")
set(CMAKE_FIND_ROOT_PATH /usr/arm-linux-gnueabihf)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # Python, ninja: this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
find_program(PTE_QEMU qemu-arm)
if(PTE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PTE_QEMU} -cpu cortex-a7 -L /usr/arm-linux-gnueabihf)
endif()
