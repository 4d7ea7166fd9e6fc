/* Compression of bodies. Read on the main thread; a filter runs on its stream's worker with that
 * worker's compressor. A message that is cut has no end in its compressed bytes either. */
#include "proxy/filter/compress.h"

#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/vary.h"
#include "proxy/filter/compress_conf.h"
#include "proxy/model/http_count.h"
#include "proxy/model/memory.h"
#include "proxy/model/proxies.h"
#include "rule/sample/arena.h"

/* Bytes that the fields of a compressed message may add to its head. */
#define FIELDS_MAX 128
/* The longest piece that a compressor takes; one of tune.bufsize may be longer. */
#define PIECE_MAX ((size_t)65535)

struct compress {
	struct filter f;
	uint8_t side;               /* whose messages are compressed */
	uint8_t algo;               /* enum compress_algo */
	uint8_t spare;              /* the same, if a response has no memory for that */
	struct deflate_body body;
	void *own;                  /* the body of the algorithm's coder; NULL: none */
	struct compression *worker; /* what counts its memory */
};

const struct compress_algo_row compress_algos[] = {
	[ALGO_IDENTITY] = { "identity", "identity", NULL, 0 },
	[ALGO_GZIP] = { "gzip", "gzip", NULL, DEFLATE_GZIP },
	[ALGO_DEFLATE] = { "deflate", "deflate", NULL, DEFLATE_ZLIB },
	[ALGO_RAW_DEFLATE] = { "raw-deflate", "deflate", NULL, DEFLATE_RAW },
	[ALGO_BR] = { "br", "br", &coder_br, 0 },
	[ALGO_ZSTD] = { "zstd", "zstd", &coder_zstd, 0 },
};

static struct str
coding_name(unsigned int algo)
{
	return str_of(compress_algos[algo].coding);
}

/* --- the settings that apply --- */

/* The settings of the stream's proxies: the backend's come first. */
struct compress_pair {
	const struct compress_conf *of[2]; /* NULL: none */
};

static struct compress_pair
confs_of(const struct stream *s)
{
	const struct proxy *be = stream_backend(s);
	struct compress_pair pair = { { !be || be == s->sess->fe ? NULL : compress_of(be),
		compress_of(s->sess->fe) } };

	return pair;
}

/* The filter of a proxy that runs on the messages of a side, or NULL. */
static const struct filter_conf *
compress_place_for(const struct proxy *p, int side)
{
	const struct filter_conf *conf = p->filters;

	while (conf && (conf->kind != &compress_kind || !(conf->sides >> side & 1) ||
			       !filter_conf_runs(conf, side)))
		conf = conf->next;
	return conf;
}

/* True if this filter compresses the messages of a side: that of the frontend, or else that of the
 * backend, acts for both. */
static int
acts_for(const struct stream *s, int side, const struct filter_conf *conf)
{
	const struct proxy *be = stream_backend(s);
	const struct filter_conf *first = compress_place_for(s->sess->fe, side);

	return s->engine->compression &&
		conf == (first || !be ? first : compress_place_for(be, side));
}

/* The first one that sets algorithms, NULL: there is none. */
static const struct compress_side *
algos_of(const struct compress_pair *pair, int side)
{
	for (int i = 0; i < 2; i++)
		if (pair->of[i] && pair->of[i]->side[side].n_algos)
			return &pair->of[i]->side[side];
	return NULL;
}

/* 1: these settings have messages of the side compressed, 0: they do not; -1: they do not say. */
static int
direction_of(const struct compress_conf *c, int side)
{
	if (c->split)
		return c->split >> side & 1 ? 1 : -1;
	return c->directions ? (int)(c->directions >> side & 1) : -1;
}

/* Without a word of either proxy it is that of responses, where no place is for one side alone. */
static int
has_direction(const struct compress_pair *pair, int side)
{
	int has_default = 0;

	for (int i = 0; i < 2; i++) {
		int is = pair->of[i] ? direction_of(pair->of[i], side) : -1;

		if (is >= 0)
			return is;
		has_default |= pair->of[i] && !pair->of[i]->split;
	}
	return side == SERVER && has_default;
}

static int
has_offload(const struct compress_pair *pair)
{
	return (pair->of[0] && pair->of[0]->offload) || (pair->of[1] && pair->of[1]->offload);
}

static uint64_t
min_size_of(const struct compress_pair *pair, int side)
{
	for (int i = 0; i < 2; i++)
		if (pair->of[i] && pair->of[i]->side[side].has_min_size)
			return pair->of[i]->side[side].min_size;
	return 0;
}

