/* The section `global` (configuration manual, 3), and its keywords. */
#ifndef TACIT_APP_CONFIG_GLOBAL_H
#define TACIT_APP_CONFIG_GLOBAL_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#include "app/config/h2_cfg.h"
#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"
#include "cfg/registry.h"
#include "event/interest.h"
#include "http/deflate.h"
#include "net/addr.h"
#include "net/sockbuf.h"

enum {
	GLOBAL_MAXCONN_MAX = 10000000,
	GLOBAL_THREADS_MAX = 64,
	GLOBAL_FDS_MAX = 1 << 30,
	GLOBAL_BUFSIZE_MIN = 1024,
	GLOBAL_BUFSIZE_DEFAULT = 16384,
	COMP_MEMORY_DEFAULT = 64,
	GLOBAL_BUFSIZE_MAX = 16 << 20,
	GLOBAL_BULK_BUFSIZE_DEFAULT = 512 << 10,
	GLOBAL_BULK_TURN_DEFAULT = 64 << 10,
	GLOBAL_MAXACCEPT_DEFAULT = 64,
	GLOBAL_MAXACCEPT_MAX = 65536,
	GLOBAL_POLLEVENTS_DEFAULT = 200,
	GLOBAL_POLLEVENTS_MAX = 65536,
	GLOBAL_STATS_MAXCONN = 10,
	GLOBAL_STATS_TIMEOUT_MS = 10000,
	GLOBAL_NAME_MAX = 64, /* maximum length of a node or peer name */
	GLOBAL_MEMORY_MAX_MB = 1 << 24,
	GLOBAL_PINNED_DEFAULT = 16 << 20,
	GLOBAL_PINNED_MAX = 1 << 30,
	GLOBAL_MAXREWRITE_DEFAULT = 1024,
	GLOBAL_MAXHDR_DEFAULT = 101,
	GLOBAL_MAXHDR_MAX = 32767,
	/* Percentage of descriptors. */
	GLOBAL_POOL_LOW_FDS = 20,
	GLOBAL_POOL_HIGH_FDS = 25,
	/* setpriority(2) */
	GLOBAL_NICE_MIN = -20,
	GLOBAL_NICE_MAX = 19
};

/* tune.reload.keep: what outlives a worker process; one bit each. */
enum reload_keep {
	KEEP_COUNTERS = 1u << 0,
	KEEP_STATES = 1u << 1,
	KEEP_DNS = 1u << 2,
	KEEP_MAPS = 1u << 3,
	KEEP_TICKETS = 1u << 4,
	KEEP_TABLES = 1u << 5,
	KEEP_CACHES = 1u << 6,
	KEEP_ALL = KEEP_COUNTERS | KEEP_STATES | KEEP_DNS | KEEP_MAPS | KEEP_TICKETS | KEEP_TABLES |
		KEEP_CACHES
};

struct sys;

/* tune.listener.multi-queue: which worker gets an accepted connection. */
enum multi_queue {
	MULTI_QUEUE_ON,   /* another worker of the line, if it is clearly less busy */
	MULTI_QUEUE_FAIR, /* the workers of the line in turn */
	MULTI_QUEUE_OFF   /* the worker that accepted it */
};

/* System calls counted by the ledger's report at exit. */
enum ledger_at_exit {
	LEDGER_SILENT,
	LEDGER_SERVING, /* those made while serving */
	LEDGER_ALL
};

/* Long transfers: pipes for spliced ones, larger buffers for others. */
struct splice_conf {
	int off;      /* nosplice */
	int maxpipes; /* 0: a quarter of maxconn */
	int pipesize; /* bytes, 0: the system's */
	int after;    /* bytes before splice-auto splices */
	int bulk_bufsize, bulk_turn; /* struct bulk_shared */
};

/* tune.renice.startup and tune.renice.runtime. */
struct renice_conf {
	int is_changed;  /* the priority is that of the start, which was `before` until its line */
	int before;
	int has_runtime;
	int runtime;
};

