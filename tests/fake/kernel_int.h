/* Declarations shared by the files of the fake kernel. */
#ifndef TACIT_FAKE_KERNEL_INT_H
#define TACIT_FAKE_KERNEL_INT_H

#include <netinet/in.h>
#include <pthread.h>
#include <sys/un.h>

#include "base/list.h"
#include "fake/kernel.h"

#define FAKE_MAX_FD 4096
#define FAKE_MAX_ROUTES 64
/* Virtual clocks at the start. */
#define FAKE_MONO_NS (1000 * FAKE_SEC)
#define FAKE_REAL_NS (1767225600 * FAKE_SEC) /* 2026-01-01 */
#define FAKE_FIRST_PORT 40000
#define FAKE_CLIENT_PORT 50000
#define FAKE_PID 1234

enum fake_kind {
	FAKE_KIND_SOCK,
	FAKE_KIND_EPOLL,
	FAKE_KIND_SIGNAL,
	FAKE_KIND_EVENT,
	FAKE_KIND_PIPE,
	FAKE_KIND_FILE
};
#define FAKE_SLOTS 16      /* of a pipe, unless its user has too many */
#define FAKE_SLOTS_MAX 256 /* a megabyte */

struct fake_file {
	enum fake_kind kind;
	int fd;
	int nonblock;
	int deleted_in_wait; /* number of waits + 1 at the last EPOLL_CTL_DEL, 0: none */
	struct fake_sock *sock;
	struct fake_file *same; /* the next descriptor of this socket */
	struct fake_epoll *ep;
	struct fake_fifo *fifo; /* of either end of a pipe */
	struct fake_inode *inode;
	uint64_t at;      /* where the next read or write begins */
	int appends;
	int writes;       /* this is the end for writing */
	uint64_t sigmask; /* of a signalfd */
	unsigned int process; /* whose signalfd it is */
	uint64_t pending;
	uint64_t count; /* of an eventfd */
	struct list items; /* fake_item.in_file */
};

/* A pipe: each slot holds the bytes of one write, however few. */
struct fake_fifo {
	char *buf;
	size_t base, len, cap; /* bytes are buf[base .. base + len) */
	unsigned int slots, used;
	size_t slot[FAKE_SLOTS_MAX]; /* bytes left in each, oldest first */
	int ends;                    /* number of open ends */
};

/* A file, or a memory file, which no path leads to. */
struct fake_inode {
	struct fake_inode *next;
	uint64_t number, changed; /* monotonic ns */
	char *data;
	size_t size, cap;
	int links, is_memory, seals;
	unsigned int opened, mapped; /* descriptors, mappings */
	char path[];
};

struct fake_epoll {
	struct list items; /* fake_item.in_ep */
	struct list ready; /* fake_item.in_ready */
};

struct fake_item {
	struct list in_file, in_ep, in_ready;
	struct fake_epoll *ep;
	struct fake_file *file;
	uint32_t events;
	epoll_data_t data;
};

enum fake_state { FAKE_CLOSED, FAKE_LISTEN, FAKE_SYN_SENT, FAKE_EST };
enum fake_phase { FAKE_UNCONNECTED, FAKE_CONNECTING, FAKE_CONNECTED };

/* Bytes in transit to one socket; positions count from the first byte. */
struct fake_pipe {
	char *buf;
	size_t cap;
	uint64_t base; /* position of buf[0] */
	/* read <= arrived <= sent <= pushed <= written */
	uint64_t read, arrived, sent, pushed, written;
	int fin, fin_sent;
};

