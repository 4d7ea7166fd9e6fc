/*
 * Filters: what proxies do to the bytes of a direction between its reads and its writes. A kind of
 * filter is a table of operations, a line of a configuration is a filter_conf of a proxy, and a
 * direction that one takes part in has a struct filter. relay/filter.c moves the bytes of such a
 * direction; other files do not know filters.
 */
#ifndef TACIT_PROXY_MODEL_FILTER_H
#define TACIT_PROXY_MODEL_FILTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "proxy/model/stream_extras.h"

struct filter_conf;
struct http_head;

/* The part that a filter takes in a message, or in one direction of TCP. */
enum filter_part {
	FILTER_ABSENT,
	FILTER_PASSES,  /* it counts bytes and may delay them */
	FILTER_CHANGES, /* it makes others of them: the message is framed again */
};

struct filter {
	struct filter *next;  /* in the order of the configuration, once it has begun */
	const struct filter_conf *conf;
	uint8_t part;         /* enum filter_part: ABSENT until it has begun */
};

struct filter_kind {
	const char *name;
	size_t size;          /* of the structure that begins with a struct filter */
	int drops_trailers;   /* it changes bytes, and the trailers of the message do not pass */
	/* A request begins, before its filters do: the filter of its response may read the head,
	 * and change its fields. NULL: nothing is to be done. */
	void (*foresee)(const struct filter_conf *conf, struct stream *s, struct http_head *head);
	/*
	 * A message begins, when all rules have run, or a direction of TCP or of a tunnel (head
	 * NULL): how it takes part. Takes its struct filter with filter_get(), and may change the
	 * fields of the head; the framing is not its concern. Also called for a request without a
	 * body, but not for such a response.
	 */
	enum filter_part (*begin)(const struct filter_conf *conf, struct stream *s, int side,
		struct http_head *head);
	/* A response without a body, instead: its filter that a rule has chosen, then those of the
	 * request. NULL: nothing is to be done. */
	void (*no_body)(struct filter *f);
	/* The number of n bytes that may pass now; 0: none before *wake_ms. NULL: all. */
	size_t (*grant)(struct filter *f, struct stream *s, size_t n, uint64_t *wake_ms);
	/* The bytes p[0..n) pass. NULL: nothing is to be done. */
	void (*passed)(struct filter *f, struct stream *s, const char *p, size_t n);
	/* At most this many bytes are made of n, the last ones included. NULL: it changes none. */
	size_t (*most)(const struct filter *f, size_t n);
	/* Makes bytes of p[0..n): their number. `to` has room for most(n). last: none follow. */
	size_t (*change)(struct filter *f, struct stream *s, const char *p, size_t n, int last,
		char *to);
	/* NULL: nothing to release but its memory. */
	void (*fini)(struct filter *f);
	/* Frees what the kind owns of it, and itself: filter_conf_free() calls it. */
	void (*conf_free)(struct filter_conf *conf);
};

/* The beginning of a structure of its kind. */
struct filter_conf {
	struct filter_conf *next; /* of its proxy, in file order */
	const struct filter_kind *kind;
	char *name;               /* by which rules find it, owned; NULL: it has none */
	const char *word;         /* behind `filter`; NULL: an option has made it */
	const char *alias[SIDES]; /* another word for it, in a direction; NULL: none */
	uint8_t sides;            /* bits, 1u << side: the directions that it may act on */
	/* The same bits, of those that only other lines than `filter` have made it for. */
	uint8_t implied;
	/* In a sequence of its proxy, by direction: the filter behind it, NULL: it is the last. */
	struct filter_conf *after[SIDES];
	uint8_t left_out;         /* bits, 1u << side: the sequence does not have it */
};

/* `filter-sequence`: the filters of a proxy that run in one direction. */
struct filter_sequence {
	struct filter_conf *first; /* NULL: none runs */
	char *names;               /* of the line, owned */
	struct cfg_where where;    /* of the first one */
};

static inline void
filter_sequence_free(struct filter_sequence *q)
{
	if (q)
		mem_free(q->names);
	mem_free(q);
}

/* The filters of a proxy in the order in which they run in a direction: the first one, and the one
 * behind another. NULL: there are no more. */
static inline struct filter_conf *
filter_conf_first(const struct proxy *p, int side)
{
	return p->sequence[side] ? p->sequence[side]->first : p->filters;
}

static inline struct filter_conf *
filter_conf_after(const struct proxy *p, int side, const struct filter_conf *conf)
{
	return p->sequence[side] ? conf->after[side] : conf->next;
}

/* False if the sequence of its proxy leaves it out in that direction. */
static inline int
filter_conf_runs(const struct filter_conf *conf, int side)
{
	return !(conf->left_out >> side & 1);
}

/* The filter of this kind and name among those of a proxy, or NULL. */
static inline struct filter_conf *
filter_conf_find(struct filter_conf *list, const struct filter_kind *kind, const char *name)
{
	while (list && (list->kind != kind || !list->name || strcmp(list->name, name) != 0))
		list = list->next;
	return list;
}

static inline void
filter_conf_free(struct filter_conf *conf)
{
	mem_free(conf->name);
	conf->kind->conf_free(conf);
}

/* Appends it to the filters of a proxy. */
static inline void
filter_conf_add(struct filter_conf **list, struct filter_conf *conf)
{
	while (*list)
		list = &(*list)->next;
	*list = conf;
}

/* The most that filters of that direction do. */
static inline enum filter_part
stream_filtering(const struct stream *s, int side)
{
	enum filter_part most = FILTER_ABSENT;

	if (likely(!s->extras))
		return most;
	for (const struct filter *f = s->extras->filters[side]; f; f = f->next)
		most = MAX(most, (enum filter_part)f->part);
	return most;
}

/* True if a filter of that direction drops trailers. */
static inline int
stream_drops_trailers(const struct stream *s, int side)
{
	for (const struct filter *f = s->extras->filters[side]; f; f = f->next)
		if (f->part == FILTER_CHANGES && f->conf->kind->drops_trailers)
			return 1;
	return 0;
}

/* True if one of the stream's proxies has a filter. */
static inline int
stream_may_filter(const struct stream *s)
{
	return s->sess->fe->filters || s->be->filters;
}

#endif
