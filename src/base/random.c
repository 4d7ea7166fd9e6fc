/* Random bytes of the kernel, buffered: a system call for each value would cost more than the
 * value. Belongs to one thread. No byte is given out twice. */
#include "base/random.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
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

/* RFC 9562, 5.4: 122 random bits, the version and the variant. */
int
random_uuid(struct random_source *r, char out[RANDOM_UUID_SIZE])
{
	uint64_t bits[2] = { 0 }, hi, lo;
	int err = random_bytes(r, bits, sizeof(bits));

	hi = (bits[0] & ~UINT64_C(0xf000)) | 0x4000;
	lo = (bits[1] & ~(UINT64_C(3) << 62)) | UINT64_C(1) << 63;
	(void)snprintf(out, RANDOM_UUID_SIZE, "%08x-%04x-%04x-%04x-%012llx",
		(unsigned int)(hi >> 32), (unsigned int)(hi >> 16) & 0xffff,
		(unsigned int)hi & 0xffff, (unsigned int)(lo >> 48),
		(unsigned long long)(lo & 0xffffffffffffu));
	return err;
}