struct fake_sock {
	struct fake *k;
	struct fake_sock *all; /* next of all sockets */
	struct fake_file *file; /* the first of its descriptors; NULL: it has none */
	struct fake_sock *peer;
	enum fake_state state;
	enum fake_phase phase;
	int family, type;
	uint64_t bound; /* of a unix socket: the number of its path; 0: it has none */
	int dead;      /* its owner has closed it */
	int was_fd;
	int shut;      /* 1: reading is shut down, 2: writing is shut down */
	int done;      /* FIN has arrived */
	int err;
	int nospace;
	int linger0;
	int repair;    /* closing sends nothing */
	int rst_sent;
	uint64_t cork_seq;
	unsigned int sndbuf, rcvbuf;
	unsigned int rcvlowat; /* 0: 1 */
	struct fake_zc *zc; /* NULL: SO_ZEROCOPY is not set */
	int fixed_bufs; /* set by an option: accepted sockets inherit them */
	uint64_t delay;
	uint64_t rate;       /* of the path, bytes per second; 0: any */
	uint64_t busy_until; /* with bytes that were sent */
	struct fake_pipe in;
	struct sockaddr_storage local, remote;
	/* listening */
	int backlog;
	int reuseport;
	int defer;
	unsigned int queued;
	struct fake_sock *queue, *queue_next;
	struct fake_sock *listener; /* until it was accepted */
	int embryo;                 /* waits for bytes: TCP_DEFER_ACCEPT */
	unsigned int syns;
	/* datagrams that have arrived */
	struct fake_dgram *dgrams;
	size_t dgram_bytes;
	/* a test's peer */
	fake_fn *notify;
	void *notify_arg;
	uint64_t react;
	int notified;
};

struct fake_event {
	uint64_t at, seq;
	fake_fn *fn;
	void *arg;
	int owned; /* arg came from fake_zalloc() and is freed if the event never runs */
};

struct fake_route {
	unsigned int port;
	enum fake_path path;
	uint64_t delay;
	uint64_t rate;
};

struct fake {
	struct fake_file *files[FAKE_MAX_FD];
	unsigned int n_files;
	int fd_limit;
	uint64_t cpus, cpus_present; /* bit n: CPU n; available to the thread, and present */
	struct fake_sock *socks;
	struct fake_inode *inodes;
	uint64_t last_inode;
	struct fake_route routes[FAKE_MAX_ROUTES];
	unsigned int n_routes;
	fake_connect_fn *on_connect;
	void *on_connect_arg;
	unsigned int sndbuf, rcvbuf;
	struct fake_zc_conf zc;
	unsigned int pipe_slots, fragment;
	uint64_t cut_splice; /* the nth splice to a socket meets a reset half-way */
	uint64_t splices_out;
	unsigned int next_port, next_client, next_listener;
	unsigned int client_port; /* of the first client */
	int nice; /* setpriority() */
	uint64_t random; /* state of the sequence that getrandom() gives */
	/* time */
	uint64_t now;
	struct fake_event *heap;
	size_t heap_n, heap_cap;
	uint64_t seq;
	int quiet;
	/* faults */
	enum sys_call call; /* the current call */
	uint64_t calls, by_name[SYS_CALLS];
	enum sys_call fail_call;
	uint64_t fail_nth;
	int fail_err;        /* 0: fail_choice picks one */
	unsigned int fail_choice;
	unsigned int fail_again;
	enum sys_call failed;
	int failed_err;
	void (*on_call)(enum sys_call call);
	/* threads: the one that runs, and all of them */
	pthread_mutex_t baton;
	pthread_cond_t known; /* one more has made its first call */
	struct fake_task *running;
	struct list tasks;
	unsigned int n_tasks, tasks_ever;
	/* observed */
	uint64_t abuse[FAKE_ABUSES];
	uint64_t moves, moves_at_wait, empty_waits;
	uint64_t waits, idle_waits, progress_at_wait, progress, segments;
	uint64_t wait_at;
	/* trace */
	int tracing;
	char *trace;
	size_t trace_len, trace_cap;
	char reply[2048]; /* results of a call besides its return value, for the trace */
};

void *fake_zalloc(size_t n);
void *fake_realloc(void *p, size_t n);
void fake_release(void *p);
void fake_after_owned(struct fake *k, uint64_t ns, fake_fn *fn, void *arg, int owned);

/*
 * Called around each call: enter counts it and returns 0 or the fault to inject; leave traces it
 * and returns r.
 */
