/* A worker's memory for evaluating samples, conditions and formats. Used only by that worker. */
#ifndef TACIT_PROXY_MODEL_EVAL_SCRATCH_H
#define TACIT_PROXY_MODEL_EVAL_SCRATCH_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/random.h"
#include "base/wall.h"
#include "rule/sample/sample.h"
#include "rule/sample/shortfall.h"

struct regex_work;
struct sys;

struct eval_scratch {
	struct arena arena;
	struct regex_work *regex;
	struct shortfalls shortfalls;
	struct wall wall;            /* the last broken-down date */
	struct random_source random;
};

/* Longest values that the arena has room for at once. */
#define EVAL_SCRATCH_VALUES 8

/* bytes: of a value. sys: the worker's. 0 or -ERR_NOMEM. */
int eval_scratch_init(struct eval_scratch *r, size_t bytes, struct sys *sys) must_check;
void eval_scratch_fini(struct eval_scratch *r);

#endif
