/* The descriptor table: the lowest free number first; closing releases all that belongs to it. */
#include "fake/kernel_int.h"

struct fake_file *
fake_file_of(struct fake *k, int fd)
{
	if (fd < 0 || fd >= FAKE_MAX_FD || !k->files[fd]) {
		fake_blame(k, FAKE_BAD_FD);
		return NULL;
	}
	return k->files[fd];
}

struct fake_sock *
fake_sock_of(struct fake *k, int fd, long *err)
{
	struct fake_file *f = fake_file_of(k, fd);

	if (!f) {
		*err = -EBADF;
		return NULL;
	}
	if (f->kind != FAKE_KIND_SOCK) {
		fake_blame(k, FAKE_BAD_FD);
		*err = -ENOTSOCK;
		return NULL;
	}
	return f->sock;
}

int
fake_file_new(struct fake *k, enum fake_kind kind, int nonblock)
{
	struct fake_file *f;
	int fd = FAKE_FD_MIN;

	while (fd < k->fd_limit && fd < FAKE_MAX_FD && k->files[fd])
		fd++;
	if (fd >= k->fd_limit || fd >= FAKE_MAX_FD)
		return -EMFILE;
	f = fake_zalloc(sizeof(*f));
	f->kind = kind;
	f->fd = fd;
	f->nonblock = nonblock;
	list_init(&f->items);
	k->files[fd] = f;
	k->n_files++;
	return fd;
}

/* The last descriptor of a socket closes it. */
static void
sock_leaves(struct fake_file *f)
{
	struct fake_file **at = &f->sock->file;

	while (*at != f)
		at = &(*at)->same;
	*at = f->same;
	if (!f->sock->file)
		fake_sock_close(f->sock);
}

int
fake_dup(struct fake *k, int fd)
{
	struct fake_file *f = k->files[fd], *copy;
	int r = fake_file_new(k, f->kind, f->nonblock);

	if (r < 0)
		return r;
	copy = k->files[r];
	if (f->kind == FAKE_KIND_SOCK) {
		copy->sock = f->sock;
		copy->same = f->same;
		f->same = copy;
	} else if (f->kind == FAKE_KIND_FILE) {
		copy->inode = f->inode;
		f->inode->opened++;
	} else {
		assert(!"it can be copied");
	}
	return r;
}

void
fake_close(struct fake *k, int fd)
{
	(void)fake_file_close(k, fd);
}

long
fake_file_close(struct fake *k, int fd)
{
	struct fake_file *f = fake_file_of(k, fd);

	if (!f)
		return -EBADF;
	if (f->deleted_in_wait && (uint64_t)f->deleted_in_wait == k->waits + 1)
		fake_blame(k, FAKE_DEL_BEFORE_CLOSE);
	fake_items_drop(&f->items, 1);
	if (f->inode)
		fake_file_of_inode_closes(k, f);
	if (f->fifo)
		fake_pipe_end_closes(f);
	if (f->ep) {
		fake_items_drop(&f->ep->items, 0);
		fake_release(f->ep);
	}
	if (f->sock)
		sock_leaves(f);
	k->files[fd] = NULL;
	k->n_files--;
	fake_release(f);
	return 0;
}

void
fake_set_fd_limit(struct fake *k, int limit)
{
	k->fd_limit = limit;
}

unsigned int
fake_fds(const struct fake *k)
{
	return k->n_files;
}

int
fake_any_fd(const struct fake *k)
{
	for (int fd = FAKE_FD_MIN; fd < FAKE_MAX_FD; fd++)
		if (k->files[fd])
			return fd;
	return -1;
}
