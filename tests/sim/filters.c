#include "sim/filters.h"

#include <string.h>

#include "base/mem.h"
#include "proxy/model/filter.h"

#define HELD_MAX 8

struct deed_conf {
	struct filter_conf conf;
	unsigned int times, more; /* n bytes become at most n * times + more */
	unsigned int bytes, ms;   /* so many of them pass in that time */
};

struct deed {
	struct filter f;
	uint64_t next_ms;
	int odd;
	size_t n;
	char held[HELD_MAX];
};

static const struct deed_conf *
conf_of(const struct filter *f)
{
	return (const struct deed_conf *)f->conf;
}

static enum filter_part
begin(const struct filter_conf *conf, struct stream *s, int side, struct http_head *head)
{
	(void)head;
	if (!filter_get(s, side, conf))
		return FILTER_ABSENT;
	return conf->kind->change ? FILTER_CHANGES : FILTER_PASSES;
}

static size_t
most(const struct filter *f, size_t n)
{
	return n * conf_of(f)->times + conf_of(f)->more;
}

static size_t
change_twice(struct filter *f, struct stream *s, const char *p, size_t n, int last, char *to)
{
	(void)f;
	(void)s;
	(void)last;
	for (size_t i = 0; i < n; i++)
		to[2 * i] = to[2 * i + 1] = p[i];
	return 2 * n;
}

static size_t
change_half(struct filter *f, struct stream *s, const char *p, size_t n, int last, char *to)
{
	struct deed *d = (struct deed *)f;
	size_t put = 0;

	(void)s;
	(void)last;
	for (size_t i = 0; i < n; i++, d->odd = !d->odd)
		if (!d->odd)
			to[put++] = p[i];
	return put;
}

static size_t
change_drop(struct filter *f, struct stream *s, const char *p, size_t n, int last, char *to)
{
	size_t put = 0;

	(void)f;
	(void)s;
	(void)last;
	for (size_t i = 0; i < n; i++)
		if (p[i] != '-')
			to[put++] = p[i];
	return put;
}

static size_t
change_hold(struct filter *f, struct stream *s, const char *p, size_t n, int last, char *to)
{
	struct deed *d = (struct deed *)f;
	size_t all = d->n + n, hold = last ? 0 : MIN(all, (size_t)HELD_MAX);
	char rest[HELD_MAX];

	(void)s;
	memcpy(to, d->held, d->n);
	memcpy(to + d->n, p, n);
	memcpy(rest, to + all - hold, hold);
	memcpy(d->held, rest, hold);
	d->n = hold;
	return all - hold;
}

static size_t
grant_some(struct filter *f, struct stream *s, size_t n, uint64_t *wake_ms)
{
	const struct deed *d = (const struct deed *)f;

	*wake_ms = d->next_ms;
	return stream_now_ms(s) < d->next_ms ? 0 : MIN(n, (size_t)conf_of(f)->bytes);
}

static void
note_passed(struct filter *f, struct stream *s, const char *p unused, size_t n)
{
	struct deed *d = (struct deed *)f;

	(void)n;
	d->next_ms = stream_now_ms(s) + conf_of(f)->ms;
}

static void
free_conf(struct filter_conf *conf)
{
	mem_free(conf);
}

#define KIND(n, ...) \
	{ .name = n, .size = sizeof(struct deed), .begin = begin, .conf_free = free_conf, \
		__VA_ARGS__ }
#define CHANGES(n, how) KIND(n, .most = most, .change = how)
#define DELAYS(n) KIND(n, .grant = grant_some, .passed = note_passed)

static const struct filter_kind kinds[FILTER_DEEDS] = {
	[FILTER_DOUBLES] = CHANGES("doubles", change_twice),
	[FILTER_DELAYS] = DELAYS("delays"),
	[FILTER_HOLDS] = CHANGES("holds", change_hold),
	[FILTER_HALVES] = CHANGES("halves", change_half),
	[FILTER_DROPS] = CHANGES("drops", change_drop),
	[FILTER_DRIPS] = DELAYS("drips"),
};

static void
add(struct proxy *px, enum filter_deed deed)
{
	struct deed_conf *c = mem_zalloc(sizeof(*c));

	assert(c);
	c->conf.kind = &kinds[deed];
	c->conf.word = kinds[deed].name;
	c->conf.sides = 1u << CLIENT | 1u << SERVER;
	c->times = deed == FILTER_DOUBLES ? 2 : 1;
	c->more = deed == FILTER_HOLDS ? HELD_MAX : 0;
	c->bytes = deed == FILTER_DRIPS ? 3 : 700;
	c->ms = deed == FILTER_DRIPS ? 100 : 10;
	filter_conf_add(&px->filters, &c->conf);
}

void
filters_add(struct proxy *px, unsigned int deeds)
{
	for (enum filter_deed i = 0; i < FILTER_DEEDS; i++)
		if (deeds & 1u << i)
			add(px, i);
}
