/* The fake kernel: creation and memory, the trace, misuse of calls, injected faults. */
#include "fake/kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/kernel_int.h"

#define SNDBUF 65536
#define RCVBUF 65536
#define PAGE 4096
/* After an injected EAGAIN a wake-up must follow. */
#define FALSE_AGAIN_NS FAKE_MS

/* volatile: compilers assume that realloc() reads no variable of ours */
volatile int fake_memory_is_ours;

void *
fake_realloc(void *p, size_t n)
{
	fake_memory_is_ours++;
	p = realloc(p, n);
	fake_memory_is_ours--;
	if (!p)
		abort();
	return p;
}

void *
fake_zalloc(size_t n)
{
	void *p = fake_realloc(NULL, n);

	memset(p, 0, n);
	return p;
}

void
fake_release(void *p)
{
	free(p);
}

struct fake *
fake_new(void)
{
	struct fake *k = fake_zalloc(sizeof(*k));

	k->fd_limit = 1024;
	fake_set_cpus(k, 1);
	k->sndbuf = SNDBUF;
	k->rcvbuf = RCVBUF;
	k->pipe_slots = FAKE_SLOTS;
	k->fragment = PAGE;
	k->next_port = FAKE_FIRST_PORT;
	k->client_port = FAKE_CLIENT_PORT;
	k->now = FAKE_MONO_NS;
	k->failed = SYS_CALLS;
	fake_tasks_init(k);
	return k;
}

void
fake_free(struct fake **kp)
{
	struct fake *k = *kp;
	struct fake_sock *next;

	if (!k)
		return;
	for (int fd = 0; fd < FAKE_MAX_FD; fd++)
		if (k->files[fd])
			fake_file_close(k, fd);
	for (size_t i = 0; i < k->heap_n; i++)
		if (k->heap[i].owned)
			fake_release(k->heap[i].arg);
	for (struct fake_sock *s = k->socks; s; s = next) {
		next = s->all;
		fake_release(s->in.buf);
		fake_release(s->zc);
		fake_dgrams_free(s);
		fake_release(s);
	}
	fake_files_free(k);
	fake_tasks_free(k);
	fake_release(k->heap);
	fake_release(k->trace);
	fake_release(k);
	*kp = NULL;
}

void
fake_set_buffers(struct fake *k, unsigned int sndbuf, unsigned int rcvbuf)
{
	k->sndbuf = sndbuf;
	k->rcvbuf = rcvbuf;
}

/* --- trace --- */
static void
trace_text(struct fake *k, const char *text)
{
	size_t n = strlen(text);

	if (k->trace_len + n + 1 > k->trace_cap) {
		k->trace_cap = 2 * (k->trace_len + n + 1);
		k->trace = fake_realloc(k->trace, k->trace_cap);
	}
	memcpy(k->trace + k->trace_len, text, n + 1);
	k->trace_len += n;
}

void
fake_note(struct fake *k, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (!k->tracing)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	trace_text(k, line);
	trace_text(k, "\n");
}

void
fake_trace_on(struct fake *k, int on)
{
	k->tracing = on;
}

const char *
fake_trace(struct fake *k)
{
	return k->trace ? k->trace : "";
}

void
fake_trace_clear(struct fake *k)
{
	k->trace_len = 0;
	if (k->trace)
		k->trace[0] = '\0';
}

/* --- around each call --- */
static int
call_is_counted(enum sys_call call)
{
	return call != SYS_CALL_clock_gettime;
}

/* True if the call makes progress when it succeeds. */
static int
call_is_progress(enum sys_call call, long r)
{
	if (r < 0)
		return r == -EINPROGRESS;
	return r > 0 || call == SYS_CALL_accept4 || call == SYS_CALL_connect ||
	    call == SYS_CALL_close ||
	       call == SYS_CALL_close_range || call == SYS_CALL_shutdown;
}

static void
false_again_ends(struct fake *k, void *arg)
{
	int fd = (int)(intptr_t)arg;

	if (k->files[fd])
		fake_file_wake(k->files[fd], 0);
}

/* The effects that an error has in a real kernel. */
static void
fault_follows(struct fake *k, int fd, int err)
{
	struct fake_file *f = fd >= 0 && fd < FAKE_MAX_FD ? k->files[fd] : NULL;

	if (!f)
		return;
	if (err == EAGAIN)
		fake_after(k, FALSE_AGAIN_NS, false_again_ends, (void *)(intptr_t)fd);
	else if (f->sock && (err == ECONNRESET || err == EPIPE || err == ENOTCONN))
		fake_sock_break(f->sock, err == ENOTCONN ? ECONNRESET : 0);
}

long
fake_enter(struct fake *k, enum sys_call call, int fd)
{
	uint64_t nth;
	int err;

	fake_task_begin(k);
	k->call = call;
	k->reply[0] = '\0';
	if (!call_is_counted(call))
		return 0;
	k->calls++;
	k->by_name[call]++;
	if (k->on_call)
		k->on_call(call);
	if (k->fail_again && k->failed == call) {
		k->fail_again--;
		fault_follows(k, fd, k->failed_err);
		return -k->failed_err;
	}
	if (!k->fail_nth || (k->fail_call != FAKE_ANY_CALL && k->fail_call != call))
		return 0;
	nth = k->fail_call == FAKE_ANY_CALL ? k->calls : k->by_name[call];
	if (nth != k->fail_nth)
		return 0;
	err = k->fail_err ? k->fail_err : fake_fault_errno(call, k->fail_choice);
	if (!err)
		return 0;
	k->failed = call;
	k->failed_err = err;
	fault_follows(k, fd, err);
	return -err;
}

