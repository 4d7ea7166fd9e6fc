/* Averages and maxima of times. Only its worker writes those of a shard. */
#include "proxy/model/stat_times.h"

#include "base/counter.h"
#include "proxy/model/latency.h"

/* Sum over the last sessions: the oldest value is unknown, so its average share is subtracted. */
static void
slide_average(_Atomic uint64_t *sum, uint64_t sessions, uint64_t ms)
{
	uint64_t was = counter_read(sum);

	if (sessions > STAT_AVERAGE_OVER)
		was -= (was + STAT_AVERAGE_OVER - 1) / STAT_AVERAGE_OVER;
	counter_set(sum, was + ms);
}

static void
count_time(_Atomic uint64_t *sum, _Atomic uint64_t *max, uint64_t sessions, uint64_t ms)
{
	slide_average(sum, sessions, ms);
	counter_max(max, ms);
}

void
stat_times_count(struct stat_times *t, uint64_t sessions, const struct latency_times *one)
{
	count_time(&t->qtime, &t->qtime_max, sessions, one->us[LATENCY_QUEUE] / 1000);
	count_time(&t->ctime, &t->ctime_max, sessions, one->us[LATENCY_CONNECT] / 1000);
	count_time(&t->rtime, &t->rtime_max, sessions, one->us[LATENCY_RESPONSE] / 1000);
	count_time(&t->ttime, &t->ttime_max, sessions, one->us[LATENCY_TOTAL] / 1000);
}

void
stat_times_add(struct stat_times *sum, const struct stat_times *t, uint64_t sessions)
{
	uint64_t n = counter_read(&t->n);

	counter_add(&sum->qtime, counter_read(&t->qtime));
	counter_add(&sum->ctime, counter_read(&t->ctime));
	counter_add(&sum->rtime, counter_read(&t->rtime));
	counter_add(&sum->ttime, counter_read(&t->ttime));
	counter_add(&sum->n, n ? n : MIN(sessions, (uint64_t)STAT_AVERAGE_OVER));
}

static void
weigh_sum(_Atomic uint64_t *sum, double by)
{
	counter_set(sum, (uint64_t)((double)counter_read(sum) * by + 0.5));
}

void
stat_times_follow(struct stat_times *sum, const struct stat_times *later)
{
	uint64_t n = counter_read(&later->n), was = counter_read(&sum->n);
	uint64_t room = n < STAT_AVERAGE_OVER ? STAT_AVERAGE_OVER - n : 0;

	if (was > room) {
		double by = (double)room / (double)was;

		weigh_sum(&sum->qtime, by);
		weigh_sum(&sum->ctime, by);
		weigh_sum(&sum->rtime, by);
		weigh_sum(&sum->ttime, by);
		counter_set(&sum->n, room);
	}
	stat_times_add(sum, later, n);
}
