/* Histograms of the times of sessions. Only its worker writes a shard; readers add them up and see
 * each number complete. A histogram's count is the sum of its buckets. */
#include "proxy/model/latency.h"

#include <string.h>

#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

static const struct {
	uint64_t us;
	const char *text;
} bounds[LATENCY_BOUNDS] = {
#define LATENCY_BOUND(us, text) { us, text },
#include "proxy/model/latency.tbl.h"
#undef LATENCY_BOUND
};

static const char *const names[LATENCIES] = {
#define LATENCY_KIND(id, name, help) name,
#include "proxy/model/latency.tbl.h"
#undef LATENCY_KIND
};

/* The last bound is below 2^28. For a time of that many bits: the first bucket that it may be in.
 * There is at most one bound between two powers of two. */
#define BITS_MAX 28

static const uint8_t first_bucket[BITS_MAX + 1] = {
	[6] = LATENCY_BOUND_50, [7] = LATENCY_BOUND_100, [8] = LATENCY_BOUND_250,
	[9] = LATENCY_BOUND_500, [10] = LATENCY_BOUND_1000, [11] = LATENCY_BOUND_2500,
	[12] = LATENCY_BOUND_2500, [13] = LATENCY_BOUND_5000, [14] = LATENCY_BOUND_10000,
	[15] = LATENCY_BOUND_25000, [16] = LATENCY_BOUND_50000, [17] = LATENCY_BOUND_100000,
	[18] = LATENCY_BOUND_250000, [19] = LATENCY_BOUND_500000, [20] = LATENCY_BOUND_1000000,
	[21] = LATENCY_BOUND_2500000, [22] = LATENCY_BOUND_2500000, [23] = LATENCY_BOUND_5000000,
	[24] = LATENCY_BOUND_10000000, [25] = LATENCY_BOUND_25000000,
	[26] = LATENCY_BOUND_50000000, [27] = LATENCY_BOUND_100000000,
	[28] = LATENCY_BOUND_250000000,
};

static unsigned int
latency_bucket(uint64_t us)
{
	unsigned int bits = us ? 64u - (unsigned int)__builtin_clzll(us) : 0, i;

	if (bits > BITS_MAX)
		return LATENCY_BOUNDS;
	i = first_bucket[bits];
	return i + (us > bounds[i].us);
}

uint64_t
latency_bound_us(unsigned int i)
{
	return bounds[i].us;
}

const char *
latency_bound_text(unsigned int i)
{
	return bounds[i].text;
}

const char *
latency_name(enum latency_kind k)
{
	return names[k];
}

/* --- the worker --- */

void
latency_set(struct latency_times *t, enum latency_kind k, uint64_t us)
{
	t->us[k] = us;
	t->cell[k] = (uint16_t)(k * LATENCY_BUCKETS + latency_bucket(us));
	t->has |= 1u << k;
}

static struct latency *
make_counts(struct latency_set *s, unsigned int worker)
{
	struct latency_row *row = s->own.row ? &s->own.row[1 + worker]
					     : mem_zalloc_aligned(CACHE_LINE, sizeof(*row));

	if (!row)
		return NULL;
	if (s->own.row)
		(void)atomic_or(&s->own.use->workers, (uint64_t)1 << worker);
	/* Readers see it zeroed. */
	atomic_store_explicit(&s->shard[worker].counts, &row->counts, memory_order_release);
	return &row->counts;
}

void
latency_count(struct latency_set *s, unsigned int worker, const struct latency_times *t)
{
	struct latency *l = counter_read(&s->shard[worker].counts);
	_Atomic uint64_t *cells;

	if (unlikely(!l) && !(l = make_counts(s, worker)))
		return;
	cells = l->n[0];
	for (unsigned int has = t->has; has; has &= has - 1) {
		unsigned int k = (unsigned int)__builtin_ctz(has);

		counter_add(&cells[t->cell[k]], 1);
		counter_add(&l->sum_us[k], t->us[k]);
	}
}

/* --- readers --- */

static void
add_counts(struct latency *out, const struct latency *l)
{
	for (unsigned int k = 0; k < LATENCIES; k++) {
		counter_add(&out->sum_us[k], counter_read(&l->sum_us[k]));
		for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
			counter_add(&out->n[k][i], counter_read(&l->n[k][i]));
	}
}

static void
add_base_row(struct latency *out, const struct latency_rows *r)
{
	if (r->row && counter_read(&r->use->base))
		add_counts(out, &r->row[0].counts);
}

