/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#ifdef _WIN32
#include "pages_system.h"

#define WIN32_LEAN_AND_MEAN
#include <stdint.h>
#include <windows.h>

size_t vczi_pages_system_memory(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof(status)};
    return GlobalMemoryStatusEx(&status) && status.ullTotalPhys <= SIZE_MAX ? (size_t) status.ullTotalPhys : 0;
}

/* Large pages need a privilege here, so these are plain ones. */
void *vczi_pages_system_map(size_t nbytes) {
    return VirtualAlloc(NULL, nbytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void vczi_pages_system_unmap(void *pages, size_t nbytes) {
    (void) nbytes;
    (void) VirtualFree(pages, 0, MEM_RELEASE);
}

void vczi_pages_system_discard(void *pages, size_t nbytes) {
    (void) VirtualAlloc(pages, nbytes, MEM_RESET, PAGE_READWRITE);
}
#else
typedef int vczi_pages_windows_is_empty;
#endif
