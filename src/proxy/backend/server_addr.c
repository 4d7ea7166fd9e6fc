/* Changes of a server's address, and of what depends on one, while sessions run. On the first
 * worker; what balancing reads changes under the backend's lock. */
#include "proxy/backend/server_addr.h"

#include <string.h>

#include "proxy/backend/conn_pool.h"
#include "proxy/model/proxy.h"

void
server_set_addr(struct engine *e, struct server *s, const struct addr *a)
{
	addr_cell_set(&s->addr, a);
	conn_pool_drop_stale(e, s);
	for (unsigned int i = 0; i < e->shared->n; i++)
		if (i != e->index)
			e->wake_pool(e, i, s);
}

int
server_addr_is_same(const struct addr *a, const struct addr *b)
{
	if (addr_family(a) != addr_family(b))
		return 0;
	switch (addr_family(a)) {
	case AF_INET:
		return a->u.in.sin_addr.s_addr == b->u.in.sin_addr.s_addr;
	case AF_INET6:
		return memcmp(&a->u.in6.sin6_addr, &b->u.in6.sin6_addr,
			       sizeof(a->u.in6.sin6_addr)) == 0;
	default:
		return 0;
	}
}
