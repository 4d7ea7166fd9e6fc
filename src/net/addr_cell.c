/* A published address: one writer, any number of readers. seq is odd exactly while the words are
 * being changed. */
#include "net/addr_cell.h"

#include <stdatomic.h>
#include <string.h>

/*
 * A reader that sees a word of a change has synchronized with the store of that word, so its
 * second read of seq sees at least the odd value before it. Fences would do the same, but
 * ThreadSanitizer does not know them.
 */
void
addr_cell_set(struct addr_cell *c, const struct addr *a)
{
	uint64_t w[ADDR_CELL_WORDS] = { (uint64_t)addr_family(a) };
	uint32_t seq = atomic_load_explicit(&c->seq, memory_order_relaxed);

	if (addr_family(a) == AF_INET) {
		w[0] |= (uint64_t)addr_port(a) << 16;
		memcpy(&w[1], &a->u.in.sin_addr, sizeof(a->u.in.sin_addr));
	} else if (addr_family(a) == AF_INET6) {
		w[0] |= (uint64_t)addr_port(a) << 16 | (uint64_t)a->u.in6.sin6_scope_id << 32;
		memcpy(&w[1], &a->u.in6.sin6_addr, sizeof(a->u.in6.sin6_addr));
	} else if (a->len) {
		c->fixed = *a;
	}
	atomic_store_explicit(&c->seq, seq + 1, memory_order_relaxed);
	for (int i = 0; i < ADDR_CELL_WORDS; i++)
		atomic_store_explicit(&c->word[i], w[i], memory_order_release);
	atomic_store_explicit(&c->seq, seq + 2, memory_order_release);
}

uint32_t
addr_cell_get(const struct addr_cell *c, struct addr *out)
{
	uint64_t w[ADDR_CELL_WORDS];
	uint32_t seq;

	for (;;) {
		seq = atomic_load_explicit(&c->seq, memory_order_acquire);
		for (int i = 0; i < ADDR_CELL_WORDS; i++)
			w[i] = atomic_load_explicit(&c->word[i], memory_order_acquire);
		if (!(seq & 1) && atomic_load_explicit(&c->seq, memory_order_relaxed) == seq)
			break;
		cpu_relax();
	}
	switch ((int)(w[0] & 0xffff)) {
	case AF_INET:
		memset(&out->u.in, 0, sizeof(out->u.in));
		out->u.in.sin_family = AF_INET;
		memcpy(&out->u.in.sin_addr, &w[1], sizeof(out->u.in.sin_addr));
		out->len = sizeof(out->u.in);
		break;
	case AF_INET6:
		memset(&out->u.in6, 0, sizeof(out->u.in6));
		out->u.in6.sin6_family = AF_INET6;
		memcpy(&out->u.in6.sin6_addr, &w[1], sizeof(out->u.in6.sin6_addr));
		out->u.in6.sin6_scope_id = (uint32_t)(w[0] >> 32);
		out->len = sizeof(out->u.in6);
		break;
	case AF_UNIX:
		*out = c->fixed;
		return seq;
	default:
		memset(out, 0, sizeof(*out));
		return seq;
	}
	addr_set_port(out, (unsigned int)(w[0] >> 16 & 0xffff));
	return seq;
}

uint32_t
addr_cell_gen(const struct addr_cell *c)
{
	return atomic_load_explicit(&c->seq, memory_order_acquire);
}
