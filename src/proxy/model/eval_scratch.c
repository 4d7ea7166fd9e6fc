/* The memory that a worker evaluates in. */
#include "proxy/model/eval_scratch.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/sample/regex.h"

int
eval_scratch_init(struct eval_scratch *r, size_t bytes, struct sys *sys)
{
	memset(r, 0, sizeof(*r));
	random_init(&r->random, sys);
	r->arena.p = mem_alloc(bytes * EVAL_SCRATCH_VALUES);
	if (!r->arena.p)
		return -ERR_NOMEM;
	r->arena.cap = bytes * EVAL_SCRATCH_VALUES;
	r->arena.max = bytes;
	r->regex = regex_work_new();
	if (r->regex)
		return 0;
	eval_scratch_fini(r);
	return -ERR_NOMEM;
}

void
eval_scratch_fini(struct eval_scratch *r)
{
	regex_work_free(&r->regex);
	mem_free(r->arena.p);
	memset(r, 0, sizeof(*r));
}
