/* Copies of a listener for several workers, made at start. Each share of workers has one socket,
 * which the first copy of the share owns. */
#include "net/shards.h"

#include "base/err.h"
#include "base/mem.h"
#include "net/listener.h"

static unsigned int
count_bits(uint64_t set)
{
	return (unsigned int)__builtin_popcountll(set);
}

static struct listener *
copy_of(const struct listener *first, unsigned int thread)
{
	struct listener *ln = mem_zalloc(sizeof(*ln));

	if (!ln)
		return NULL;
	listener_init(ln, first->bind);
	ln->owner = first->owner;
	ln->id = first->id;
	ln->addr = first->addr;
	ln->inherit_fd = first->inherit_fd;
	ln->is_mptcp = first->is_mptcp;
	ln->thread = thread;
	return ln;
}

/* Copies a listener for each of its workers. These are divided, in order, into shares of about
 * equal size; the copy of the first worker of each share has the socket. */
static int
copy_one(struct listener *first, uint64_t threads, unsigned int shards)
{
	unsigned int n = count_bits(threads), nth = 0;
	struct listener *last = first, *lead = first;
	struct listener_group *g = n > 1 ? mem_zalloc(sizeof(*g)) : NULL;

	if (n > 1 && !g)
		return -ERR_NOMEM;
	first->group = g;
	if (addr_family(&first->addr) == AF_UNIX || first->inherit_fd >= 0)
		shards = 1;
	shards = MIN(shards, n);
	for (unsigned int t = 0; t < SHARDS_THREADS_MAX; t++) {
		struct listener *ln = first;

		if (!(threads >> t & 1))
			continue;
		if (nth == 0) {
			first->thread = t;
		} else {
			ln = copy_of(first, t);
			if (!ln)
				return -ERR_NOMEM;
			/* directly after the copy before it */
			list_append(last->link.next, &ln->link);
			first->bind->n_listeners++;
			ln->first = first;
			last = ln;
		}
		if (nth == 0 || nth * shards / n != (nth - 1) * shards / n)
			lead = ln;
		else
			ln->lead = lead;
		ln->group = g;
		if (g)
			g->of[g->n++] = ln;
		ln->shared = shards < n;
		ln->reuseport = shards > 1 || first->overlaps;
		nth++;
	}
	return 0;
}

int
shards_make(struct bind_conf *b, uint64_t threads, unsigned int shards)
{
	assert(threads && shards);
	list_each_safe(it, &b->listeners) {
		struct listener *ln = list_entry(it, struct listener, link);
		int r = copy_one(ln, threads, shards);

		if (r)
			return r;
	}
	return 0;
}
