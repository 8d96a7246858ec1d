/* memmem(3), which the C library shows to GNU programs alone. */
#pragma once

#include <stddef.h>

void *memmem(const void *, size_t, const void *, size_t);