/* True if a type of the list begins this one, or there is no list. */
static int
allows_type(const struct compress_pair *pair, int side, struct str type)
{
	const struct compress_side *list = NULL;

	for (int i = 0; i < 2 && !list; i++)
		if (pair->of[i] && pair->of[i]->side[side].n_types)
			list = &pair->of[i]->side[side];
	for (unsigned int i = 0; list && i < list->n_types; i++) {
		struct str t = str_of(list->type[i]);

		if (type.len >= t.len && str_is_nocase((struct str){ type.p, t.len }, t))
			return 1;
	}
	return !list;
}

/* --- codings that a client accepts --- */

/* True if the client names the coding, so that "*" does not mean it. */
static int
names_coding(const struct http_head *req, struct str coding)
{
	struct str name = STR("Accept-Encoding");
	unsigned int weight;

	for (int i = http_find(req, name, 0); i >= 0;
		i = http_find(req, name, (unsigned int)i + 1)) {
		struct str rest = req->field[i].value, element;

		while (http_list_next(&rest, &element))
			if (str_is_nocase(http_coding_split(element, &weight), coding))
				return 1;
	}
	return 0;
}

struct choice {
	const struct compress_side *conf;
	int is_shared;              /* only algorithms of the worker's compressor */
	unsigned int weight, at;    /* of the best one so far: n_algos, there is none */
};

/* True if the algorithm is better than the best one so far. */
static int
is_better(const struct choice *c, unsigned int at, unsigned int weight)
{
	return weight > c->weight || (weight && weight == c->weight && c->conf->is_ordered &&
		at < c->at);
}

/* Takes an algorithm for an element of Accept-Encoding, if it is better. */
static void
consider_coding(struct choice *c, const struct http_head *req, struct str element)
{
	unsigned int weight;
	struct str name = http_coding_split(element, &weight);
	int is_any = str_is(name, STR("*"));

	for (unsigned int i = 0; i < c->conf->n_algos; i++) {
		struct str coding = coding_name(c->conf->algo[i]);

		if (!is_better(c, i, weight) ||
			(c->is_shared && compress_algos[c->conf->algo[i]].coder))
			continue;
		if (is_any ? names_coding(req, coding) : !str_is_nocase(name, coding))
			continue;
		c->weight = weight;
		c->at = i;
	}
}

/* The algorithm that the client likes best; ALGO_IDENTITY: none. */
static uint8_t
accepted_algo(const struct compress_side *conf, const struct http_head *req, int is_shared)
{
	struct choice c = { .conf = conf, .is_shared = is_shared, .at = conf->n_algos };
	struct str name = STR("Accept-Encoding");

	for (int i = http_find(req, name, 0); i >= 0;
		i = http_find(req, name, (unsigned int)i + 1)) {
		struct str rest = req->field[i].value, element;

		while (http_list_next(&rest, &element))
			consider_coding(&c, req, element);
	}
	return c.at < conf->n_algos ? conf->algo[c.at] : ALGO_IDENTITY;
}

/* Where `mark` stands in text, or NULL. */
static const char *
text_find(struct str text, struct str mark)
{
	return memmem(text.p, text.len, mark.p, mark.len);
}

/* True for clients that announce a coding but cannot read it: Mozilla/4 except MSIE 7 and newer,
 * and MSIE 6 of Windows XP SP2. */
static int
is_known_bad(const struct http_head *req)
{
	int at = http_find_id(req, HTTP_F_USER_AGENT, 0);
	struct str agent = at < 0 ? STR("") : req->field[at].value;
	struct str version = { "", 0 };
	const char *msie;
	char digit;

	if (agent.len < 9 || memcmp(agent.p, "Mozilla/4", 9) != 0)
		return 0;
	msie = text_find(agent, STR("MSIE "));
	if (msie)
		version = (struct str){ msie + 5, (size_t)(agent.p + agent.len - msie) - 5 };
	/* Two digits: 10 or newer. */
	if (version.len > 1 && version.p[1] != '.')
		return 0;
	digit = version.len ? version.p[0] : '0';
	return digit < '6' || (digit == '6' && !text_find(agent, STR("SV1")));
}

/* --- messages that are compressed --- */