long fake_enter(struct fake *k, enum sys_call call, int fd);
long fake_leave(struct fake *k, long r, const char *fmt, ...) fmt_printf(3, 4);
void fake_blame(struct fake *k, enum fake_abuse a);

/* fd table */
struct fake_file *fake_file_of(struct fake *k, int fd);
struct fake_sock *fake_sock_of(struct fake *k, int fd, long *err);
int fake_file_new(struct fake *k, enum fake_kind kind, int nonblock);
long fake_file_close(struct fake *k, int fd);

/* the process: the calls themselves */
long fake_signal_read(struct fake_file *f, void *buf, size_t len);
long fake_signalfd4(void *ctx, int fd, const sigset_t *set, int flags);
long fake_prlimit64(void *ctx, int res, const struct rlimit *set, struct rlimit *get);
long fake_getrandom(void *ctx, void *buf, size_t len, unsigned int flags);
long fake_getpriority(void *ctx);
long fake_setpriority(void *ctx, int nice);
long fake_getrusage(void *ctx, int who, struct rusage *ru);
long fake_sched_getaffinity(void *ctx, size_t len, cpu_set_t *set);
long fake_sched_setaffinity(void *ctx, size_t len, const cpu_set_t *set);
long fake_getpid(void *ctx);
long fake_rt_sigprocmask(void *ctx, int how, const sigset_t *set);
long fake_rt_sigaction(void *ctx, int sig, const struct sigaction *sa);
long fake_uname(void *ctx, struct utsname *u);
long fake_umask(void *ctx, mode_t mask);
long fake_futex(void *ctx, uint32_t *word, int op, uint32_t val, const struct timespec *ts);
long fake_kill(void *ctx, pid_t pid, int sig);

/* The number of the process that makes the current call. */
unsigned int fake_process(void);

/* pipes: the calls themselves */
long fake_pipe2(void *ctx, int *fds, int flags);
long fake_splice(void *ctx, int in, int out, size_t len, unsigned int flags);
void fake_pipe_end_closes(struct fake_file *f);
long fake_pipe_read(struct fake_file *f, void *buf, size_t len);
long fake_pipe_resize(struct fake *k, struct fake_file *f, long size);

/* files: the calls themselves, and what a descriptor of one does */
long fake_openat(void *ctx, const char *path, int flags, mode_t mode);
long fake_memfd_create(void *ctx, const char *name, unsigned int flags);
long fake_pread64(void *ctx, int fd, void *buf, size_t len, off_t at);
long fake_pwrite64(void *ctx, int fd, const void *buf, size_t len, off_t at);
long fake_ftruncate(void *ctx, int fd, off_t len);
long fake_fallocate(void *ctx, int fd, int mode, off_t at, off_t len);
long fake_mmap(void *ctx, size_t len, int prot, int fd, void **at);
long fake_munmap(void *ctx, void *p, size_t len);
long fake_stat(void *ctx, const char *path, struct stat *st);
long fake_fstat(void *ctx, int fd, struct stat *st);
long fake_unlink(void *ctx, const char *path);
long fake_rename(void *ctx, const char *from, const char *to);
long fake_file_read(struct fake_file *f, void *buf, size_t len);
long fake_file_write(struct fake *k, struct fake_file *f, const void *buf, size_t len);
long fake_file_seal(struct fake_file *f, int cmd, long seals);
void fake_file_of_inode_closes(struct fake *k, struct fake_file *f);
void fake_files_free(struct fake *k);

/* datagrams */
long fake_dgram_bind(struct fake_sock *s);
long fake_dgram_connect(struct fake_sock *s, const struct sockaddr *sa, socklen_t len);
long fake_dgram_send(struct fake_sock *s, const struct msghdr *m);
long fake_dgram_recv(struct fake_sock *s, void *buf, size_t len, int flags);
void fake_dgrams_free(struct fake_sock *s);
long fake_sendmmsg(void *ctx, int fd, struct mmsghdr *v, unsigned int n, int flags);

