/*
 * MSG_ZEROCOPY: the kernel does not copy sent bytes but reads them from the sender's memory when it
 * needs them, at the latest when the peer has received them, and then acknowledges the send on the
 * error queue. If the sender changes the memory earlier, other bytes are sent. Numbers, merging and
 * codes are those of Linux, and so is madvise(MADV_DONTNEED): the kernel keeps the old pages, and
 * the sender gets empty ones.
 */
#include <time.h>

#include <linux/errqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fake/kernel_int.h"

#define ZC_SENDS_MAX 4096

/* One send: the bytes of the stream from lo on are at `from`, unless they were copied meanwhile. */
struct fake_zc_send {
	uint64_t lo, hi;
	const char *from; /* NULL: the kernel has copied the pages */
	uint32_t id;
	int over; /* none of it is needed any more */
};

struct fake_zc_note {
	uint32_t lo, hi;
};

struct fake_zc {
	struct fake_zc_send send[ZC_SENDS_MAX];
	unsigned int n; /* number of sends without acknowledgement */
	struct fake_zc_note note[ZC_SENDS_MAX];
	unsigned int n_notes;
	uint32_t next;
};

void
fake_zerocopy(struct fake *k, const struct fake_zc_conf *conf)
{
	k->zc = *conf;
}

static struct fake_pipe *
pipe_of(struct fake_sock *from)
{
	return &from->peer->in;
}

/* Copies the part of a send that is in [lo, hi) of the stream. */
static void
fetch(struct fake_sock *from, const struct fake_zc_send *z, uint64_t lo, uint64_t hi)
{
	struct fake_pipe *p = pipe_of(from);

	lo = MAX(lo, MAX(z->lo, p->base));
	hi = MIN(hi, MIN(z->hi, p->written));
	if (z->from && lo < hi)
		memcpy(p->buf + (lo - p->base), z->from + (lo - z->lo), hi - lo);
}

static void
note(struct fake_sock *s, uint32_t id)
{
	struct fake_zc *zc = s->zc;
	struct fake_zc_note *last = zc->n_notes ? &zc->note[zc->n_notes - 1] : NULL;

	if (last && last->hi + 1 == id) {
		last->hi = id;
		return;
	}
	assert(zc->n_notes < ZC_SENDS_MAX);
	zc->note[zc->n_notes++] = (struct fake_zc_note){ id, id };
}

static int
take_over(struct fake_zc *zc, unsigned int at, uint32_t *id)
{
	if (at >= zc->n || !zc->send[at].over)
		return 0;
	*id = zc->send[at].id;
	memmove(&zc->send[at], &zc->send[at + 1], (--zc->n - at) * sizeof(zc->send[0]));
	return 1;
}

/* Acknowledges completed sends; with shuffle every second one before the one that came first. */
static void
report(struct fake_sock *s)
{
	struct fake_zc *zc = s->zc;
	unsigned int before = zc->n_notes;
	uint32_t id;

	if (s->k->zc.shuffle && zc->n > 1)
		while (zc->n > 1 && zc->send[0].over && take_over(zc, 1, &id)) {
			note(s, id);
			if (take_over(zc, 0, &id))
				note(s, id);
		}
	else
		while (take_over(zc, 0, &id))
			note(s, id);
	if (zc->n_notes != before || zc->n_notes)
		fake_sock_wake(s, EPOLLERR);
}

static void
report_later(struct fake *k, void *arg)
{
	struct fake_sock *s = arg;

	(void)k;
	if (s->zc && !s->dead)
		report(s);
}

static void
some_are_over(struct fake_sock *s)
{
	if (s->dead)
		return;
	if (s->k->zc.late)
		fake_after(s->k, s->k->zc.late, report_later, s);
	else
		report(s);
}

long
fake_zc_may(const struct fake_sock *s, int flags)
{
	if (!(flags & MSG_ZEROCOPY) || !s->zc)
		return 0;
	if (s->k->zc.limit && s->zc->n >= s->k->zc.limit)
		return -ENOBUFS;
	assert(s->zc->n < ZC_SENDS_MAX);
	return 1;
}

void
fake_zc_sent(struct fake_sock *s, const void *buf, uint64_t lo, uint64_t hi)
{
	struct fake_zc *zc = s->zc;

	zc->send[zc->n++] = (struct fake_zc_send){ lo, hi, buf, zc->next++, 0 };
}

/* The peer has received everything up to there. */
void
fake_zc_arrives(struct fake_sock *from, uint64_t upto)
{
	struct fake_zc *zc = from->zc;
	int some = 0;

	for (unsigned int i = 0; i < zc->n; i++) {
		struct fake_zc_send *z = &zc->send[i];

		fetch(from, z, pipe_of(from)->arrived, upto);
		if (!z->over && z->hi <= upto)
			z->over = some = 1;
	}
	if (some)
		some_are_over(from);
}