static int
is_valid_etag(struct str v)
{
	if (v.len > 2 && memcmp(v.p, "W/", 2) == 0)
		v = (struct str){ v.p + 2, v.len - 2 };
	return v.len >= 2 && v.p[0] == '"' && v.p[v.len - 1] == '"' &&
		!memchr(v.p + 1, '"', v.len - 2);
}

/* True if there is none, or a valid one alone. */
static int
has_usable_etag(const struct http_head *h)
{
	int at = http_find(h, STR("ETag"), 0);

	return at < 0 || (is_valid_etag(h->field[at].value) &&
		http_find(h, STR("ETag"), (unsigned int)at + 1) < 0);
}

/* A body of known size or in chunks, of an allowed type, that is not encoded yet and may be. */
static int
has_usable_body(const struct compress_pair *pair, int side, const struct http_head *h)
{
	int at = http_find_id(h, HTTP_F_CONTENT_TYPE, 0);
	struct str type = at < 0 ? STR("") : h->field[at].value, multipart = STR("multipart");
	uint64_t least = min_size_of(pair, side);

	if (h->framing != HTTP_BODY_CHUNKED &&
		(h->framing != HTTP_BODY_LENGTH || !h->length || h->length < least))
		return 0;
	if (type.len >= multipart.len &&
		str_is_nocase((struct str){ type.p, multipart.len }, multipart))
		return 0;
	return allows_type(pair, side, type) && http_find_id(h, HTTP_F_CONTENT_ENCODING, 0) < 0 &&
		!http_lists(h, HTTP_F_CACHE_CONTROL, STR("no-transform"));
}

static int
is_usable_response(const struct stream *s, const struct http_head *h)
{
	const struct http_txn *t = s->txn;

	if (t->version == HTTP_1_0 || (t->has_res_version && t->res_version == HTTP_1_0) ||
		t->asked == HTTP_HEAD)
		return 0;
	return h->status >= 200 && h->status <= 203 && has_usable_etag(h);
}

/* True if the head can take the fields of a compressed message. */
static int
head_has_room(const struct stream *s, const struct http_head *h)
{
	return h->n + 3 <= h->max &&
		http_texts_size(h) + FIELDS_MAX <
			s->engine->bufsize - s->engine->limits.maxrewrite / 2;
}

/* "W/" in front of a strong one: the bytes differ. 0, or -1: there is no room. */
static int
weaken_etag(struct stream *s, struct http_head *h)
{
	int at = http_find(h, STR("ETag"), 0);
	struct str v;
	char *text;

	if (at < 0 || h->field[at].value.p[0] == 'W')
		return 0;
	v = h->field[at].value;
	text = arena_get(&s->engine->eval.arena, v.len + 2);
	if (!text)
		return -1;
	memcpy(text, "W/", 2);
	memcpy(text + 2, v.p, v.len);
	return http_set_value(h, (unsigned int)at, (struct str){ text, v.len + 2 });
}

static int
add_vary(struct http_head *h)
{
	struct str name = STR("Vary");

	for (int i = http_find(h, name, 0); i >= 0; i = http_find(h, name, (unsigned int)i + 1))
		if (http_list_has(h->field[i].value, STR("Accept-Encoding")) ||
			http_list_has(h->field[i].value, STR("*")))
			return 0;
	return http_add(h, name, STR("Accept-Encoding"));
}

/* --- counters --- */

/* Adds to the counters of the stream's proxies, which are those of responses: a cache may respond
 * before there is a backend. */
static void
count_compressed(const struct stream *s, uint64_t responses, uint64_t in, uint64_t out)
{
	struct proxy_stat *of[] = { fe_stat(s), http_be_stat(s) };

	for (size_t i = 0; i < ARRAY_LEN(of) && of[i]; i++) {
		counter_add(&of[i]->comp_rsp, responses);
		counter_add(&of[i]->comp_in, in);
		counter_add(&of[i]->comp_out, out);
	}
}

/* --- resources --- */

/* True if the worker may compress more now: maxcomprate, maxcompcpuusage. */
static int
has_resources(const struct stream *s)
{
	const struct engine *e = s->engine;
	unsigned int most = e->shared->comp_rate / e->shared->n;

	if (e->shared->comp_rate && freq_read(&e->compression->out, stream_now_ms(s)) > most)
		return 0;
	return loop_idle_pct(e->loop) + e->shared->comp_cpu >= 100;
}

/* True if the worker may take so much memory more: maxzlibmem, tune.memory. */
static int
has_memory(const struct engine *e, size_t n)
{
	uint64_t most = e->shared->comp_memory / e->shared->n;

	return (!most || counter_read(&e->compression->memory) + n <= most) && memory_room(e) >= n;
}

