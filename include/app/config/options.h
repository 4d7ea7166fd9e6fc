/*
 * The command line in HAProxy's style (management manual, 3): single-dash words, sub-options joined
 * to -d, and only configuration files after `--`. Pure: nothing is opened, run or printed.
 */
#ifndef TACIT_APP_CONFIG_OPTIONS_H
#define TACIT_APP_CONFIG_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"

enum {
	OPTIONS_FILES_MAX = 1024, /* -f and files after -- */
	OPTIONS_FORMER_MAX = 256, /* -sf, -st */
	OPTIONS_CONN_MAX = 10000000,
	OPTIONS_MEM_MAX = 1 << 24 /* megabytes */
};

enum options_action {
	OPTIONS_RUN,
	OPTIONS_CHECK,     /* -c */
	OPTIONS_COND,      /* -cc: `cond` */
	OPTIONS_VERSION,   /* -v */
	OPTIONS_BUILD,     /* -vv */
	OPTIONS_KEYWORDS,  /* -dK: `dump`, enum cfg_dump */
	OPTIONS_DUMP_HELP, /* -dKhelp */
	OPTIONS_EXPLAIN,   /* --explain: `explain` */
	OPTIONS_RELOAD,    /* --reload: `reload_socket` */
	OPTIONS_HEALTH,    /* --health: `health_socket` */
	OPTIONS_FORMAT,    /* --format: `format_file` */
	OPTIONS_HELP,      /* --help */
	OPTIONS_USAGE      /* -h, or nothing to do */
};

/* The place of the process with OPTIONS_RUN; the configuration's `daemon` applies to
 * OPTIONS_AS_CONFIGURED. */
enum options_place {
	OPTIONS_AS_CONFIGURED,
	OPTIONS_FOREGROUND, /* -db */
	OPTIONS_DEBUG,      /* -d: foreground with debug output */
	OPTIONS_DAEMON,     /* -D */
	OPTIONS_SUPERVISED  /* -Ws: foreground, for any configuration */
};

#define OPTIONS_QUIET    1u   /* -q */
#define OPTIONS_VERBOSE  2u   /* -V */
#define OPTIONS_WERROR   4u   /* -dW */
#define OPTIONS_DIAG     8u   /* -dD */
#define OPTIONS_NO_EPOLL 16u  /* -de */
#define OPTIONS_NO_POLL  32u  /* -dp */
#define OPTIONS_MASTER   64u  /* -W or -Ws */
#define OPTIONS_NO_SPLICE 128u /* -dS */
#define OPTIONS_KEEP_NAMES 256u /* -dr */
#define OPTIONS_JSON     512u /* -cj */

struct options {
	const char *progname; /* last part of argv[0] */
	enum options_action action;
	enum options_place place;
	unsigned int flags; /* OPTIONS_x */
	const char *cond;
	int dump;
	char *const *explain;  /* words of a keyword */
	unsigned int n_explain;
	const char *pidfile;
	const char *directory;  /* -C */
	const char *local_peer; /* -L */
	const char *master_socket; /* -S */
	const char *reload_socket; /* --reload */
	const char *health_socket; /* --health */
	const char *format_file;   /* --format */
	const char *fetch_from; /* -x; NULL: none */
	pid_t former[OPTIONS_FORMER_MAX]; /* the processes to replace */
	unsigned int n_former;
	int former_sig;         /* SIGUSR1 (-sf) or SIGTERM (-st) */
	int maxconn;            /* -n, 0: not given */
	int proxy_maxconn;      /* -N, 0: not given */
	int memory_mb;          /* -m, 0: not given */
	unsigned int n_files;
	const char *files[OPTIONS_FILES_MAX];
	/* Sub-options of -d that HAProxy has and that have no effect here, for one notice. */
	unsigned int n_hints;
	char hints[16];
};

/*
 * All strings point into argv. 0; or a negative reason with the error in why: -ERR_SYNTAX,
 * -ERR_RANGE, -ERR_UNKNOWN, -ERR_UNSUPPORTED, -ERR_FULL.
 */
int options_parse(struct options *o, int argc, char *const *argv, char *why, size_t why_len)
	must_check;

/* The usage text, without the line that names the program. */
const char *options_usage(void);

#endif
