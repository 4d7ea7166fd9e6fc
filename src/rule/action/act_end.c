/* Actions that end a list or a message: allow, accept, deny, tarpit, reject, silent-drop,
 * return. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "http/errorfile.h"
#include "http/reply.h"
#include "rule/action/act.h"
#include "rule/action/answer.h"

/* The parsed arguments of a reply. */

/* Source of the payload. */
enum answer_source {
	FROM_NOTHING,
	FROM_PROXY,       /* default-errorfiles */
	FROM_ERRORFILE,   /* a whole response */
	FROM_SECTION,     /* one of http-errors */
	FROM_TEXT,        /* body */
	FROM_FORMAT       /* fmt */
};

struct answer_hdr {
	struct str name;  /* owned, terminated */
	struct rule_fmt *fmt;
};

struct answer {
	enum answer_source source;
	unsigned int status;
	struct str type;      /* Content-Type, owned; p NULL: not given */
	struct str body;      /* owned */
	struct rule_fmt *fmt;
	struct answer_hdr hdr[ANSWER_HDRS_MAX];
	unsigned int n_hdr;
	struct http_reply *reply; /* of an errorfile; of a section after it was checked */
	struct str section;       /* its name, owned */
	struct http_reply *(*page)(const void *root, const char *section, unsigned int status,
		const char **why);
};

/* --- the words of an answer ------------------------------------------------------------------ */

/*
 * The arguments of return, deny and tarpit. Main thread, while the configuration is read; an
 * answer that is kept was checked, but for what needs the whole configuration.
 */

/* State of the parser. */
struct reading {
	const struct rule *r;
	const struct rule_vocab *v;
	struct cfg_ctx *ctx;
	unsigned int at;
	const struct cfg_enum *words;
	struct answer *a;
	int arg;              /* the current word */
	int source_arg;       /* the argument with the payload; -1: none yet */
	int status_arg;
	int first_arg;
	int has_status;       /* given by the word status itself */
};

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
need_argument(struct reading *rd, int n)
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
	if (need_argument(rd, 1) < 0)
		return -1;
	if (!act_is_value(str_of(cfg_arg(rd->ctx, rd->arg + 1))))
		return FAIL(rd, rd->arg + 1,
			"'%s %s' : control characters are not allowed in a header.",
			rule_place_name(rd->r->place), rd->r->action->name);
	if (act_text(rd->ctx, rd->arg + 1, &rd->a->type) < 0)
		return -1;
	rd->arg += 2;
	return 0;
}

static int
read_hdr(struct reading *rd)
{
	struct answer_hdr *h = &rd->a->hdr[rd->a->n_hdr];
	enum http_field_id id;

	if (need_argument(rd, 2) < 0)
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
			"'%s %s' : control characters are not allowed in a header.",
			rule_place_name(rd->r->place), rd->r->action->name);
	if (act_fmt(rd->r, rd->v, rd->ctx, rd->arg + 2, rd->at, &h->fmt) < 0)
		return -1;
	rd->arg += 3;
	return 0;
}

static int
read_answer_file(struct reading *rd)
{
	char *text;
	size_t len;

	if (cfg_arg_file(rd->ctx, rd->arg + 1, ANSWER_BODY_MAX, &text, &len) < 0)
		return -1;
	rd->a->body = (struct str){ text, len };
	return 0;
}

