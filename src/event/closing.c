/* Descriptors that a loop closes at the end of its turn. Neighbours go in one close_range(), and
 * none is reused before that. */
#include "event/closing.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

int
closing_init(struct closing *c, unsigned int max)
{
	/* Zeroed pages are not touched before they are used. */
	c->fd = mem_zalloc((size_t)max * sizeof(*c->fd));
	c->n = 0;
	c->max = max;
	return c->fd ? 0 : -ERR_NOMEM;
}

void
closing_fini(struct closing *c)
{
	assert(c->n == 0);
	mem_free(c->fd);
	c->fd = NULL;
}

void
closing_add(struct closing *c, int fd)
{
	assert(c->n < c->max);
	c->fd[c->n++] = fd;
}

/* A turn closes few, which are nearly in order. */
#define SORT_FEW 32

static void
sort_few(int *fd, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		unsigned int at = i;
		int one = fd[i];

		for (; at > 0 && fd[at - 1] > one; at--)
			fd[at] = fd[at - 1];
		fd[at] = one;
	}
}

static int
by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
close_run(struct sys *sys, const int *fd, unsigned int n)
{
	if (n > 1 &&
		sys_close_range(sys, (unsigned int)fd[0], (unsigned int)fd[n - 1]) >= 0)
		return;
	for (unsigned int i = 0; i < n; i++)
		(void)sys_close(sys, fd[i]);
}

void
closing_flush(struct closing *c, struct sys *sys)
{
	unsigned int from = 0;

	if (c->n <= SORT_FEW)
		sort_few(c->fd, c->n);
	else
		qsort(c->fd, c->n, sizeof(*c->fd), by_number);
	for (unsigned int i = 1; i <= c->n; i++)
		if (i == c->n || c->fd[i] != c->fd[i - 1] + 1) {
			close_run(sys, c->fd + from, i - from);
			from = i;
		}
	c->n = 0;
}
