/* Regular files and memory files of the fake kernel. There are no folders: a path is a name. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "fake/kernel_int.h"

/* Room of a file before it has to move: addresses only, until they are written to. */
#define ROOM ((size_t)1 << 16)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

static void
inode_make_room(struct fake_inode *n, size_t size)
{
	size_t cap = n->cap ? n->cap : ROOM;
	void *p;

	if (size <= n->cap)
		return;
	assert(!n->mapped);
	while (cap < size)
		cap *= 2;
	p = n->cap ? mremap(n->data, n->cap, cap, MREMAP_MAYMOVE)
		   : mmap(NULL, cap, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert(p != MAP_FAILED);
	n->data = p;
	n->cap = cap;
}

static struct fake_inode *
inode_new(struct fake *k, const char *path)
{
	struct fake_inode *n = fake_zalloc(sizeof(*n) + strlen(path) + 1);

	memcpy(n->path, path, strlen(path) + 1);
	n->links = 1;
	n->number = ++k->last_inode;
	n->changed = k->now;
	n->next = k->inodes;
	k->inodes = n;
	return n;
}

static void
inode_drop(struct fake *k, struct fake_inode *n)
{
	struct fake_inode **at = &k->inodes;

	if (n->links || n->opened || n->mapped)
		return;
	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	if (n->cap)
		(void)munmap(n->data, n->cap);
	fake_release(n);
}

void
fake_files_free(struct fake *k)
{
	while (k->inodes) {
		k->inodes->links = k->inodes->opened = k->inodes->mapped = 0;
		inode_drop(k, k->inodes);
	}
}

static struct fake_inode *
inode_at(struct fake *k, const char *path)
{
	struct fake_inode *n = k->inodes;

	while (n && (!n->links || n->is_memory || strcmp(n->path, path) != 0))
		n = n->next;
	return n;
}

void
fake_put_file(struct fake *k, const char *path, const void *text, size_t len)
{
	struct fake_inode *n = inode_at(k, path);

	if (!n)
		n = inode_new(k, path);
	inode_make_room(n, len + 1);
	if (len)
		memcpy(n->data, text, len);
	n->size = len;
	n->changed = k->now;
}

void
fake_file_of_inode_closes(struct fake *k, struct fake_file *f)
{
	f->inode->opened--;
	inode_drop(k, f->inode);
}

static long
open_inode(struct fake *k, struct fake_inode *n)
{
	int fd = fake_file_new(k, FAKE_KIND_FILE, 0);

	if (fd < 0)
		return fd;
	k->files[fd]->inode = n;
	n->opened++;
	return fd;
}

long
fake_openat(void *ctx, const char *path, int flags, mode_t mode)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_openat, -1);
	struct fake_inode *n = inode_at(k, path);

	(void)mode;
	if (r == 0 && !n && !(flags & O_CREAT))
		r = -ENOENT;
	else if (r == 0 && n && (flags & O_CREAT) && (flags & O_EXCL))
		r = -EEXIST;
	else if (r == 0 && n && (flags & O_DIRECTORY))
		r = -ENOTDIR;
	if (r == 0 && !n)
		n = inode_new(k, path);
	if (r == 0)
		r = open_inode(k, n);
	if (r >= 0 && (flags & O_TRUNC))
		n->size = 0;
	if (r >= 0)
		k->files[r]->appends = flags & O_APPEND;
	return fake_leave(k, r, "openat(%s)", path);
}

long
fake_memfd_create(void *ctx, const char *name, unsigned int flags)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_memfd_create, -1);
	struct fake_inode *n;

	(void)flags;
	if (r == 0) {
		n = inode_new(k, name);
		n->is_memory = 1;
		n->links = 0;
		r = open_inode(k, n);
		inode_drop(k, n);
	}
	return fake_leave(k, r, "memfd_create(%s)", name);
}

static struct fake_inode *
inode_of(struct fake *k, int fd, long *err)
{
	struct fake_file *f = fake_file_of(k, fd);

	if (f && f->kind == FAKE_KIND_FILE)
		return f->inode;
	*err = f ? -EINVAL : -EBADF;
	return NULL;
}