struct global_conf {
	/* The process. */
	int maxconn;         /* 0: derived from the limit on descriptors */
	char *state_file, *state_base; /* server-state-file and its directory; NULL: none */
	int maxconnrate, maxsessrate; /* per second, of the process; 0: none */
	int maxsslconn, maxsslrate;  /* the same of TLS, concurrent and per second */
	int comp_rate;       /* maxcomprate: kB in a second; 0: no limit */
	int comp_memory;     /* maxzlibmem: MB; 0: no limit */
	int comp_cpu;        /* maxcompcpuusage: per cent of a worker's time */
	struct deflate_conf deflate; /* tune.comp.maxlevel, tune.zlib */
	int ulimit_n;        /* 0: derived from maxconn */
	int fd_hard_limit;   /* 0: none */
	int nbthread;        /* 0: not given */
	int thread_hard_limit; /* 0: none */
	cpu_set_t *cpu_map;  /* GLOBAL_THREADS_MAX of them, or NULL: none; see global_cpus() */
	int daemon;
	int master;          /* master-worker: as -W */
	int exit_on_failure; /* the master ends when a worker process dies */
	int max_reloads;     /* mworker-max-reloads; -1: none */
	unsigned int reload_keep; /* tune.reload.keep: enum reload_keep */
	int quiet;
	int zero_warning;
	int strict_limits;
	int set_dumpable;
	int h1_any_payload;  /* h1-accept-payload-with-any-method */
	int deny_low_ports;  /* harden.reject-privileged-ports.tcp */
	int insecure_fork;   /* leaves RLIMIT_NPROC alone */
	int insecure_setuid; /* leaves NO_NEW_PRIVS off */
	int insecure_caps;   /* leaves capabilities alone */
	int insecure_files;  /* leaves files alone */
	int insecure_syscalls; /* leaves system calls alone */
	uint64_t setcap;     /* capabilities to keep, 1 << CAP_X each */
	uid_t uid;           /* 0: unchanged */
	gid_t gid;           /* 0: unchanged */
	char *user, *group;  /* as written, for messages */
	char *chroot;
	char *pidfile;
	char *node;          /* NULL: the host's name */
	char *description;
	char *localpeer;
	uint32_t hard_stop_after_ms; /* 0: no limit */
	uint32_t grace_ms;
	uint32_t close_spread_ms; /* as engine_shared.stop_spread_ms */

	/* Stats socket. */
	struct list admin_binds; /* struct bind_conf */
	uint32_t stats_timeout_ms;
	int stats_maxconn;

	/* Performance. */
	enum interest_mode epoll_mode;
	int lazy;            /* tune.lazy-register */
	char *poller;        /* use-poller; NULL: the best available */
	int no_epoll, no_poll;
	int bufsize;
	int maxaccept;
	int maxpollevents;
	int ledger_at_exit;  /* enum ledger_at_exit */
	int profile_tasks;   /* enum profile_mode */
	int multi_queue;     /* enum multi_queue */
	int default_shards;  /* as bind_conf.shards, for lines without `shards` */
	int wake_elision;    /* tune.wake-elision */
	uint64_t memory;     /* memory limit for the sessions of all workers; 0: none */
	struct cfg_where memory_where;
	uint64_t zerocopy_threshold; /* minimum size of a zero-copy send; 0: disabled */
	uint64_t zerocopy_max;       /* limit of pinned bytes of all workers */
	struct cfg_where zerocopy_where;
	int ranges_fast_path;
	int maxrewrite;      /* buffer space reserved for additions to a head */
	int http_maxhdr;     /* maximum number of fields of a head */
	int http_line_max;   /* bytes of a request line that are kept for logs */
	int http_low_water;  /* tune.http.low-water */
	/* Percentages of descriptors in use above which no connection is kept idle, and above which
	 * an idle one is closed for a new one. */
	unsigned int pool_low_fds, pool_high_fds;
	struct sockbuf client_buf, server_buf; /* tune.rcvbuf, tune.sndbuf, tune.notsent-lowat */

	struct splice_conf splice;
	struct renice_conf renice;
	struct h2_tune h2;
};

void global_init(struct global_conf *g);
/* Frees everything; the stats sockets' listeners must be closed. */
void global_fini(struct global_conf *g);
/*
 * The number of threads, 1 to GLOBAL_THREADS_MAX: nbthread, or by default the number of CPUs of the
 * calling thread (sched_getaffinity(2); 1 if that fails), in both cases limited by
 * thread-hard-limit. To be called before a thread is bound to its CPUs.
 */
unsigned int global_threads(const struct global_conf *g, struct sys *sys);
/*
 * The CPUs to bind a thread to (cpu-map), or NULL: not bound. `thread` counts from 0; the
 * configuration counts from 1. If none of the CPUs exists sched_setaffinity(2) fails with EINVAL
 * and the thread is not bound.
 */
const cpu_set_t *global_cpus(const struct global_conf *g, unsigned int thread);
/* The name of the poller to use: the configured one, or the best one not disabled by -de, -dp,
 * noepoll and nopoll. */
const char *global_poller(const struct global_conf *g);

/* The section itself, with ctx->root a struct config, and keywords of the process; ctx->obj is the
 * global_conf. */
extern const struct cfg_module global_cfg_module;
/* Performance keywords: they change how work is done, not its results. */
extern const struct cfg_module tune_cfg_module;
/* Keywords that limit memory. */
extern const struct cfg_module bounds_cfg_module;
extern const struct cfg_module compression_cfg_module;
/* Keywords of HTTP/2. */
extern const struct cfg_module h2_cfg_module;
/* cpu-map. */
extern const struct cfg_module cpu_map_module;
extern const struct cfg_module vars_cfg_module;
/* Keywords of what the process may do while it serves. */
extern const struct cfg_module confine_cfg_module;
/* Keywords of `global` that are accepted without effect. */
extern const struct cfg_module global_hints_module;

#endif
