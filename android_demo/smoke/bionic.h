/* Where Android's C library differs from the headers that the smoke test is compiled with. */
#ifndef PTE_SMOKE_BIONIC_H
#define PTE_SMOKE_BIONIC_H

#define __errno_location __errno
#include <errno.h>
#include <unistd.h>

#undef _SC_PAGESIZE
#undef _SC_NPROCESSORS_ONLN
#define _SC_PAGESIZE         0x0027
#define _SC_NPROCESSORS_ONLN 0x0061

#endif
