/*
 * Listening sockets, made from a bind line's settings. Options that accepted sockets inherit are
 * set once. Connections are accepted in adaptive batches; a listener pauses when descriptors are
 * exhausted.
 */
#ifndef TACIT_NET_LISTENER_H
#define TACIT_NET_LISTENER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"
#include "event/loop.h"
#include "net/addr.h"
#include "net/listener_stat.h"

struct keepalive;
struct log_sink;
struct sockbuf;
struct tls_bind;

/*
 * The number of accept4 calls for one event of a listener. The kernel does not report how many
 * connections wait, and asking costs as much as a failed accept, so the number is derived from
 * earlier results. One call too few only costs another turn; one too many is a wasted call. The
 * budget starts at one and grows only when the listener fires again in the next turn. After a
 * wasted call it falls to the number of connections found and stays there for a while, longer after
 * each wrong growth.
 */

struct accept_budget {
	unsigned int now;     /* calls for the next event */
	unsigned int hold;    /* consecutive full batches needed before it grows */
	unsigned int backoff; /* value that hold is reset to */
	uint64_t last_turn;   /* turn of the last event */
	int last_full;        /* all calls of the last event succeeded */
};

enum bind_level { BIND_USER, BIND_OPERATOR, BIND_ADMIN };
/* `proto` of bind and server lines. */
enum mux_proto { MUX_ANY, MUX_H1, MUX_H2, MUX_NONE };
enum bind_severity { BIND_SEVERITY_NONE, BIND_SEVERITY_NUMBER, BIND_SEVERITY_STRING };

/* Interface names: IFNAMSIZ. */
#define IFACE_MAX 16
/* The network namespaces with a name, as in ip-netns(8). */
#define NETNS_DIR "/run/netns"
#define NETNS_MAX 64

/* `shards`: sockets for each address, distributed over the threads of the line. */
enum {
	BIND_SHARDS_BY_THREAD = -1,
	BIND_SHARDS_BY_GROUP = 1, /* there is one group */
	BIND_SHARDS_MAX = 1000000
};
#define BIND_THREADS_MAX 64

/* A bind line's settings (manual 5.1), shared by all its listeners. Owned by the configuration. */
struct bind_conf {
	struct list link;        /* in its proxy, in file order */
	struct cfg_where where;  /* of the address, for messages */
	struct list listeners;   /* struct listener, one per address and port */
	unsigned int n_listeners;
	char *name;              /* `name`; NULL: none */
	int id;                  /* `id` of its only listener; 0: assigned automatically */
	uint64_t threads;        /* `thread`: bit n - 1 is thread n, which may not exist; 0: all */
	int threads_of_group;    /* given as <group>/<set> */
	int shards;              /* 0: not given; else 1.. or BIND_SHARDS_BY_THREAD */
	int backlog;             /* 0: the proxy's */
	int maxconn;             /* of each worker's copy of a listener; 0: none */
	int mss;                 /* 0: none */
	unsigned int user_timeout_ms; /* tcp-ut, 0: none */
	int accept_proxy;        /* connections begin with a PROXY header */
	int defer_accept;
	int tfo;
	enum mux_proto proto;    /* what the mode implies, too */
	int expose_fd;           /* a stats socket may pass the listening sockets */
	int transparent;
	int v4v6, v6only;
	char interface[IFACE_MAX]; /* "": any */
	char *netns;             /* `namespace`, its name; NULL: the one of the process */
	uid_t uid;               /* unix sockets; -1: unchanged */
	gid_t gid;
	mode_t mode;             /* 0: by umask */
	enum bind_level level;   /* stats sockets */
	enum bind_severity severity;
	struct tls_bind *tls;    /* options of TLS (tls/bind.h); NULL: none were given */
	void (*tls_free)(struct tls_bind **b);
};

/* Called with an accepted connection: non-blocking, close-on-exec, not in the loop. peer is valid
 * during the call. */
typedef void listener_fn(struct listener *ln, int fd, const struct addr *peer);

enum listener_state {
	LISTENER_NEW,
	LISTENER_BOUND,
	LISTENER_READY,
	LISTENER_FULL,
	LISTENER_PAUSED,
	LISTENER_SUSPENDED, /* by the operator: not in the loop */
	LISTENER_CLOSED
};

/* Reasons why a listener does not accept. */
enum listener_hold {
	LISTENER_HOLD_FRONTEND = 1, /* its maxconn */
	LISTENER_HOLD_PROCESS = 2,  /* the process's maxconn */
	LISTENER_HOLD_MEMORY = 4,
	LISTENER_HOLD_RATE = 8,     /* rate limits of the process */
	LISTENER_HOLD_FRONTEND_RATE = 16 /* `rate-limit sessions`, until a time */
};

/* Other processes that have its socket open too and will keep it. */
enum listener_keeper {
	LISTENER_KEPT_MASTER = 1,
	LISTENER_KEPT_NEXT = 2 /* the process that replaces this one */
};

