/* Sockets that were opened by another process. Main thread, at start; each is owned by this list
 * until it is taken. */
#include "app/process/inherited.h"

#include <fcntl.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"

void
inherited_init(struct inherited_sockets *s, struct sys *sys)
{
	memset(s, 0, sizeof(*s));
	s->sys = sys;
}

static int
grow_inherited(struct inherited_sockets *s)
{
	struct inherited_socket *v = array_grow(s->v, s->n, &s->cap, sizeof(*v));

	if (!v)
		return -ERR_NOMEM;
	s->v = v;
	return 0;
}

int
inherited_add(struct inherited_sockets *s, int fd, const char *name, enum inherited_from from)
{
	struct inherited_socket k = { .fd = fd, .from = from, .port = -1 };

	k.name = mem_strdup(name);
	if (!k.name || grow_inherited(s)) {
		mem_free(k.name);
		(void)sys_close(s->sys, fd);
		return -ERR_NOMEM;
	}
	(void)!sys_fcntl(s->sys, fd, F_SETFD, FD_CLOEXEC);
	s->v[s->n++] = k;
	return 0;
}

struct inherited_socket *
inherited_find(const struct inherited_sockets *s, const char *name)
{
	for (unsigned int i = 0; i < s->n; i++) {
		struct inherited_socket *k = &s->v[(s->next + i) % s->n];

		if (k->fd >= 0 && !k->taken && strcmp(k->name, name) == 0)
			return k;
	}
	return NULL;
}

struct inherited_socket *
inherited_take(struct inherited_sockets *s, const char *name)
{
	struct inherited_socket *k = inherited_find(s, name);

	if (k) {
		k->taken = 1;
		s->next = (unsigned int)(k - s->v) + 1;
	}
	return k;
}

void
inherited_close_rest(struct inherited_sockets *s)
{
	for (unsigned int i = 0; i < s->n; i++) {
		if (s->v[i].taken || s->v[i].fd < 0)
			continue;
		(void)sys_close(s->sys, s->v[i].fd);
		s->v[i].fd = -1;
	}
}

void
inherited_fini(struct inherited_sockets *s)
{
	inherited_close_rest(s);
	for (unsigned int i = 0; i < s->n; i++)
		mem_free(s->v[i].name);
	mem_free(s->v);
	inherited_init(s, s->sys);
}
