/*
 * The master's socket on the fake kernel, with a worker process that a test or a fuzzer plays: the
 * ends of connections that the master passes to it are peers.
 */
#ifndef TESTS_UNIT_APP_MASTER_RIG_H
#define TESTS_UNIT_APP_MASTER_RIG_H

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/master/master.h"
#include "app/master/master_cli.h"
#include "app/process/master_link.h"
#include "event/poller.h"
#include "fake/kernel.h"

#define MASTER_RIG_PORT  1001
#define MASTER_RIG_RELAY 1002
#define MASTER_RIG_PID   77

struct master_rig {
	struct fake *k;
	struct sys_ops ops;
	struct sys sys;
	struct master m;
	struct worker_process w;
	struct fake_sock *origin;  /* where sockets of relays come out */
	struct fake_sock *client;
	/* Called with the worker process's end of each connection that is passed to it. */
	void (*on_relay)(struct master_rig *r, struct fake_sock *end, const char *head);
	unsigned int n_relays;
	int client_is_gone;
	int client_fd;             /* the master's end; -1: closed */
	int refuses;               /* it takes no connection */
	int has_passed_client;     /* the client's connection has gone to the worker process */
};

static struct master_rig *master_rig_now;

#define master_rig_check(ok) master_rig_check_at(ok, #ok, __LINE__)

static inline void
master_rig_check_at(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "line %d: %s\n", line, what);
	abort();
}

/* One end is a connection to the origin; a descriptor of something stands for the other. */
static long
master_rig_socketpair(void *ctx, int domain, int type, int proto, int *sv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(MASTER_RIG_RELAY),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	long fd = sys_fake.socket(ctx, AF_INET, type, proto);

	(void)domain;
	master_rig_check(fd >= 0);
	(void)sys_fake.connect(ctx, (int)fd, (struct sockaddr *)&to, sizeof(to));
	master_rig_check(sys_fake.connect(ctx, (int)fd, (struct sockaddr *)&to, sizeof(to)) == 0);
	sv[0] = (int)fd;
	sv[1] = (int)sys_fake.eventfd2(ctx, 0, 0);
	return 0;
}

/* The worker process gets its end. */
static long
master_rig_sendmsg(void *ctx, int fd, const struct msghdr *m, int flags)
{
	struct master_rig *r = master_rig_now;
	struct fake_sock *end;
	char head[80];

	if (fd != r->w.own.fd)
		return sys_fake.sendmsg(ctx, fd, m, flags);
	/* The client's connection itself goes to the worker process. */
	if (m->msg_iov->iov_len == strlen(MASTER_GETSOCKS) &&
		memcmp(m->msg_iov->iov_base, MASTER_GETSOCKS, m->msg_iov->iov_len) == 0) {
		r->has_passed_client = !r->refuses;
		return r->refuses ? -EAGAIN : (long)m->msg_iov->iov_len;
	}
	end = fake_origin_accept(r->origin);
	master_rig_check(end && m->msg_controllen && m->msg_iov->iov_len < sizeof(head));
	memcpy(head, m->msg_iov->iov_base, m->msg_iov->iov_len);
	head[m->msg_iov->iov_len] = '\0';
	r->n_relays++;
	if (r->refuses)
		fake_peer_close(end);
	else
		r->on_relay(r, end, head);
	return r->refuses ? -EAGAIN : (long)m->msg_iov->iov_len;
}

/* Sending nothing asks whether the client is there. */
static long
master_rig_sendto(void *ctx, int fd, const void *buf, size_t len, int flags)
{
	if (!len)
		return master_rig_now->client_is_gone ? -EPIPE : 0;
	return sys_fake.sendto(ctx, fd, buf, len, flags);
}

static long
master_rig_accept4(void *ctx, int fd, struct sockaddr *sa, socklen_t *len, int flags)
{
	long r = sys_fake.accept4(ctx, fd, sa, len, flags);

	if (r >= 0)
		master_rig_now->client_fd = (int)r;
	return r;
}

