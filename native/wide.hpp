// For loops that are worth a version for wider registers. The numbers must not depend on the width: sums of floating
// point are made in a fixed number of parts.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && defined(__x86_64__) && defined(__linux__)
#define POSTIL_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#define POSTIL_IN_WIDE __attribute__((always_inline)) inline  // for what it calls
#else
#define POSTIL_WIDE
#define POSTIL_IN_WIDE inline
#endif
