/* The memory files that the master keeps. Master process, one thread. */
#include "app/master/file_store.h"

#include "app/process/master_link.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "base/sys.h"

static void
close_file(struct file_store *s, unsigned int i)
{
	(void)sys_close(s->sys, s->v[i].fd);
	s->v[i] = s->v[--s->n];
}

void
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

/* If it has no file of its own, nothing is to be kept. */
void
file_store_on_ready(struct file_store *s, pid_t pid)
{
	int keeps = has_file_of(s, pid);

	for (unsigned int i = s->n; i-- > 0;)
		if (s->v[i].is_added || !keeps)
			close_file(s, i);
}
