#ifndef TACIT_CFG_DIAG_H
#define TACIT_CFG_DIAG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/sbuf.h"

/*
 * The features of HAProxy that are not there, as a configuration asks for them. Each line that
 * needs one has a message of its own; which features these are, and what to use instead, is
 * reported once, behind all messages:
 *
 *   [ALERT]    (1234) : config : not supported here: stick tables (3 lines: 12, 14, 30), Lua (5)
 *      | instead of stick tables: ...
 *      | instead of Lua: ...
 */

#define MISSING_WORD(id, word)
#define MISSING(id, name, instead) CFG_MISSING_##id,
enum cfg_missing {
#include "cfg/missing.tbl.h"
	CFG_MISSING_COUNT
};
#undef MISSING
#undef MISSING_WORD

/*
 * A set of configuration lines, sorted by file (in the order of reading) and line.
 */

enum { CFG_PLACES_MAX = 65536 };	/* lines in one set; more are dropped */

struct cfg_file;

/* A place. file == NULL: none. Lines and columns count from 1; col 0: whole line. */
struct cfg_where {
	const struct cfg_file *file;
	unsigned int line;
	unsigned int col;
};

struct cfg_places {
	struct cfg_where *at;
	unsigned int n, cap;
};

/*
 * The diagnostics of a configuration: everything that is wrong is collected in
 * one run, with its place, and printed in the form HAProxy's users know:
 *
 *   [ALERT]    (1234) : config : parsing [/etc/x.cfg:3:8] : unknown keyword ...
 *       maxcon 100
 *       ^
 *    | and 2 more lines: 17, 31
 *
 * Messages of one severity and text are one entry, however many lines they
 * concern, unless they are about a whole line (col 0). A notice is not
 * printed for a line that has an error.
 *
 * The part that differs between messages about several proxies or servers stands between two bytes
 * CFG_DIAG_NAME: "missing timeouts for \001frontend 'f'\001" and the same for 'g' are one entry,
 * with the text of the first.
 *
 * The engine also owns the texts of the files that were read, so that a place
 * (struct cfg_where) stays printable until cfg_diag_fini(), long after the
 * line was parsed. Diagnostics without a place have no file.
 */

enum {
	CFG_DIAG_MAX = 500,		/* entries kept; more are only counted */
	CFG_DIAG_LINES_MAX = 12,	/* line numbers shown with one entry */
	CFG_DIAG_TEXT_MAX = 1024,	/* bytes of a message */
	CFG_DIAG_SHOWN_MAX = 160,	/* columns of the source line shown */
	CFG_LOST_MAX = 256,		/* names of unreadable sections kept */
	CFG_FILES_MAX = 4096,		/* files in one configuration */
};

/* Encloses what messages that are one entry may differ in: CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME. */
#define CFG_DIAG_NAME "\001"

enum cfg_sev {
	CFG_ALERT,	/* an error: the configuration is rejected */
	CFG_WARNING,	/* accepted; an error with -dW */
	CFG_NOTICE,	/* .notice, and keywords without effect */
	CFG_DIAGMSG,	/* .diag: only with -dD */
	CFG_SEV_COUNT
};

/* The text of one file. Owned by the diagnostics. */
struct cfg_file {
	char *name;
	char *text;		/* len bytes and a NUL */
	size_t len;
	unsigned int number;	/* in the order of reading, from 0 */
	int is_list;		/* a crt-list: not counted as a configuration file */
};

struct cfg_diag_entry {
	enum cfg_sev sev;
	struct cfg_where where;		/* first place */
	struct cfg_places places;	/* all places; none when `where` has no file */
	uint32_t hash;			/* of the key */
	char *text;
	char *key;			/* the text without what may differ (CFG_DIAG_NAME) */
};

struct cfg_diag {
	int pid;			/* printed; 0: not printed */
	int werror;			/* -dW: warnings are errors */
	int diagmode;			/* -dD: keep .diag messages */
	unsigned int count[CFG_SEV_COUNT];	/* all reports, including repeated texts */
	unsigned int dropped;		/* reports not kept (CFG_DIAG_MAX, no memory) */
	struct cfg_diag_entry *entry;
	unsigned int nentry, cap;
	struct cfg_places errors;	/* lines with an error */
	struct cfg_places missing[CFG_MISSING_COUNT];	/* lines that need what is not there */
	struct cfg_file **file;
	unsigned int nfile, filecap;
	char *lost[CFG_LOST_MAX];	/* names of sections that could not be read */
	unsigned int nlost;
	struct cfg_where at;		/* the current line; no file: none */
};

void cfg_diag_init(struct cfg_diag *d, int pid);
void cfg_diag_fini(struct cfg_diag *d);

/* Copies a file's text. NULL when memory is out or CFG_FILES_MAX is reached. */
const struct cfg_file *cfg_diag_file(struct cfg_diag *d, const char *name, const char *text,
				     size_t len);

/* The same for a file of data that a line names. */
const struct cfg_file *cfg_diag_list_file(struct cfg_diag *d, const char *name, const char *text,
					  size_t len);

/* Adds a diagnostic; `where` may be NULL. Messages have no final newline. */
void cfg_diag_add(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where,
		  const char *fmt, ...) fmt_printf(4, 5);
void cfg_diag_vadd(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where,
		   const char *fmt, va_list ap) fmt_printf(4, 0);

/* True if the configuration is rejected: there was an alert, or a warning with werror. */
int cfg_diag_is_fatal(const struct cfg_diag *d);

/* Records that a section of this name could not be read, which was reported, so that references to
 * it are not reported as errors. */
void cfg_diag_lose(struct cfg_diag *d, const char *name);
int cfg_diag_is_lost(const struct cfg_diag *d, const char *name);

/* Writes all entries in order, then the features that are missing; with `quiet` only the entries
 * that reject the configuration. */
void cfg_diag_text(const struct cfg_diag *d, struct sbuf *out, int quiet);

/* Prints all entries as one JSON document: {"valid":true,"messages":[{"severity":"warning",
 * "text":"...","places":[{"file":"web.cfg","line":3,"column":8}]}],"not_shown":0}, and a newline.
 * A message about a whole line has no column, one about the whole configuration no place. Missing
 * features follow: "not_supported":[{"feature":"Lua","instead":"...","places":[...]}]. */
void cfg_diag_print_json(const struct cfg_diag *d, FILE *to);

/* Writes "web.cfg: 3 errors (5 lines), 1 warning": the number of different messages, and "4 files"
 * if there are several configuration files. */
void cfg_diag_summary(const struct cfg_diag *d, char *out, size_t size);

/* Finds `line` (from 1) in `f`; returns its start, *len excludes the line end. */
const char *cfg_file_line(const struct cfg_file *f, unsigned int line, size_t *len);

#endif