/* threads (fake/tasks.h): the first call of one waits for its turn. What waits for none of the two
 * passes NULL. fake_task_wait() is 1 when nothing will ever happen. */
void fake_tasks_init(struct fake *k);
void fake_tasks_free(struct fake *k);
void fake_task_begin(struct fake *k);
int fake_task_wait(struct fake_epoll *ep, const uint32_t *word, uint64_t until);
void fake_task_yield(void);
long fake_task_wake(struct fake *k, const uint32_t *word);
long fake_sched_yield(void *ctx);

/* epoll */
uint32_t fake_file_poll(struct fake_file *f);
/* key 0 wakes waiters for any event. */
void fake_file_wake(struct fake_file *f, uint32_t key);
void fake_items_drop(struct list *head, int of_file);
long fake_epoll_ctl(struct fake *k, int ep, int op, int fd, struct epoll_event *ev);
long fake_epoll_wait(struct fake *k, int ep, struct epoll_event *ev, int n, int ms);
const char *fake_epoll_text(uint32_t events, char *buf, size_t len);

/* sockets */
struct fake_sock *fake_sock_new(struct fake *k, int family);
void fake_sock_wake(struct fake_sock *s, uint32_t key);
uint32_t fake_sock_poll(struct fake_sock *s);
/* SO_RCVLOWAT; wakes waiters if that many bytes have already arrived. */
/* Sends what MSG_MORE holds back. */
void fake_sock_push(struct fake_sock *s);
void fake_sock_set_low_water(struct fake_sock *s, unsigned int bytes);
long fake_sock_send(struct fake_sock *s, const void *buf, size_t len, int flags);
long fake_sock_recv(struct fake_sock *s, void *buf, size_t len, int flags);
long
fake_sock_recv_messages(struct fake *k, struct fake_sock *s, struct mmsghdr *v, unsigned int n);
long fake_sock_shutdown(struct fake_sock *s, int how);
void fake_sock_close(struct fake_sock *s);
void fake_sock_reset(struct fake_sock *s); /* sends RST and is closed */
long fake_sock_connect(struct fake_sock *s, const struct sockaddr *sa, socklen_t len);
/* connect(2) to no address: the file has a socket again that is not connected. */
long fake_file_disconnect(struct fake_file *f);
long fake_sock_listen(struct fake_sock *s, int backlog);
struct fake_sock *fake_sock_accept(struct fake_sock *l);
void fake_sock_embryo_ready(struct fake_sock *s);
void fake_sock_rst_arrives(struct fake_sock *s);
/* The connection breaks between both ends; err is the error that s reports next. */
void fake_sock_break(struct fake_sock *s, int err);
unsigned int fake_addr_port(const struct sockaddr_storage *a);
void fake_addr_set_port(struct sockaddr_storage *a, unsigned int port);
socklen_t fake_addr_len(const struct sockaddr_storage *a);
struct fake_route fake_route_to(const struct fake *k, unsigned int port);
struct fake_sock *fake_listener_at(struct fake *k, const struct sockaddr_storage *a);
/* True if s cannot have its address: somebody else listens there, and they do not share it. */
int fake_addr_is_taken(const struct fake_sock *s);

/* zero-copy; s->zc must be set except for open and has_notes */
long fake_zc_open(struct fake_sock *s);
/* 1: sent from the pages, 0: copied, or a negative error. */
long fake_zc_may(const struct fake_sock *s, int flags);
void fake_zc_sent(struct fake_sock *s, const void *buf, uint64_t lo, uint64_t hi);
void fake_zc_arrives(struct fake_sock *from, uint64_t upto);
void fake_zc_purge(struct fake_sock *from);
int fake_zc_has_notes(const struct fake_sock *s);
long fake_recvmmsg(void *ctx, int fd, struct mmsghdr *v, unsigned int n, int flags);
long fake_madvise(void *ctx, void *mem, size_t len, int advice);

#endif
