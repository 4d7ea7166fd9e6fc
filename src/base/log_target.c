/* Targets of log lines: one worker's sockets and descriptors. It never blocks; a line that a target
 * does not take is dropped and counted. */
#include "base/log_target.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/log_ring.h"
#include "base/mem.h"

#define SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL)

static int
dest_is_equal(const struct log_dest *a, const struct log_dest *b)
{
	if (a->kind != b->kind)
		return 0;
	if (a->kind == LOG_DEST_FD)
		return a->fd == b->fd;
	if (a->kind == LOG_DEST_RING)
		return a->ring == b->ring;
	return a->len == b->len && memcmp(&a->u, &b->u, a->len) == 0;
}

struct log_target *
log_target_get(struct log_sink *k, const struct log_dest *d)
{
	struct log_target *t;

	for (unsigned int i = 0; i < k->n_targets; i++)
		if (dest_is_equal(&k->target[i].dest, d))
			return &k->target[i];
	if (k->n_targets == LOG_TARGETS_MAX)
		return NULL;
	t = mem_resize(k->target, k->n_targets + 1, sizeof(*t));
	if (!t)
		return NULL;
	k->target = t;
	t += k->n_targets++;
	memset(t, 0, sizeof(*t));
	t->dest = *d;
	t->fd = -1;
	t->old_flags = -1;
	return t;
}

int
log_target_is_resting(const struct log_target *t, uint64_t now_ns)
{
	/* The wall clock can be set back: the suspension never exceeds one period from now. */
	return t->rest_until_ns > now_ns && t->rest_until_ns - now_ns <= LOG_REST_MS * 1000000u;
}

/* Handles a failure r, a negative errno. */
static void
target_rest(struct log_sink *k, struct log_target *t, uint64_t now_ns, long r)
{
	t->rest_until_ns = now_ns + LOG_REST_MS * 1000000u;
	if (k->on_failure)
		k->on_failure(k->failure_arg, &t->dest, (int)-r);
}

static void
target_drop(struct log_sink *k, struct log_target *t, unsigned int n)
{
	t->dropped += n;
	counter_add(&k->dropped, n);
}

/* An inherited descriptor can be of any type: determines once how to write to it without
 * blocking. */
static int
target_adopt(struct sys *sys, struct log_target *t)
{
	struct stat st;
	int type = 0;
	socklen_t len = sizeof(type);
	long flags, r = sys_fstat(sys, t->dest.fd, &st);

	if (r < 0)
		return (int)r;
	t->fd = t->dest.fd;
	if (S_ISSOCK(st.st_mode)) {
		r = sys_getsockopt(sys, t->fd, SOL_SOCKET, SO_TYPE, &type, &len);
		if (r < 0)
			return (int)r;
		t->is_datagram = type != SOCK_STREAM;
		t->is_socket = 1;
		return 0;
	}
	flags = sys_fcntl(sys, t->fd, F_GETFL, 0);
	if (flags >= 0 && !(flags & O_NONBLOCK) &&
	    sys_fcntl(sys, t->fd, F_SETFL, flags | O_NONBLOCK) >= 0)
		t->old_flags = (int)flags;
	return 0;
}

static int
target_open(struct sys *sys, struct log_target *t)
{
	int r = 0;

	if (t->is_open || t->dest.kind == LOG_DEST_RING)
		return 0;
	if (t->dest.kind == LOG_DEST_FD) {
		r = target_adopt(sys, t);
	} else {
		r = (int)sys_socket(
			sys, t->dest.u.sa.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		t->fd = r;
		t->is_datagram = 1;
	}
	if (r < 0)
		return r;
	t->is_open = 1;
	return 0;
}

void
log_target_open(struct log_sink *k, struct log_target *t)
{
	(void)!target_open(k->sys, t);
}

void
log_target_close(struct log_sink *k, struct log_target *t)
{
	if (t->is_open && t->dest.kind == LOG_DEST_SOCKET)
		(void)sys_close(k->sys, t->fd);
	else if (t->is_open && t->old_flags >= 0)
		(void)sys_fcntl(k->sys, t->fd, F_SETFL, t->old_flags);
	mem_free(t->tail);
	t->tail = NULL;
	t->tail_len = 0;
	t->fd = -1;
	t->old_flags = -1;
	t->is_open = 0;
}

/*
 * Collects up to max records of one target from *pos on as vectors. If other processes write to the
 * same pipe, at most what it accepts atomically (pipe(7), PIPE_BUF), so that lines do not mix. A
 * longer line may still be interleaved.
 */
static unsigned int
collect_records(struct log_sink *k, const struct log_target *t, size_t *pos, struct iovec *iov,
	unsigned int max)
{
	size_t bytes = 0, most = k->shared && !t->is_datagram ? PIPE_BUF : SIZE_MAX;
	unsigned int n = 0;
	uint32_t self = (uint32_t)(t - k->target);

	while (n < max && *pos < k->used) {
		struct log_rec *r = (struct log_rec *)(void *)(k->ring + *pos);

		if (r->target == self) {
			if (n > 0 && bytes + r->len > most)
				break;
			bytes += r->len;
			iov[n].iov_base = r + 1;
			iov[n].iov_len = r->len;
			n++;
		}
		*pos += LOG_REC_SPACE(r->len);
	}
	return n;
}

/* Sends a batch: 0, or -1 when further tries for this target are useless now. */
static int
send_datagrams(struct log_sink *k, struct log_target *t, struct iovec *iov, unsigned int n,
	uint64_t now_ns)
{
	struct mmsghdr v[LOG_BATCH];
	unsigned int done = 0;

	memset(v, 0, n * sizeof(v[0]));
	for (unsigned int i = 0; i < n; i++) {
		v[i].msg_hdr.msg_iov = &iov[i];
		v[i].msg_hdr.msg_iovlen = 1;
		if (t->dest.kind == LOG_DEST_SOCKET) {
			v[i].msg_hdr.msg_name = &t->dest.u;
			v[i].msg_hdr.msg_namelen = t->dest.len;
		}
	}
	while (done < n) {
		long r = sys_sendmmsg(k->sys, t->fd, v + done, n - done, SEND_FLAGS);

		if (r > 0) {
			done += (unsigned int)r;
			counter_add(&k->sent, (unsigned int)r);
			t->pending -= (unsigned int)r;
		} else if (r == -EMSGSIZE) {
			done++;
			t->pending--;
			target_drop(k, t, 1);
		} else {
			if (r != -EAGAIN && r != -ENOBUFS)
				target_rest(k, t, now_ns, r);
			return -1;
		}
	}
	return 0;
}

static long
write_lines(struct sys *sys, const struct log_target *t, struct iovec *iov, unsigned int n)
{
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = n };

	return t->is_socket ? sys_sendmsg(sys, t->fd, &m, SEND_FLAGS)
			    : sys_writev(sys, t->fd, iov, (int)n);
}

