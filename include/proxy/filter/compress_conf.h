/*
 * The settings of compression, for the filter and for the keywords that make them.
 */
#ifndef TACIT_PROXY_FILTER_COMPRESS_CONF_H
#define TACIT_PROXY_FILTER_COMPRESS_CONF_H

#include "base/str.h"
#include "http/coder.h"
#include "proxy/model/filter.h"
#include "proxy/model/proxy.h"

#define COMPRESS_ALGOS_MAX 8
#define COMPRESS_TYPES_MAX 128

enum compress_algo { ALGO_IDENTITY, ALGO_GZIP, ALGO_DEFLATE, ALGO_RAW_DEFLATE, ALGO_BR, ALGO_ZSTD };

struct compress_algo_row {
	const char *word;           /* of configurations */
	const char *coding;         /* as clients name it */
	const struct coder *coder;  /* NULL: the worker's compressor is used */
	uint8_t format;             /* enum deflate_format of that */
};

/* By enum compress_algo. */
extern const struct compress_algo_row compress_algos[];

/* The settings of one direction. */
struct compress_side {
	unsigned int n_algos, n_types;
	uint8_t algo[COMPRESS_ALGOS_MAX]; /* enum compress_algo */
	uint8_t is_ordered;         /* among equal weights the first algorithm is taken; otherwise
				     * the first one that the client names, as HAProxy does */
	char *type[COMPRESS_TYPES_MAX];
	uint8_t has_min_size;
	uint64_t min_size;
	struct cfg_where where;     /* of the section's first algorithm */
};

/* The settings of a proxy. */
struct compress_conf {
	struct compress_side side[SIDES];
	unsigned int directions;    /* bits, 1u << side; 0: not set */
	struct cfg_where where, direction_where; /* of the section's first line, and of that */
	int offload;
	unsigned int split;         /* bits of the sides with a place of their own, by `filter
				     * comp-req` and `filter comp-res`; 0: one is for both */
	unsigned int n_places;      /* the last one that is freed frees the settings */
};

/* A place among the filters of a proxy, where the messages of its sides are compressed. */
struct compress_place {
	struct filter_conf conf;
	struct compress_conf *of;
};

extern const struct filter_kind compress_kind;

/* The first place of a proxy, NULL: it does not compress. */
static inline struct compress_place *
compress_place_of(const struct proxy *p)
{
	struct filter_conf *conf = p->filters;

	while (conf && conf->kind != &compress_kind)
		conf = conf->next;
	return (struct compress_place *)conf;
}

/* The settings of a proxy, NULL: it has none. */
static inline struct compress_conf *
compress_of(const struct proxy *p)
{
	struct compress_place *place = compress_place_of(p);

	return place ? place->of : NULL;
}

#endif
