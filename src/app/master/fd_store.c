/* The master's listening sockets. Master process, one thread. */
#include "app/master/fd_store.h"

#include <string.h>
#include <sys/un.h>

#include "app/process/master_link.h"
#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "base/sys.h"
#include "net/listener_key.h"

/* --- memory files --- */

static void
close_file(struct file_store *s, unsigned int i)
{
	(void)sys_close(s->sys, s->v[i].fd);
	s->v[i] = s->v[--s->n];
}

static void
file_store_fini(struct file_store *s)
{
	while (s->n)
		close_file(s, s->n - 1);
	mem_free(s->v);
	s->v = NULL;
}

int
file_store_add(struct file_store *s, int fd, pid_t from)
{
	struct stored_file *v = mem_resize(s->v, s->n + 1, sizeof(*v));

	if (!v) {
		(void)sys_close(s->sys, fd);
		return -ERR_NOMEM;
	}
	s->v = v;
	v[s->n++] = (struct stored_file){ .fd = fd, .from = from };
	return 0;
}

void
file_store_list(struct file_store *s, struct sbuf *out)
{
	for (unsigned int i = 0; i < s->n; i++) {
		s->v[i].is_added = s->v[i].from == 0;
		sbuf_addf(out, "%d %s\n", s->v[i].fd,
			s->v[i].is_added ? MASTER_LINK_FILE_OF_ENDED : MASTER_LINK_FILE);
	}
}

void
file_store_on_end(struct file_store *s, pid_t pid, int has_started)
{
	for (unsigned int i = s->n; i-- > 0;) {
		if (s->v[i].from != pid)
			continue;
		if (has_started)
			s->v[i].from = 0;
		else
			close_file(s, i);
	}
}

static int
has_file_of(const struct file_store *s, pid_t pid)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (s->v[i].from == pid)
			return 1;
	return 0;
}

/* If the new process has no file of its own, the previous ones are not kept. */
void
file_store_on_ready(struct file_store *s, pid_t pid)
{
	int keeps = has_file_of(s, pid);

	for (unsigned int i = s->n; i-- > 0;)
		if (s->v[i].is_added || !keeps)
			close_file(s, i);
}

/* --- listening sockets --- */

void
fd_store_init(struct fd_store *s, struct sys *sys)
{
	memset(s, 0, sizeof(*s));
	s->sys = sys;
	s->files.sys = sys;
}

/* The path may belong to another process by now. */
static void
remove_own_path(struct fd_store *s, const struct stored_socket *k)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	struct stat st;

	if (k->ino && listener_key_path(k->key, path, sizeof(path)) == 0 &&
	    sys_stat(s->sys, path, &st) == 0 && st.st_dev == k->dev && st.st_ino == k->ino &&
	    st.st_mtim.tv_sec == k->made.tv_sec && st.st_mtim.tv_nsec == k->made.tv_nsec)
		(void)sys_unlink(s->sys, path);
}

/* The last descriptor takes its place. */
static void
close_stored(struct fd_store *s, unsigned int i)
{
	remove_own_path(s, &s->v[i]);
	if (s->v[i].fd >= 0)
		(void)sys_close(s->sys, s->v[i].fd);
	mem_free(s->v[i].key);
	s->v[i] = s->v[--s->n];
}

void
fd_store_fini(struct fd_store *s)
{
	while (s->n)
		close_stored(s, s->n - 1);
	mem_free(s->v);
	s->v = NULL;
	s->cap = 0;
	file_store_fini(&s->files);
}

static int
grow_store(struct fd_store *s)
{
	struct stored_socket *v = array_grow(s->v, s->n, &s->cap, sizeof(*v));

	if (!v)
		return -ERR_NOMEM;
	s->v = v;
	return 0;
}

int
fd_store_restore(struct fd_store *s, const struct stored_socket *stored, const char *key)
{
	struct stored_socket k = *stored;

	k.key = mem_strdup(key);
	if (!k.key || grow_store(s)) {
		mem_free(k.key);
		(void)sys_close(s->sys, k.fd);
		return -ERR_NOMEM;
	}
	s->v[s->n++] = k;
	return 0;
}

int
fd_store_add(struct fd_store *s, int fd, const char *key, pid_t from)
{
	struct stored_socket k = { .fd = fd, .from = from, .user = from };
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	struct stat st;

	if (listener_key_path(key, path, sizeof(path)) == 0 && sys_stat(s->sys, path, &st) == 0) {
		k.dev = st.st_dev;
		k.ino = st.st_ino;
		k.made = st.st_mtim;
	}
	return fd_store_restore(s, &k, key);
}

void
fd_store_use(struct fd_store *s, int fd, pid_t user)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (s->v[i].fd == fd)
			s->v[i].user = user;
}

void
fd_store_give(struct fd_store *s, const char *key)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (strcmp(s->v[i].key, key) == 0)
			s->v[i].ino = 0;
}

void
fd_store_drop_of(struct fd_store *s, pid_t from)
{
	for (unsigned int i = s->n; i-- > 0;)
		if (s->v[i].from == from)
			close_stored(s, i);
}

void
fd_store_release(struct fd_store *s, pid_t user, fd_store_fn *fn, void *arg)
{
	for (unsigned int i = s->n; i-- > 0;) {
		/* Its process is ready: a later process may have the same pid. */
		s->v[i].from = 0;
		if (s->v[i].user != user) {
			fn(arg, s->v[i].key);
			close_stored(s, i);
		}
	}
}

void
fd_store_release_all(struct fd_store *s, fd_store_fn *fn, void *arg)
{
	for (unsigned int i = s->n; i-- > 0;) {
		if (s->v[i].fd < 0)
			continue;
		fn(arg, s->v[i].key);
		(void)sys_close(s->sys, s->v[i].fd);
		s->v[i].fd = -1;
	}
}

void
fd_store_list(const struct fd_store *s, struct sbuf *out)
{
	for (unsigned int i = 0; i < s->n; i++)
		sbuf_addf(out, "%d %s\n", s->v[i].fd, s->v[i].key);
}
