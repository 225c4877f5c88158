# 64-bit Arm Android by clang, without an NDK: for the smoke test of what an app loads, on a machine that has Debian alone.
# PTE_SMOKE names a folder with jni.h, stubs of Android's libraries and bionic.h (build.py makes it). An app is built by Gradle.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ANDROID ON)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PTE_SMOKE)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-android26)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-nostdlibinc -D_GNU_SOURCE= -isystem ${PTE_SMOKE}/include -isystem /usr/aarch64-linux-gnu/include -include ${CMAKE_CURRENT_LIST_DIR}/bionic.h -mbranch-protection=standard -Wno-unused-command-line-argument")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-nostdlib -fuse-ld=lld-19 -Wl,--hash-style=both -Wl,--build-id=sha1 -Wl,-z,relro,-z,now -Wl,--as-needed -L${PTE_SMOKE}/lib -l:libc.so")
