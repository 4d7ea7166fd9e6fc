/* Socket buffer sizes, for any worker: sets only what was configured. */
#define _GNU_SOURCE
#include "net/sockbuf.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

struct row {
	int level, opt;
	size_t offset;
	int on_unix;
	const char *name;
};

static const struct row rows[] = {
	{ SOL_SOCKET, SO_SNDBUF, offsetof(struct sockbuf, snd), 1, "set SO_SNDBUF" },
	{ SOL_SOCKET, SO_RCVBUF, offsetof(struct sockbuf, rcv), 0, "set SO_RCVBUF" },
	{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, offsetof(struct sockbuf, notsent), 0,
		"set TCP_NOTSENT_LOWAT" },
};

static int
value_of(const struct sockbuf *b, const struct row *r)
{
	return *(const int *)(const void *)((const char *)b + r->offset);
}

static int
row_applies(const struct sockbuf *b, const struct row *r, int family)
{
	return value_of(b, r) && (family != AF_UNIX || r->on_unix);
}

int
sockbuf_set(struct sys *sys, int fd, int family, const struct sockbuf *b, const char **what)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int v = value_of(b, &rows[i]);
		long r;

		if (!row_applies(b, &rows[i], family))
			continue;
		*what = rows[i].name;
		r = sys_setsockopt(sys, fd, rows[i].level, rows[i].opt, &v, sizeof(v));
		if (r < 0)
			return (int)r;
	}
	return 0;
}

/* Reads half of SO_SNDBUF or SO_RCVBUF: the kernel returns twice the value, since it reserves half
 * of it for overhead. */
static long
read_half(struct sys *sys, int fd, int opt, int *out)
{
	socklen_t len = sizeof(*out);
	long r;

	if (!*out)
		return 0;
	r = sys_getsockopt(sys, fd, SOL_SOCKET, opt, out, &len);
	*out /= 2;
	return r;
}

int
sockbuf_probe(struct sys *sys, const struct sockbuf *b, struct sockbuf *got)
{
	const char *what;
	long fd = sys_socket(sys, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long r;

	*got = *b;
	if (fd < 0)
		return (int)fd;
	r = sockbuf_set(sys, (int)fd, AF_INET, b, &what);
	if (r >= 0)
		r = read_half(sys, (int)fd, SO_SNDBUF, &got->snd);
	if (r >= 0)
		r = read_half(sys, (int)fd, SO_RCVBUF, &got->rcv);
	(void)sys_close(sys, (int)fd);
	return r < 0 ? (int)r : 0;
}
