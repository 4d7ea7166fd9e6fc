#ifndef TACIT_CFG_DIAG_H
#define TACIT_CFG_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "cfg/places.h"

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
 * The engine also owns the texts of the files that were read, so that a place
 * (struct cfg_where) stays printable until cfg_diag_fini(), long after the
 * line was parsed. Diagnostics without a place have no file.
 */

enum {
	CFG_DIAG_MAX = 500,		/* entries kept; more are only counted */
	CFG_DIAG_LINES_MAX = 12,	/* numbers of more lines shown with one entry */
	CFG_DIAG_TEXT_MAX = 1024,	/* bytes of one message */
	CFG_DIAG_SHOWN_MAX = 160,	/* columns of the source line shown */
	CFG_LOST_MAX = 256,		/* names kept of sections that could not be read */
	CFG_FILES_MAX = 4096,		/* files in one configuration */
};

enum cfg_sev {
	CFG_ALERT,	/* an error: the configuration is refused */
	CFG_WARNING,	/* it loads; fatal with -dW */
	CFG_NOTICE,	/* .notice, and hints that were accepted without effect */
	CFG_DIAGMSG,	/* .diag: kept only with -dD */
	CFG_SEV_COUNT
};

/* The text of one file. Owned by the diagnostics engine. */
struct cfg_file {
	char *name;
	char *text;		/* len bytes and a NUL */
	size_t len;
	unsigned number;	/* in the order of reading, from 0 */
};

struct cfg_diag_entry {
	enum cfg_sev sev;
	struct cfg_where where;		/* the first one reported */
	struct cfg_places places;	/* all of them; none when `where` has no file */
	uint32_t hash;			/* of the text */
	char *text;
};

struct cfg_diag {
	int pid;			/* printed; 0 prints none */
	bool werror;			/* -dW: warnings refuse the configuration */
	bool diagmode;			/* -dD: keep .diag messages */
	unsigned count[CFG_SEV_COUNT];	/* every report, also of the same text */
	unsigned dropped;		/* reports not kept (CFG_DIAG_MAX, no memory) */
	struct cfg_diag_entry *entry;
	unsigned nentry, cap;
	struct cfg_places errors;	/* the lines that have one */
	struct cfg_file **file;
	unsigned nfile, filecap;
	char *lost[CFG_LOST_MAX];	/* names of sections that could not be read */
	unsigned nlost;
	struct cfg_where at;		/* the line that is at work; no file: none is */
};

void cfg_diag_init(struct cfg_diag *d, int pid);
void cfg_diag_fini(struct cfg_diag *d);

/* Take a copy of a file's text. NULL when out of memory or CFG_FILES_MAX is reached. */
const struct cfg_file *cfg_diag_file(struct cfg_diag *d, const char *name, const char *text,
				     size_t len);

/* Add one diagnostic; `where` may be NULL. Messages have no final newline. */
void cfg_diag_add(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where,
		  const char *fmt, ...) fmt_printf(4, 5);
void cfg_diag_vadd(struct cfg_diag *d, enum cfg_sev sev, const struct cfg_where *where,
		   const char *fmt, va_list ap) fmt_printf(4, 0);

/* Is the configuration refused? (an alert was seen, or a warning with werror) */
bool cfg_diag_is_fatal(const struct cfg_diag *d);

/* A section of that name could not be read, which has been reported: that others name it and do
 * not find it is no error of theirs. */
void cfg_diag_lose(struct cfg_diag *d, const char *name);
bool cfg_diag_is_lost(const struct cfg_diag *d, const char *name);

/* Print everything that was kept, in order; `quiet` prints only what refuses it. */
void cfg_diag_print(const struct cfg_diag *d, FILE *to, bool quiet);

/* "web.cfg: 3 errors (5 lines), 1 warning": how many different ones there are. */
void cfg_diag_summary(const struct cfg_diag *d, char *out, size_t size);

/* The bytes of `line` (from 1) in `f`; returns its start, *len without the line end. */
const char *cfg_file_line(const struct cfg_file *f, unsigned line, size_t *len);

#endif
