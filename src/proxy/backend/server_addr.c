/* Changes of a server's address, and of what depends on one, while sessions run. On the first
 * worker; what balancing reads changes under the backend's lock. */
#include "proxy/backend/server_addr.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_state.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server_kept.h"

/* Moves the server on the ring, if its place has changed. */
static void
move_on_ring(struct engine *e, struct server *s)
{
	if (s->conf.hash_key == SERVER_HASH_ID)
		return;
	lock_take(&s->be->lock, e->sys);
	balance_refresh(s->be);
	lock_drop(&s->be->lock);
}

void
server_set_addr(struct engine *e, struct server *s, const struct addr *a)
{
	addr_cell_set(&s->addr, a);
	server_note(s);
	dynamic_cookie_set(s);
	move_on_ring(e, s);
	conn_pool_drop_stale(e, s);
	for (unsigned int i = 0; i < e->shared->n; i++)
		if (i != e->index)
			e->hooks.wake_pool(e, i, s);
}

/* --- messages --- */

#define TEXT_MAX 1024

static void
format_change(char *text, size_t size, const struct server *s, const char *fmt, va_list ap)
{
	int n = snprintf(text, size, "%s/%s ", s->be->name, s->name);

	if (n > 0 && (size_t)n < size)
		(void)vsnprintf(text + n, size - (size_t)n, fmt, ap);
}

void
server_report_change(struct engine *e, const struct server *s, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	format_change(text, sizeof(text), s, fmt, ap);
	va_end(ap);
	server_log(e, s, LOG_LEVEL_NOTICE, text);
}

void
server_log_change(struct engine *e, const struct server *s, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	format_change(text, sizeof(text), s, fmt, ap);
	va_end(ap);
	log_send(e->log, &s->be->logs, LOG_LEVEL_NOTICE, s->be->log.tag, text, strlen(text));
}