/* The connection has ended: bytes in transit are delivered, the rest is discarded. */
void
fake_zc_purge(struct fake_sock *from)
{
	struct fake_zc *zc = from->zc;

	for (unsigned int i = 0; i < zc->n; i++) {
		fetch(from, &zc->send[i], 0, UINT64_MAX);
		zc->send[i].from = NULL;
		zc->send[i].over = 1;
	}
	if (zc->n)
		some_are_over(from);
}

long
fake_zc_open(struct fake_sock *s)
{
	if (s->k->zc.refused || s->family == AF_UNIX)
		return -EOPNOTSUPP;
	if (!s->zc) {
		s->zc = fake_zalloc(sizeof(*s->zc));
		s->zc->next = s->k->zc.first;
	}
	return 0;
}

int
fake_zc_has_notes(const struct fake_sock *s)
{
	return s->zc && s->zc->n_notes;
}

static void
write_note(struct msghdr *m, const struct fake_zc_note *n, int copied)
{
	struct sock_extended_err e = { .ee_origin = SO_EE_ORIGIN_ZEROCOPY, .ee_info = n->lo,
				       .ee_data = n->hi,
				       .ee_code = copied ? SO_EE_CODE_ZEROCOPY_COPIED : 0 };
	struct cmsghdr *h = m->msg_control;

	assert(m->msg_controllen >= CMSG_SPACE(sizeof(e)));
	h->cmsg_level = SOL_IP;
	h->cmsg_type = IP_RECVERR;
	h->cmsg_len = CMSG_LEN(sizeof(e));
	memcpy(CMSG_DATA(h), &e, sizeof(e));
	m->msg_controllen = CMSG_SPACE(sizeof(e));
	m->msg_flags = MSG_ERRQUEUE;
}

/* Reads up to n entries of the error queue, or -EAGAIN. */
static long
take_notes(struct fake *k, struct fake_sock *s, struct mmsghdr *v, unsigned int n)
{
	struct fake_zc *zc = s->zc;
	unsigned int have = zc ? MIN(n, zc->n_notes) : 0;

	for (unsigned int i = 0; i < have; i++)
		write_note(&v[i].msg_hdr, &zc->note[i], k->zc.copied);
	if (have) {
		zc->n_notes -= have;
		memmove(zc->note, zc->note + have, zc->n_notes * sizeof(zc->note[0]));
	}
	/* Remaining entries are reported again. */
	if (fake_zc_has_notes(s))
		fake_sock_wake(s, EPOLLERR);
	return have ? (long)have : -EAGAIN;
}

long
fake_recvmmsg(void *ctx, int fd, struct mmsghdr *v, unsigned int n, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_recvmmsg, fd);
	struct fake_sock *s;

	if (flags & ~(MSG_ERRQUEUE | MSG_DONTWAIT | MSG_CMSG_CLOEXEC))
		fake_blame(k, FAKE_UNKNOWN);
	if (r == 0 && (s = fake_sock_of(k, fd, &r))) {
		if (flags & MSG_ERRQUEUE)
			r = take_notes(k, s, v, n);
		else
			r = fake_sock_recv_messages(k, s, v, n);
	}
	if (!(flags & MSG_ERRQUEUE) && r > 0)
		snprintf(k->reply, sizeof(k->reply), " (%u%s)", v[0].msg_len,
			r < 2                ? ""
				: v[1].msg_len ? ", more"
					       : ", end");
	return fake_leave(
		k, r, "recvmmsg(%d, %u%s)", fd, n, flags & MSG_ERRQUEUE ? ", ERRQUEUE" : "");
}

long
fake_madvise(void *ctx, void *mem, size_t len, int advice)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_madvise, -1);
	const char *lo = mem, *hi = lo + len;

	if (advice == MADV_DONTDUMP)
		return fake_leave(k, r, "madvise(%zu, DONTDUMP)", len);
	if (advice != MADV_DONTNEED || (uintptr_t)mem % 4096)
		fake_blame(k, FAKE_UNKNOWN);
	if (r == 0) {
		for (struct fake_sock *s = k->socks; s; s = s->all) {
			for (unsigned int i = 0; s->zc && i < s->zc->n; i++) {
				struct fake_zc_send *z = &s->zc->send[i];

				if (!z->from || z->from < lo || z->from >= hi)
					continue;
				fetch(s, z, 0, UINT64_MAX);
				z->from = NULL;
			}
		}
		memset(mem, 0, len);
	}
	return fake_leave(k, r, "madvise(%zu)", len);
}
