#ifndef TACIT_CFG_READER_H
#define TACIT_CFG_READER_H

#include <stddef.h>

#include "cfg/cond.h"
#include "cfg/ctx.h"
#include "cfg/diag.h"
#include "cfg/env.h"
#include "cfg/lexer.h"

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

/*
 * The driver: files into lines, lines into sections, keywords and conditional blocks (manual 2.1
 * to 2.4), each handed to its owner. Knows nothing of what a section means. Everything wrong is
 * reported through the diagnostics; reading continues to the end of the last file.
 *
 * 	cfg_reader_init(&r, &opts);
 * 	cfg_reader_text(&r, "a.cfg", text, len);	// once per file, in order
 * 	ok = cfg_reader_end(&r) == 0;
 * 	cfg_reader_fini(&r);				// the diagnostics stay
 */

enum {
	CFG_DEFAULTS_MAX = 1024,	/* defaults sections */
	CFG_FILE_MAX = 64 << 20,	/* bytes of one file */
};

struct cfg_reader_opts {
	void *root;			/* becomes ctx->root */
	const struct cfg_registry *registry;
	struct cfg_diag *diag;
	struct cfg_env *env;
	struct sys *sys;		/* becomes ctx->sys */
	const struct cfg_facts *facts;	/* getenv is replaced by `env`, .FILE, .LINE and .SECTION */
};

struct cfg_defaults {
	char *name;			/* "" for an unnamed one */
	void *obj;
	struct cfg_where where;
};

struct cfg_reader {
	struct cfg_ctx ctx;
	struct cfg_lexer lexer;
	struct cfg_facts facts;
	struct cfg_blocks blocks;
	struct cfg_defaults *defaults;
	unsigned int ndefaults, defaultscap;
	int skipping;			/* the section could not be opened */
	int open;			/* end() has to be called */
	char *name;			/* the section's name */
	char var[16];			/* .LINE */
};

void cfg_reader_init(struct cfg_reader *r, const struct cfg_reader_opts *opts);
void cfg_reader_fini(struct cfg_reader *r);

/* Reads one file's text (copied). The section ends with the file. 0, or -1 when the file had an
 * error. */
int cfg_reader_text(struct cfg_reader *r, const char *name, const char *text, size_t len);

/* Called after the last file. 0, or -1 when the configuration is rejected. */
int cfg_reader_end(struct cfg_reader *r);

#endif
