/* Sends that the kernel does not copy, on the connection's worker. A buffer is not reused before
 * the kernel has acknowledged every send from it, or its pages were given up. */
#define _GNU_SOURCE
#include "net/zerocopy.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <linux/errqueue.h>

#include "base/counter.h"
#include "base/sys.h"

/* Completions read at a time: fewer mean that the queue is empty. */
#define BATCH 8
/* Kept for reuse. */
#define STATES_KEPT 64
#define PINS_KEPT 256

struct zerocopy {
	struct ranges acked;
	struct list pins; /* in order of their last sends */
	uint32_t next;    /* number of the next send */
	uint8_t short_of; /* the kernel had no resources: not before a completion */
};

void
zerocopy_init(struct zerocopy_pool *zp, struct sys *sys, struct pool *bufs)
{
	memset(zp, 0, sizeof(*zp));
	zp->sys = sys;
	zp->bufs = bufs;
	zp->fast_path = 1;
	list_init(&zp->lost);
	pool_init(&zp->states, "zerocopy", sizeof(struct zerocopy), STATES_KEPT);
	pool_init(&zp->pins, "pin", sizeof(struct zerocopy_pin), PINS_KEPT);
}

void
zerocopy_fini(struct zerocopy_pool *zp)
{
	while (!list_is_empty(&zp->lost)) {
		struct zerocopy_pin *pin = list_first(&zp->lost, struct zerocopy_pin, link);

		list_remove(&pin->link);
		pool_put(zp->bufs, pin->buf);
		pool_put(&zp->pins, pin);
	}
	pool_fini(&zp->states);
	pool_fini(&zp->pins);
}

/* --- a connection's --- */

/* True if zero-copy sends may be used for c. Completions are reported as errors: a poller that does
 * not distinguish errors does not report them. */
int
zerocopy_may(const struct zerocopy_pool *zp, const struct conn *c)
{
	return zp->threshold && !c->no_zerocopy && conn_can(c, XPRT_ZEROCOPY) &&
		loop_has_errors(c->loop);
}

static struct zerocopy *
open_state(struct zerocopy_pool *zp, struct conn *c)
{
	int on = 1;
	struct zerocopy *z;

	if (sys_setsockopt(zp->sys, c->fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) < 0)
		return NULL;
	z = pool_get(&zp->states);
	if (!z)
		return NULL;
	memset(z, 0, sizeof(*z));
	z->next = zp->first;
	ranges_init(&z->acked, zp->first, zp->fast_path);
	list_init(&z->pins);
	c->zerocopy = z;
	loop_err_queue(c->loop, c->fd);
	return z;
}

/* True if the kernel has completed all sends up to this number. */
static int
is_acked(const struct zerocopy *z, uint32_t number)
{
	return (int32_t)(z->acked.next - number) > 0;
}

static void
free_pin(struct zerocopy_pool *zp, struct zerocopy_pin *pin)
{
	pool_put(zp->bufs, pin->buf);
	pool_put(&zp->pins, pin);
}

static void
pin_landed(struct zerocopy_pool *zp, struct zerocopy_pin *pin)
{
	list_remove(&pin->link);
	pin->flying = 0;
	counter_sub(&zp->pinned, zp->bufs->size);
	if (!pin->held)
		free_pin(zp, pin);
}

static void
release_acked(struct zerocopy_pool *zp, struct zerocopy *z)
{
	while (!list_is_empty(&z->pins)) {
		struct zerocopy_pin *pin = list_first(&z->pins, struct zerocopy_pin, link);

		if (!is_acked(z, pin->last))
			return;
		pin_landed(zp, pin);
	}
}

/* --- answers --- */

/* Room for the completion and the address that may come with it. */
union control {
	char bytes[CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6))];
	struct cmsghdr align;
};

/* 1 if it was a completion. */
static int
take_answer(struct zerocopy_pool *zp, struct conn *c, struct msghdr *m)
{
	const struct cmsghdr *h = CMSG_FIRSTHDR(m);
	struct sock_extended_err e;

	if (!h || h->cmsg_len < CMSG_LEN(sizeof(e)) ||
		!((h->cmsg_level == SOL_IP && h->cmsg_type == IP_RECVERR) ||
			(h->cmsg_level == SOL_IPV6 && h->cmsg_type == IPV6_RECVERR)))
		return 0;
	memcpy(&e, CMSG_DATA(h), sizeof(e));
	if (e.ee_origin != SO_EE_ORIGIN_ZEROCOPY || e.ee_errno)
		return 0;
	if (e.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) {
		counter_add(&zp->copied, 1);
		c->no_zerocopy = 1;
	}
	/* A completion that cannot be recorded leaves the buffer pinned until the connection is
	 * closed. */
	if (ranges_ack(&c->zerocopy->acked, e.ee_info, e.ee_data) < 0)
		c->no_zerocopy = 1;
	return 1;
}

