/* The handshake with a SOCKS4 proxy. On the worker that owns the connection; not a byte behind the
 * reply is read. */
#include "net/socks4.h"

#include <errno.h>
#include <string.h>

#include "base/sys.h"

enum { VERSION = 4, CONNECT = 1, GRANTED = 90, CODE_AT = 1 };

/* The IPv4 address, also of an IPv4-mapped one. */
static int
ipv4_bytes(const struct addr *to, unsigned char out[4])
{
	if (addr_family(to) == AF_INET) {
		memcpy(out, &to->u.in.sin_addr, 4);
		return 0;
	}
	if (addr_family(to) != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&to->u.in6.sin6_addr))
		return -EAFNOSUPPORT;
	memcpy(out, to->u.in6.sin6_addr.s6_addr + 12, 4);
	return 0;
}

int
socks4_begin(struct conn *c, const struct addr *to)
{
	unsigned char request[SOCKS4_REQUEST_LEN] = { VERSION, CONNECT };
	unsigned int port = addr_port(to);

	request[2] = (unsigned char)(port >> 8);
	request[3] = (unsigned char)port;
	if (ipv4_bytes(to, request + 4) < 0)
		return -EAFNOSUPPORT;
	memcpy(request + 8, "HAProxy", 8);
	return conn_set_preface(c, request, sizeof(request)) < 0 ? -ENOMEM : 0;
}

/* Nothing is on the way any more: Nagle's algorithm delays no first segment. */
static enum socks4_step
finish_reply(struct conn *c)
{
	conn_preface_drop(c);
	c->sends = 0;
	return SOCKS4_GRANTED;
}

static enum socks4_step
end_with(struct conn *c, enum socks4_step step, int err)
{
	conn_failed(c, -err);
	return step;
}

enum socks4_step
socks4_proceed(struct conn *c, uint8_t *got)
{
	enum io_result sent = conn_send_preface(c);
	unsigned char reply[SOCKS4_REPLY_LEN];

	if (sent != IO_OK)
		return sent == IO_AGAIN ? SOCKS4_SENDS : SOCKS4_FAILED;
	while (*got < SOCKS4_REPLY_LEN && loop_is_ready(c->loop, c->fd, DIR_R)) {
		long r = sys_recvfrom(
			loop_sys(c->loop), c->fd, reply + *got, SOCKS4_REPLY_LEN - *got, 0);

		if (r == -EAGAIN) {
			loop_again(c->loop, c->fd, DIR_R);
			break;
		}
		if (r == 0)
			return end_with(c, SOCKS4_CLOSED, ECONNRESET);
		if (r < 0)
			return end_with(c, SOCKS4_FAILED, (int)-r);
		loop_progress(c->loop, c->fd);
		if (*got <= CODE_AT && *got + r > CODE_AT && reply[CODE_AT] != GRANTED)
			return end_with(c, SOCKS4_DENIED, ECONNREFUSED);
		*got = (uint8_t)(*got + r);
	}
	return *got == SOCKS4_REPLY_LEN ? finish_reply(c) : SOCKS4_READS;
}

enum conn_err
socks4_error(enum socks4_step step)
{
	switch (step) {
	case SOCKS4_DENIED:
		return CONN_ERR_SOCKS4_DENIED;
	case SOCKS4_CLOSED:
		return CONN_ERR_SOCKS4_CLOSED;
	case SOCKS4_FAILED:
		return CONN_ERR_SOCKS4_FAILED;
	case SOCKS4_SENDS:
	case SOCKS4_READS:
	case SOCKS4_GRANTED:
		break;
	}
	return CONN_ERR_NONE;
}
