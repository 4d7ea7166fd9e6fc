/* Responses that rules make: their arguments, checked while the configuration is read, and how
 * a worker writes one. What is written comes out of the arena. */
#include "rule/action/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "http/errorfile.h"
#include "http/head.h"
#include "http/reply.h"

/* What the payload comes from. */
enum source {
	FROM_NOTHING,
	FROM_PROXY,       /* default-errorfiles */
	FROM_ERRORFILE,   /* a whole response */
	FROM_SECTION,     /* one of http-errors */
	FROM_TEXT,        /* body */
	FROM_FORMAT       /* fmt */
};

struct hdr {
	struct str name;  /* owned, terminated */
	struct rule_fmt *fmt;
};

struct answer {
	enum source source;
	unsigned int status;
	struct str type;      /* Content-Type, owned; p NULL: not given */
	struct str body;      /* owned */
	struct rule_fmt *fmt;
	struct hdr hdr[ANSWER_HDRS_MAX];
	unsigned int n_hdr;
	struct http_reply *reply; /* of an errorfile; of a section once it was checked */
	struct str section;       /* its name, owned */
	struct http_reply *(*page)(const void *root, const char *section, unsigned int status,
		const char **why);
};

/* What is at work while one is read. */
struct reading {
	const struct rule *r;
	const struct rule_vocab *v;
	struct cfg_ctx *ctx;
	unsigned int at;
	const char *code_word;
	struct answer *a;
	int arg;              /* the word at work */
	int source_arg;       /* of the payload; -1: none yet */
	int status_arg;
};

/* --- reading -------------------------------------------------------------------------------- */

#define FAIL(rd, i, ...) cfg_error((rd)->ctx, i, __VA_ARGS__)

static int
read_status(struct reading *rd)
{
	int status;

	if (rd->arg + 1 >= rd->ctx->argc)
		return FAIL(rd, rd->arg, "'%s %s' : '%s' expects a status.",
			rule_place_name(rd->r->place), rd->r->action->name,
			cfg_arg(rd->ctx, rd->arg));
	if (cfg_arg_int(rd->ctx, rd->arg + 1, 200, 599, &status) < 0)
		return -1;
	rd->a->status = (unsigned int)status;
	rd->status_arg = rd->arg + 1;
	rd->arg += 2;
	return 0;
}

static int
has_argument(struct reading *rd, int n)
{
	if (rd->arg + n < rd->ctx->argc)
		return 0;
	return FAIL(rd, rd->ctx->argc, "'%s %s' : '%s' expects %s.", rule_place_name(rd->r->place),
		rd->r->action->name, cfg_arg(rd->ctx, rd->arg),
		n == 2 ? "a name and a format" : "an argument");
}

static int
read_type(struct reading *rd)
{
	if (has_argument(rd, 1) < 0)
		return -1;
	if (!act_is_value(str_of(cfg_arg(rd->ctx, rd->arg + 1))))
		return FAIL(rd, rd->arg + 1,
			"'%s %s' : no control characters can stand in a header.",
			rule_place_name(rd->r->place), rd->r->action->name);
	if (act_text(rd->ctx, rd->arg + 1, &rd->a->type) < 0)
		return -1;
	rd->arg += 2;
	return 0;
}

static int
read_hdr(struct reading *rd)
{
	struct hdr *h = &rd->a->hdr[rd->a->n_hdr];
	enum http_field_id id;

	if (has_argument(rd, 2) < 0)
		return -1;
	if (rd->a->n_hdr == ANSWER_HDRS_MAX)
		return FAIL(rd, rd->arg, "'%s %s' : more than %d headers.",
			rule_place_name(rd->r->place), rd->r->action->name, ANSWER_HDRS_MAX);
	if (act_field_name(rd->r, rd->ctx, rd->arg + 1, &h->name) < 0)
		return -1;
	rd->a->n_hdr++;
	id = http_field_id(h->name);
	if (http_field_is_framing(id))
		return FAIL(rd, rd->arg + 1, "'%s %s' : '%s' comes by itself where it is needed.",
			rule_place_name(rd->r->place), rd->r->action->name, h->name.p);
	if (!act_is_value(str_of(cfg_arg(rd->ctx, rd->arg + 2))))
		return FAIL(rd, rd->arg + 2,
			"'%s %s' : no control characters can stand in a header.",
			rule_place_name(rd->r->place), rd->r->action->name);
	if (act_fmt(rd->r, rd->v, rd->ctx, rd->arg + 2, rd->at, &h->fmt) < 0)
		return -1;
	rd->arg += 3;
	return 0;
}

