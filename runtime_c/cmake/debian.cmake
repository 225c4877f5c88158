# What Debian's cross compilers have in common; read by the files of their targets, not by itself:
# PTE_TRIPLET is the compiler's prefix, PTE_EMULATOR the emulator of qemu-user and its processor.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${PTE_TRIPLET}-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/${PTE_TRIPLET})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # Python, ninja: this machine's
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
list(GET PTE_EMULATOR 0 pte_emulator)
find_program(PTE_QEMU ${pte_emulator})
if(PTE_QEMU)
  list(SUBLIST PTE_EMULATOR 1 -1 pte_processor)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PTE_QEMU} ${pte_processor} -L /usr/${PTE_TRIPLET})
endif()
