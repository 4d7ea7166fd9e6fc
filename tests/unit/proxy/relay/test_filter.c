/* The chain of filters by itself: which ones begin, and how much fits and may pass. */
#include "proxy/relay/filter.c"
#include "unit/proxy/session_rig.h"

#include "proxy/model/stream_extras.h"
#include "proxy/session/session.h"

static struct engine e;
static struct proxy fe, be;
static struct session sess;
static struct stream s;
static char room[8000];
static struct stream_extras extras;
static size_t granted;

static enum filter_part
begin(const struct filter_conf *conf, struct stream *st, int side, struct http_head *head unused)
{
	if (!filter_get(st, side, conf))
		return FILTER_ABSENT;
	return conf->kind->change ? FILTER_CHANGES : FILTER_PASSES;
}

static size_t
most_twice(const struct filter *f unused, size_t n)
{
	return 2 * n;
}

static size_t
change_twice(struct filter *f unused, struct stream *st unused, const char *p unused, size_t n,
	int last unused, char *to)
{
	memset(to, 'x', 2 * n);
	return 2 * n;
}

static size_t
grant(struct filter *f unused, struct stream *st unused, size_t n, uint64_t *wake_ms)
{
	*wake_ms = 700;
	return MIN(n, granted);
}

static const struct filter_kind doubles = { .name = "doubles", .size = sizeof(struct filter),
	.begin = begin, .most = most_twice, .change = change_twice };
static const struct filter_kind limits = { .name = "limits", .size = sizeof(struct filter),
	.begin = begin, .grant = grant };
static struct filter_conf of_fe, of_be;

static void
fresh(const struct filter_kind *first, const struct filter_kind *second)
{
	memset(&e, 0, sizeof(e));
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	memset(&extras, 0, sizeof(extras));
	stream_join(&s, &sess, &sess.conn);
	s.extras = &extras;
	e.bufsize = 1000;
	e.filter_room = room;
	s.engine = &e;
	sess.fe = &fe;
	of_fe = (struct filter_conf){ .kind = first };
	of_be = (struct filter_conf){ .kind = second };
	fe.filters = &of_fe;
	be.filters = &of_be;
}

static void
drop_filters(void)
{
	struct filter *next;

	for (struct filter *f = extras.filters[SERVER]; f; f = next) {
		next = f->next;
		mem_free(f);
	}
	extras.filters[SERVER] = NULL;
}

/* Before there is a backend, and where it is the frontend, its filters begin once. */
static void
filters_begin_with_their_proxies(void **st)
{
	(void)st;
	fresh(&limits, &doubles);
	assert_int_equal(filters_begin(&s, NULL, SERVER, NULL), FILTER_PASSES);
	assert_ptr_equal(s.extras->filters[SERVER]->conf, &of_fe);
	assert_null(s.extras->filters[SERVER]->next);
	drop_filters();
	assert_int_equal(filters_begin(&s, &be, SERVER, NULL), FILTER_CHANGES);
	assert_ptr_equal(s.extras->filters[SERVER]->conf, &of_fe);
	assert_ptr_equal(s.extras->filters[SERVER]->next->conf, &of_be);
	drop_filters();
	assert_int_equal(filters_begin(&s, &fe, SERVER, NULL), FILTER_PASSES);
	assert_null(s.extras->filters[SERVER]->next);
	drop_filters();
}

/* The result of a piece has room behind the bytes in the buffer, with its framing. */
static void
pieces_fit_with_their_results(void **st)
{
	struct direction *d = &s.dir[SERVER];

	(void)st;
	fresh(&limits, &doubles);
	assert_int_equal(filters_begin(&s, &be, SERVER, NULL), FILTER_CHANGES);
	assert_int_equal(filters_fit(&s, SERVER, 100), 100);
	for (d->tail = 0; d->tail < 900; d->tail += 100) {
		size_t n = filters_fit(&s, SERVER, 1000);

		assert_in_range(n, (1000 - d->tail - FILTER_FRONT - FILTER_BACK) / 8,
			(1000 - d->tail - FILTER_FRONT - FILTER_BACK) / 2);
	}
	d->tail = 990;
	assert_int_equal(filters_fit(&s, SERVER, 1000), 0);
	d->tail = 0;
	drop_filters();
}

static void
a_filter_holds_back(void **st)
{
	(void)st;
	fresh(&limits, &doubles);
	assert_int_equal(filters_begin(&s, &be, SERVER, NULL), FILTER_CHANGES);
	granted = 30;
	assert_int_equal(filters_grant(&s, SERVER, 100), 30);
	assert_int_equal(filters_grant(&s, SERVER, 20), 20);
	assert_int_equal(s.dir[SERVER].waits_to_pass, 0);
	granted = 0;
	assert_int_equal(filters_grant(&s, SERVER, 20), 0);
	assert_int_equal(s.dir[SERVER].waits_to_pass, 1);
	assert_int_equal(s.wake_ms, 700);
	drop_filters();
	/* Behind one that changes bytes all pass, or none. */
	fresh(&doubles, &limits);
	assert_int_equal(filters_begin(&s, &be, SERVER, NULL), FILTER_CHANGES);
	granted = 30;
	assert_int_equal(filters_grant(&s, SERVER, 100), 100);
	drop_filters();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_begin_with_their_proxies),
		cmocka_unit_test(pieces_fit_with_their_results),
		cmocka_unit_test(a_filter_holds_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
