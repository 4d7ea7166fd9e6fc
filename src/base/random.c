/* Random bytes of the kernel, buffered: a system call for each value would cost more than the
 * value. Belongs to one thread. No byte is given out twice. */
#include "base/random.h"

#include <errno.h>
#include <string.h>

#include "base/sys.h"

void
random_init(struct random_source *r, struct sys *sys)
{
	memset(r, 0, sizeof(*r));
	r->sys = sys;
}

int
random_bytes(struct random_source *r, void *out, size_t n)
{
	assert(n <= sizeof(r->buf));
	if (r->left < n) {
		long got = sys_getrandom(r->sys, r->buf, sizeof(r->buf), 0);

		if (got < 0)
			return (int)got;
		if (got != sizeof(r->buf))
			return -EIO;
		r->left = sizeof(r->buf);
	}
	r->left -= n;
	memcpy(out, r->buf + r->left, n);
	/* Erases bytes that were given out, so that they cannot be read from memory later. */
	memset(r->buf + r->left, 0, n);
	return 0;
}
