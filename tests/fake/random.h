/* Random bytes that are the same in every run, for evaluating expressions without a kernel. */
#ifndef TESTS_FAKE_RANDOM_H
#define TESTS_FAKE_RANDOM_H

#include "base/random.h"
#include "base/sys.h"

struct fake_random {
	struct random_source source; /* for users */
	struct sys sys;
	uint64_t state;
};

static inline long
fake_random_call(void *ctx, void *buf, size_t len, unsigned int flags)
{
	struct fake_random *f = ctx;

	(void)flags;
	for (size_t i = 0; i < len; i++) {
		f->state = f->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		((unsigned char *)buf)[i] = (unsigned char)(f->state >> 56);
	}
	return (long)len;
}

/* Restarts the sequence. */
static inline void
fake_random_init(struct fake_random *f)
{
	static const struct sys_ops ops = { .getrandom = fake_random_call };

	f->state = 1;
	sys_init(&f->sys, &ops, f);
	random_init(&f->source, &f->sys);
}

#endif