static int
read_answer_page(struct reading *rd)
{
	const char *why = NULL;
	int rc;

	if (read_answer_file(rd) < 0)
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

	if (read_answer_file(rd) < 0)
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

/* word: ANSWER_DEFAULT or one behind it. 0, or -1 after an error. */
static int
read_source(struct reading *rd, int word)
{
	static const struct {
		enum answer_source source;
		int (*read)(struct reading *rd); /* NULL: no argument */
	} sources[] = {
		[ANSWER_DEFAULT] = { FROM_PROXY, NULL },
		[ANSWER_ERRORFILE] = { FROM_ERRORFILE, read_answer_page },
		[ANSWER_ERRORFILES] = { FROM_SECTION, read_section },
		[ANSWER_FILE] = { FROM_TEXT, read_answer_file },
		[ANSWER_LF_FILE] = { FROM_FORMAT, read_lf_file },
		[ANSWER_STRING] = { FROM_TEXT, read_string },
		[ANSWER_LF_STRING] = { FROM_FORMAT, read_lf_string },
	};

	if (rd->source_arg >= 0)
		return FAIL(rd, rd->arg, "'%s %s' : '%s' cannot follow '%s'.",
			rule_place_name(rd->r->place), rd->r->action->name,
			cfg_arg(rd->ctx, rd->arg), cfg_arg(rd->ctx, rd->source_arg));
	rd->source_arg = rd->arg;
	rd->a->source = sources[word].source;
	if (sources[word].read && (need_argument(rd, 1) < 0 || sources[word].read(rd) < 0))
		return -1;
	rd->arg += sources[word].read ? 2 : 1;
	return 0;
}

#define PAYLOAD_WORDS                                                                    \
	ANSWER_WORDS,                                                                    \
	{ "default-errorfiles", ANSWER_DEFAULT, "The proxy's page for the status." },    \
	{ "hdr <name> <fmt>", ANSWER_HDR,                                                \
		"A header field, with a body or without one; may be repeated." },        \
	{ 0 }

static const struct cfg_enum error_words[] = {
	{ "status <status>", ANSWER_STATUS, "The status, 200 to 599. If it is not given: deny "
		"403, as a response 502; tarpit 500." },
	{ "deny_status <status>", ANSWER_DENY_STATUS, "Another name of status, as the first "
		"word. Alone it has the proxy's page sent." },
	PAYLOAD_WORDS,
};

static const struct cfg_enum return_words[] = {
	{ "status <status>", ANSWER_STATUS, "The status, 200 to 599; it is 200 if it is not "
		"given." },
	PAYLOAD_WORDS,
};

/* 1: parsed, 0: not one of its words, -1 after an error. */
static int
read_word(struct reading *rd)
{
	const char *word = cfg_arg(rd->ctx, rd->arg);
	const struct cfg_enum *e = cfg_enum_find(rd->words, word, strlen(word));
	int rc;

	if (!e || (e->value == ANSWER_DENY_STATUS && rd->arg != rd->first_arg))
		return 0;
	if (e->value == ANSWER_STATUS || e->value == ANSWER_DENY_STATUS) {
		rd->has_status |= e->value == ANSWER_STATUS;
		rc = read_status(rd);
	} else if (e->value == ANSWER_TYPE) {
		rc = read_type(rd);
	} else if (e->value == ANSWER_HDR) {
		rc = read_hdr(rd);
	} else {
		rc = read_source(rd, e->value);
	}
	return rc < 0 ? -1 : 1;
}

/* A page is sent unchanged, and without a payload there is no type. */
static void
warn_unused_args(const struct reading *rd, int payload)
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
check_sources(struct reading *rd, int needs_page)
{
	struct answer *a = rd->a;
	int payload = a->source == FROM_TEXT || a->source == FROM_FORMAT;
	int empty = a->source == FROM_TEXT && a->body.len == 0;

	/* An errorfile has its own status. */
	if ((needs_page || a->source == FROM_PROXY || a->source == FROM_SECTION) &&
		http_error_id(a->status) < 0)
		return FAIL(rd, rd->status_arg,
			"'%s %s' : there is no page for status %u, only for %s; a payload makes "
				"one.",
			rule_place_name(rd->r->place), rd->r->action->name, a->status,
			http_error_list());
	warn_unused_args(rd, payload);
	if (payload && !empty && !a->type.p)
		return FAIL(rd, rd->source_arg,
			"'%s %s' : a content-type must be given for what is not empty.",
			rule_place_name(rd->r->place), rd->r->action->name);
	if (payload && !empty && http_status_has_no_body(a->status))
		return FAIL(rd, rd->source_arg, "'%s %s' : an answer with status %u has no body.",
			rule_place_name(rd->r->place), rd->r->action->name, a->status);
	return 0;
}

static void
free_str(struct str *s)
{
	mem_free((char *)(uintptr_t)s->p);
	*s = (struct str){ NULL, 0 };
}

static void
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

/*
 * Parses from argument arg on. status: the default. *out NULL: there are no arguments, or only
 * deny_status: the proxy's page for *status_out is used. Returns the first argument that it does
 * not use, or -1 after an error.
 */
static int
answer_parse(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, unsigned int status, const struct cfg_enum *words, struct answer **out,
	unsigned int *status_out)
{
	struct reading rd = { .r = r,
		.v = v,
		.ctx = ctx,
		.at = at,
		.words = words,
		.arg = arg,
		.source_arg = -1,
		.status_arg = arg,
		.first_arg = arg };
	int more = 1, bare;

	*out = NULL;
	rd.a = mem_zalloc(sizeof(*rd.a));
	if (!rd.a)
		return cfg_nomem(ctx);
	rd.a->status = status;
	while (more > 0)
		more = rd.arg < ctx->argc ? read_word(&rd) : 0;
	/* Without other words a denial uses the proxy's own page. With `status` it is empty. */
	bare = words == error_words && !rd.has_status && rd.a->source == FROM_NOTHING &&
		!rd.a->n_hdr && !rd.a->type.p;
	if (more < 0 || check_sources(&rd, bare) < 0) {
		answer_free(&rd.a);
		return -1;
	}
	*status_out = rd.a->status;
	if (bare || rd.a->source == FROM_PROXY)
		answer_free(&rd.a);
	*out = rd.a;
	return rd.arg;
}

/* --- actions --------------------------------------------------------------------------------- */

static int
parse_end_answer(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, unsigned int status, const struct cfg_enum *words)
{
	struct answer *a;
	int next = answer_parse(r, v, ctx, arg, at, status, words, &a, &status);

	if (next < 0)
		return -1;
	r->ref = a;
	r->num[0] = status;
	return next;
}

/* A denied response is the server's fault. */
static int
parse_deny(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	return parse_end_answer(r, v, ctx, arg, at, r->place == RULE_HTTP_REQUEST ? 403 : 502,
		error_words);
}

static int
parse_tarpit(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	return parse_end_answer(r, v, ctx, arg, at, 500, error_words);
}

static int
parse_return(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	return parse_end_answer(r, v, ctx, arg, at, 200, return_words);
}

static int
write_reply(const struct http_reply *reply, struct rule_outcome *v)
{
	v->is_empty = reply->status == 0;
	if (v->is_empty)
		return 0;
	v->status = reply->status;
	v->body = reply->body;
	return http_reply_head(reply, HTTP_CONN_UNSAID, v->head) < 0 ? -1 : 0;
}

/* Fills in the head and body of v. 0, or -1: too long or invalid. */
static int
answer_write(const struct answer *a, struct sample_ctx *cx, struct rule_outcome *v)
{
	struct str value;

	answer_begin(v, a->status);
	if (a->source == FROM_ERRORFILE || a->source == FROM_SECTION)
		return write_reply(a->reply, v);
	for (unsigned int i = 0; i < a->n_hdr; i++) {
		if (act_write(a->hdr[i].fmt, cx, &value) < 0 || !act_is_value(value))
			return -1;
		/* As in HAProxy: an empty value means no header. */
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

/* kind: enum rule_end. */
static enum rule_result
run_answer(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	out->what = (enum rule_end)r->action->kind;
	out->status = (unsigned int)r->num[0];
	out->has_answer = 0;
	if (!r->ref || answer_write(r->ref, cx, out) == 0)
		return RULE_FINAL;
	return answer_failed(out);
}

static enum rule_result
run_end(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)cx;
	out->what = (enum rule_end)r->action->kind;
	return RULE_FINAL;
}

static enum rule_result
run_stop(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)r;
	(void)cx;
	(void)out;
	return RULE_STOP;
}

static void
free_answer(struct rule *r)
{
	struct answer *a = r->ref;

	answer_free(&a);
}

/* In a defaults section it may be checked more than once. */
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

static int
answer_check(struct answer *a, void *root, struct rule_err *why)
{
	if (a->source == FROM_SECTION && find_page(a, root, why) < 0)
		return -1;
	for (unsigned int i = 0; i < a->n_hdr; i++)
		if (rule_fmt_check(a->hdr[i].fmt, root, why) < 0)
			return -1;
	return a->fmt ? rule_fmt_check(a->fmt, root, why) : 0;
}

static int
check_answer(struct rule *r, void *root, struct rule_err *why)
{
	return r->ref ? answer_check(r->ref, root, why) : 0;
}

#define PAYLOAD                                                                    \
	"[content-type <type>] [default-errorfiles|errorfile <file>|"              \
	"errorfiles <section>|file <file>|"                                        \
	"lf-file <file>|string <text>|lf-string <fmt>] [hdr <name> <fmt>]..."

const struct rule_action rule_end_actions[] = {
	{ .name = "allow",
		.places = RULE_IN_HTTP,
		.ends = 1,
		.run = run_stop,
		.doc = "Stops evaluating the rules; the message is forwarded." },
	{ .name = "accept",
		.places = RULE_IN_TCP,
		.ends = 1,
		.run = run_stop,
		.doc = "Stops evaluating the rules; the connection is accepted." },
	{ .name = "deny",
		.values = error_words,
		.example = "http-request deny deny_status 404 if { path_beg /.git }",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_deny,
		.ends = 1,
		.run = run_answer,
		.free = free_answer,
		.check = check_answer,
		.syntax = "[status|deny_status <status>] " PAYLOAD,
		.doc = "Responds with an error. Without other arguments than deny_status, or with "
			"default-errorfiles, it is the proxy's page; else it has the given "
			"payload, or none.",
		.kind = RULE_END_DENY },
	{ .name = "tarpit",
		.values = error_words,
		.places = RULE_IN(HTTP_REQUEST),
		.parse = parse_tarpit,
		.ends = 1,
		.run = run_answer,
		.free = free_answer,
		.check = check_answer,
		.syntax = "[status|deny_status <status>] " PAYLOAD,
		.doc = "Responds with an error after timeout tarpit.",
		.kind = RULE_END_TARPIT },
	{ .name = "return",
		.values = return_words,
		.example = "http-request return status 200 content-type text/plain lf-string "
			"\"%[src]\\n\" if { path /ip }",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_return,
		.ends = 1,
		.run = run_answer,
		.free = free_answer,
		.check = check_answer,
		.syntax = "[status <status>] " PAYLOAD,
		.doc = "Sends a response.",
		.kind = RULE_END_REPLY },
	{ .name = "reject",
		.places = RULE_IN_TCP | RULE_IN(HTTP_REQUEST),
		.ends = 1,
		.run = run_end,
		.doc = "Closes the connection without a response.",
		.kind = RULE_END_REJECT },
	{ .name = "close",
		.places = RULE_IN(TCP_RES_CONTENT),
		.ends = 1,
		.run = run_end,
		.doc = "Closes the connection to the server at once. In mode tcp the client gets "
			"what the server has sent so far, and the end of the connection; in mode "
			"http there is no response, and it gets 502.",
		.example = "tcp-response inspect-delay 1s\n"
			"tcp-response content close if { res.payload(0,0) -m sub QUIT }",
		.kind = RULE_END_CLOSE },
	{ .name = "silent-drop",
		.places = RULE_IN_TCP | RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.ends = 1,
		.run = run_end,
		.doc = "Closes the connection without notifying the client.",
		.kind = RULE_END_DROP },
	{ 0 },
};