static int
read_file(struct reading *rd)
{
	char *text;
	size_t len;

	if (cfg_arg_file(rd->ctx, rd->arg + 1, ANSWER_BODY_MAX, &text, &len) < 0)
		return -1;
	rd->a->body = (struct str){ text, len };
	return 0;
}

static int
read_errorfile(struct reading *rd)
{
	const char *why = NULL;
	int rc;

	if (read_file(rd) < 0)
		return -1;
	rc = http_errorfile(rd->a->body, &rd->a->reply, &why);
	if (rc == -ERR_NOMEM)
		return cfg_nomem(rd->ctx);
	if (rc == 0)
		return 0;
	return FAIL(rd, rd->arg + 1, "'%s %s' : '%s' cannot be the answer: %s.",
		rule_place_name(rd->r->place), rd->r->action->name, cfg_arg(rd->ctx, rd->arg + 1),
		why);
}

static int
read_lf_file(struct reading *rd)
{
	struct rule_err why = { 0 };

	if (read_file(rd) < 0)
		return -1;
	if (strlen(rd->a->body.p) != rd->a->body.len)
		return FAIL(rd, rd->arg + 1, "'%s %s' : file '%s' holds a NUL.",
			rule_place_name(rd->r->place), rd->r->action->name,
			cfg_arg(rd->ctx, rd->arg + 1));
	if (rule_fmt_compile(rd->v, rd->a->body.p, 0, rd->at, &rd->a->fmt, &why) < 0)
		return FAIL(rd, rd->arg + 1, "'%s %s' : %s (byte %zu of file '%s').",
			rule_place_name(rd->r->place), rd->r->action->name, why.text, why.at + 1,
			cfg_arg(rd->ctx, rd->arg + 1));
	return 0;
}

static int
read_string(struct reading *rd)
{
	if (strlen(cfg_arg(rd->ctx, rd->arg + 1)) > ANSWER_BODY_MAX)
		return FAIL(rd, rd->arg + 1, "'%s %s' : more than %d bytes.",
			rule_place_name(rd->r->place), rd->r->action->name, ANSWER_BODY_MAX);
	return act_text(rd->ctx, rd->arg + 1, &rd->a->body);
}

static int
read_lf_string(struct reading *rd)
{
	return act_fmt(rd->r, rd->v, rd->ctx, rd->arg + 1, rd->at, &rd->a->fmt);
}

static int
read_section(struct reading *rd)
{
	rd->a->page = rd->v->page;
	if (!rd->a->page)
		return FAIL(rd, rd->arg, "'%s %s' : there are no sections 'http-errors' here.",
			rule_place_name(rd->r->place), rd->r->action->name);
	return act_text(rd->ctx, rd->arg + 1, &rd->a->section);
}

static const struct {
	const char *word;
	enum source source;
	int (*read)(struct reading *rd); /* NULL: no argument */
} sources[] = {
	{ "default-errorfiles", FROM_PROXY, NULL },
	{ "errorfile", FROM_ERRORFILE, read_errorfile },
	{ "errorfiles", FROM_SECTION, read_section },
	{ "file", FROM_TEXT, read_file },
	{ "lf-file", FROM_FORMAT, read_lf_file },
	{ "string", FROM_TEXT, read_string },
	{ "lf-string", FROM_FORMAT, read_lf_string },
};