/* Keeps the unwritten end of a line; without memory the line is truncated. */
static void
keep_tail(struct log_target *t, const char *p, size_t len)
{
	char *copy = mem_alloc(len);

	if (copy)
		memcpy(copy, p, len);
	mem_free(t->tail);
	t->tail = copy;
	t->tail_len = copy ? len : 0;
}

/* iov[0] is the tail of the last line when has_tail. Like send_datagrams(). */
static int
send_lines(struct log_sink *k, struct log_target *t, struct iovec *iov, unsigned int n,
	int has_tail, uint64_t now_ns)
{
	long r = write_lines(k->sys, t, iov, n);
	size_t left;

	if (r < 0) {
		if (r != -EAGAIN)
			target_rest(k, t, now_ns, r);
		return -1;
	}
	left = (size_t)r;
	for (unsigned int i = 0; i < n; i++) {
		if (left < iov[i].iov_len) {
			keep_tail(t, (char *)iov[i].iov_base + left, iov[i].iov_len - left);
			if (!(has_tail && i == 0)) {
				counter_add(&k->sent, 1);
				t->pending--;
			}
			return -1;
		}
		left -= iov[i].iov_len;
		if (has_tail && i == 0) {
			mem_free(t->tail);
			t->tail = NULL;
			t->tail_len = 0;
			continue;
		}
		counter_add(&k->sent, 1);
		t->pending--;
	}
	return 0;
}

/* The records of this target, without the ends of their lines. NULL when memory is out. */
static struct log_batch *
make_batch(const struct log_sink *k, const struct log_target *t)
{
	struct log_batch *b = mem_alloc(sizeof(*b) + k->used);
	uint32_t self = (uint32_t)(t - k->target);

	if (!b)
		return NULL;
	b->len = 0;
	for (size_t pos = 0; pos < k->used;) {
		const struct log_rec *r = (const struct log_rec *)(const void *)(k->ring + pos);
		uint32_t len = r->len - 1;

		pos += LOG_REC_SPACE(r->len);
		if (r->target != self)
			continue;
		memcpy(b->text + b->len, &len, sizeof(len));
		memcpy(b->text + b->len + sizeof(len), r + 1, len);
		b->len += sizeof(len) + len;
	}
	return b;
}

static void
post_records(struct log_sink *k, struct log_target *t)
{
	struct log_ring *ring = t->dest.ring;
	struct log_batch *b = make_batch(k, t);
	int r = b ? log_ring_post(ring, b) : -ERR_NOMEM;

	if (r < 0) {
		mem_free(b);
		log_ring_count_lost(ring, t->pending);
		target_drop(k, t, t->pending);
	} else {
		counter_add(&k->sent, t->pending);
		if (r && k->on_ring)
			k->on_ring(k->ring_arg, ring);
	}
	t->pending = 0;
}

void
log_target_flush(struct log_sink *k, struct log_target *t, uint64_t now_ns)
{
	struct iovec iov[LOG_BATCH];
	size_t pos = 0;
	int rc = 0;

	if (t->pending == 0 && t->tail_len == 0)
		return;
	if (t->dest.kind == LOG_DEST_RING) {
		post_records(k, t);
		return;
	}
	if (log_target_is_resting(t, now_ns)) {
		rc = -1;
	} else {
		/* The clock may reach that time again. */
		t->rest_until_ns = 0;
		rc = target_open(k->sys, t);
		if (rc < 0)
			target_rest(k, t, now_ns, rc);
	}
	while (rc == 0 && (t->pending > 0 || t->tail_len > 0)) {
		unsigned int first = t->tail_len > 0, n;

		if (first)
			iov[0] = (struct iovec){ t->tail, t->tail_len };
		n = first + collect_records(k, t, &pos, iov + first, LOG_BATCH - first);
		rc = t->is_datagram ? send_datagrams(k, t, iov, n, now_ns) :
				      send_lines(k, t, iov, n, (int)first, now_ns);
	}
	target_drop(k, t, t->pending);
	t->pending = 0;
}
