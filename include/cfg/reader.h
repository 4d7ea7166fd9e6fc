#ifndef TACIT_CFG_READER_H
#define TACIT_CFG_READER_H

#include <stddef.h>

#include "cfg/block.h"
#include "cfg/cond.h"
#include "cfg/ctx.h"
#include "cfg/env.h"
#include "cfg/lexer.h"

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