/* 1: it was one, 0: not, -1 after an error. */
static int
read_source(struct reading *rd)
{
	const char *word = cfg_arg(rd->ctx, rd->arg);

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		if (strcmp(word, sources[i].word) != 0)
			continue;
		if (rd->source_arg >= 0)
			return FAIL(rd, rd->arg, "'%s %s' : '%s' cannot follow '%s'.",
				rule_place_name(rd->r->place), rd->r->action->name, word,
				cfg_arg(rd->ctx, rd->source_arg));
		rd->source_arg = rd->arg;
		rd->a->source = sources[i].source;
		if (sources[i].read && (has_argument(rd, 1) < 0 || sources[i].read(rd) < 0))
			return -1;
		rd->arg += sources[i].read ? 2 : 1;
		return 1;
	}
	return 0;
}

/* 1: it was one of its words, 0: not, -1 after an error. */
static int
read_word(struct reading *rd)
{
	const char *word = cfg_arg(rd->ctx, rd->arg);

	if (strcmp(word, "status") == 0 || (rd->code_word && strcmp(word, rd->code_word) == 0))
		return read_status(rd) < 0 ? -1 : 1;
	if (strcmp(word, "content-type") == 0)
		return read_type(rd) < 0 ? -1 : 1;
	if (strcmp(word, "hdr") == 0)
		return read_hdr(rd) < 0 ? -1 : 1;
	return read_source(rd);
}

/* A page is sent as it is, and what has no payload has no type. */
static void
warn_unused(const struct reading *rd, int payload)
{
	const struct answer *a = rd->a;
	const char *place = rule_place_name(rd->r->place), *name = rd->r->action->name;

	if (!payload && a->source != FROM_NOTHING && a->n_hdr)
		cfg_warn(rd->ctx, rd->source_arg,
			"'%s %s' : 'hdr' has no effect on a page, which is sent as it is.", place,
			name);
	if (!payload && a->type.p)
		cfg_warn(rd->ctx, a->source == FROM_NOTHING ? -1 : rd->source_arg,
			"'%s %s' : 'content-type' has no effect without a payload.", place, name);
}

static int
judge(struct reading *rd, int needs_page)
{
	struct answer *a = rd->a;
	int payload = a->source == FROM_TEXT || a->source == FROM_FORMAT;
	int empty = a->source == FROM_TEXT && a->body.len == 0;

	if ((needs_page || a->source == FROM_PROXY || a->source == FROM_ERRORFILE ||
		    a->source == FROM_SECTION) &&
		http_error_id(a->status) < 0)
		return FAIL(rd, rd->status_arg,
			"'%s %s' : there is no page for status %u, only for %s; a payload makes "
				"one.",
			rule_place_name(rd->r->place), rd->r->action->name, a->status,
			http_error_list());
	warn_unused(rd, payload);
	if (payload && !empty && !a->type.p)
		return FAIL(rd, rd->source_arg,
			"'%s %s' : a content-type must be given for what is not empty.",
			rule_place_name(rd->r->place), rd->r->action->name);
	if (payload && !empty && http_status_has_no_body(a->status))
		return FAIL(rd, rd->source_arg, "'%s %s' : an answer with status %u has no body.",
			rule_place_name(rd->r->place), rd->r->action->name, a->status);
	return 0;
}

int
answer_parse(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, unsigned int status, const char *code_word, struct answer **out,
	unsigned int *status_out)
{
	struct reading rd = { .r = r,
		.v = v,
		.ctx = ctx,
		.at = at,
		.code_word = code_word,
		.arg = arg,
		.source_arg = -1,
		.status_arg = arg };
	int more = 1, bare;

	*out = NULL;
	rd.a = mem_zalloc(sizeof(*rd.a));
	if (!rd.a)
		return cfg_nomem(ctx);
	rd.a->status = status;
	while (more > 0)
		more = rd.arg < ctx->argc ? read_word(&rd) : 0;
	/* Without any other word a denial is the proxy's own page. */
	bare = code_word && rd.a->source == FROM_NOTHING && !rd.a->n_hdr && !rd.a->type.p;
	if (more < 0 || judge(&rd, bare) < 0) {
		answer_free(&rd.a);
		return -1;
	}
	*status_out = rd.a->status;
	if (bare || rd.a->source == FROM_PROXY)
		answer_free(&rd.a);
	*out = rd.a;
	return rd.arg;
}

static void
free_str(struct str *s)
{
	mem_free((char *)(uintptr_t)s->p);
	*s = (struct str){ NULL, 0 };
}

