/*
 * Descriptors and connections: maxconn from RLIMIT_NOFILE, or the limit from maxconn (management
 * manual, 5). The calculation is pure; limits_apply() asks and tells the kernel.
 */
#ifndef TACIT_APP_CONFIG_LIMITS_H
#define TACIT_APP_CONFIG_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct sys;

/* Beside connections and listeners: standard streams, poller, signals, logs, pid file, spares. */
#define LIMITS_RESERVE 24u
/* Descriptors per forwarded connection. */
#define LIMITS_PER_CONN 2u
/* And per pipe. */
#define LIMITS_PER_PIPE 2u
/* An automatic maxpipes is a quarter of maxconn, but at least this. */
#define LIMITS_PIPES_MIN 2u
/* And per worker beyond the first: poller, mailbox, logs. */
#define LIMITS_PER_WORKER 8u
/* An automatic maxconn is not above this: each possible connection costs a little at start. */
#define LIMITS_AUTO_MAX 100000u
#define LIMITS_AUTO_MIN 1u
/* Numbers above what we opened ourselves: descriptors that whoever started us left open push ours
 * up. */
#define LIMITS_TABLE_MAX (1u << 18)

struct limits_in {
	unsigned int maxconn;      /* configured; 0: derive it */
	unsigned int ulimit_n;     /* configured; 0: derive it */
	unsigned int hard_limit;   /* fd-hard-limit; 0: none */
	unsigned int listeners;    /* sockets to listen on */
	unsigned int workers;      /* 0 is 1 */
	unsigned int admin_conns;  /* stats maxconn, with a stats socket */
	unsigned int maxpipes;     /* configured; 0: derive it */
	int splices;               /* pipes are asked for: connections make room for them */
	int may_splice;            /* they are welcome: as many as what is left has room for */
	uint64_t soft, hard;       /* RLIMIT_NOFILE now; UINT64_MAX: unlimited */
	int privileged;            /* may raise the hard limit */
};

struct limits {
	unsigned int maxconn;
	unsigned int fds;          /* what RLIMIT_NOFILE is to be, at least */
	unsigned int table;        /* descriptors' numbers are below this */
	unsigned int pipes;        /* at once */
	unsigned int overhead;     /* of fds, what is for neither connections nor pipes */
	int derived;               /* maxconn was derived */
	int short_of;              /* fds cannot be had: more than the hard limit */
};

/* What to run with. short_of is set when the configuration asks for more than there is; maxconn is
 * then what was asked for, and fds what it takes. */
struct limits limits_plan(const struct limits_in *in);
/* As many connections and pipes as `fds` descriptors allow, but at least one: what is left without
 * strict-limits. */
void limits_lower(const struct limits_in *in, struct limits *l, unsigned int fds);
/* One line that shows the calculation. */
void limits_explain(const struct limits *l, char *buf, size_t len);

/* Reads RLIMIT_NOFILE into in->soft, in->hard and in->privileged: 0 or -errno. */
int limits_read(struct sys *sys, struct limits_in *in) must_check;
/* Sets RLIMIT_NOFILE to l->fds where it is lower, raising the hard limit if it must: 0 or
 * -errno. */
int limits_apply(struct sys *sys, const struct limits_in *in, const struct limits *l) must_check;
/* Limits mapped memory to so many megabytes: 0 or -errno. */
int limits_memory(struct sys *sys, unsigned int mb) must_check;

#endif
