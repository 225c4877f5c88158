# 64-bit Windows by Debian's cross compiler:
#   cmake -S . -B build/win64 -DCMAKE_TOOLCHAIN_FILE=runtime_c/cmake/x86_64-w64-mingw32.cmake
# Needs gcc-mingw-w64-x86-64-posix. With wine64, ctest runs what was built.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
# Windows aligns the stack to 16 bytes and GCC does not align it further, yet stores whole vectors as if it had.
set(CMAKE_C_FLAGS_INIT "-Wa,-muse-unaligned-vector-move -D__USE_MINGW_ANSI_STDIO=1")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static") # of GCC's own libraries: nothing but Windows is asked for
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static-libgcc")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-static")
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # Python, ninja: this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
find_program(PTE_WINE wine)
if(PTE_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PTE_WINE})
endif()