static void
end_coder(struct filter *f)
{
	struct compress *c = (struct compress *)f;
	const struct coder *coder = compress_algos[c->algo].coder;

	if (!c->own)
		return;
	coder->end(c->own);
	c->own = NULL;
	counter_sub(&c->worker->memory, coder->memory);
}

/* Begins the body of an algorithm that has a coder: 1, or 0: there is no memory. */
static int
begin_coder(struct compress *c, const struct stream *s)
{
	const struct coder *coder = compress_algos[c->algo].coder;

	if (!coder)
		return 1;
	if (!has_memory(s->engine, coder->memory))
		return 0;
	c->own = coder->begin();
	if (!c->own)
		return 0;
	c->worker = s->engine->compression;
	counter_add(&c->worker->memory, coder->memory);
	memory_watch(s->engine);
	return 1;
}

/* The same for a response, or else by an algorithm that takes none. */
static int
begin_response(struct compress *c, const struct stream *s)
{
	if (begin_coder(c, s))
		return 1;
	c->algo = c->spare;
	return c->algo != ALGO_IDENTITY;
}

/* --- the filter --- */

static struct compress *
compress_get(struct stream *s, int side, const struct filter_conf *conf, uint8_t algo)
{
	struct compress *c = (struct compress *)filter_get(s, side, conf);

	if (c) {
		c->side = (uint8_t)side;
		c->algo = algo;
	}
	return c;
}

/* Chooses the algorithm of the response. */
static void
foresee_response(const struct filter_conf *conf, struct stream *s, struct http_head *h)
{
	struct compress_pair pair = confs_of(s);
	const struct compress_side *res = algos_of(&pair, SERVER);
	struct compress *c;
	uint8_t algo;

	if (!res || !acts_for(s, SERVER, conf) || !has_direction(&pair, SERVER) || is_known_bad(h))
		return;
	algo = accepted_algo(res, h, 0);
	c = algo == ALGO_IDENTITY ? NULL : compress_get(s, SERVER, conf, algo);
	if (!c)
		return;
	c->spare = compress_algos[algo].coder ? accepted_algo(res, h, 1) : ALGO_IDENTITY;
	if (has_offload(&pair))
		(void)http_drop_all(h, STR("Accept-Encoding"));
}

static enum filter_part
compress_request(const struct compress_pair *pair, const struct filter_conf *conf, struct stream *s,
	struct http_head *h)
{
	const struct compress_side *req = algos_of(pair, CLIENT);
	struct compress *c;

	if (!req || req->algo[0] == ALGO_IDENTITY || !has_direction(pair, CLIENT) ||
		h->version == HTTP_1_0 || !has_usable_body(pair, CLIENT, h) ||
		!head_has_room(s, h) || !has_resources(s))
		return FILTER_ABSENT;
	c = compress_get(s, CLIENT, conf, req->algo[0]);
	if (!c || !begin_coder(c, s) ||
		http_add_id(h, HTTP_F_CONTENT_ENCODING, coding_name(c->algo)) < 0)
		return FILTER_ABSENT;
	c->body.format = compress_algos[c->algo].format;
	return FILTER_CHANGES;
}

static enum filter_part
compress_response(const struct compress_pair *pair, const struct filter_conf *conf,
	struct stream *s, struct http_head *h)
{
	struct compress *c = (struct compress *)filter_find(s, SERVER, conf);

	if (!c || !is_usable_response(s, h) || !has_usable_body(pair, SERVER, h) ||
		!head_has_room(s, h))
		return FILTER_ABSENT;
	if (!has_resources(s) || !begin_response(c, s))
		return FILTER_PASSES;
	if (weaken_etag(s, h) < 0 || add_vary(h) < 0 ||
		http_add_id(h, HTTP_F_CONTENT_ENCODING, coding_name(c->algo)) < 0)
		return FILTER_ABSENT;
	c->body.format = compress_algos[c->algo].format;
	count_compressed(s, 1, 0, 0);
	return FILTER_CHANGES;
}

static enum filter_part
compress_begin(const struct filter_conf *conf, struct stream *s, int side, struct http_head *head)
{
	struct compress_pair pair = confs_of(s);

	if (!head || !acts_for(s, side, conf))
		return FILTER_ABSENT;
	return side == CLIENT ? compress_request(&pair, conf, s, head)
			      : compress_response(&pair, conf, s, head);
}

