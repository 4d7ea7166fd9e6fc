/* A cache with several threads: no reader sees other bytes than those of one version. */

#include "base/atomic.h"
#include "base/thread.h"
#include "unit/cache/cache_rig.h"

enum { THREADS = 4, KEYS = 60, STEPS = 40000 };

struct worker {
	struct thread thread;
	struct sys sys;
	struct cache_rig *rig;
	uint64_t seed;
	unsigned int number, hits, wrong, claims;
};

static unsigned int
draw(struct worker *w, unsigned int n)
{
	w->seed = w->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned int)(w->seed >> 33) % n;
}

/* The version is in the length of the head, and the body has as many bytes as that says. */
static size_t
body_of(unsigned int version)
{
	return version * 37u;
}

static void
read_one(struct worker *w, const struct cache_caller *by, unsigned int key)
{
	char text[64], head[400];
	struct cache_entry *e = cache_find(w->rig->c, by, rig_key(key, text), &rig_all);
	struct cache_place at;
	unsigned int version;
	size_t pos = 0;

	if (!e)
		return;
	w->hits++;
	version = e->head_len;
	w->wrong += e->body_len != body_of(version);
	cache_read_head(w->rig->c, e, head, &at);
	w->wrong += !rig_is((struct str){ head, version }, key, version, 0);
	while (pos < e->body_len) {
		struct str s = cache_read(w->rig->c, &at, e->body_len - pos);

		w->wrong += !rig_is(s, key, version, version + pos);
		pos += s.len;
	}
	cache_unref(w->rig->c, by, e);
}

/* Claims a key, and ends or leaves the claim: no thread waits here. */
static void
claim_one(struct worker *w, const struct cache_caller *by, unsigned int key)
{
	char text[64];
	const struct cache_claimed got = cache_claim(w->rig->c, by, rig_key(key, text), &rig_all,
		w->number, 1);

	if (got.entry)
		cache_unref(w->rig->c, by, got.entry);
	if (!got.claim)
		return;
	w->wrong += got.entry != NULL || (got.is_mine && atomic_look(&got.claim->is_over));
	if (!got.is_mine) {
		cache_leave_claim(w->rig->c, by, got.claim);
		return;
	}
	(void)rig_put(w->rig, by, key, 1 + key, 1 + key, body_of(1 + key), 1 + draw(w, 200));
	/* The holder itself does not wait. */
	w->wrong += (cache_end_claim(w->rig->c, by, got.claim, draw(w, 50) == 0) >> w->number) & 1;
	w->claims++;
}

static void
work(void *arg)
{
	struct worker *w = arg;
	struct cache_caller by = { &w->sys, 1000000 };
	char text[64];

	for (unsigned int i = 0; i < STEPS / test_every(); i++) {
		unsigned int key = draw(w, KEYS), what = draw(w, 100);
		unsigned int version = 1 + draw(w, 350);

		by.now_ms += what == 0;
		if (what < 20)
			(void)rig_put(w->rig, &by, key, version, version, body_of(version),
				1 + draw(w, 200));
		else if (what == 20)
			(void)cache_remove(w->rig->c, &by, rig_key(key, text));
		else if (what == 21 && !draw(w, 50))
			(void)cache_clear(w->rig->c, &by);
		else if (what < 40)
			claim_one(w, &by, key);
		else
			read_one(w, &by, key);
	}
}

static void
readers_see_one_version(void **state)
{
	struct worker w[THREADS];
	struct cache_rig rig;
	unsigned int hits = 0;

	(void)state;
	rig_start(&rig, 1, 20000);
	for (unsigned int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .rig = &rig, .seed = i + 1, .number = i };
		sys_init(&w[i].sys, &sys_linux, NULL);
		assert_int_equal(thread_start(&w[i].thread, work, &w[i], "cache"), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(thread_join(&w[i].thread), 0);
		hits += w[i].hits;
		assert_int_equal(w[i].wrong, 0);
	}
	assert_true(hits > STEPS / test_every() / 10 && w[0].claims > 100 / test_every());
	for (size_t i = 0; i < ARRAY_LEN(rig.c->claim); i++)
		assert_null(rig.c->claim[i]);
	(void)cache_clear(rig.c, &rig.by);
	assert_int_equal(rig.c->n_free, rig.c->n_blocks);
	rig_end(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(readers_see_one_version) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
