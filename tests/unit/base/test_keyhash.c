#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyhash.h"
#include "base/sys.h"
#include "unit/test.h"

enum { SLOTS = 2048, KEYS = 1000, SECRETS = 200 };

#define PRIME ((UINT64_C(1) << 61) - 1)

static uint64_t
dice(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static struct keyhash
another(void)
{
	uint64_t bits[2] = { dice(), dice() };
	struct keyhash k;

	keyhash_init(&k, bits);
	return k;
}

/* The polynomial by its definition. */
static void
like_the_polynomial(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct keyhash k = another();
		unsigned __int128 want = 0;
		uint64_t h = 0;

		for (int i = 0; i < 20; i++) {
			uint64_t digit = 1 + dice() % (UINT64_C(1) << 57);

			h = keyhash_digit(&k, h, digit);
			want = (want * (k.point / 8) + digit) % PRIME;
			assert_true(h >> 63 == 0);
			assert_true(h % PRIME == (uint64_t)want);
		}
	}
}

/* The largest values do not overflow. */
static void
bounds(void **state)
{
	const uint64_t most[2] = { UINT64_MAX, UINT64_MAX };
	struct keyhash k;
	uint64_t h = 0;

	(void)state;
	keyhash_init(&k, most);
	assert_true(k.point / 8 == (UINT64_C(1) << 60) - 1 && k.point % 8 == 0);
	for (int i = 0; i < 100000; i++) {
		h = keyhash_digit(&k, h, UINT64_C(1) << 57);
		assert_true(h >> 63 == 0);
	}
	for (uint32_t n = 1; n; n <<= 1) {
		assert_int_equal(keyhash_slot(UINT64_MAX, n), n - 1);
		assert_int_equal(keyhash_slot(0, n), 0);
		assert_int_equal(keyhash_slot(UINT64_C(1) << 63, n), n / 2);
	}
	assert_true(keyhash_known.stir % 2 && keyhash_known.point % 8 == 0);
}

static void
grows_by_bytes(void **state)
{
	struct keyhash_text t = KEYHASH_TEXT;
	struct keyhash k = another();
	char text[100];

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		assert_true(keyhash_so_far(&k, &t) == keyhash(&k, text, n));
		if (n == 4)
			assert_true(keyhash_four(&k, text) == keyhash(&k, text, 4));
		text[n] = (char)dice();
		keyhash_byte(&k, &t, (unsigned char)text[n]);
	}
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

static int
all_differ(uint64_t *h, size_t n)
{
	qsort(h, n, sizeof(*h), by_value);
	for (size_t i = 1; i < n; i++)
		if (h[i] == h[i - 1])
			return 0;
	return 1;
}

/* Zero bytes count at any position, and so does the length. */
static void
different_texts(void **state)
{
	static uint64_t h[1 + 256 + 65536 + 64];
	const char zeros[64] = { 0 };
	struct keyhash k = another();
	size_t n = 0;

	(void)state;
	for (int a = 0; a < 256; a++) {
		char text[2] = { (char)a, 0 };

		h[n++] = keyhash(&k, text, 1);
		for (int b = 0; b < 256; b++) {
			text[1] = (char)b;
			h[n++] = keyhash(&k, text, 2);
		}
	}
	h[n++] = keyhash(&k, "", 0);
	for (size_t len = 3; len <= sizeof(zeros); len++)
		h[n++] = keyhash(&k, zeros, len);
	assert_true(all_differ(h, n));
	for (n = 0; n < 60000; n++)
		h[n] = keyhash_end(&k, keyhash_number(&k, 0, n % 3 ? n : (uint64_t)n << 32));
	assert_true(all_differ(h, n));
}

static uint32_t
slot_of(const struct keyhash *k, uint64_t nth, uint32_t slots)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)nth);

	return keyhash_slot(keyhash(k, text, (size_t)n), slots);
}

/* Keys that share a slot under one secret are distributed under another one. */
static void
chosen_keys_collide_under_one_secret_only(void **state)
{
	enum { CHOSEN = 200 };
	struct keyhash a = another(), b = another();
	unsigned int at[SLOTS] = { 0 }, most = 0, n = 0;

	(void)state;
	for (uint64_t i = 0; n < CHOSEN; i++) {
		uint32_t slot;

		if (slot_of(&a, i, SLOTS) != 7)
			continue;
		n++;
		slot = slot_of(&b, i, SLOTS);
		at[slot]++;
		most = at[slot] > most ? at[slot] : most;
	}
	assert_true(most <= 5);
}

static uint64_t
keys_with(int how, uint64_t i)
{
	/* Adjacent keys, distant ones, and keys that differ in two digits. */
	return how == 0 ? i : how == 1 ? i << 44 : i % 32 << 32 | i / 32;
}

/* Pairs of keys in one slot, over many secrets: no more than the bound, for numbers and for
 * texts. */
static void
few_pairs_share_a_slot(void **state)
{
	const double fair = (double)KEYS * (KEYS - 1) / 2 / SLOTS;

	(void)state;
	for (int how = 0; how < 4; how++) {
		double sum = 0;

		for (int s = 0; s < SECRETS; s++) {
			struct keyhash k = another();
			unsigned int at[SLOTS] = { 0 };

			for (uint64_t i = 0; i < KEYS; i++) {
				uint64_t h = keyhash_number(&k, 0, keys_with(how, i));
				uint32_t slot = how == 3 ? slot_of(&k, i, SLOTS)
					: keyhash_slot(keyhash_end(&k, h), SLOTS);

				sum += at[slot]++;
			}
		}
		if (sum / SECRETS > 1.1 * fair)
			fail_msg("%d: %.1f pairs, %.1f were fair", how, sum / SECRETS, fair);
	}
}

/* --- the secret --- */

static long answer;

static long
give(void *ctx, void *buf, size_t len, unsigned int flags)
{
	(void)ctx;
	assert_int_equal(len, 16);
	assert_int_equal(flags, 0);
	memset(buf, 0xff, len);
	return answer;
}

static void
draws(void **state)
{
	const struct sys_ops ops = { .getrandom = give };
	struct keyhash a = keyhash_known, b = keyhash_known;
	struct sys sys;

	(void)state;
	sys_init(&sys, &ops, NULL);
	answer = -ENOSYS;
	assert_int_equal(keyhash_draw(&a, &sys), -ENOSYS);
	answer = 8;
	assert_int_equal(keyhash_draw(&a, &sys), -EIO);
	assert_memory_equal(&a, &keyhash_known, sizeof(a));
	answer = 16;
	assert_int_equal(keyhash_draw(&a, &sys), 0);
	assert_true(a.stir == UINT64_MAX && a.point == UINT64_MAX >> 4 << 3);
	sys_init(&sys, &sys_linux, NULL);
	assert_int_equal(keyhash_draw(&a, &sys), 0);
	assert_int_equal(keyhash_draw(&b, &sys), 0);
	assert_true(a.point != b.point && a.stir != b.stir);
	assert_true(keyhash(&a, "x", 1) != keyhash(&b, "x", 1));
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_getrandom), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_the_polynomial),
		cmocka_unit_test(bounds),
		cmocka_unit_test(grows_by_bytes),
		cmocka_unit_test(different_texts),
		cmocka_unit_test(chosen_keys_collide_under_one_secret_only),
		cmocka_unit_test(few_pairs_share_a_slot),
		cmocka_unit_test(draws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
