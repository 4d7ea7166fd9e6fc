/*
 * A library that moves the clocks of a program under test (ld.so(8), LD_PRELOAD). The file
 * $TEST_CLOCK has two numbers of eight bytes in the machine's order. `ahead`: nanoseconds by which
 * they are ahead. A test that adds to them (moved_clock.py) lets time pass: timers that are due by
 * then run at once. `stands`: the time of CLOCK_MONOTONIC at which all clocks stand otherwise; 0:
 * time also passes by itself.
 *
 * Moved are clock_gettime, but for the CPU time of processes and threads, time, and gettimeofday.
 * An epoll_wait with a timeout compares with the moved clock each WAIT_MS. Any thread.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 10
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

struct test_clock {
	_Atomic int64_t ahead;
	int64_t stands; /* set before the program starts */
};

static const struct test_clock *clocks; /* NULL: there is no file */
/* Nanoseconds that each clock is ahead of CLOCK_MONOTONIC. */
static int64_t base[CLOCK_BOOTTIME + 1];
static int (*wait_fn)(int ep, struct epoll_event *ev, int n, int ms);
/* The value that this thread's last reading of a clock has in it. */
static __thread int64_t seen;

static int64_t
real_ns(clockid_t id)
{
	struct timespec ts;

	(void)syscall(SYS_clock_gettime, id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

__attribute__((constructor)) static void
open_clock(void)
{
	const char *path = getenv("TEST_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at;

	*(void **)&wait_fn = dlsym(RTLD_NEXT, "epoll_wait");
	if (fd < 0)
		return;
	at = mmap(NULL, sizeof(*clocks), PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		clocks = at;
	close(fd);
	for (clockid_t id = 0; id <= CLOCK_BOOTTIME; id++)
		base[id] = real_ns(id) - real_ns(CLOCK_MONOTONIC);
}

static int
is_moved(clockid_t id)
{
	return id == CLOCK_REALTIME || id == CLOCK_MONOTONIC || id == CLOCK_REALTIME_COARSE ||
		id == CLOCK_MONOTONIC_COARSE || id == CLOCK_MONOTONIC_RAW || id == CLOCK_BOOTTIME;
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns;

	if (!clocks || !is_moved(id))
		return (int)syscall(SYS_clock_gettime, id, ts);
	seen = atomic_load(&clocks->ahead);
	ns = seen + (clocks->stands ? clocks->stands + base[id] : real_ns(id));
	*ts = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
	return 0;
}

time_t
time(time_t *to)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	if (to)
		*to = ts.tv_sec;
	return ts.tv_sec;
}

int
gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec ts;

	(void)zone;
	(void)clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

/* CLOCK_MONOTONIC, but for `ahead`. */
static int64_t
monotonic_ns(void)
{
	return clocks->stands ? clocks->stands : real_ns(CLOCK_MONOTONIC);
}

/* The timeout begins at the time that the caller has read. */
int
epoll_wait(int ep, struct epoll_event *ev, int n, int ms)
{
	int64_t until, left;
	int r;

	if (ms <= 0 || !clocks)
		return wait_fn(ep, ev, n, ms);
	until = monotonic_ns() + seen + ms * NS_PER_MS;
	do {
		left = until - monotonic_ns() - atomic_load(&clocks->ahead);
		left = left <= 0 ? 0 : (left + NS_PER_MS - 1) / NS_PER_MS;
		r = wait_fn(ep, ev, n, left < WAIT_MS ? (int)left : WAIT_MS);
	} while (r == 0 && left);
	return r;
}
