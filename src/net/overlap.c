/* Listeners that share a port. Main thread, at start. */
#include "net/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "net/listener.h"

struct placed {
	struct listener *ln;
	unsigned int port, order;
	int is_any;
	unsigned char host[16]; /* an IPv4 address in its IPv6-mapped form */
};

static int
place_listener(struct placed *p, struct listener *ln, unsigned int order)
{
	const struct addr *a = &ln->addr;
	int family = addr_family(a);

	if ((family != AF_INET && family != AF_INET6) || !addr_port(a))
		return 0;
	memset(p, 0, sizeof(*p));
	p->ln = ln;
	p->order = order;
	p->port = addr_port(a);
	p->is_any = addr_is_any(a);
	if (family == AF_INET6) {
		memcpy(p->host, &a->u.in6.sin6_addr, sizeof(p->host));
		return 1;
	}
	p->host[10] = p->host[11] = 0xff;
	memcpy(p->host + 12, &a->u.in.sin_addr, 4);
	return 1;
}

static int
compare_order(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* Each network namespace has ports of its own. */
static int
compare_netns(const struct placed *x, const struct placed *y)
{
	const char *a = x->ln->bind->netns, *b = y->ln->bind->netns;

	return strcmp(a ? a : "", b ? b : "");
}

static int
compare_ports(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	int c = compare_netns(x, y);

	if (c)
		return c;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return compare_order(a, b);
}

static int
compare_hosts(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int c = memcmp(x->host, y->host, sizeof(x->host));

	return c ? c : compare_order(a, b);
}

static int
has_any(const struct placed *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (v[i].is_any)
			return 1;
	return 0;
}

/* In their order. */
static void
link_all(const struct placed *v, unsigned int n)
{
	for (unsigned int i = 0; n > 1 && i < n; i++) {
		v[i].ln->overlaps = 1;
		v[i].ln->overlap_root = i ? v[0].ln : NULL;
		v[i].ln->overlap_next = i + 1 < n ? v[i + 1].ln : NULL;
	}
}

/* The same address: those of different interfaces are different sockets. */
static void
count_twins(const struct placed *v, unsigned int n, overlap_fn *twins, void *arg)
{
	for (unsigned int i = 1; i < n; i++) {
		const struct bind_conf *b = v[i].ln->bind;
		const struct listener *earlier = NULL;

		for (unsigned int j = 0; j < i; j++) {
			if (strcmp(v[j].ln->bind->interface, b->interface) != 0)
				continue;
			if (!earlier)
				earlier = v[j].ln;
			v[i].ln->twin++;
		}
		if (earlier)
			twins(v[i].ln, earlier, arg);
	}
}

/* The listeners of one port. A wildcard address overlaps with all of them: that IPv4 and IPv6 only
 * addresses do not is not worth a distinction, since it only decides an option. */
static void
link_port(struct placed *v, unsigned int n, overlap_fn *twins, void *arg)
{
	int all = has_any(v, n);
	unsigned int same;

	if (all)
		link_all(v, n);
	qsort(v, n, sizeof(*v), compare_hosts);
	for (unsigned int i = 0; i < n; i += same) {
		for (same = 1; i + same < n; same++)
			if (memcmp(v[i].host, v[i + same].host, sizeof(v[i].host)) != 0)
				break;
		if (!all)
			link_all(v + i, same);
		count_twins(v + i, same, twins, arg);
	}
}

int
overlap_link(struct listener *const *v, unsigned int n, overlap_fn *twins, void *arg)
{
	struct placed *p = mem_alloc((n + 1) * sizeof(*p));
	unsigned int placed = 0, of_port;

	if (!p)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < n; i++)
		placed += (unsigned int)place_listener(&p[placed], v[i], i);
	qsort(p, placed, sizeof(*p), compare_ports);
	for (unsigned int i = 0; i < placed; i += of_port) {
		for (of_port = 1; i + of_port < placed; of_port++)
			if (p[i + of_port].port != p[i].port ||
				compare_netns(&p[i + of_port], &p[i]) != 0)
				break;
		link_port(p + i, of_port, twins, arg);
	}
	mem_free(p);
	return 0;
}

int
overlap_permit(struct sys *sys, int fd)
{
	int on = 1;
	long r = sys_setsockopt(sys, fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));

	return r < 0 ? (int)r : 0;
}
