# The Hexagon delegate's DSP image, hexagon_v67.elf, built where clang and lld for Hexagon are. Without it the delegate is there and
# says what is missing. The image lies beside pte_run, or beside the Python module.
find_program(PTE_HEXAGON_CLANG NAMES clang-19 clang DOC "clang with the Hexagon target, for the DSP's image")
find_program(PTE_HEXAGON_LLD NAMES ld.lld-19 ld.lld DOC "lld, for the DSP's image")
mark_as_advanced(PTE_HEXAGON_CLANG PTE_HEXAGON_LLD)
target_link_libraries(pteron_delegates PUBLIC ${CMAKE_DL_LIBS})
# A phone has the DSP or nothing; what starts the emulator asks for a function that Android, and glibc before 2.27, lack.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)
check_symbol_exists(memfd_create sys/mman.h PTE_CC_MEMFD)
unset(CMAKE_REQUIRED_DEFINITIONS)
if(ANDROID OR NOT PTE_CC_MEMFD)
  list(FILTER sources EXCLUDE REGEX "transport_qemu\\.c$")
  target_compile_definitions(pteron_delegates PRIVATE HEXAGON_WITHOUT_EMULATOR=1)
endif()
set(works 1)
if(PTE_HEXAGON_CLANG AND PTE_HEXAGON_LLD)
  execute_process(COMMAND ${PTE_HEXAGON_CLANG} --target=hexagon-unknown-none-elf -mcpu=hexagonv67 -mhvx=v67 -E -x c /dev/null
                  RESULT_VARIABLE works OUTPUT_QUIET ERROR_QUIET)
endif()
if(works EQUAL 0)
  set(image ${CMAKE_CURRENT_BINARY_DIR}/hexagon_v67.elf)
  file(GLOB image_sources CONFIGURE_DEPENDS ${folder}/dsp/*.c ${folder}/dsp/*.h)
  add_custom_command(
    OUTPUT ${image}
    COMMAND bash ${folder}/dsp/build.sh ${PTE_HEXAGON_CLANG} ${PTE_HEXAGON_LLD} ${image}
    DEPENDS ${image_sources} ${folder}/protocol.c ${folder}/protocol.h ${folder}/dsp/build.sh
    COMMENT "The Hexagon DSP's image"
    VERBATIM)
  add_custom_target(pteron_hexagon_image ALL DEPENDS ${image})
  if(SKBUILD)
    install(PROGRAMS ${image} DESTINATION pteron COMPONENT python)
  else()
    install(PROGRAMS ${image} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pteron)
    target_compile_definitions(pteron_delegates PRIVATE PTE_HEXAGON_INSTALLED="../${CMAKE_INSTALL_LIBDIR}/pteron")
  endif()
else()
  message(STATUS "delegate hexagon: no image for the DSP is built; apt-get install clang-19 lld-19")
endif()
