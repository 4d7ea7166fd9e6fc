/* The state of nested .if blocks. Main thread, while the configuration is read; a block runs
 * one branch at most. */
#include "cfg/block.h"

static const char *const err_text[CFG_BLOCK_ERR_COUNT] = {
	[CFG_BLOCK_OK] = "no error",
#define X(name, text) [CFG_BLOCK_##name] = (text),
	CFG_BLOCK_ERRS(X)
#undef X
};

static enum cfg_block_state *
top_state(struct cfg_blocks *b)
{
	return b->depth ? &b->state[b->depth - 1] : NULL;
}

int
cfg_blocks_is_active(const struct cfg_blocks *b)
{
	enum cfg_block_state s;

	if (b->depth == 0)
		return 1;
	s = b->state[b->depth - 1];
	return s == CFG_BLOCK_ACTIVE || s == CFG_BLOCK_ELSE_ACTIVE;
}

int
cfg_blocks_is_waiting(const struct cfg_blocks *b)
{
	return b->depth > 0 && b->state[b->depth - 1] == CFG_BLOCK_WAIT;
}

int
cfg_blocks_if(struct cfg_blocks *b, int cond, const struct cfg_where *where)
{
	enum cfg_block_state s;

	if (b->depth == CFG_BLOCK_DEPTH_MAX)
		return -CFG_BLOCK_DEEP;
	if (!cfg_blocks_is_active(b) || cond < 0)
		s = CFG_BLOCK_PAST;
	else
		s = cond ? CFG_BLOCK_ACTIVE : CFG_BLOCK_WAIT;
	b->where[b->depth] = *where;
	b->state[b->depth++] = s;
	return 0;
}

int
cfg_blocks_elif(struct cfg_blocks *b, int cond)
{
	enum cfg_block_state *s = top_state(b);

	if (!s)
		return -CFG_BLOCK_LONE_ELIF;
	if (*s == CFG_BLOCK_ELSE_ACTIVE || *s == CFG_BLOCK_ELSE_PAST)
		return -CFG_BLOCK_ELIF_AFTER_ELSE;
	if (*s == CFG_BLOCK_ACTIVE || cond < 0)
		*s = CFG_BLOCK_PAST;
	else if (*s == CFG_BLOCK_WAIT && cond > 0)
		*s = CFG_BLOCK_ACTIVE;
	return 0;
}

int
cfg_blocks_else(struct cfg_blocks *b)
{
	enum cfg_block_state *s = top_state(b);

	if (!s)
		return -CFG_BLOCK_LONE_ELSE;
	if (*s == CFG_BLOCK_ELSE_ACTIVE || *s == CFG_BLOCK_ELSE_PAST)
		return -CFG_BLOCK_ELSE_AFTER_ELSE;
	*s = *s == CFG_BLOCK_WAIT ? CFG_BLOCK_ELSE_ACTIVE : CFG_BLOCK_ELSE_PAST;
	return 0;
}

int
cfg_blocks_endif(struct cfg_blocks *b)
{
	if (b->depth == 0)
		return -CFG_BLOCK_LONE_ENDIF;
	b->depth--;
	return 0;
}

const char *
cfg_blocks_strerror(int err)
{
	unsigned int i = err < 0 ? 0u - (unsigned int)err : (unsigned int)err;

	return i < CFG_BLOCK_ERR_COUNT ? err_text[i] : "unknown error";
}