void
answer_free(struct answer **ap)
{
	struct answer *a = *ap;

	if (!a)
		return;
	for (unsigned int i = 0; i < ARRAY_LEN(a->hdr); i++) {
		free_str(&a->hdr[i].name);
		rule_fmt_free(&a->hdr[i].fmt);
	}
	free_str(&a->type);
	free_str(&a->body);
	free_str(&a->section);
	http_reply_put(&a->reply);
	rule_fmt_free(&a->fmt);
	mem_free(a);
	*ap = NULL;
}

/* Of a defaults section it may be asked more than once. */
static int
find_page(struct answer *a, const void *root, struct rule_err *why)
{
	const char *reason = "it has no page";
	struct http_reply *page = a->page(root, a->section.p, a->status, &reason);

	http_reply_put(&a->reply);
	if (page) {
		a->reply = http_reply_get(page);
		return 0;
	}
	why->at = 0;
	snprintf(why->text, sizeof(why->text), "http-errors section '%.60s', status %u: %s",
		a->section.p, a->status, reason);
	return -1;
}

int
answer_check(struct answer *a, void *root, struct rule_err *why)
{
	if (a->source == FROM_SECTION && find_page(a, root, why) < 0)
		return -1;
	for (unsigned int i = 0; i < a->n_hdr; i++)
		if (rule_fmt_check(a->hdr[i].fmt, root, why) < 0)
			return -1;
	return a->fmt ? rule_fmt_check(a->fmt, root, why) : 0;
}

/* --- writing -------------------------------------------------------------------------------- */

int
answer_field(struct rule_outcome *v, struct str name, struct str value)
{
	return http_add(v->head, name, value) < 0 ? -1 : 0;
}

int
answer_length(struct sample_ctx *cx, struct rule_outcome *v)
{
	char text[24];
	struct str s;

	if (http_status_has_no_body(v->status))
		return 0;
	(void)snprintf(text, sizeof(text), "%zu", v->body.len);
	s = arena_copy(cx->arena, str_of(text));
	return s.p ? answer_field(v, STR("Content-Length"), s) : -1;
}

void
answer_begin(struct rule_outcome *v, unsigned int status)
{
	v->has_answer = 1;
	v->is_empty = 0;
	v->status = status;
	v->body = (struct str){ NULL, 0 };
	v->head->version = HTTP_1_1;
	v->head->status = status;
	v->head->reason = str_of(http_status_reason(status));
	v->head->n = 0;
}

enum rule_result
answer_failed(struct rule_outcome *v)
{
	v->what = RULE_END_ERROR;
	v->status = 500;
	v->has_answer = 0;
	v->failed_rewrites++;
	return RULE_FINAL;
}

static int
write_reply(const struct http_reply *reply, struct rule_outcome *v)
{
	v->is_empty = reply->status == 0;
	if (v->is_empty)
		return 0;
	v->status = v->head->status = reply->status;
	v->head->reason = reply->reason;
	v->body = reply->body;
	for (unsigned int i = 0; i < reply->n; i++)
		if (answer_field(v, reply->field[i].name, reply->field[i].value) < 0)
			return -1;
	return 0;
}

int
answer_write(const struct answer *a, struct sample_ctx *cx, struct rule_outcome *v)
{
	struct str value;

	answer_begin(v, a->status);
	if (a->source == FROM_ERRORFILE || a->source == FROM_SECTION)
		return write_reply(a->reply, v);
	for (unsigned int i = 0; i < a->n_hdr; i++) {
		if (act_write(a->hdr[i].fmt, cx, &value) < 0 || !act_is_value(value))
			return -1;
		/* As HAProxy does it: without a value there is no header. */
		if (value.len && answer_field(v, a->hdr[i].name, value) < 0)
			return -1;
	}
	v->body = a->body;
	if (a->source == FROM_FORMAT && act_write(a->fmt, cx, &v->body) < 0)
		return -1;
	if (answer_length(cx, v) < 0)
		return -1;
	return v->body.len ? answer_field(v, STR("Content-Type"), a->type) : 0;
}
