/* Events per second over a sliding second. One worker counts, any thread reads. Each field is
 * whole; a reader may find two that belong to different seconds. */
#include "base/freq.h"

void
freq_start_second(struct freq *f, uint64_t sec)
{
	atomic_write(&f->prev, sec == f->sec + 1 ? f->cur : 0);
	atomic_write(&f->cur, 0);
	atomic_write(&f->sec, sec);
}

/* The second is in the upper half, its count in the lower half. */
uint32_t
freq_count_second(uint64_t *second, uint64_t now_ms)
{
	uint64_t now = now_ms / 1000 << 32, was = atomic_read(second), next;

	do
		next = now > was ? now | 1 : was + 1;
	while (!atomic_replace(second, &was, next));
	return (uint32_t)next;
}

void
freq_merge(struct freq *sum, const struct freq *f)
{
	uint64_t sec = atomic_read(&f->sec);
	uint32_t cur = atomic_read(&f->cur);

	if (sec > sum->sec)
		freq_start_second(sum, sec);
	if (sec == sum->sec) {
		sum->cur += cur;
		sum->prev += atomic_read(&f->prev);
	} else if (sec + 1 == sum->sec) {
		sum->prev += cur;
	}
	sum->max = MAX(sum->max, atomic_read(&f->max));
}

uint32_t
freq_read(const struct freq *f, uint64_t now_ms)
{
	uint64_t counted = atomic_read(&f->sec), now = MAX(now_ms, counted * 1000);
	uint64_t sec = now / 1000;
	uint32_t last = atomic_read(&f->cur), cur = sec == counted ? last : 0;
	uint32_t prev = sec == counted ? atomic_read(&f->prev) : sec == counted + 1 ? last : 0;

	/* The part of the last second that the window still covers. */
	return cur + (uint32_t)((uint64_t)prev * (1000 - now % 1000) / 1000);
}
