/*
 * Descriptors and connections: derives maxconn from RLIMIT_NOFILE, or the limit from maxconn
 * (management manual, 5). The calculation is pure; limits_apply() makes the system calls.
 */
#ifndef TACIT_APP_CONFIG_LIMITS_H
#define TACIT_APP_CONFIG_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct sys;

/* Descriptors besides connections and listeners: standard streams, poller, signals, logs, pid file,
 * spares. */
#define LIMITS_RESERVE 24u
/* Descriptors per forwarded connection. */
#define LIMITS_PER_CONN 2u
/* Descriptors per pipe. */
#define LIMITS_PER_PIPE 2u
/* The minimum of an automatic maxpipes, which is a quarter of maxconn. */
#define LIMITS_PIPES_MIN 2u
/* Descriptors per worker except the first: poller, mailbox, logs. */
#define LIMITS_PER_WORKER 8u
/* The maximum of an automatic maxconn: each possible connection costs a little at start. */
#define LIMITS_AUTO_MAX 100000u
#define LIMITS_AUTO_MIN 1u
/* An automatic maxconn below this is warned of: it is the default of HAProxy, which does not start
 * with less. */
#define LIMITS_AUTO_FEW 100u
/* Margin for descriptor numbers: descriptors inherited from the parent raise ours. */
#define LIMITS_TABLE_MAX (1u << 18)

struct limits_in {
	unsigned int maxconn;      /* configured; 0: automatic */
	unsigned int ulimit_n;     /* configured; 0: automatic */
	unsigned int hard_limit;   /* fd-hard-limit; 0: none */
	unsigned int listeners;    /* sockets to listen on */
	unsigned int workers;      /* 0 means 1 */
	unsigned int admin_conns;  /* stats maxconn, with a stats socket */
	unsigned int maxpipes;     /* configured; 0: automatic */
	int splices;               /* pipes were configured: connections leave room for them */
	int may_splice;            /* pipes are optional: as many as there is room for */
	uint64_t soft, hard;       /* the current RLIMIT_NOFILE; UINT64_MAX: unlimited */
	int privileged;            /* may raise the hard limit */
};

struct limits {
	unsigned int maxconn;
	unsigned int fds;          /* required RLIMIT_NOFILE */
	unsigned int table;        /* descriptor numbers are below this */
	unsigned int pipes;        /* maximum number of pipes */
	unsigned int overhead;     /* the part of fds that is neither for connections nor for
				    * pipes */
	uint64_t soft;             /* RLIMIT_NOFILE at start, as in limits_in */
	int derived;               /* maxconn was derived */
	int short_of;              /* fds exceeds the hard limit */
};

/* The values to use. If the configuration requires more than the limits allow short_of is set;
 * maxconn is then the configured value, and fds what it requires. */
struct limits limits_plan(const struct limits_in *in);
/* As many connections and pipes as `fds` descriptors allow, at least one: the fallback without
 * strict-limits. */
void limits_lower(const struct limits_in *in, struct limits *l, unsigned int fds);
/* A line that shows the calculation. */
void limits_explain(const struct limits *l, char *buf, size_t len);

/* Reads RLIMIT_NOFILE into in->soft, in->hard and in->privileged: 0 or -errno. */
int limits_read(struct sys *sys, struct limits_in *in) must_check;
/* Sets RLIMIT_NOFILE to l->fds if it is lower, raising the hard limit if necessary: 0 or -errno. */
int limits_apply(struct sys *sys, const struct limits_in *in, const struct limits *l) must_check;
/* Limits mapped memory to this many megabytes: 0 or -errno. */
int limits_memory(struct sys *sys, unsigned int mb) must_check;

#endif
