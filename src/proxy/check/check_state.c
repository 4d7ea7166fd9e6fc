/* Header field that reports its state to a server. On the first worker. */
#include "proxy/check/check_state.h"

#include <stdio.h>

#include "base/atomic.h"
#include "proxy/model/proxy.h"

/* The weight of the servers in use. */
static unsigned int
sum_weights(const struct proxy *be)
{
	unsigned int n = 0;

	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (server_is_usable(s) && atomic_read(&s->in_group))
			n += server_eweight(s);
	}
	return (n + SERVER_WEIGHT_SCALE - 1) / SERVER_WEIGHT_SCALE;
}

static unsigned int
sum_sessions(const struct proxy *be)
{
	unsigned int n = 0;

	list_each(it, &be->servers)
		n += atomic_read(&list_entry(it, const struct server, link)->cur);
	return n;
}

struct str
check_state_text(const struct server *s, const char *node, char buf[CHECK_STATE_MAX])
{
	char status[SERVER_STATUS_MAX], host[ADDR_TEXT] = "unix", port[8] = "unix";
	char throttle[32] = "";
	struct addr own;
	int n;

	(void)addr_cell_get(&s->addr, &own);
	if (addr_family(&own) != AF_UNIX) {
		(void)addr_host_text(&own, host);
		(void)snprintf(port, sizeof(port), "%u", addr_port(&own));
	}
	if (s->oper == SERVER_STARTING)
		(void)snprintf(throttle, sizeof(throttle), "; throttle=%llu%%",
			100ull * s->start_age_ms / s->conf.check.slowstart_ms);
	n = snprintf(buf, CHECK_STATE_MAX,
		"%s; address=%s; port=%s; name=%s/%s; node=%s; weight=%u/%u; scur=%u/%u; qcur=%u%s",
		server_status_text(s, status), host, port, s->be->name, s->name, node,
		server_shown_weight(s),
		sum_weights(s->be), atomic_read(&s->cur), sum_sessions(s->be),
		atomic_read(&s->queued), throttle);
	return (struct str){ buf, (size_t)MIN(n, CHECK_STATE_MAX - 1) };
}
