/* TCP's keep-alive, for any worker: sets only what was configured. */
#include "net/keepalive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

struct keepalive_row {
	int opt;
	size_t offset;
};

static const struct keepalive_row rows[] = {
	{ TCP_KEEPCNT, offsetof(struct keepalive, count) },
	{ TCP_KEEPIDLE, offsetof(struct keepalive, idle) },
	{ TCP_KEEPINTVL, offsetof(struct keepalive, interval) },
};

static int
row_value(const struct keepalive *k, const struct keepalive_row *r)
{
	return *(const int *)(const void *)((const char *)k + r->offset);
}

int
keepalive_set(struct sys *sys, int fd, const struct keepalive *k)
{
	int on = 1;
	long r = sys_setsockopt(sys, fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));

	for (size_t i = 0; i < ARRAY_LEN(rows) && r >= 0; i++) {
		int v = row_value(k, &rows[i]);

		if (!v)
			continue;
		r = sys_setsockopt(sys, fd, IPPROTO_TCP, rows[i].opt, &v, sizeof(v));
	}
	return r < 0 ? (int)r : 0;
}

/* Sets an option to the system's value, which the new socket `fresh` has. A socket that has this
 * value already is left alone: without a value of its own it follows later changes of the
 * system's. */
static long
reset_row(struct sys *sys, int fd, int fresh, int opt)
{
	int now, system;
	socklen_t len = sizeof(int);
	long r = sys_getsockopt(sys, fd, IPPROTO_TCP, opt, &now, &len);

	if (r >= 0)
		r = sys_getsockopt(sys, fresh, IPPROTO_TCP, opt, &system, &len);
	if (r < 0 || now == system)
		return r;
	return sys_setsockopt(sys, fd, IPPROTO_TCP, opt, &system, sizeof(system));
}

/* The kernel takes no 0 for its own value: a new socket shows what that is. */
int
keepalive_reset(struct sys *sys, int fd, const struct keepalive *k)
{
	long fresh = sys_socket(sys, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long r = fresh;

	for (size_t i = 0; i < ARRAY_LEN(rows) && r >= 0; i++) {
		if (!row_value(k, &rows[i]))
			r = reset_row(sys, fd, (int)fresh, rows[i].opt);
	}
	if (fresh >= 0)
		(void)sys_close(sys, (int)fresh);
	return r < 0 ? (int)r : 0;
}
