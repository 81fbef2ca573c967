// Functions that are compiled once per instruction set; which one is called is found when the library is loaded.
#pragma once

// Sanitizer builds cannot resolve ifuncs before their runtime is up, so they do without;
// clang has no clones of templates.
#if defined(__x86_64__) && !defined(STRETTO_SANITIZED) && !defined(__clang__)
#define STRETTO_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define STRETTO_CLONES
#endif
