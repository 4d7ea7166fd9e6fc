/* Weighted round robin: how often each member is chosen, how evenly, and that the order is
 * HAProxy's. */
#include <stdlib.h>
#include <string.h>

#include "proxy/model/weighted_rr.h"
#include "sim/dice.h"
#include "unit/test.h"

#define N_MAX 300

static struct weighted_rr m;

static void
build(enum weighted_rr_order order, const int *weight, int n)
{
	weighted_rr_clear(&m);
	for (int i = 0; i < n; i++)
		weighted_rr_add(&m, (unsigned int)weight[i]);
	weighted_rr_build(&m, order);
}

static int
open_map(void **state)
{
	(void)state;
	return weighted_rr_init(&m, N_MAX);
}

static int
close_map(void **state)
{
	(void)state;
	weighted_rr_fini(&m);
	return 0;
}

/* The choices of `balance static-rr` of HAProxy 2.6 with these weights, a letter for each
 * server. */
static void
claims_are_as_observed(void **state)
{
	static const struct {
		int weight[5];
		const char *cycle;
	} t[] = { { { 3, 1 }, "AAAB" }, { { 1, 2 }, "ABB" }, { { 1, 2, 3 }, "ACBCBC" },
		{ { 10, 20, 30 }, "ACBCBC" }, { { 2, 3 }, "ABABB" },
		{ { 5, 5, 10, 1 }, "ABCCABCCABCCABCCABCCD" }, { { 7, 3, 4 }, "AABCAACABACABC" },
		{ { 256, 256, 256 }, "ABC" }, { { 9 }, "A" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char got[32] = "";
		int n = 0;

		while (t[i].weight[n])
			n++;
		build(WEIGHTED_RR_CLAIMS, t[i].weight, n);
		assert_in_range(m.len, 1, sizeof(got) - 1);
		for (unsigned int k = 0; k < m.len; k++)
			got[k] = (char)('A' + m.slot[k]);
		assert_string_equal(got, t[i].cycle);
	}
}

/* The algorithm as described in the header: for each slot all claims are computed again. */
static void
check_claims(const int *weight, int n)
{
	int got[N_MAX] = { 0 }, total = 0;

	for (int i = 0; i < n; i++)
		total += weight[i];
	for (int at = 0; at < (int)m.len; at++) {
		/* Weights may have a common divisor, so a cycle may be shorter than their sum. */
		int first = 0, most = -1, len = (int)m.len;

		for (int i = 0; i < n; i++) {
			int share = weight[i] / (total / len);
			int claims = 1 + (at + 1) * share / len - got[i];

			if (claims > most) {
				most = claims;
				first = i;
			}
		}
		assert_int_equal(m.slot[at], first);
		got[first]++;
	}
	for (int i = 0; i < n; i++)
		assert_int_equal(got[i], weight[i] / (total / (int)m.len));
}

static int
random_weights(struct dice *d, int *weight)
{
	static const unsigned int highest[] = { 2, 10, 256 };
	unsigned int high = highest[dice(d, ARRAY_LEN(highest))];
	int n = 1 + (int)dice(d, dice(d, 10) ? 8 : N_MAX);

	for (int i = 0; i < n; i++)
		weight[i] = 1 + (int)dice(d, high);
	return n;
}

static void
claims_are_counted(void **state)
{
	struct dice d = dice_seed(31);
	int weight[N_MAX];

	(void)state;
	for (int k = 0; k < 300; k++) {
		int n = random_weights(&d, weight);

		build(WEIGHTED_RR_CLAIMS, weight, n);
		check_claims(weight, n);
	}
}

/* Each member is chosen as often as its weight requires, and never deviates by more than one and a
 * half from its share. */
static void
even_is_even(void **state)
{
	struct dice d = dice_seed(32);
	int weight[N_MAX], got[N_MAX];

	(void)state;
	for (int k = 0; k < 300; k++) {
		int n = random_weights(&d, weight), total = 0;

		build(WEIGHTED_RR_EVEN, weight, n);
		for (int i = 0; i < n; i++)
			total += weight[i];
		memset(got, 0, sizeof(got));
		for (int at = 0; at < (int)m.len; at++) {
			int who = m.slot[at], len = (int)m.len;
			int share = (at + 1) * (weight[who] / (total / len));

			got[who]++;
			/* In units of 1 / (2 * len) of a choice. */
			assert_true(abs(2 * (got[who] * len - share)) <= 3 * len);
		}
		for (int i = 0; i < n; i++)
			assert_int_equal(got[i], weight[i] / (total / (int)m.len));
	}
}

static void
without_members_the_cycle_is_empty(void **state)
{
	(void)state;
	build(WEIGHTED_RR_CLAIMS, NULL, 0);
	assert_int_equal(m.len, 0);
	build(WEIGHTED_RR_EVEN, NULL, 0);
	assert_int_equal(m.len, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_are_as_observed),
		cmocka_unit_test(claims_are_counted),
		cmocka_unit_test(even_is_even),
		cmocka_unit_test(without_members_the_cycle_is_empty),
	};

	return cmocka_run_group_tests(tests, open_map, close_map);
}
