/* What the section `global` says (configuration manual, 3), and the keywords that say it. */
#ifndef TACIT_APP_CONFIG_GLOBAL_H
#define TACIT_APP_CONFIG_GLOBAL_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"
#include "cfg/registry.h"
#include "event/interest.h"
#include "net/addr.h"
#include "net/sockbuf.h"

enum {
	GLOBAL_MAXCONN_MAX = 10000000,
	GLOBAL_THREADS_MAX = 64,
	GLOBAL_FDS_MAX = 1 << 30,
	GLOBAL_BUFSIZE_MIN = 1024,
	GLOBAL_BUFSIZE_DEFAULT = 16384,
	GLOBAL_BUFSIZE_MAX = 16 << 20,
	GLOBAL_BULK_BUFSIZE_DEFAULT = 512 << 10,
	GLOBAL_BULK_TURN_DEFAULT = 64 << 10,
	GLOBAL_MAXACCEPT_DEFAULT = 64,
	GLOBAL_MAXACCEPT_MAX = 65536,
	GLOBAL_POLLEVENTS_DEFAULT = 200,
	GLOBAL_POLLEVENTS_MAX = 65536,
	GLOBAL_STATS_MAXCONN = 10,
	GLOBAL_STATS_TIMEOUT_MS = 10000,
	GLOBAL_NAME_MAX = 64, /* bytes of a node's or peer's name */
	GLOBAL_MEMORY_MAX_MB = 1 << 24,
	GLOBAL_PINNED_DEFAULT = 16 << 20,
	GLOBAL_PINNED_MAX = 1 << 30,
	GLOBAL_MAXREWRITE_DEFAULT = 1024,
	GLOBAL_MAXHDR_DEFAULT = 101,
	GLOBAL_MAXHDR_MAX = 32767,
	/* Percent of the descriptors. */
	GLOBAL_POOL_LOW_FDS = 20,
	GLOBAL_POOL_HIGH_FDS = 25
};

struct sys;

/* tune.listener.multi-queue: who gets a connection that a worker has accepted. */
enum multi_queue {
	MULTI_QUEUE_ON,   /* another worker of the line, if it is clearly less busy */
	MULTI_QUEUE_FAIR, /* the workers of the line in turn */
	MULTI_QUEUE_OFF   /* who accepted it */
};

/* What the ledger's report at the end counts. */
enum ledger_at_exit {
	LEDGER_SILENT,
	LEDGER_SERVING, /* from the moment it served */
	LEDGER_ALL
};

/* Long transfers: pipes for those that are not copied, bigger buffers for those that are. */
struct splice_conf {
	int off;      /* nosplice */
	int maxpipes; /* 0: a quarter of maxconn */
	int pipesize; /* bytes, 0: the system's */
	int after;    /* bytes before splice-auto splices */
	int bulk_bufsize, bulk_turn; /* struct bulk_shared */
};

struct global_conf {
	/* Process. */
	int maxconn;         /* 0: derived from the limit on descriptors */
	int ulimit_n;        /* 0: derived from maxconn */
	int fd_hard_limit;   /* 0: none */
	int nbthread;        /* 0: not given */
	int thread_hard_limit; /* 0: none */
	cpu_set_t *cpu_map;  /* GLOBAL_THREADS_MAX of them, or NULL: none; see global_cpus() */
	int daemon;
	int master;          /* master-worker: as -W */
	int quiet;
	int zero_warning;
	int strict_limits;
	int set_dumpable;
	int insecure_fork;   /* leaves RLIMIT_NPROC alone */
	int insecure_setuid; /* leaves NO_NEW_PRIVS off */
	uid_t uid;           /* 0: unchanged */
	gid_t gid;           /* 0: unchanged */
	char *user, *group;  /* as written, for messages */
	char *chroot;
	char *pidfile;
	char *node;          /* NULL: the host's name */
	char *description;
	char *localpeer;
	uint32_t hard_stop_after_ms; /* 0: sessions may take their time */
	uint32_t grace_ms;

	/* Stats socket. */
	struct list admin_binds; /* struct bind_conf */
	uint32_t stats_timeout_ms;
	int stats_maxconn;

	/* Tuning. */
	enum interest_mode epoll_mode;
	int lazy;            /* tune.lazy-register */
	char *poller;        /* use-poller; NULL: the best one left */
	int no_epoll, no_poll;
	int bufsize;
	int maxaccept;
	int maxpollevents;
	int ledger_at_exit;  /* enum ledger_at_exit */
	int multi_queue;     /* enum multi_queue */
	int default_shards;  /* as bind_conf.shards, of the lines that do not say */
	int wake_elision;    /* tune.wake-elision */
	uint64_t memory;     /* bytes that all workers' sessions may take; 0: no bound */
	struct cfg_where memory_where;
	uint64_t zerocopy_threshold; /* bytes of a send; 0: off */
	uint64_t zerocopy_max;       /* bytes that all workers may have pinned */
	struct cfg_where zerocopy_where;
	int ranges_fast_path;
	int maxrewrite;      /* of a buffer, left free for what is added to a head */
	int http_maxhdr;     /* fields of a head */
	int http_low_water;  /* tune.http.low-water */
	/* Percent of the descriptors in use from which on no connection is kept idle, and from
	 * which on an idle one makes room for a new one. */
	unsigned int pool_low_fds, pool_high_fds;
	struct sockbuf client_buf, server_buf; /* tune.rcvbuf, tune.sndbuf, tune.notsent-lowat */

	struct splice_conf splice;
};

void global_init(struct global_conf *g);
/* Frees everything it holds; the stats sockets' listeners must be closed. */
void global_fini(struct global_conf *g);
/*
 * How many threads to run, 1 to GLOBAL_THREADS_MAX: nbthread, otherwise as many as there are CPUs
 * for the calling thread (sched_getaffinity(2); 1 when it cannot say), in both cases at most
 * thread-hard-limit. To be asked before a thread is bound to its CPUs.
 */
unsigned int global_threads(const struct global_conf *g, struct sys *sys);
/*
 * The CPUs to bind a thread to (cpu-map), or NULL: it runs where the process may. `thread` counts
 * from 0, so the configuration's thread 1 is 0. The system may have none of them: then
 * sched_setaffinity(2) says EINVAL and the thread stays where it is.
 */
const cpu_set_t *global_cpus(const struct global_conf *g, unsigned int thread);
/* Name of the poller to use: what is configured, or the first that -de, -dp, noepoll and nopoll
 * leave. */
const char *global_poller(const struct global_conf *g);

/* The section, with ctx->root a struct config, and what is about the process; ctx->obj is the
 * global_conf. */
extern const struct cfg_module global_cfg_module;
/* Keywords that change how the work is done, not what is done. */
extern const struct cfg_module tune_cfg_module;
/* Keywords that bound what is held in memory. */
extern const struct cfg_module bounds_cfg_module;
/* What has to be known of other keywords, and -m (0: not given), before bounds make sense: 0, or -1
 * with what is wrong in d. */
int bounds_finish(struct global_conf *g, unsigned int workers, int memory_mb,
		  struct cfg_diag *d) must_check;
/* cpu-map. */
extern const struct cfg_module cpu_map_module;
extern const struct cfg_module splice_cfg_module;
/* Keywords of `global` that are accepted and change nothing here. */
extern const struct cfg_module global_hints_module;

#endif
