/* A queue in small pieces against an array, with random calls; its pieces come back. */
#include <string.h>

#include "h2/h2_bytes.h"
#include "unit/test.h"

#define ROOM 32
#define CALLS 200000
#define MOST 1000

static struct pool pool;
static struct h2_bytes q;
static uint8_t model[4 * MOST];
static size_t n_model;
static uint64_t state = 1;

static size_t
below(size_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(state >> 33) % n;
}

/* Bytes that have not been in the queue before. */
static void
fill(uint8_t *p, size_t n)
{
	static uint8_t next;

	while (n--)
		*p++ = next++;
}

static void
drop_model(size_t n)
{
	n_model -= n;
	memmove(model, model + n, n_model);
}

static void
call_any(void)
{
	uint8_t bytes[MOST], *p;
	size_t n;

	switch (below(5)) {
	case 0:
		n = below(MOST - n_model / 2);
		fill(bytes, n);
		assert_int_equal(h2_bytes_add(&q, &pool, bytes, n), 0);
		memcpy(model + n_model, bytes, n);
		n_model += n;
		break;
	case 1:
		n = 1 + below(ROOM);
		p = h2_bytes_extend(&q, &pool, n);
		assert_non_null(p);
		fill(p, n);
		memcpy(model + n_model, p, n);
		n_model += n;
		break;
	case 2:
		n = below(n_model + 1);
		h2_bytes_drop(&q, &pool, n);
		drop_model(n);
		break;
	case 3:
		n = h2_bytes_take(&q, &pool, bytes, below(MOST));
		assert_memory_equal(bytes, model, n);
		drop_model(n);
		break;
	default:
		if (n_model) {
			n = below(n_model);
			assert_int_equal(*h2_bytes_at(&q, n), model[n]);
		}
		break;
	}
}

static void
a_queue_is_an_array(void **st)
{
	(void)st;
	pool_init(&pool, "pieces", sizeof(struct h2_piece) + ROOM, 4);
	for (int i = 0; i < CALLS; i++) {
		struct str first;

		if (n_model > MOST) {
			h2_bytes_drop(&q, &pool, n_model);
			n_model = 0;
		}
		call_any();
		first = h2_bytes_first(&q);
		assert_int_equal(q.len, n_model);
		assert_true((first.len > 0) == (n_model > 0) && first.len <= ROOM);
		assert_memory_equal(first.p, model, first.len);
		assert_true(q.len || !pool.live);
		/* Only the ends of extended pieces are unused. */
		assert_true(pool.live <= 2 * n_model / ROOM + 2);
	}
	h2_bytes_drop(&q, &pool, q.len);
	assert_int_equal(pool.live, 0);
	pool_fini(&pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_is_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
