/* The Hexagon delegate: segments of static int8, run by machine code of Qualcomm's DSP with its
 * vectors (HVX). Target "hexagon-v67-hvx128".
 *
 * The DSP's program is an image built with this library, hexagon_v67.elf; a payload holds
 * operations and weights, never code. A session starts one DSP: a process of qemu-hexagon that
 * shares memory with this one. A DSP that dies, hangs or lies ends the run with an error; the next
 * run starts another. Results equal schema/meaning/int8.py to the bit. */
#ifndef PTE_DELEGATES_HEXAGON_H
#define PTE_DELEGATES_HEXAGON_H

#include "delegates/hexagon/config.h"
#include "pteron/delegate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table with all defaults. */
PTE_API const pte_delegate_api *pte_delegate_hexagon(void);

#ifdef __cplusplus
}
#endif
#endif