/* As of a unix socket: bytes that the client has sent in vain do not take back its answer. */
static inline void
master_rig_leave_client(void *ctx)
{
	char rest[4096];

	while (sys_fake.recvfrom(ctx, master_rig_now->client_fd, rest, sizeof(rest),
		       MSG_DONTWAIT) > 0)
		;
	master_rig_now->client_fd = -1;
}

static long
master_rig_close_fd(void *ctx, int fd)
{
	if (fd == master_rig_now->client_fd)
		master_rig_leave_client(ctx);
	return sys_fake.close(ctx, fd);
}

static long
master_rig_close_range(void *ctx, unsigned int lo, unsigned int hi)
{
	int fd = master_rig_now->client_fd;

	if (fd >= 0 && (unsigned int)fd >= lo && (unsigned int)fd <= hi)
		master_rig_leave_client(ctx);
	return sys_fake.close_range(ctx, lo, hi);
}

static inline void
master_rig_turn(struct master_rig *r)
{
	master_rig_check(loop_turn(r->m.loop, 1) == 0);
	(void)fake_run_due(r->k);
}

/* `buffers`: the size of those of sockets. A client has connected. */
static inline void
master_rig_open(struct master_rig *r, const char *level, unsigned int buffers)
{
	struct loop_config conf = { .poller = poller_find("epoll"), .mode = INTEREST_MERGED,
		.max_fd = 64, .max_events = 16, .lazy = 1 };
	char text[80], why[160];
	int reason = 0;

	master_rig_now = r;
	r->k = fake_new();
	r->ops = sys_fake;
	r->ops.socketpair = master_rig_socketpair;
	r->ops.sendmsg = master_rig_sendmsg;
	r->ops.sendto = master_rig_sendto;
	r->ops.accept4 = master_rig_accept4;
	r->ops.close = master_rig_close_fd;
	r->ops.close_range = master_rig_close_range;
	r->client_fd = -1;
	sys_init(&r->sys, &r->ops, r->k);
	fake_set_buffers(r->k, buffers, buffers);
	r->origin = fake_origin(r->k, MASTER_RIG_RELAY, 64);
	r->m.sys = &r->sys;
	r->m.state = MASTER_RUNNING;
	list_init(&r->m.workers);
	r->w = (struct worker_process){ .master = &r->m, .state = WORKER_CURRENT,
		.own = { .pid = MASTER_RIG_PID, .fd = 60, .log_fd = -1 } };
	snprintf(r->w.version, sizeof(r->w.version), "1.2");
	list_append(&r->m.workers, &r->w.link);
	snprintf(text, sizeof(text), "127.0.0.1:%d,level,%s", MASTER_RIG_PORT, level);
	master_rig_check(master_cli_parse(&r->m.cli, text, why, sizeof(why)) == 0);
	master_rig_check(master_cli_bind(&r->m, why, sizeof(why)) == 0);
	r->m.loop = loop_new(&r->sys, &conf, &reason);
	master_rig_check(r->m.loop && master_cli_start(&r->m) == 0);
	r->m.started_ms = r->w.started_ms = loop_now_ms(r->m.loop);
	r->client = fake_client(r->k, MASTER_RIG_PORT);
	for (int i = 0; i < 8 && !r->m.cli.n; i++)
		master_rig_turn(r);
	master_rig_check(r->m.cli.n == 1);
}

/* No connection may be left; the client has been closed. */
static inline void
master_rig_close(struct master_rig *r)
{
	master_rig_check(r->m.cli.n == 0);
	master_rig_check(!fake_abuse(r->k, FAKE_BAD_FD) && !fake_abuse(r->k, FAKE_RECV_ZERO));
	master_cli_close(&r->m);
	bind_conf_free(&r->m.cli.bind);
	loop_free(&r->m.loop);
	master_rig_check(fake_fds(r->k) == 0);
	fake_free(&r->k);
	*r = (struct master_rig){ .n_relays = 0 };
}

#endif
