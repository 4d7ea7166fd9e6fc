/* Computes maxconn and the limit on descriptors from each other, and sets the limit. Main
 * thread, at start. */
#include "app/config/limits.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/sys.h"

static unsigned int
clamp_fds(uint64_t n)
{
	return n > INT32_MAX ? INT32_MAX : (unsigned int)n;
}

static unsigned int
pipes_for(unsigned int maxconn)
{
	return MAX(LIMITS_PIPES_MIN, maxconn / 4);
}

/* Pipes that connections leave room for. */
static unsigned int
pipes_of(const struct limits_in *in, unsigned int maxconn)
{
	if (in->maxpipes || !in->splices)
		return in->maxpipes;
	return pipes_for(maxconn);
}

static uint64_t
fds_of(const struct limits_in *in, const struct limits *l, unsigned int maxconn)
{
	return (uint64_t)maxconn * LIMITS_PER_CONN +
		(uint64_t)pipes_of(in, maxconn) * LIMITS_PER_PIPE + l->overhead;
}

/* The maximum number of connections that l->fds allow, including their pipes. */
static void
divide_fds(const struct limits_in *in, struct limits *l)
{
	uint64_t lo = 0, hi = l->fds / LIMITS_PER_CONN;

	while (lo < hi) {
		uint64_t mid = hi - (hi - lo) / 2;

		if (fds_of(in, l, (unsigned int)mid) <= l->fds)
			lo = mid;
		else
			hi = mid - 1;
	}
	l->maxconn = (unsigned int)lo;
	l->pipes = pipes_of(in, l->maxconn);
}

/* Without a configured number there are as many pipes as fit: other transfers are copied. */
static unsigned int
pipes_within(const struct limits_in *in, const struct limits *l, uint64_t fds)
{
	uint64_t base = (uint64_t)l->maxconn * LIMITS_PER_CONN + l->overhead;
	uint64_t room = fds > base ? (fds - base) / LIMITS_PER_PIPE : 0;
	unsigned int pipes = pipes_of(in, l->maxconn);

	if (!pipes && in->may_splice)
		pipes = pipes_for(l->maxconn);
	return in->maxpipes || pipes < room ? pipes : (unsigned int)room;
}

void
limits_lower(const struct limits_in *in, struct limits *l, unsigned int fds)
{
	l->fds = fds;
	divide_fds(in, l);
	l->maxconn = MAX(1u, l->maxconn);
	if (!l->pipes)
		l->pipes = pipes_within(in, l, fds);
}

static struct limits
plan_fds(const struct limits_in *in)
{
	struct limits l = { 0 };
	uint64_t have = in->hard;
	uint64_t need;

	l.overhead = LIMITS_RESERVE + in->listeners + in->admin_conns +
		(in->workers > 1 ? (in->workers - 1) * LIMITS_PER_WORKER : 0);
	if (in->hard_limit && have > in->hard_limit)
		have = in->hard_limit;
	if (in->maxconn) {
		l.maxconn = in->maxconn;
		l.pipes = pipes_within(in, &l, in->ulimit_n ? in->ulimit_n : have);
		need = (uint64_t)l.maxconn * LIMITS_PER_CONN + (uint64_t)l.pipes * LIMITS_PER_PIPE +
			l.overhead;
		if (in->ulimit_n)
			need = in->ulimit_n;
		l.fds = clamp_fds(need);
		l.short_of = l.fds > have && !(in->privileged && !in->hard_limit);
		return l;
	}
	if (in->ulimit_n) {
		l.fds = in->ulimit_n;
		l.short_of = l.fds > have && !(in->privileged && !in->hard_limit);
	} else {
		/* The soft limit is the administrator's or the system's default; the hard limit is
		 * the maximum. */
		l.fds = clamp_fds(have);
	}
	l.derived = 1;
	divide_fds(in, &l);
	if (l.maxconn > LIMITS_AUTO_MAX) {
		l.maxconn = LIMITS_AUTO_MAX;
		l.pipes = pipes_of(in, l.maxconn);
		if (!in->ulimit_n)
			l.fds = clamp_fds(fds_of(in, &l, l.maxconn));
	}
	if (!l.pipes) {
		l.pipes = pipes_within(in, &l, in->ulimit_n ? in->ulimit_n : have);
		l.fds = MAX(l.fds, clamp_fds(fds_of(in, &l, l.maxconn) +
					     (uint64_t)l.pipes * LIMITS_PER_PIPE));
	}
	if (l.maxconn < LIMITS_AUTO_MIN) {
		l.maxconn = LIMITS_AUTO_MIN;
		l.fds = MAX(l.fds, l.overhead + LIMITS_PER_CONN);
		l.short_of = 1;
	}
	return l;
}

struct limits
limits_plan(const struct limits_in *in)
{
	struct limits l = plan_fds(in);

	l.soft = in->soft;
	l.table = MAX(l.fds, (unsigned int)MIN(in->soft, LIMITS_TABLE_MAX));
	return l;
}

void
limits_explain(const struct limits *l, char *buf, size_t len)
{
	char pipes[40] = "";

	if (l->pipes)
		snprintf(pipes, sizeof(pipes), ", as many for each of %u pipes", l->pipes);
	snprintf(buf, len, "maxconn %u%s: %u descriptors = %u for each connection%s and %u others",
		l->maxconn, l->derived ? " (derived)" : "", l->fds, LIMITS_PER_CONN, pipes,
		l->overhead);
}

int
limits_read(struct sys *sys, struct limits_in *in)
{
	struct rlimit rl = { 0, 0 };
	long r = sys_prlimit64(sys, RLIMIT_NOFILE, NULL, &rl);

	if (r < 0)
		return (int)r;
	in->soft = rl.rlim_cur == RLIM_INFINITY ? UINT64_MAX : rl.rlim_cur;
	in->hard = rl.rlim_max == RLIM_INFINITY ? UINT64_MAX : rl.rlim_max;
	in->privileged = sys_getuid(sys) == 0;
	return 0;
}

int
limits_apply(struct sys *sys, const struct limits_in *in, const struct limits *l)
{
	struct rlimit rl = {
		.rlim_cur = in->soft == UINT64_MAX ? RLIM_INFINITY : in->soft,
		.rlim_max = in->hard == UINT64_MAX ? RLIM_INFINITY : in->hard,
	};

	if (l->fds <= in->soft)
		return 0;
	rl.rlim_cur = l->fds;
	if (l->fds > in->hard)
		rl.rlim_max = l->fds;
	return (int)sys_prlimit64(sys, RLIMIT_NOFILE, &rl, NULL);
}

int
limits_memory(struct sys *sys, unsigned int mb)
{
	struct rlimit rl = {
		.rlim_cur = (rlim_t)mb << 20,
		.rlim_max = (rlim_t)mb << 20,
	};

	return (int)sys_prlimit64(sys, RLIMIT_AS, &rl, NULL);
}
