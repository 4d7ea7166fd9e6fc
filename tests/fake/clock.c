/* Virtual time: a heap of scheduled events, ordered by time, then by the order of scheduling. */
#include "fake/kernel_int.h"

static int
event_is_before(const struct fake_event *a, const struct fake_event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

uint64_t
fake_now(const struct fake *k)
{
	return k->now;
}

void
fake_after(struct fake *k, uint64_t ns, fake_fn *fn, void *arg)
{
	fake_after_owned(k, ns, fn, arg, 0);
}

void
fake_after_owned(struct fake *k, uint64_t ns, fake_fn *fn, void *arg, int owned)
{
	struct fake_event ev = { k->now + ns, k->seq++, fn, arg, owned };
	size_t i;

	if (k->heap_n == k->heap_cap) {
		k->heap_cap = k->heap_cap ? 2 * k->heap_cap : 64;
		k->heap = fake_realloc(k->heap, k->heap_cap * sizeof(*k->heap));
	}
	i = k->heap_n++;
	while (i > 0 && event_is_before(&ev, &k->heap[(i - 1) / 2])) {
		k->heap[i] = k->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	k->heap[i] = ev;
}

static struct fake_event
event_take(struct fake *k)
{
	struct fake_event top = k->heap[0];
	struct fake_event last = k->heap[--k->heap_n];
	size_t i = 0;

	for (;;) {
		size_t c = 2 * i + 1;

		if (c >= k->heap_n)
			break;
		if (c + 1 < k->heap_n && event_is_before(&k->heap[c + 1], &k->heap[c]))
			c++;
		if (!event_is_before(&k->heap[c], &last))
			break;
		k->heap[i] = k->heap[c];
		i = c;
	}
	if (k->heap_n)
		k->heap[i] = last;
	return top;
}

int
fake_run_due(struct fake *k)
{
	int ran = 0;

	while (k->heap_n && k->heap[0].at <= k->now) {
		struct fake_event ev = event_take(k);

		/* The ends of connections are no part of the program. */
		fake_memory_is_ours++;
		ev.fn(k, ev.arg);
		fake_memory_is_ours--;
		ran = 1;
	}
	return ran;
}

void
fake_advance(struct fake *k, uint64_t ns)
{
	uint64_t until = k->now + ns;

	fake_run_due(k);
	while (k->heap_n && k->heap[0].at <= until) {
		k->now = k->heap[0].at;
		fake_run_due(k);
	}
	k->now = until;
}

int
fake_is_quiet(const struct fake *k)
{
	return k->quiet;
}
