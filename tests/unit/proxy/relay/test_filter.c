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
drop_filters(int side)
{
	struct filter *next;

	for (struct filter *f = extras.filters[side]; f; f = next) {
		next = f->next;
		mem_free(f);
	}
	extras.filters[side] = NULL;
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
	drop_filters(SERVER);
	assert_int_equal(filters_begin(&s, &be, SERVER, NULL), FILTER_CHANGES);
	assert_ptr_equal(s.extras->filters[SERVER]->conf, &of_fe);
	assert_ptr_equal(s.extras->filters[SERVER]->next->conf, &of_be);
	drop_filters(SERVER);
	assert_int_equal(filters_begin(&s, &fe, SERVER, NULL), FILTER_PASSES);
	assert_null(s.extras->filters[SERVER]->next);
	drop_filters(SERVER);
}

/* The filters of a direction: "a" for this one, "b" for others, and '-' behind one that takes no
 * part. */
static const char *
begun(int side, const struct filter_conf *a)
{
	static char found[16];
	size_t n = 0;

	for (const struct filter *f = extras.filters[side]; f; f = f->next) {
		found[n++] = f->conf == a ? 'a' : 'b';
		if (f->part == FILTER_ABSENT)
			found[n++] = '-';
	}
	found[n] = '\0';
	return found;
}

/* A sequence is the order of its direction alone; a filter that it leaves out takes no part, also
 * if a rule has chosen it. */
static void
a_sequence_is_the_order(void **st)
{
	struct filter_conf second = { .kind = &doubles };
	struct filter_sequence order = { .first = &second };

	(void)st;
	fresh(&limits, &doubles);
	of_fe.next = &second;
	second.after[SERVER] = &of_fe;
	fe.sequence[SERVER] = &order;
	assert_int_equal(filters_begin(&s, NULL, SERVER, NULL), FILTER_CHANGES);
	assert_string_equal(begun(SERVER, &of_fe), "ba");
	drop_filters(SERVER);
	assert_int_equal(filters_begin(&s, NULL, CLIENT, NULL), FILTER_CHANGES);
	assert_string_equal(begun(CLIENT, &of_fe), "ab");
	drop_filters(CLIENT);
	order.first = &of_fe;
	second.left_out = 1u << SERVER;
	assert_int_equal(filters_begin(&s, NULL, SERVER, NULL), FILTER_PASSES);
	assert_string_equal(begun(SERVER, &of_fe), "a");
	drop_filters(SERVER);
	assert_non_null(filter_get(&s, SERVER, &second));
	assert_int_equal(filters_begin(&s, NULL, SERVER, NULL), FILTER_PASSES);
	assert_string_equal(begun(SERVER, &of_fe), "ab-");
	drop_filters(SERVER);
	order.first = NULL;
	of_fe.left_out = 1u << SERVER;
	assert_int_equal(filters_begin(&s, NULL, SERVER, NULL), FILTER_ABSENT);
	assert_string_equal(begun(SERVER, &of_fe), "");
	fe.sequence[SERVER] = NULL;
}

static unsigned int n_foreseen;

static void
foresee(const struct filter_conf *conf, struct stream *st unused, struct http_head *head unused)
{
	assert_ptr_equal(conf, &of_fe);
	n_foreseen++;
}

/* A filter of responses sees the request, unless their sequence leaves it out; that of requests
 * does not matter. */
static void
a_response_is_foreseen(void **st)
{
	static const struct filter_kind sees = { .name = "sees", .size = sizeof(struct filter),
		.begin = begin, .foresee = foresee };
	struct filter_sequence none = { .first = NULL };
	struct http_head head = { .n = 0 };

	(void)st;
	fresh(&sees, &limits);
	n_foreseen = 0;
	of_fe.left_out = 1u << CLIENT;
	fe.sequence[CLIENT] = &none;
	assert_int_equal(filters_begin(&s, NULL, CLIENT, &head), FILTER_ABSENT);
	assert_int_equal(n_foreseen, 1);
	assert_int_equal(filters_begin(&s, NULL, CLIENT, NULL), FILTER_ABSENT);
	assert_int_equal(filters_begin(&s, NULL, SERVER, &head), FILTER_PASSES);
	drop_filters(SERVER);
	of_fe.left_out = 1u << SERVER;
	fe.sequence[CLIENT] = NULL;
	fe.sequence[SERVER] = &none;
	assert_int_equal(filters_begin(&s, NULL, CLIENT, &head), FILTER_PASSES);
	assert_int_equal(n_foreseen, 1);
	drop_filters(CLIENT);
	fe.sequence[SERVER] = NULL;
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
	drop_filters(SERVER);
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
	drop_filters(SERVER);
	/* Behind one that changes bytes all pass, or none. */
	fresh(&doubles, &limits);
	assert_int_equal(filters_begin(&s, &be, SERVER, NULL), FILTER_CHANGES);
	granted = 30;
	assert_int_equal(filters_grant(&s, SERVER, 100), 100);
	drop_filters(SERVER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_begin_with_their_proxies),
		cmocka_unit_test(a_sequence_is_the_order),
		cmocka_unit_test(a_response_is_foreseen),
		cmocka_unit_test(pieces_fit_with_their_results),
		cmocka_unit_test(a_filter_holds_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
