/*
 * A kernel in memory, for tests: struct sys_ops over TCP-like and unix stream sockets, datagrams,
 * files, epoll, eventfds, signals and two clocks that only advance when epoll_wait() has nothing
 * else to do. It
 * is deterministic: the same calls give the same results, descriptor numbers and trace. Poll masks,
 * edges, errors and the order of ready events follow Linux (tests/sim/test_fake_real.c compares the
 * two).
 *
 * The other ends of connections are "peers": sockets without a descriptor, used by the test in
 * scheduled events. Threads take turns (fake/tasks.h); when memory is exhausted it aborts.
 */
#ifndef TACIT_FAKE_KERNEL_H
#define TACIT_FAKE_KERNEL_H

#include <stdint.h>

#include "base/sys.h"

struct fake;
struct fake_sock;
typedef void fake_fn(struct fake *k, void *arg);

/* The first free descriptor; 0, 1 and 2 are in use. */
#define FAKE_FD_MIN 3
#define FAKE_MS 1000000ull
#define FAKE_SEC 1000000000ull

extern const struct sys_ops sys_fake;

struct fake *fake_new(void);
void fake_free(struct fake **k);

/* --- time --- */
uint64_t fake_now(const struct fake *k); /* monotonic ns */
/* Runs fn after a delay, in the epoll_wait() that reaches that time. */
void fake_after(struct fake *k, uint64_t ns, fake_fn *fn, void *arg);
/* Advances the time and runs what is due; the daemon is not called. */
void fake_advance(struct fake *k, uint64_t ns);
/* True if the last epoll_wait() would have waited for ever: no event is scheduled. */
int fake_is_quiet(const struct fake *k);
/* Runs what is due now; 1 when something ran. */
int fake_run_due(struct fake *k);

/* --- the network --- */
enum fake_path {
	FAKE_NEAR,     /* connect() returns EINPROGRESS, and is complete when it returns */
	FAKE_FAR,      /* complete after a round trip; bytes take half of one */
	FAKE_REFUSED,  /* reset after a round trip */
	FAKE_BLACKHOLE /* never completes */
};
/* The path of connections to a port from now on; one_way in ns. The default is FAKE_NEAR, 0. */
void fake_route(struct fake *k, unsigned int port, enum fake_path path, uint64_t one_way);
/* The bytes per second of that path in each direction, which has to be set before; 0: any. */
void fake_limit(struct fake *k, unsigned int port, uint64_t rate);
/* fn is called for each connection that the daemon opens, before it is: it may set the route. */
typedef void fake_connect_fn(struct fake *k, unsigned int port, void *arg);
void fake_on_connect(struct fake *k, fake_connect_fn *fn, void *arg);
/* Buffer sizes of sockets created from now on. */
void fake_set_buffers(struct fake *k, unsigned int sndbuf, unsigned int rcvbuf);
/* The machine's CPUs from now on, 0 to n - 1 (n 1..64), all available to the process. One at
 * first. */
void fake_set_cpus(struct fake *k, unsigned int n);
/* Zero-copy sends; all zero: sent from the pages, and each is acknowledged at once. */
struct fake_zc_conf {
	int refused;        /* SO_ZEROCOPY is not supported */
	int copied;         /* the acknowledgement reports that they were copied, as on loopback */
	int shuffle;        /* acknowledgements are out of order */
	unsigned int limit; /* unacknowledged sends on a socket, 0: any; more are ENOBUFS */
	uint32_t first;     /* number of a socket's first send */
	uint64_t late;      /* ns between reception by the peer and acknowledgement */
};
void fake_zerocopy(struct fake *k, const struct fake_zc_conf *conf);
/*
 * Pipes created from now on have this number of slots (16; fewer, and they cannot grow, when a user
 * has too many), and bytes of a socket take one for each `fragment` of them (4096; less for data
 * that came in small segments).
 */
void fake_set_pipes(struct fake *k, unsigned int slots, unsigned int fragment);
/* RLIMIT_NOFILE. */
void fake_set_fd_limit(struct fake *k, int limit);
/* A file that can be opened by this path from now on, with this text. */
void fake_put_file(struct fake *k, const char *path, const void *text, size_t len);
/* Sends a signal to all processes: signalfds with it in their mask become readable. */
void fake_signal(struct fake *k, int signo);
/* The same to one; 0 is the one of the first thread. */
void fake_signal_to(struct fake *k, unsigned int process, int signo);
/* Number of open descriptors, without 0 to 2. */
unsigned int fake_fds(const struct fake *k);
/* The lowest open descriptor (FAKE_FD_MIN or above), or -1. */
int fake_any_fd(const struct fake *k);

/* --- peers --- */
/* A client that connects to a port: never NULL, and possibly not connected yet. */
struct fake_sock *fake_client(struct fake *k, unsigned int port);
/* The first client has this port, the next one the port behind it. */
void fake_clients_from(struct fake *k, unsigned int port);
struct fake_sock *fake_client_unix(struct fake *k, const char *path);
/* A listening origin. */
struct fake_sock *fake_origin(struct fake *k, unsigned int port, int backlog);
/* The next connection, or NULL. */
struct fake_sock *fake_origin_accept(struct fake_sock *origin);
/* A datagram socket at this UDP port of the host, or at this path. fake_peer_recv() takes one
 * message, and fake_peer_send() sends to the sender of the one before. */
