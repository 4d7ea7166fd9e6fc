/* Compiler attributes and the few macros every file uses. */
#ifndef TACIT_BASE_COMPILER_H
#define TACIT_BASE_COMPILER_H

#include <assert.h>
#include <stddef.h>

/* The caller must use the result. */
#define must_check __attribute__((warn_unused_result))
#define fmt_printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define unused __attribute__((unused))
/* Puts data that different workers write on different cache lines. */
#define CACHE_LINE 64
#define cacheline_aligned __attribute__((aligned(CACHE_LINE)))
/* Not inlined, so that the functions it calls in a loop have one call site and can be inlined. */
#define one_copy __attribute__((noinline))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The structure that holds `member` at address `ptr`. */
#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Pause instruction for loops that wait for another CPU's write. */
static inline void
cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield" ::: "memory");
#else
	__asm__ __volatile__("" ::: "memory");
#endif
}

/* Strips the parentheses of a list carried through a table row. */
#define UNPAREN(...) __VA_ARGS__

#endif
