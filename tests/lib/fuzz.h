/*
 * What the targets of fuzzing share: what they are called, and how they tell
 * that something is wrong.
 */
#ifndef TESTS_LIB_FUZZ_H
#define TESTS_LIB_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
require(bool condition)
{
	if (!condition)
		abort();
}

#endif