static void
add_used_rows(struct latency *out, const struct latency_rows *r)
{
	uint64_t used = counter_read(&r->use->workers);

	for (unsigned int i = 0; i < r->n_workers; i++)
		if (used >> i & 1)
			add_counts(out, &r->row[1 + i].counts);
}

void
latency_sum(const struct latency_set *s, struct latency *out)
{
	memset(out, 0, sizeof(*out));
	add_base_row(out, &s->own);
	for (unsigned int i = 0; i < s->n_past; i++) {
		add_base_row(out, &s->past[i]);
		add_used_rows(out, &s->past[i]);
	}
	for (unsigned int i = 0; i < s->n; i++) {
		const struct latency *l =
			atomic_load_explicit(&s->shard[i].counts, memory_order_acquire);

		if (l)
			add_counts(out, l);
	}
}

uint64_t
latency_total(const struct latency *l, enum latency_kind k)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
		n += counter_read(&l->n[k][i]);
	return n;
}

/* The values at or above a quantile cannot sum up to more than all values. */
static uint64_t
quantile_bound_us(const struct latency *l, enum latency_kind k, unsigned int permille)
{
	uint64_t above = latency_total(l, k) * (1000 - permille) / 1000;

	return l->sum_us[k] / MAX(above, 1);
}

/* Interpolates in the bucket of the quantile. */
static uint64_t
interpolate_us(const struct latency *l, enum latency_kind k, unsigned int permille)
{
	double rank = (double)latency_total(l, k) * permille / 1000, below = 0;
	uint64_t low = 0;

	if (rank == 0)
		return 0;
	for (unsigned int i = 0; i < LATENCY_BOUNDS; i++) {
		double n = (double)counter_read(&l->n[k][i]);

		if (n && below + n >= rank)
			return low + (uint64_t)((double)(bounds[i].us - low) * (rank - below) / n);
		below += n;
		low = bounds[i].us;
	}
	return low;
}

uint64_t
latency_quantile_us(const struct latency *l, enum latency_kind k, unsigned int permille)
{
	return MIN(interpolate_us(l, k, permille), quantile_bound_us(l, k, permille));
}

/* --- its life --- */

int
latency_set_make(struct latency_set *s, unsigned int workers)
{
	latency_set_free(s);
	s->shard = mem_zalloc(workers * sizeof(*s->shard));
	if (!s->shard)
		return -ERR_NOMEM;
	s->n = workers;
	return 0;
}

void
latency_set_place(struct latency_set *s, const struct latency_rows *own)
{
	s->own = *own;
}

int
latency_set_join(struct latency_set *s, const struct latency_rows *former, int has_ended)
{
	struct latency_rows *past;

	if (has_ended) {
		if (!counter_read(&former->use->base) && !counter_read(&former->use->workers))
			return 0;
		add_base_row(&s->own.row[0].counts, former);
		add_used_rows(&s->own.row[0].counts, former);
		counter_set(&s->own.use->base, 1);
		return 0;
	}
	past = mem_resize(s->past, s->n_past + 1, sizeof(*past));
	if (!past)
		return -ERR_NOMEM;
	s->past = past;
	past[s->n_past++] = *former;
	return 0;
}

static void
forget_past(struct latency_set *s)
{
	mem_free(s->past);
	s->past = NULL;
	s->n_past = 0;
}

void
latency_set_clear(struct latency_set *s)
{
	for (unsigned int i = 0; i < s->n; i++) {
		struct latency *l = counter_read(&s->shard[i].counts);

		if (l)
			memset(l, 0, sizeof(*l));
	}
	if (s->own.row && counter_read(&s->own.use->base))
		memset(&s->own.row[0], 0, sizeof(s->own.row[0]));
	forget_past(s);
}

void
latency_set_free(struct latency_set *s)
{
	for (unsigned int i = 0; !s->own.row && i < s->n; i++)
		mem_free(counter_read(&s->shard[i].counts));
	mem_free(s->shard);
	forget_past(s);
	*s = (struct latency_set){ 0 };
}

uint32_t
latency_layout(void)
{
	static const size_t size[] = { sizeof(struct latency_row), sizeof(struct latency_use),
		offsetof(struct latency, n), LATENCIES };
	uint32_t h = hash_crc32c(0, size, sizeof(size));

	for (unsigned int i = 0; i < LATENCY_BOUNDS; i++)
		h = hash_crc32c(h, &bounds[i].us, sizeof(bounds[i].us));
	for (unsigned int k = 0; k < LATENCIES; k++)
		h = hash_crc32c(h, names[k], strlen(names[k]) + 1);
	return h;
}
