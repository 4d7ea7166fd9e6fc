#include "sim/faults.h"

#include <stddef.h>

#include "fake/kernel.h"

/* Called by the linker's redirection of malloc etc.: see --wrap in build-aux/build.mk. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);

static struct {
	int on;
	int hit;
	uint64_t nth;
	uint64_t again;
	uint64_t count;
	void (*on_allocation)(void);
} faults;

void
faults_apply(int on)
{
	faults.on = on;
}

int
faults_are_applied(void)
{
	return faults.on;
}

void
faults_set(uint64_t nth)
{
	faults.nth = nth;
	faults.count = 0;
	faults.again = 0;
	faults.hit = 0;
}

void
faults_set_again(uint64_t times)
{
	faults.again = times;
}

void
faults_on_allocation(void (*fn)(void))
{
	faults.on_allocation = fn;
}

uint64_t
faults_counted(void)
{
	return faults.count;
}

int
faults_hit(void)
{
	return faults.hit;
}

static int
fails(void)
{
	if (!faults.on || fake_memory_is_ours)
		return 0;
	faults.count++;
	if (faults.on_allocation)
		faults.on_allocation();
	if (!faults.nth || faults.count < faults.nth || faults.count > faults.nth + faults.again)
		return 0;
	faults.hit = 1;
	return 1;
}

void *
__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

void *
__wrap_aligned_alloc(size_t align, size_t n)
{
	return fails() ? NULL : __real_aligned_alloc(align, n);
}
