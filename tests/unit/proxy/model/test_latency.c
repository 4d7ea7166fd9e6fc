/* Histograms of times: buckets, sums, quantiles, and rows in memory files. Those of proxies and
 * servers, and which worker allocates them: test_shard.c. */

#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "proxy/config/proxy_life.h"
#include "proxy/model/latency.h"
#include "proxy/model/proxies.h"
#include "unit/test.h"

static unsigned int
bucket_by_search(uint64_t us)
{
	unsigned int i = 0;

	while (i < LATENCY_BOUNDS && us > latency_bound_us(i))
		i++;
	return i;
}

static unsigned int
bucket_of(uint64_t us)
{
	struct latency_times t = { .has = 0 };

	latency_set(&t, LATENCY_TOTAL, us);
	assert_int_equal(t.us[LATENCY_TOTAL], us);
	return t.cell[LATENCY_TOTAL] - LATENCY_TOTAL * LATENCY_BUCKETS;
}

static void
a_bucket_ends_with_its_bound(void **st)
{
	(void)st;
	for (unsigned int i = 0; i < LATENCY_BOUNDS; i++) {
		uint64_t us = latency_bound_us(i);

		assert_int_equal(bucket_of(us), i);
		assert_int_equal(bucket_of(us + 1), i + 1);
		/* The text is the same number. */
		assert_int_equal((uint64_t)(strtod(latency_bound_text(i), NULL) * 1e6 + 0.5), us);
		if (i)
			assert_true(us > latency_bound_us(i - 1));
	}
	for (uint64_t us = 0; us < 70000; us++)
		assert_int_equal(bucket_of(us), bucket_by_search(us));
	for (int bit = 0; bit < 64; bit++)
		for (uint64_t near = 0; near < 3; near++) {
			uint64_t us = ((uint64_t)1 << bit) - 1 + near;

			assert_int_equal(bucket_of(us), bucket_by_search(us));
		}
	assert_int_equal(bucket_of(UINT64_MAX), LATENCY_BOUNDS);
}

static void
count_one(struct latency_set *s, unsigned int worker, enum latency_kind k, uint64_t us)
{
	struct latency_times t = { .has = 0 };

	latency_set(&t, k, us);
	latency_count(s, worker, &t);
}

static void
missing_times_are_not_counted(void **st)
{
	struct latency_set s = { 0 };
	struct latency sum;

	(void)st;
	assert_int_equal(latency_set_make(&s, 1), 0);
	latency_sum(&s, &sum);
	assert_int_equal(latency_total(&sum, LATENCY_TOTAL), 0);
	count_one(&s, 0, LATENCY_TOTAL, 70);
	count_one(&s, 0, LATENCY_TOTAL, 30);
	latency_sum(&s, &sum);
	assert_int_equal(latency_total(&sum, LATENCY_TOTAL), 2);
	assert_int_equal(sum.sum_us[LATENCY_TOTAL], 100);
	assert_int_equal(sum.n[LATENCY_TOTAL][0], 1);
	assert_int_equal(sum.n[LATENCY_TOTAL][1], 1);
	for (unsigned int k = 0; k < LATENCY_TOTAL; k++)
		assert_int_equal(latency_total(&sum, k), 0);
	latency_set_free(&s);
	assert_null(s.shard);
}

static void
quantiles_are_interpolated(void **st)
{
	struct latency_set s = { 0 };
	struct latency sum;

	(void)st;
	assert_int_equal(latency_set_make(&s, 1), 0);
	latency_sum(&s, &sum);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_CONNECT, 500), 0);
	/* 90 between 500 and 1000, and 10 between 25,000 and 50,000. */
	for (int i = 0; i < 100; i++)
		count_one(&s, 0, LATENCY_CONNECT, i < 90 ? 700 : 30000);
	latency_sum(&s, &sum);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_CONNECT, 450), 750);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_CONNECT, 900), 1000);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_CONNECT, 950), 37500);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_CONNECT, 1000), 50000);
	/* Nothing is known of the last bucket but where it begins. */
	count_one(&s, 0, LATENCY_QUEUE, UINT32_MAX);
	latency_sum(&s, &sum);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_QUEUE, 500),
		latency_bound_us(LATENCY_BOUNDS - 1));
	latency_set_free(&s);
}