/* Counts bytes that are not compressed for lack of resources. */
static void
count_bypassed(struct filter *f unused, struct stream *s, const char *p unused, size_t n)
{
	struct proxy_stat *be = http_be_stat(s);

	counter_add(&fe_stat(s)->comp_byp, n);
	if (be)
		counter_add(&be->comp_byp, n);
}

static size_t
most_compressed(const struct filter *f, size_t n)
{
	size_t added = ((const struct compress *)f)->own ? coder_most(0) : deflate_most(0);

	return n + (n / PIECE_MAX + 1) * added;
}

static size_t
compress_piece(struct compress *c, const struct compression *worker, const char *p, size_t n,
	int last, char *to)
{
	if (!c->own)
		return deflate_piece(worker->deflate, &c->body, p, n, last, to);
	return compress_algos[c->algo].coder->piece(c->own, p, n, last, to);
}

static size_t
compress_bytes(struct filter *f, struct stream *s, const char *p, size_t n, int last, char *to)
{
	struct compression *c = s->engine->compression;
	size_t out = 0, at = 0;

	do {
		size_t len = MIN(n - at, PIECE_MAX);

		out += compress_piece((struct compress *)f, c, p + at, len, last && at + len == n,
			to + out);
		at += len;
	} while (at < n);
	freq_add(&c->in, stream_now_ms(s), (uint32_t)n);
	freq_add(&c->out, stream_now_ms(s), (uint32_t)out);
	if (((const struct compress *)f)->side == SERVER)
		count_compressed(s, 0, n, out);
	if (last)
		end_coder(f);
	return out;
}

static void
free_compress_place(struct filter_conf *conf)
{
	struct compress_place *place = (struct compress_place *)conf;
	struct compress_conf *c = place->of;

	mem_free(place);
	if (--c->n_places)
		return;
	for (int side = 0; side < SIDES; side++)
		for (unsigned int i = 0; i < c->side[side].n_types; i++)
			mem_free(c->side[side].type[i]);
	mem_free(c);
}

const struct filter_kind compress_kind = {
	.name = "compression",
	.size = sizeof(struct compress),
	.foresee = foresee_response,
	.begin = compress_begin,
	.passed = count_bypassed,
	.most = most_compressed,
	.change = compress_bytes,
	.fini = end_coder,
	.conf_free = free_compress_place,
};

/* --- engines --- */

int
engine_allow_compression(
	struct engine *e, const struct proxies *ps, const struct deflate_conf *conf)
{
	int is_used = 0;

	list_each(it, &ps->all)
		is_used |= compress_of(list_entry(it, struct proxy, link)) != NULL;
	if (!is_used)
		return 0;
	e->compression = mem_zalloc(sizeof(*e->compression));
	if (!e->compression)
		return -ERR_NOMEM;
	e->compression->deflate = deflate_new(conf);
	if (e->compression->deflate)
		return 0;
	engine_compression_free(e);
	return -ERR_NOMEM;
}

void
engine_compression_free(struct engine *e)
{
	if (e->compression)
		deflate_free(&e->compression->deflate);
	mem_free(e->compression);
	e->compression = NULL;
}

/* --- fetches --- */

/* The filter that compresses the response, or NULL. */
static const struct compress *
response_filter(const struct sample_ctx *cx)
{
	const struct stream *s = cx->stream;
	const struct filter *f = s && s->extras ? s->extras->filters[SERVER] : NULL;

	while (f && (f->conf->kind != &compress_kind || f->part != FILTER_CHANGES))
		f = f->next;
	return (const struct compress *)f;
}

static int
fetch_comp(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	sample_set_bool(s, response_filter(cx) != NULL);
	return 1;
}

static int
fetch_comp_algo(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct compress *c = response_filter(cx);

	if (!c)
		return 0;
	sample_set_str(s, str_of(compress_algos[c->algo].word));
	return 1;
}

const struct rule_fetch compress_fetches[] = {
	{ .name = "res.comp", .needs = SAMPLE_AT_SERVER, .out = SAMPLE_BOOL, .fetch = fetch_comp,
		.doc = "True if the response is compressed. Known behind its rules: in logs." },
	{ .name = "res.comp_algo", .needs = SAMPLE_AT_SERVER, .out = SAMPLE_STR,
		.fetch = fetch_comp_algo,
		.doc = "The algorithm by which the response is compressed, as compression algo "
		       "names it." },
	{ .name = NULL },
};