struct listener {
	struct list link;        /* in bind_conf.listeners */
	struct bind_conf *bind;
	void *owner;             /* the frontend, or the admin service */
	void *worker;            /* context of accepts: the engine of a frontend's sessions */
	unsigned int thread;     /* index of the worker that accepts */
	unsigned int account;    /* of its worker's ledger, for what it accepts */
	/* The copies of one address for several workers (net/shards.h). */
	struct listener_group *group; /* all copies; NULL: this is the only one */
	struct listener *first;  /* the first copy; NULL: this one */
	struct listener *lead;   /* the copy whose socket it shares; NULL: it has its own */
	int shared;              /* other workers wait for the same socket: one is woken, not all */
	int reuseport;           /* other sockets bind the same address */
	/* Bind lines that share its port (net/overlap.h). */
	int overlaps;
	struct listener *overlap_root; /* the first of them; NULL: this one */
	struct listener *overlap_next; /* in the order of binding; NULL: the last */
	unsigned int twin;       /* number of those before it with the same address */
	int port_kept;           /* the first of them: one of the others has its socket already */
	/* May pass a connection to another worker: returns 1 if that worker took it. NULL:
	 * never. */
	int (*route)(struct listener *ln, int fd, const struct addr *peer);
	int id;                  /* 1.., unique in its frontend: show stat's sid */
	struct addr addr;        /* port filled in; len 0 for fd@N until bound */
	int inherit_fd;          /* fd@N, or -1 */
	char *inherit_name;      /* what is behind fd@; NULL: nothing (app/process/activation.h) */
	int is_mptcp;            /* its socket is one of Multipath TCP */
	int kept_fd;             /* a socket bound before for this address, or -1 */
	unsigned int kept_open;  /* enum listener_keeper: its socket will stay open */
	int backlog;             /* of its socket */
	int any_port;            /* the kernel chose the port of its socket */
	int fd;
	dev_t made_dev;          /* the socket that was created at the path of addr */
	ino_t made_ino;          /* 0: none */
	_Atomic enum listener_state state;
	unsigned int held;       /* enum listener_hold */
	listener_fn *on_accept;
	/* Called before each accept: if it returns 0, waiting clients stay in the backlog, and the
	 * listener is held or tries again in the next turn. NULL: always accept. */
	int (*may_accept)(struct listener *ln);
	/* Called after a permitted accept, with its result. NULL: no matter. */
	void (*did_accept)(struct listener *ln);
	void (*not_accepted)(struct listener *ln);
	struct loop *loop;
	const struct xprt_maker *xprt; /* of accepted connections; NULL: the socket itself */
	struct log_sink *log;    /* for messages about pauses; NULL: none */
	struct timer timer;      /* end of a pause */
	struct timer hold_timer; /* end of LISTENER_HOLD_FRONTEND_RATE */
	struct accept_budget budget;
	unsigned int max_accept; /* tune.maxaccept */
	/* Options that accepted sockets inherit. */
	int nodelay;
	const struct keepalive *keepalive; /* NULL: off; must outlive it */
	int quickack_off;        /* tcp-smart-accept */
	const struct sockbuf *sockbuf; /* NULL: the kernel's defaults; must outlive it */
	/* Counters. */
	unsigned int conns;      /* open connections: the owner calls listener_release */
	_Atomic uint64_t accepted;
	_Atomic uint64_t handed;         /* passed to other workers */
	_Atomic uint64_t taken;          /* taken from other workers */
	uint64_t empty_accepts;  /* accept4 calls that returned EAGAIN */
	uint64_t paused;         /* pauses for EMFILE, ENFILE, ENOBUFS, ENOMEM */
	uint64_t paused_log_ms;  /* time of the last log line about a pause */
	struct listener_stat stat; /* of this copy's sessions */
};

void listener_init(struct listener *ln, struct bind_conf *b);
/* Creates, binds and listens; or takes over fd@N or kept_fd; or shares the socket of its lead,
 * which must be bound. 0 or a negative reason; why (why_len bytes) describes the failure and the
 * address. */
int listener_bind(struct listener *ln, struct sys *sys, int default_backlog, char *why,
	size_t why_len) must_check;
/* Takes over a connection that another worker accepted for the same address. */
void listener_take(struct listener *ln, int fd, const struct addr *peer);
/*
 * Drops new SYNs as if they were lost; clients repeat them after a second, when the socket is
 * closed or another process listens. Handshakes in progress continue. 0: no effect, since another
 * process may hold the socket too.
 */
int listener_refuse_new(struct listener *ln, struct sys *sys);
/*
 * Accepts the connections in the backlog as far as its limits allow, before it is closed, since
 * closing would reset them. Its worker must be paused, or be the caller. No effect if another
 * process may hold the socket too.
 */
void listener_drain(struct listener *ln);
/* Adds it to the loop and starts accepting. */
int listener_start(struct listener *ln, struct loop *l) must_check;
/* An accepted connection was closed: a listener that was full accepts again. */
void listener_release(struct listener *ln);
/* Counts an accepted connection as denied, and closes and releases it. The client gets a reset. */
void listener_deny(struct listener *ln, int fd);
/* Stops accepting for one reason, without closing. It accepts again when no reason is left. */
void listener_hold(struct listener *ln, enum listener_hold why);
void listener_resume(struct listener *ln, enum listener_hold why);
/* Holds it for its frontend's rate, and resumes it at `until_ms` of the loop's clock. Without
 * memory for a timer it is not held: the next try asks again. */
void listener_hold_until(struct listener *ln, uint64_t until_ms);
/*
 * Gives up listening until listener_restart(): clients are refused, and those in the backlog are
 * reset. On a socket that another process may hold too they wait instead. Unix sockets cannot be
 * suspended. Its worker must be paused, or be the caller.
 */
void listener_suspend(struct listener *ln);
/* 0, or a negative reason: another process may listen on the port now. Every listener of a
 * suspended socket has to be restarted. */
int listener_restart(struct listener *ln) must_check;
/* Has its suspended socket listen again. 0 or a negative reason. */
int listener_listen_again(struct listener *ln, struct sys *sys) must_check;
/* Stops and closes, unless the socket is its lead's; the path is kept. Leads must be closed
 * last. */
void listener_close(struct listener *ln, struct sys *sys);
/* Removes the path of a unix socket if it still is the socket that listener_bind() made; another
 * process may have replaced it. */
void listener_unlink(struct listener *ln, struct sys *sys);

#endif
