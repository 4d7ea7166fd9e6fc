/* The cycle of weighted round robin. Built by the main thread or under the backend's lock;
 * each member has as many slots as its weight. */
#include "proxy/model/weighted_rr.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* More than three credits have not been seen in any cycle; members with more would be among
 * these. */
#define CLAIMS_MAX 3u

struct weighted_rr_member {
	uint16_t weight;
	uint16_t done;           /* occurrences, or slots by which its share has grown */
	uint8_t claims;
};

static unsigned int
words_for(unsigned int n)
{
	return (n + 63) / 64;
}

int
weighted_rr_init(struct weighted_rr *m, unsigned int n)
{
	*m = (struct weighted_rr){ .cap = n * WEIGHTED_RR_WEIGHT_MAX };
	m->slot = mem_alloc(m->cap * sizeof(*m->slot));
	m->member = mem_alloc(n * sizeof(*m->member));
	m->heap = mem_alloc(n * sizeof(*m->heap));
	m->first = mem_alloc((size_t)words_for(n) * CLAIMS_MAX * sizeof(*m->first));
	if (m->slot && m->member && m->heap && m->first)
		return 0;
	weighted_rr_fini(m);
	return -ERR_NOMEM;
}

void
weighted_rr_fini(struct weighted_rr *m)
{
	mem_free(m->slot);
	mem_free(m->member);
	mem_free(m->heap);
	mem_free(m->first);
	*m = (struct weighted_rr){ 0 };
}

/* --- the next turn: a heap --- */

/* Twice the offset of an occurrence in its part of the cycle: 1, the middle, or 2, the end. */
static unsigned int
lead_of(enum weighted_rr_order order)
{
	return order == WEIGHTED_RR_EVEN ? 1 : 2;
}

static int
is_sooner(const struct weighted_rr *m, unsigned int lead, unsigned int a, unsigned int b)
{
	const struct weighted_rr_member *x = &m->member[a], *y = &m->member[b];
	uint32_t left = (2u * x->done + lead) * y->weight;
	uint32_t right = (2u * y->done + lead) * x->weight;

	return left != right ? left < right : a < b;
}

static void
rr_sift_down(struct weighted_rr *m, unsigned int lead, unsigned int at)
{
	uint16_t moving = m->heap[at];

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child >= m->n)
			break;
		if (child + 1 < m->n && is_sooner(m, lead, m->heap[child + 1], m->heap[child]))
			child++;
		if (!is_sooner(m, lead, m->heap[child], moving))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = moving;
}

/* The heap's first member got its slot. */
static unsigned int
next_turn(struct weighted_rr *m, unsigned int lead)
{
	unsigned int who = m->heap[0];

	m->member[who].done++;
	rr_sift_down(m, lead, 0);
	return who;
}

/* --- the most claims: a row of bits for each number --- */

/* Most credits first. */
static uint64_t *
row_of(struct weighted_rr *m, unsigned int claims)
{
	return m->first + (size_t)(CLAIMS_MAX - MIN(claims, CLAIMS_MAX)) * words_for(m->n);
}

static void
set_claims(struct weighted_rr *m, unsigned int who, unsigned int claims)
{
	uint64_t bit = UINT64_C(1) << who % 64;

	if (m->member[who].claims)
		row_of(m, m->member[who].claims)[who / 64] &= ~bit;
	m->member[who].claims = (uint8_t)claims;
	if (claims)
		row_of(m, claims)[who / 64] |= bit;
}

/* The shares grow by one slot in total for each slot, so that some member always has a credit. */
static unsigned int
most_claims(const struct weighted_rr *m)
{
	unsigned int i = 0;

	while (!m->first[i])
		i++;
	return i % words_for(m->n) * 64 + (unsigned int)__builtin_ctzll(m->first[i]);
}

static unsigned int
next_claimant(struct weighted_rr *m, unsigned int at)
{
	const struct weighted_rr_member *x;
	unsigned int who;

	while (x = &m->member[m->heap[0]], (x->done + 1u) * m->len <= (at + 1) * x->weight) {
		set_claims(m, m->heap[0], x->claims + 1u);
		(void)next_turn(m, lead_of(WEIGHTED_RR_CLAIMS));
	}
	who = most_claims(m);
	set_claims(m, who, m->member[who].claims - 1u);
	return who;
}

/* --- building --- */

static unsigned int
common_divisor(unsigned int a, unsigned int b)
{
	while (b) {
		unsigned int r = a % b;

		a = b;
		b = r;
	}
	return a;
}

void
weighted_rr_clear(struct weighted_rr *m)
{
	m->n = m->len = 0;
}

void
weighted_rr_add(struct weighted_rr *m, unsigned int weight)
{
	assert(weight > 0 && (m->n + 1) * WEIGHTED_RR_WEIGHT_MAX <= m->cap);
	m->heap[m->n] = (uint16_t)m->n;
	m->member[m->n++] = (struct weighted_rr_member){ .weight = (uint16_t)weight };
}

static void
reduce_weights(struct weighted_rr *m)
{
	unsigned int common = 0;

	for (unsigned int i = 0; i < m->n; i++)
		common = common_divisor(m->member[i].weight, common);
	for (unsigned int i = 0; i < m->n; i++) {
		m->member[i].weight = (uint16_t)(m->member[i].weight / common);
		m->len += m->member[i].weight;
	}
	assert(m->len <= m->cap);
}

void
weighted_rr_build(struct weighted_rr *m, enum weighted_rr_order order)
{
	unsigned int lead = lead_of(order);

	reduce_weights(m);
	for (unsigned int i = m->n / 2; i-- > 0;)
		rr_sift_down(m, lead, i);
	memset(m->first, 0, (size_t)words_for(m->n) * CLAIMS_MAX * sizeof(*m->first));
	for (unsigned int i = 0; i < m->n; i++)
		set_claims(m, i, 1);
	for (unsigned int i = 0; i < m->len; i++)
		m->slot[i] = (uint16_t)(order == WEIGHTED_RR_EVEN ? next_turn(m, lead)
								 : next_claimant(m, i));
}