static long
read_at(const struct fake_inode *n, void *buf, size_t len, uint64_t at)
{
	size_t left = at < n->size ? (size_t)(n->size - at) : 0;

	len = MIN(len, left);
	if (len)
		memcpy(buf, n->data + at, len);
	return (long)len;
}

static long
write_at(struct fake *k, struct fake_inode *n, const void *buf, size_t len, uint64_t at)
{
	inode_make_room(n, (size_t)at + len);
	memcpy(n->data + at, buf, len);
	n->size = MAX(n->size, (size_t)at + len);
	n->changed = k->now;
	return (long)len;
}

long
fake_file_read(struct fake_file *f, void *buf, size_t len)
{
	long r = read_at(f->inode, buf, len, f->at);

	f->at += (uint64_t)r;
	return r;
}

long
fake_file_write(struct fake *k, struct fake_file *f, const void *buf, size_t len)
{
	long r;

	if (f->appends)
		f->at = f->inode->size;
	r = write_at(k, f->inode, buf, len, f->at);
	f->at += (uint64_t)r;
	return r;
}

long
fake_pread64(void *ctx, int fd, void *buf, size_t len, off_t at)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_pread64, fd);
	struct fake_inode *n;

	if (r == 0 && (n = inode_of(k, fd, &r)))
		r = read_at(n, buf, len, (uint64_t)at);
	return fake_leave(k, r, "pread64(%d, %zu)", fd, len);
}

long
fake_pwrite64(void *ctx, int fd, const void *buf, size_t len, off_t at)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_pwrite64, fd);
	struct fake_inode *n;

	if (r == 0 && (n = inode_of(k, fd, &r)))
		r = write_at(k, n, buf, len, (uint64_t)at);
	return fake_leave(k, r, "pwrite64(%d, %zu)", fd, len);
}

static long
set_size(struct fake *k, int fd, size_t size, int may_shrink)
{
	long r = 0;
	struct fake_inode *n = inode_of(k, fd, &r);
	size_t was;

	if (!n)
		return r;
	was = n->size;
	if (size < was && !may_shrink)
		return 0;
	if (n->seals & (size < was ? F_SEAL_SHRINK : size > was ? F_SEAL_GROW : 0))
		return -EPERM;
	inode_make_room(n, size);
	if (size < was)
		memset(n->data + size, 0, was - size);
	n->size = size;
	return 0;
}

long
fake_ftruncate(void *ctx, int fd, off_t len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_ftruncate, fd);

	if (r == 0)
		r = set_size(k, fd, (size_t)len, 1);
	return fake_leave(k, r, "ftruncate(%d, %lld)", fd, (long long)len);
}

long
fake_fallocate(void *ctx, int fd, int mode, off_t at, off_t len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_fallocate, fd);

	if (r == 0 && mode) {
		fake_blame(k, FAKE_UNKNOWN);
		r = -EOPNOTSUPP;
	}
	if (r == 0)
		r = set_size(k, fd, (size_t)(at + len), 0);
	return fake_leave(k, r, "fallocate(%d)", fd);
}

long
fake_file_seal(struct fake_file *f, int cmd, long seals)
{
	if (f->kind != FAKE_KIND_FILE || !f->inode->is_memory)
		return -EINVAL;
	if (cmd == F_GET_SEALS)
		return f->inode->seals;
	if ((f->inode->seals & F_SEAL_SEAL) || (seals & ~(long)SEALS))
		return -EPERM;
	f->inode->seals |= (int)seals;
	return 0;
}

/* All mappings of a file are the same memory. */
long
fake_mmap(void *ctx, size_t len, int prot, int fd, void **at)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_mmap, fd);
	struct fake_inode *n;

	(void)prot;
	if (r == 0 && (n = inode_of(k, fd, &r))) {
		inode_make_room(n, len);
		n->mapped++;
		*at = n->data;
	}
	return fake_leave(k, r, "mmap(%zu, %d)", len, fd);
}

