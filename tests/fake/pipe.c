/*
 * Pipes, and splice() between them and sockets, as in Linux: a pipe is full when its slots are,
 * however few bytes they hold; EAGAIN may mean an empty source or a full pipe; a count can be
 * shorter than both permit; and bytes are sent in batches of slots, of which a later one may meet
 * an error that the count hides.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "fake/kernel_int.h"

#define PAGE 4096
#define PIPE_SIZE_MAX (FAKE_SLOTS_MAX * PAGE)
#define BATCH 16 /* slots sent at once */

void
fake_set_pipes(struct fake *k, unsigned int slots, unsigned int fragment)
{
	k->pipe_slots = slots;
	k->fragment = fragment;
}

void
fake_cut_splice(struct fake *k, uint64_t nth)
{
	k->cut_splice = k->splices_out + nth;
}

static long
pipe_new(struct fake *k, int *fds, int flags)
{
	struct fake_fifo *p;
	int fd[2];

	if (flags & ~(O_NONBLOCK | O_CLOEXEC))
		return -EINVAL;
	fd[0] = fake_file_new(k, FAKE_KIND_PIPE, flags & O_NONBLOCK);
	fd[1] = fd[0] < 0 ? fd[0] : fake_file_new(k, FAKE_KIND_PIPE, flags & O_NONBLOCK);
	if (fd[1] < 0) {
		if (fd[0] >= 0)
			fake_file_close(k, fd[0]);
		return fd[1];
	}
	p = fake_zalloc(sizeof(*p));
	p->slots = k->pipe_slots;
	p->ends = 2;
	k->files[fd[0]]->fifo = k->files[fd[1]]->fifo = p;
	k->files[fd[1]]->writes = 1;
	fds[0] = fd[0];
	fds[1] = fd[1];
	return 0;
}

void
fake_pipe_end_closes(struct fake_file *f)
{
	if (--f->fifo->ends)
		return;
	fake_release(f->fifo->buf);
	fake_release(f->fifo);
}

long
fake_pipe_resize(struct fake *k, struct fake_file *f, long size)
{
	unsigned int slots = 1;

	if (f->kind != FAKE_KIND_PIPE)
		return -EBADF;
	if (size == 0)
		return (long)f->fifo->slots * PAGE;
	if (size < 0)
		return -EINVAL;
	if (size > PIPE_SIZE_MAX)
		return -EPERM;
	while ((long)slots * PAGE < size)
		slots *= 2;
	/* a user with too many pages gets no larger pipe */
	if (slots > f->fifo->slots && k->pipe_slots < FAKE_SLOTS)
		return -EPERM;
	if (slots < f->fifo->used)
		return -EBUSY;
	f->fifo->slots = slots;
	return (long)slots * PAGE;
}

/* Removes the first n bytes. */
static void
consume(struct fake_fifo *p, size_t n)
{
	p->base += n;
	p->len -= n;
	while (n) {
		size_t part = MIN(n, p->slot[0]);

		p->slot[0] -= part;
		n -= part;
		if (p->slot[0] == 0)
			memmove(p->slot, p->slot + 1, --p->used * sizeof(p->slot[0]));
	}
}

long
fake_pipe_read(struct fake_file *f, void *buf, size_t len)
{
	struct fake_fifo *p = f->fifo;
	size_t n = MIN(len, p->len);

	if (!p->len)
		return p->ends == 2 ? -EAGAIN : 0;
	memcpy(buf, p->buf + p->base, n);
	consume(p, n);
	return (long)n;
}

static long
splice_in(struct fake *k, struct fake_sock *s, struct fake_fifo *p, size_t len)
{
	unsigned int room = p->slots - p->used;
	size_t most = MIN((size_t)room * PAGE, (size_t)room * k->fragment);
	long r;

	if (!room)
		return -EAGAIN;
	len = MIN(len, most);
	if (p->base) {
		memmove(p->buf, p->buf + p->base, p->len);
		p->base = 0;
	}
	if (p->len + len > p->cap) {
		p->cap = p->len + len;
		p->buf = fake_realloc(p->buf, p->cap);
	}
	r = fake_sock_recv(s, p->buf + p->len, len, 0);
	for (size_t left = r > 0 ? (size_t)r : 0; left;) {
		size_t part = MIN(left, (size_t)k->fragment);

		p->slot[p->used++] = part;
		left -= part;
	}
	if (r > 0)
		p->len += (size_t)r;
	return r;
}

/* The bytes of the next batch of slots, at most len. */
static size_t
batch(const struct fake_fifo *p, size_t len)
{
	size_t n = 0;

	for (unsigned int i = 0; i < p->used && i < BATCH && n < len; i++)
		n += MIN(p->slot[i], len - n);
	return n;
}

static long
splice_out(struct fake *k, struct fake_fifo *p, struct fake_sock *s, size_t len,
	   unsigned int flags)
{
	int cut = ++k->splices_out == k->cut_splice;
	long sum = 0;

	if (!p->len)
		return p->ends == 2 ? -EAGAIN : 0;
	if (cut)
		len = MIN(len, (p->len + 1) / 2);
	while (len && p->len) {
		size_t n = batch(p, len);
		int more = (flags & SPLICE_F_MORE) || (len > n && p->len > n);
		long r = fake_sock_send(s, p->buf + p->base, n,
		    MSG_NOSIGNAL | (more ? MSG_MORE : 0));

		if (r < 0)
			return sum ? sum : r;
		consume(p, (size_t)r);
		len -= (size_t)r;
		sum += r;
	}
	if (cut)
		fake_sock_break(s, 0);
	return sum;
}

static long
splice_between(struct fake *k, int in, int out, size_t len, unsigned int flags)
{
	struct fake_file *from = fake_file_of(k, in), *to = fake_file_of(k, out);
	long r;

	if (!from || !to)
		return -EBADF;
	if (!len)
		fake_blame(k, FAKE_RECV_ZERO);
	if (from->kind == FAKE_KIND_SOCK && to->kind == FAKE_KIND_PIPE && to->writes)
		r = splice_in(k, from->sock, to->fifo, len);
	else if (from->kind == FAKE_KIND_PIPE && !from->writes && to->kind == FAKE_KIND_SOCK)
		r = splice_out(k, from->fifo, to->sock, len, flags);
	else
		return -EINVAL;
	if (r == -EAGAIN && (!(flags & SPLICE_F_NONBLOCK) || !from->nonblock || !to->nonblock))
		fake_blame(k, FAKE_BLOCKED);
	return r;
}

long
fake_pipe2(void *ctx, int *fds, int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_pipe2, -1);

	if (r == 0)
		r = pipe_new(k, fds, flags);
	if (r == 0)
		snprintf(k->reply, sizeof(k->reply), " (%d, %d)", fds[0], fds[1]);
	return fake_leave(k, r, "pipe2()");
}

long
fake_splice(void *ctx, int in, int out, size_t len, unsigned int flags)
{
	struct fake *k = ctx;
	/* an injected fault applies to the socket */
	int fd = in >= 0 && in < FAKE_MAX_FD && k->files[in] &&
		k->files[in]->kind == FAKE_KIND_SOCK ? in : out;
	long r = fake_enter(k, SYS_CALL_splice, fd);

	if (r == 0)
		r = splice_between(k, in, out, len, flags);
	k->moves += r > 0;
	return fake_leave(k, r, "splice(%d, %d, %zu%s)", in, out, len,
		flags & SPLICE_F_MORE ? ", MORE" : "");
}