/* Times of 0 in the bucket up to 50 us are no 25 us. */
static void
quantiles_fit_the_sum(void **st)
{
	struct latency_set s = { 0 };
	struct latency sum;

	(void)st;
	assert_int_equal(latency_set_make(&s, 1), 0);
	for (int i = 0; i < 100; i++)
		count_one(&s, 0, LATENCY_QUEUE, 0);
	latency_sum(&s, &sum);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_QUEUE, 500), 0);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_QUEUE, 990), 0);
	/* The 100 times at or above the median sum up to 400 us: 4 us each. */
	for (int i = 0; i < 100; i++)
		count_one(&s, 0, LATENCY_QUEUE, 4);
	latency_sum(&s, &sum);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_QUEUE, 500), 4);
	assert_int_equal(latency_quantile_us(&sum, LATENCY_QUEUE, 1000), 50);
	latency_set_free(&s);
}

/* --- rows in memory files --- */

#define WORKERS 3

struct rows_file {
	struct latency_row row[1 + WORKERS];
	struct latency_use use;
};

static struct latency_rows
rows_of(struct rows_file *f)
{
	return (struct latency_rows){ .use = &f->use, .row = f->row, .n_workers = WORKERS };
}

static void
make_placed(struct latency_set *s, struct rows_file *f)
{
	const struct latency_rows own = rows_of(f);

	memset(f, 0, sizeof(*f));
	assert_int_equal(latency_set_make(s, WORKERS), 0);
	latency_set_place(s, &own);
}

static uint64_t
queue_sum(const struct latency_set *s)
{
	struct latency sum;

	latency_sum(s, &sum);
	return sum.sum_us[LATENCY_QUEUE];
}

/* A row that is not used is not read: that would allocate its page. */
static void
rows_of_a_file_are_used_one_by_one(void **st)
{
	static struct rows_file file;
	struct latency_set s = { 0 };

	(void)st;
	make_placed(&s, &file);
	file.row[0].counts.sum_us[LATENCY_QUEUE] = file.row[2].counts.sum_us[LATENCY_QUEUE] = 1000;
	count_one(&s, 2, LATENCY_QUEUE, 7);
	assert_int_equal(file.use.workers, 1 << 2);
	assert_int_equal(file.row[3].counts.sum_us[LATENCY_QUEUE], 7);
	assert_int_equal(queue_sum(&s), 7);
	latency_set_free(&s);
}

static void
sums_include_previous_processes(void **st)
{
	static struct rows_file ended, live, own;
	struct latency_set was = { 0 }, drains = { 0 }, s = { 0 };
	struct latency_rows rows;

	(void)st;
	make_placed(&was, &ended);
	make_placed(&drains, &live);
	make_placed(&s, &own);
	rows = rows_of(&ended);
	assert_int_equal(latency_set_join(&s, &rows, 1), 0);
	assert_int_equal(own.use.base, 0);
	count_one(&was, 0, LATENCY_QUEUE, 1);
	ended.use.base = 1;
	ended.row[0].counts.sum_us[LATENCY_QUEUE] = 10;
	assert_int_equal(latency_set_join(&s, &rows, 1), 0);
	/* The sum is in the own file now. */
	memset(&ended, 0, sizeof(ended));
	assert_int_equal(queue_sum(&s), 11);
	rows = rows_of(&live);
	assert_int_equal(latency_set_join(&s, &rows, 0), 0);
	count_one(&drains, 1, LATENCY_QUEUE, 100);
	count_one(&s, 1, LATENCY_QUEUE, 1000);
	assert_int_equal(queue_sum(&s), 1111);
	/* A bit of a worker that the file has not: it may be hostile. */
	live.use.workers |= ~(uint64_t)0 << WORKERS;
	assert_int_equal(queue_sum(&s), 1111);
	latency_set_clear(&s);
	count_one(&drains, 2, LATENCY_QUEUE, 1);
	assert_int_equal(queue_sum(&s), 0);
	assert_int_equal(own.row[0].counts.sum_us[LATENCY_QUEUE], 0);
	latency_set_free(&was);
	latency_set_free(&drains);
	latency_set_free(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bucket_ends_with_its_bound),
		cmocka_unit_test(missing_times_are_not_counted),
		cmocka_unit_test(quantiles_are_interpolated),
		cmocka_unit_test(quantiles_fit_the_sum),
		cmocka_unit_test(rows_of_a_file_are_used_one_by_one),
		cmocka_unit_test(sums_include_previous_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