long
fake_munmap(void *ctx, void *p, size_t len)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_munmap, -1);
	struct fake_inode *n = k->inodes;

	while (n && !(n->mapped && n->data == p))
		n = n->next;
	if (n) {
		n->mapped--;
		inode_drop(k, n);
	} else {
		fake_blame(k, FAKE_UNKNOWN);
		r = -EINVAL;
	}
	return fake_leave(k, r, "munmap(%zu)", len);
}

/* --- names, which sockets have too --- */

static struct fake_sock *
socket_at(struct fake *k, const char *path)
{
	struct fake_sock *s = k->socks;

	while (s && (s->dead || s->family != AF_UNIX || !s->bound ||
			    strcmp(((struct sockaddr_un *)(void *)&s->local)->sun_path, path) != 0))
		s = s->all;
	return s;
}

static void
describe(struct stat *st, mode_t mode, uint64_t number, uint64_t size, uint64_t changed)
{
	memset(st, 0, sizeof(*st));
	st->st_mode = mode;
	st->st_ino = number;
	st->st_dev = 1;
	st->st_nlink = 1;
	st->st_size = (off_t)size;
	st->st_mtim.tv_sec = (time_t)((changed + FAKE_REAL_NS - FAKE_MONO_NS) / FAKE_SEC);
}

static long
describe_inode(struct stat *st, const struct fake_inode *n)
{
	describe(st, S_IFREG | 0600, n->number, n->size, n->changed);
	return 0;
}

long
fake_stat(void *ctx, const char *path, struct stat *st)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_stat, -1);
	const struct fake_inode *n = inode_at(k, path);
	const struct fake_sock *s = socket_at(k, path);

	if (r == 0 && n)
		r = describe_inode(st, n);
	else if (r == 0 && s)
		describe(st, S_IFSOCK | 0600, s->bound, 0, 0);
	else if (r == 0)
		r = -ENOENT;
	return fake_leave(k, r, "stat(%s)", path);
}

long
fake_fstat(void *ctx, int fd, struct stat *st)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_fstat, fd);
	const struct fake_file *f = r == 0 ? fake_file_of(k, fd) : NULL;

	if (r == 0 && !f)
		r = -EBADF;
	else if (r == 0 && f->kind == FAKE_KIND_FILE)
		r = describe_inode(st, f->inode);
	else if (r == 0)
		describe(st, f->kind == FAKE_KIND_SOCK ? S_IFSOCK : S_IFIFO, 0, 0, 0);
	return fake_leave(k, r, "fstat(%d)", fd);
}

static long
remove_name(struct fake *k, const char *path)
{
	struct fake_inode *n = inode_at(k, path);
	struct fake_sock *s = socket_at(k, path);

	if (n) {
		n->links = 0;
		inode_drop(k, n);
	} else if (s) {
		s->bound = 0;
		memset(&s->local, 0, sizeof(s->local));
		s->local.ss_family = AF_UNIX;
	}
	return n || s ? 0 : -ENOENT;
}

long
fake_unlink(void *ctx, const char *path)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_unlink, -1);

	if (r == 0)
		r = remove_name(k, path);
	return fake_leave(k, r, "unlink(%s)", path);
}

/* Files keep their names. */
long
fake_rename(void *ctx, const char *from, const char *to)
{
	struct fake *k = ctx;
	long r = fake_enter(k, SYS_CALL_rename, -1);
	struct fake_sock *s = socket_at(k, from);
	struct sockaddr_un *un;

	if (r == 0 && !s) {
		fake_blame(k, FAKE_UNKNOWN);
		r = -ENOENT;
	}
	if (r == 0) {
		(void)remove_name(k, to);
		un = (struct sockaddr_un *)(void *)&s->local;
		memset(un->sun_path, 0, sizeof(un->sun_path));
		memcpy(un->sun_path, to, MIN(strlen(to), sizeof(un->sun_path) - 1));
	}
	return fake_leave(k, r, "rename(%s, %s)", from, to);
}