struct fake_sock *fake_receiver(struct fake *k, unsigned int port);
struct fake_sock *fake_receiver_unix(struct fake *k, const char *path);
/* A pair of connected datagram sockets: a descriptor of the process, and its peer. A message of the
 * process may bring a descriptor, which fake_peer_recv_fd() copies; -1: it brings none. */
struct fake_sock *fake_pair(struct fake *k, int *fd);
long fake_peer_recv_fd(struct fake_sock *s, void *buf, size_t len, int *fd);
/* A copy of a descriptor, and its end; all processes have one table of them. */
int fake_dup(struct fake *k, int fd);
void fake_close(struct fake *k, int fd);
/* >= 0, or -EAGAIN, -ECONNRESET, -EPIPE. */
long fake_peer_send(struct fake_sock *s, const void *buf, size_t len);
/* > 0, 0 at the end, -EAGAIN, -ECONNRESET. */
long fake_peer_recv(struct fake_sock *s, void *buf, size_t len);
void fake_peer_shut(struct fake_sock *s);
/* FIN, or RST when bytes were not read: what close() does. */
void fake_peer_close(struct fake_sock *s);
void fake_peer_reset(struct fake_sock *s);
/* fn runs from the next epoll_wait() after each change of the socket, react_ns later. */
void fake_peer_notify(struct fake_sock *s, uint64_t react_ns, fake_fn *fn, void *arg);
int fake_peer_is_connected(const struct fake_sock *s);
unsigned int fake_peer_port(const struct fake_sock *s); /* its own */
unsigned int fake_peer_remote_port(const struct fake_sock *s);
/* The local port of an open socket, or 0. */
unsigned int fake_fd_port(const struct fake *k, int fd);
/* Bytes that have arrived at a descriptor and were not read. */
uint64_t fake_fd_unread(const struct fake *k, int fd);
/* Bytes that have arrived and were not read. */
uint64_t fake_peer_unread(const struct fake_sock *s);
/* Bytes that the peer has sent and the other side has not read. */
uint64_t fake_peer_undelivered(const struct fake_sock *s);
/* The EPOLLx mask of the socket now. */
uint32_t fake_peer_poll(struct fake_sock *s);

/* --- faults --- */
#define FAKE_ANY_CALL SYS_CALLS
/*
 * The nth call (from 1) of that name, or of any name except clock reads, fails with err (positive).
 * 0 disables it.
 */
void fake_fail(struct fake *k, enum sys_call call, uint64_t nth, int err);
/* The nth call of any name fails with its i-th possible error, if it has that many. */
void fake_torture(struct fake *k, uint64_t nth, unsigned int i);
/* After the call that fails, this number of further calls of its name fail the same way. */
void fake_fail_again(struct fake *k, unsigned int times);
/*
 * The nth splice() from a pipe to a socket (from now, from 1) moves half of it before it meets the
 * peer's reset: as in Linux, only the short count is reported.
 */
void fake_cut_splice(struct fake *k, uint64_t nth);
/* Calls fn at each call that counts, before it fails; NULL: none. */
void fake_on_call(struct fake *k, void (*fn)(enum sys_call call));
/* The i-th possible error of a call, 0 beyond the last. */
int fake_fault_errno(enum sys_call call, unsigned int i);
/* Number of calls made, without clock reads; the call that was made to fail, or SYS_CALLS, and its
 * error. */
uint64_t fake_calls(const struct fake *k);
enum sys_call fake_failed_call(const struct fake *k);
int fake_failed_errno(const struct fake *k);
/* Nonzero while the fake allocates its own memory: allocation faults do not apply. */
extern volatile int fake_memory_is_ours;

/* --- observations, and misuse of calls --- */
enum fake_abuse {
	FAKE_BAD_FD,           /* a call on a descriptor that is not open, or of the wrong kind */
	FAKE_DEL_BEFORE_CLOSE, /* EPOLL_CTL_DEL for a descriptor closed before the next wait */
	FAKE_RECV_ZERO,        /* recv or send of no bytes */
	FAKE_BUSY,             /* repeated waits without progress */
	FAKE_BLOCKED,          /* a call that would have blocked */
	FAKE_UNKNOWN,          /* a call or option that the fake does not support */
	FAKE_CORK_STALL,       /* MSG_MORE, and nothing followed for 200 ms */
	FAKE_ABUSES
};
uint64_t fake_abuse(const struct fake *k, enum fake_abuse a);
const char *fake_abuse_name(enum fake_abuse a);
uint64_t fake_waits(const struct fake *k);
/* The waits before which no call had moved a byte since the wait before. A peek (MSG_PEEK) moves
 * nothing. */
uint64_t fake_empty_waits(const struct fake *k);
/* Segments with bytes, SYN, FIN or RST sent by sockets that have a descriptor. */
uint64_t fake_segments(const struct fake *k);
/* The trace is off at first. The text is valid until the next call. */
void fake_trace_on(struct fake *k, int on);
const char *fake_trace(struct fake *k);
void fake_trace_clear(struct fake *k);
/* Adds a line of the test. */
void fake_note(struct fake *k, const char *fmt, ...) fmt_printf(2, 3);

#endif