unsigned int
zerocopy_reap(struct zerocopy_pool *zp, struct conn *c)
{
	union control ctl[BATCH];
	struct mmsghdr v[BATCH];
	unsigned int answers = 0;
	long n;

	if (!c->zerocopy)
		return 0;
	do {
		memset(v, 0, sizeof(v));
		for (unsigned int i = 0; i < BATCH; i++) {
			v[i].msg_hdr.msg_control = &ctl[i];
			v[i].msg_hdr.msg_controllen = sizeof(ctl[i]);
		}
		n = sys_recvmmsg(zp->sys, c->fd, v, BATCH, MSG_ERRQUEUE | MSG_DONTWAIT);
		for (long i = 0; i < n; i++)
			answers += (unsigned int)take_answer(zp, c, &v[i].msg_hdr);
	} while (n == BATCH);
	if (!answers)
		return 0;
	loop_progress(c->loop, c->fd);
	c->zerocopy->short_of = 0;
	release_acked(zp, c->zerocopy);
	return answers;
}

/* --- sending --- */

/* The state to send with, or NULL: copy. */
static struct zerocopy *
state_for_send(struct zerocopy_pool *zp, struct conn *c, size_t len)
{
	struct zerocopy *z = c->zerocopy;

	if (len < zp->threshold || !zerocopy_may(zp, c))
		return NULL;
	if (!z) {
		z = open_state(zp, c);
		c->no_zerocopy = !z;
		return z;
	}
	/* An fd without interest gets no events: checks the queue before giving up. */
	if (zp->pinned + zp->bufs->size > zp->max && !list_is_empty(&z->pins))
		(void)zerocopy_reap(zp, c);
	return z->short_of || c->no_zerocopy ? NULL : z;
}

static struct zerocopy_pin *
pin_of(struct zerocopy_pool *zp, struct zerocopy_pin *pin, char *buf)
{
	if (pin && pin->flying)
		return pin;
	if (zp->pinned + zp->bufs->size > zp->max) {
		counter_add(&zp->full, 1);
		return NULL;
	}
	if (pin)
		return pin;
	pin = pool_get(&zp->pins);
	if (!pin)
		return NULL;
	memset(pin, 0, sizeof(*pin));
	list_init(&pin->link);
	pin->buf = buf;
	pin->held = 1;
	return pin;
}

/* A send from it has succeeded: it is now the last in the list. */
static void
pin_sent(struct zerocopy_pool *zp, struct zerocopy *z, struct zerocopy_pin *pin)
{
	if (!pin->flying)
		counter_add(&zp->pinned, zp->bufs->size);
	pin->flying = 1;
	pin->last = z->next++;
	list_remove(&pin->link);
	list_append(&z->pins, &pin->link);
}

enum io_result
zerocopy_send(struct zerocopy_pool *zp, struct conn *c, struct zerocopy_pin **pin, char *buf,
	const char *p, size_t len, int more, size_t *put)
{
	struct zerocopy *z = state_for_send(zp, c, len);
	struct zerocopy_pin *use = z ? pin_of(zp, *pin, buf) : NULL;
	enum io_result r;
	int in_place;

	if (!use)
		return conn_send(c, p, len, more, put);
	r = conn_send_in_place(c, p, len, more, put, &in_place);
	if (r == IO_OK && in_place) {
		counter_add(&zp->bytes, *put);
		pin_sent(zp, z, use);
		*pin = use;
		return r;
	}
	if (!in_place) {
		counter_add(&zp->refused, 1);
		z->short_of = !list_is_empty(&z->pins);
		c->no_zerocopy |= list_is_empty(&z->pins);
	}
	if (use != *pin)
		pool_put(&zp->pins, use);
	return r;
}

void
zerocopy_release(struct zerocopy_pool *zp, struct zerocopy_pin **pin, char *buf)
{
	struct zerocopy_pin *was = *pin;

	*pin = NULL;
	if (!was) {
		pool_put(zp->bufs, buf);
		return;
	}
	assert(was->held && was->buf == buf);
	was->held = 0;
	if (!was->flying && !was->lost)
		free_pin(zp, was);
}

/* The kernel may send from it at any later time, without a notification. */
static void
give_up_pin(struct zerocopy_pool *zp, struct zerocopy_pin *pin)
{
	if (sys_madvise(zp->sys, pin->buf, zp->bufs->size, MADV_DONTNEED) >= 0) {
		pin_landed(zp, pin);
		return;
	}
	list_remove(&pin->link);
	pin->flying = 0;
	pin->lost = 1;
	list_append(&zp->lost, &pin->link);
}

void
zerocopy_give_up(struct zerocopy_pool *zp, struct conn *c)
{
	struct zerocopy *z = c->zerocopy;

	if (!list_is_empty(&z->pins))
		(void)zerocopy_reap(zp, c);
	while (!list_is_empty(&z->pins))
		give_up_pin(zp, list_first(&z->pins, struct zerocopy_pin, link));
	ranges_fini(&z->acked);
	pool_put(&zp->states, z);
	c->zerocopy = NULL;
}