long
fake_leave(struct fake *k, long r, const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	if (call_is_progress(k->call, r) && k->call != SYS_CALL_epoll_wait &&
	    k->call != SYS_CALL_epoll_ctl)
		k->progress++;
	if (!k->tracing)
		return r;
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(line))
		n = (int)sizeof(line) - 1;
	if (r < 0)
		snprintf(line + n, sizeof(line) - (size_t)n, " = %s", strerrorname_np((int)-r));
	else
		snprintf(line + n, sizeof(line) - (size_t)n, " = %ld", r);
	trace_text(k, line);
	trace_text(k, k->reply);
	trace_text(k, "\n");
	return r;
}

void
fake_blame(struct fake *k, enum fake_abuse a)
{
	k->abuse[a]++;
	fake_note(k, "!! %s in %s", fake_abuse_name(a), ledger_name(k->call));
}

uint64_t
fake_abuse(const struct fake *k, enum fake_abuse a)
{
	return k->abuse[a];
}

const char *
fake_abuse_name(enum fake_abuse a)
{
	static const char *const names[FAKE_ABUSES] = {
		[FAKE_BAD_FD] = "bad fd",
		[FAKE_DEL_BEFORE_CLOSE] = "del before close",
		[FAKE_RECV_ZERO] = "no bytes asked for",
		[FAKE_BUSY] = "busy loop",
		[FAKE_BLOCKED] = "would block",
		[FAKE_UNKNOWN] = "unknown call",
		[FAKE_CORK_STALL] = "cork stall",
	};

	return names[a];
}

uint64_t
fake_waits(const struct fake *k)
{
	return k->waits;
}

uint64_t
fake_empty_waits(const struct fake *k)
{
	return k->empty_waits;
}

uint64_t
fake_segments(const struct fake *k)
{
	return k->segments;
}

/* --- faults --- */
#define FAULTS 6

int
fake_fault_errno(enum sys_call call, unsigned int i)
{
	static const int known[SYS_CALLS][FAULTS] = {
		[SYS_CALL_accept4] = { EMFILE, ECONNABORTED, EAGAIN, ENOMEM },
		[SYS_CALL_bind] = { EADDRINUSE },
		[SYS_CALL_close] = { EIO },
		[SYS_CALL_close_range] = { ENOSYS },
		[SYS_CALL_connect] = { ECONNREFUSED, EADDRNOTAVAIL, EAGAIN },
		[SYS_CALL_epoll_create1] = { EMFILE, ENOMEM },
		[SYS_CALL_eventfd2] = { EMFILE, ENOMEM },
		[SYS_CALL_epoll_ctl] = { ENOMEM, ENOSPC },
		[SYS_CALL_epoll_wait] = { EINTR },
		[SYS_CALL_fcntl] = { EPERM },
		[SYS_CALL_getpeername] = { ENOTCONN },
		[SYS_CALL_getsockname] = { ENOBUFS },
		[SYS_CALL_getsockopt] = { ENOBUFS },
		[SYS_CALL_ioctl] = { EINVAL },
		[SYS_CALL_listen] = { EADDRINUSE },
		[SYS_CALL_madvise] = { EAGAIN, EINVAL },
		[SYS_CALL_recvmmsg] = { ENOMEM, EAGAIN, EINTR },
		[SYS_CALL_pipe2] = { EMFILE, ENFILE, ENOMEM },
		[SYS_CALL_read] = { EIO, EINTR },
		[SYS_CALL_recvfrom] = { ECONNRESET, EAGAIN, ENOMEM, EINTR },
		[SYS_CALL_sendto] = { EPIPE, EAGAIN, ENOBUFS, EINTR },
		[SYS_CALL_setsockopt] = { ENOMEM },
		[SYS_CALL_shutdown] = { ENOTCONN },
		[SYS_CALL_sendmmsg] = { ECONNREFUSED, EAGAIN, ENOBUFS },
		[SYS_CALL_memfd_create] = { EMFILE, ENOMEM },
		[SYS_CALL_mmap] = { ENOMEM },
		[SYS_CALL_openat] = { EMFILE, EACCES, ENOENT },
		[SYS_CALL_pwrite64] = { ENOSPC, EIO },
		[SYS_CALL_socket] = { EMFILE, ENOBUFS },
		[SYS_CALL_splice] = { EINVAL, EAGAIN, ECONNRESET, EPIPE, ENOMEM, EINTR },
	};

	return i < FAULTS ? known[call][i] : 0;
}

void
fake_fail(struct fake *k, enum sys_call call, uint64_t nth, int err)
{
	k->fail_call = call;
	k->fail_nth = nth;
	k->fail_err = err;
	k->fail_again = 0;
}

void
fake_fail_again(struct fake *k, unsigned int times)
{
	k->fail_again = times;
}

void
fake_torture(struct fake *k, uint64_t nth, unsigned int i)
{
	fake_fail(k, FAKE_ANY_CALL, nth, 0);
	k->fail_choice = i;
}

void
fake_on_call(struct fake *k, void (*fn)(enum sys_call call))
{
	k->on_call = fn;
}

int
fake_failed_errno(const struct fake *k)
{
	return k->failed_err;
}

uint64_t
fake_calls(const struct fake *k)
{
	return k->calls;
}

enum sys_call
fake_failed_call(const struct fake *k)
{
	return k->failed;
}
