/*
 * Sends the messages of a ring to a syslog server over TCP or a unix stream socket, or over a
 * transport on it, TLS (RFC 5425): each with its length before it (octet counting, RFC 6587
 * 3.4.1), or with a line feed behind it. A message that a broken connection has not taken whole is
 * sent again over the next one. While it is connected it holds the ring's messages. On the thread
 * of the ring's owner.
 */
#ifndef TACIT_NET_LOG_CLIENT_H
#define TACIT_NET_LOG_CLIENT_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/log_ring.h"
#include "event/timer.h"
#include "net/addr.h"
#include "net/conn.h"
#include "net/xprt.h"

#define LOG_CLIENT_RETRY_MS 1000      /* the first pause after a failure; each further one is */
#define LOG_CLIENT_RETRY_MAX_MS 30000 /* twice as long, up to this */
#define LOG_CLIENT_HANDSHAKE_MS 30000 /* for the transport's handshake, without timeout connect */

struct log_client_conf {
	struct addr addr;
	int counts_octets;
	uint32_t connect_ms; /* timeout connect, which includes the handshake; 0: none */
	uint32_t server_ms;  /* timeout server: for bytes that the server does not take; 0: none */
};

enum log_client_state {
	LOG_CLIENT_OFF,
	LOG_CLIENT_PAUSING,
	LOG_CLIENT_CONNECTING,
	LOG_CLIENT_HANDSHAKING, /* of the transport */
	LOG_CLIENT_UP
};

struct log_client {
	enum log_client_state state;
	const struct log_client_conf *conf;
	struct loop *loop;
	struct log_ring_reader reader;
	struct conn conn;
	struct timer timer;  /* of the pause, the attempt, or what the server does not take */
	uint32_t pause_ms;   /* the next one */
	char *out;           /* framed messages, the reader's next one first */
	size_t size, len;
	size_t sent, done;   /* bytes of them sent, and those of messages sent whole */
	uint64_t taken;      /* bytes that the server took, over all connections */
	uint64_t filled;     /* offset in the ring of what follows them */
	const struct xprt_maker *xprt; /* NULL: the socket itself */
	/* Before the handshake of a transport: the names that it is for. 0 or a negative reason. */
	int (*on_open)(void *arg, struct conn *c);
	/* A connection has failed, and may be asked for more; it is closed afterwards. May be
	 * NULL. */
	void (*on_failure)(void *arg, const char *why);
	void *arg;
};

/* Connects, and sends what the ring has and gets. conf and the ring must outlive it; xprt with
 * on_open, and on_failure, may be set before. 0 or -ERR_NOMEM. */
int log_client_start(struct log_client *c, struct loop *l, struct log_ring *r,
	const struct log_client_conf *conf) must_check;
/* True if messages are queued and the connection is open or opening. */
int log_client_is_busy(const struct log_client *c);
/* Sends what the socket takes, and closes. Returns the number of messages that are left. */
unsigned int log_client_stop(struct log_client *c);

#endif
