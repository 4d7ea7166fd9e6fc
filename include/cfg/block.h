#ifndef TACIT_CFG_BLOCK_H
#define TACIT_CFG_BLOCK_H

#include "cfg/diag.h"

/*
 * The nesting of .if, .elif, .else and .endif (manual 2.4): which lines are active. The caller
 * evaluates the conditions, and only when needed.
 */

enum { CFG_BLOCK_DEPTH_MAX = 32 };

enum cfg_block_state {
	CFG_BLOCK_ACTIVE,	/* in the selected branch */
	CFG_BLOCK_WAIT,		/* no branch selected yet */
	CFG_BLOCK_PAST,		/* after the selected branch, or inside an inactive block */
	CFG_BLOCK_ELSE_ACTIVE,
	CFG_BLOCK_ELSE_PAST,
};

struct cfg_blocks {
	enum cfg_block_state state[CFG_BLOCK_DEPTH_MAX];
	struct cfg_where where[CFG_BLOCK_DEPTH_MAX];	/* of each .if */
	unsigned int depth;
};

#define CFG_BLOCK_ERRS(X)                                                                 \
	X(DEEP, "too many nested '.if', 32 at most")                                      \
	X(LONE_ELIF, "lone '.elif' with no matching '.if'")                               \
	X(LONE_ELSE, "lone '.else' with no matching '.if'")                               \
	X(LONE_ENDIF, "lone '.endif' with no matching '.if'")                             \
	X(ELIF_AFTER_ELSE, "'.elif' after '.else' is not permitted")                      \
	X(ELSE_AFTER_ELSE, "'.else' after '.else' is not permitted")

enum cfg_block_err {
	CFG_BLOCK_OK = 0,
#define X(name, text) CFG_BLOCK_##name,
	CFG_BLOCK_ERRS(X)
#undef X
	CFG_BLOCK_ERR_COUNT
};

int cfg_blocks_is_active(const struct cfg_blocks *b);
/* True if the condition of an .elif at this place must be evaluated. */
int cfg_blocks_is_waiting(const struct cfg_blocks *b);

/* Each returns 0 or a negated enum cfg_block_err. `cond` is 1, 0, or -1 if it could not be
 * evaluated: then no branch of the block is selected. */
int cfg_blocks_if(struct cfg_blocks *b, int cond, const struct cfg_where *where);
int cfg_blocks_elif(struct cfg_blocks *b, int cond);
int cfg_blocks_else(struct cfg_blocks *b);
int cfg_blocks_endif(struct cfg_blocks *b);

const char *cfg_blocks_strerror(int err);

#endif
