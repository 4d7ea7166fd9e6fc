/* Action auth-request: the request waits until a backend, the authority, has answered a request
 * about it. Whatever is not a complete answer that permits ends the client's request. Parsed on the
 * main thread, run on the session's worker. */
#include "proxy/sample/act_auth_request.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "http/reply.h"
#include "http/scan.h"
#include "http/uri.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxies.h"
#include "proxy/model/subrequest.h"
#include "rule/action/act.h"
#include "rule/action/answer.h"
#include "rule/sample/args.h"
#include "rule/sample/var.h"

/* Bounds the names of `header`, and those of `copy`. */
#define NAMES_MAX 32
#define ON_ERROR_DEFAULT 502
#define VAR_PREFIX "txn.auth_response."

/* The rule's text[] and fmt[]. */
enum { TEXT_BACKEND, TEXT_METHOD };
enum { FMT_PATH, FMT_LOGIN };

struct auth_copy {
	struct str name;      /* owned, terminated */
	struct var_name var;
	int only_var;         /* it is of responses only: no field of the request */
};

struct auth_conf {
	struct proxy *be;     /* known when the configuration is complete */
	struct str header[NAMES_MAX]; /* owned */
	unsigned int n_header; /* 0: all fields are sent */
	struct auth_copy copy[NAMES_MAX];
	unsigned int n_copy;
	int on_error;
	struct var_name status, location;
};

/* --- fields of the client that the authority does not get --- */

/* True if programs may take them for the same name: CGI and its followers make '-' and '_' one. */
static int
is_alike(struct str a, struct str b)
{
	if (a.len != b.len)
		return 0;
	for (size_t i = 0; i < a.len; i++) {
		char x = a.p[i] == '_' ? '-' : str_lower(a.p[i]);
		char y = b.p[i] == '_' ? '-' : str_lower(b.p[i]);

		if (x != y)
			return 0;
	}
	return 1;
}

static int
has_prefix(struct str s, struct str with)
{
	return s.len >= with.len && is_alike((struct str){ s.p, with.len }, with);
}

/* True of fields that are about one connection, a body or a stored response: the subrequest has
 * none of them. */
static int
is_never_sent(struct str name)
{
	static const struct str begins[] = { STR("Content-"), STR("If-"), STR("Proxy-") };
	static const struct str names[] = { STR("Connection"), STR("Expect"), STR("Forwarded"),
		STR("HTTP2-Settings"), STR("Keep-Alive"), STR("Range"), STR("TE"), STR("Trailer"),
		STR("Transfer-Encoding"), STR("Upgrade") };

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (has_prefix(name, begins[i]))
			return 1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (is_alike(name, names[i]))
			return 1;
	return 0;
}

/* True for fields that describe the client's request: those that the client has sent itself are
 * dropped. */
static int
is_about_request(struct str name)
{
	static const struct str begins[] = { STR("X-Original-"), STR("X-Forwarded-") };
	static const struct str names[] = { STR("X-Real-IP"), STR("X-Auth-Request-Redirect") };

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (has_prefix(name, begins[i]) || is_alike(name, names[i]))
			return 1;
	return 0;
}

/* --- arguments --- */

static void
free_auth(struct rule *r)
{
	struct auth_conf *a = r->ref;

	if (!a)
		return;
	for (unsigned int i = 0; i < a->n_header; i++)
		mem_free((char *)(uintptr_t)a->header[i].p);
	for (unsigned int i = 0; i < a->n_copy; i++)
		mem_free((char *)(uintptr_t)a->copy[i].name.p);
	mem_free(a);
}

/* "txn.auth_response.x_user" for "X-User". 0, or -1 with *why. */
static int
name_variable(struct str name, struct var_name *out, const char **why)
{
	char text[VAR_NAME_MAX + 1];
	int n = snprintf(text, sizeof(text), VAR_PREFIX "%s", name.p);

	*why = "its name is too long";
	if (n >= (int)sizeof(text))
		return -1;
	for (char *p = text + sizeof(VAR_PREFIX) - 1; *p; p++) {
		*p = str_lower(*p);
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= '0' && *p <= '9'))
			*p = '_';
	}
	return var_name_parse(str_of(text), out, why);
}

static int
fail_auth_word(const struct rule *r, struct cfg_ctx *ctx, int arg, const char *why)
{
	return cfg_error(ctx, arg, "'%s auth-request' : %s '%s': %s.", rule_place_name(r->place),
		cfg_arg(ctx, arg - 1), cfg_arg(ctx, arg), why);
}

static int
read_sent_name(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	struct auth_conf *a = r->ref;

	if (a->n_header == NAMES_MAX)
		return fail_auth_word(r, ctx, arg, "there can be no more than 32");
	if (is_never_sent(str_of(cfg_arg(ctx, arg))))
		return fail_auth_word(r, ctx, arg, "such fields are never sent to the authority");
	if (act_field_name(r, ctx, arg, &a->header[a->n_header]) < 0)
		return -1;
	a->n_header++;
	return 0;
}

static int
read_copied_name(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	struct auth_conf *a = r->ref;
	struct auth_copy *c = &a->copy[a->n_copy];
	const char *why;

	if (a->n_copy == NAMES_MAX)
		return fail_auth_word(r, ctx, arg, "there can be no more than 32");
	if (is_never_sent(str_of(cfg_arg(ctx, arg))) ||
		http_field_id(str_of(cfg_arg(ctx, arg))) == HTTP_F_HOST)
		return fail_auth_word(r, ctx, arg, "no response sets this field of a request");
	if (act_field_name(r, ctx, arg, &c->name) < 0)
		return -1;
	a->n_copy++;
	c->only_var = str_is_nocase(c->name, STR("Set-Cookie")) ||
		str_is_nocase(c->name, STR("Location")) ||
		str_is_nocase(c->name, STR("WWW-Authenticate"));
	return name_variable(c->name, &c->var, &why) < 0 ? fail_auth_word(r, ctx, arg, why) : 0;
}

static int
read_auth_method(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	if (!act_is(ctx, arg, "GET") && !act_is(ctx, arg, "HEAD"))
		return fail_auth_word(r, ctx, arg, "there are GET and HEAD, since it has no body");
	mem_free((char *)(uintptr_t)r->text[TEXT_METHOD].p);
	r->text[TEXT_METHOD] = (struct str){ NULL, 0 };
	return act_text(ctx, arg, &r->text[TEXT_METHOD]);
}

static int
read_on_error(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	struct auth_conf *a = r->ref;

	if (cfg_arg_int(ctx, arg, 400, 599, &a->on_error) < 0)
		return -1;
	if (http_error_id((unsigned int)a->on_error) < 0)
		return cfg_error(ctx, arg,
			"'%s auth-request' : there is no page for status %d, only for %s.",
			rule_place_name(r->place), a->on_error, http_error_list());
	return 0;
}

enum { WORD_METHOD, WORD_HEADER, WORD_COPY, WORD_ON_ERROR, WORD_LOGIN };

static const struct cfg_enum words[] = {
	{ "method <method>", WORD_METHOD, "GET, which is the default, or HEAD." },
	{ "header <name>", WORD_HEADER, "A field of the request that the authority gets; may be "
		"repeated. Without it the authority gets all." },
	{ "copy <name>", WORD_COPY, "A field of the answer that replaces those of its name in the "
		"request, and is a variable; may be repeated." },
	{ "login <fmt>", WORD_LOGIN, "The URL that the client is redirected to (302) after 401, "
		"unless it is empty. The cookies of the answer go along." },
	{ "on-error <status>", WORD_ON_ERROR, "The status of the page that the client gets for any "
		"other answer, or without one; 502 by default." },
	{ 0 },
};

static int (*const word_parsers[])(struct rule *r, struct cfg_ctx *ctx, int arg) = {
	[WORD_METHOD] = read_auth_method,
	[WORD_HEADER] = read_sent_name,
	[WORD_COPY] = read_copied_name,
	[WORD_ON_ERROR] = read_on_error,
};

/* 1: parsed, 0: not one of its words, -1 after an error. */
static int
read_auth_word(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	int word = cfg_arg_word(ctx, arg, words);

	if (word < 0)
		return 0;
	if (act_need(r, ctx, arg, 2) < 0)
		return -1;
	if (word != WORD_LOGIN)
		return word_parsers[word](r, ctx, arg + 1) < 0 ? -1 : 1;
	rule_fmt_free(&r->fmt[FMT_LOGIN]);
	return act_fmt(r, v, ctx, arg + 1, at, &r->fmt[FMT_LOGIN]) < 0 ? -1 : 1;
}

static int
read_path(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	if (cfg_arg(ctx, arg)[0] != '/')
		return cfg_error(ctx, arg,
			"'%s auth-request' : '%s' is no path: it begins with '/'.",
			rule_place_name(r->place), cfg_arg(ctx, arg));
	return act_fmt(r, v, ctx, arg, at, &r->fmt[FMT_PATH]);
}

static int
parse_auth_request(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	struct auth_conf *a = mem_zalloc(sizeof(*a));
	const char *why;
	int found;

	r->ref = a;
	if (!a)
		return cfg_nomem(ctx);
	a->on_error = ON_ERROR_DEFAULT;
	if (act_need(r, ctx, arg, 2) < 0 || act_text(ctx, arg, &r->text[TEXT_BACKEND]) < 0 ||
		read_path(r, v, ctx, arg + 1, at) < 0)
		return -1;
	found = var_name_parse(STR("txn.auth_status"), &a->status, &why) |
		var_name_parse(STR(VAR_PREFIX "location"), &a->location, &why);
	assert(found == 0);
	for (arg += 2; arg < ctx->argc; arg += 2) {
		found = read_auth_word(r, v, ctx, arg, at);
		if (found < 0)
			return -1;
		if (!found)
			break;
	}
	return arg;
}

/* --- the configuration is complete --- */

static int
has_auth_request(const struct list *rules)
{
	list_each(it, (struct list *)(uintptr_t)rules)
		if (list_entry(it, const struct rule, link)->action == auth_request_actions)
			return 1;
	return 0;
}

/* A subrequest that asks for another one might never end. */
static int
asks_itself(const struct proxy *be)
{
	return has_auth_request(&be->rules.own[RULE_HTTP_REQUEST]) ||
		(be->rules.before && has_auth_request(&be->rules.before->own[RULE_HTTP_REQUEST]));
}

/* Checks the backend, which becomes the frontend of its subrequests, too. */
static int
check_auth_request(struct rule *r, void *root, struct rule_err *why)
{
	const char *name = r->text[TEXT_BACKEND].p;
	struct proxy *be = proxies_find(root, name, PROXY_BE);
	struct auth_conf *a = r->ref;

	if (!be)
		return rule_fail(why, 0, -1, "unable to find backend '%s'", name);
	if (be->caps & PROXY_FE)
		return rule_fail(why, 0, -1, "'%s' is a listen section: the authority must be a "
			"backend", name);
	if (be->mode != PROXY_HTTP)
		return rule_fail(why, 0, -1, "backend '%s' is not in mode http", name);
	if (asks_itself(be))
		return rule_fail(why, 0, -1, "backend '%s' has rules auth-request itself", name);
	be->default_be = be;
	a->be = be;
	return 0;
}

/* --- the question --- */

/* The values of the fields that say what the client has asked for. */
enum about { ABOUT_METHOD, ABOUT_URI, ABOUT_URL, ABOUT_SCHEME, ABOUT_HOST, ABOUT_SRC, ABOUTS };

static const struct {
	struct str name;
	enum about what;
} about_fields[] = {
	{ STR("X-Original-Method"), ABOUT_METHOD },
	{ STR("X-Original-URI"), ABOUT_URI },
	{ STR("X-Original-URL"), ABOUT_URL },
	{ STR("X-Forwarded-Method"), ABOUT_METHOD },
	{ STR("X-Forwarded-Proto"), ABOUT_SCHEME },
	{ STR("X-Forwarded-Host"), ABOUT_HOST },
	{ STR("X-Forwarded-URI"), ABOUT_URI },
	{ STR("X-Forwarded-For"), ABOUT_SRC },
	{ STR("X-Real-IP"), ABOUT_SRC },
	{ STR("X-Auth-Request-Redirect"), ABOUT_URI },
};

static struct str
join_texts(struct arena *a, const struct str *part, unsigned int n)
{
	struct str all = { NULL, 0 };
	char *p;

	for (unsigned int i = 0; i < n; i++)
		all.len += part[i].len;
	p = arena_get(a, all.len);
	all.p = p;
	for (unsigned int i = 0; p && i < n; i++)
		if (part[i].len) {
			memcpy(p, part[i].p, part[i].len);
			p += part[i].len;
		}
	return all;
}

static struct str
source_text(const struct stream *s, struct arena *a)
{
	const struct addr *src = addr_override_source(s);
	char text[ADDR_TEXT];

	if (addr_family(src) != AF_INET && addr_family(src) != AF_INET6)
		return (struct str){ NULL, 0 };
	return arena_copy(a, str_of(addr_host_text(src, text)));
}

/* Finds the values, where p is NULL there is none. 0, or -1: they do not fit. */
static int
find_about(const struct stream *s, struct sample_ctx *cx, struct str *about)
{
	const struct http_head *req = cx->req;
	int host = http_find_id(req, HTTP_F_HOST, 0);
	struct str scheme = s->sess->listener->xprt ? STR("https") : STR("http");
	struct http_uri uri;

	http_uri_split(req->target, &uri);
	about[ABOUT_METHOD] = req->method_text;
	about[ABOUT_URI] = uri.pathq.p ? uri.pathq : req->target;
	/* An absolute form may lack the path. */
	if (uri.pathq.p && (!uri.pathq.len || uri.pathq.p[0] != '/'))
		about[ABOUT_URI] = join_texts(
			cx->arena, (const struct str[]){ STR("/"), uri.pathq }, 2);
	about[ABOUT_SCHEME] = scheme;
	about[ABOUT_HOST] = host >= 0 ? req->field[host].value : uri.authority;
	about[ABOUT_SRC] = source_text(s, cx->arena);
	about[ABOUT_URL] = join_texts(cx->arena, (const struct str[]){ scheme, STR("://"),
		about[ABOUT_HOST], about[ABOUT_URI] }, 4);
	return about[ABOUT_URL].p && about[ABOUT_URI].p ? 0 : -1;
}

static int
is_wanted_field(const struct auth_conf *a, struct str name)
{
	if (!a->n_header || str_is_nocase(name, STR("Host")))
		return 1;
	for (unsigned int i = 0; i < a->n_header; i++)
		if (str_is_nocase(a->header[i], name))
			return 1;
	return 0;
}

/* True if the authority gets this field of the request. One about the request is that of a rule,
 * or none. What Connection names is sent, as to the server: a client hides nothing from the
 * authority that the server gets. */
static int
is_sent(const struct auth_conf *a, const struct http_field *f)
{
	if (f->dropped || is_never_sent(f->name))
		return 0;
	if (is_about_request(f->name))
		return !f->arrived;
	return is_wanted_field(a, f->name);
}

/* 0, or -1: there are too many. */
static int
add_fields(const struct auth_conf *a, const struct http_head *req, const struct str *about,
	struct http_head *out)
{
	for (unsigned int i = 0; i < req->n; i++)
		if (is_sent(a, &req->field[i]) &&
			http_add(out, req->field[i].name, req->field[i].value) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(about_fields); i++) {
		struct str value = about[about_fields[i].what];

		if (value.p && http_find(out, about_fields[i].name, 0) < 0 &&
			http_add(out, about_fields[i].name, value) < 0)
			return -1;
	}
	return 0;
}

static int
is_target(struct str s)
{
	return s.len && s.p[0] == '/' && http_scan_target(s.p, s.len) == s.len;
}

/* Writes the head of the subrequest, whose fields are the caller's, and begins it: 0, or -1. */
static int
send_question(const struct rule *r, struct sample_ctx *cx, struct stream *s, struct http_head *h)
{
	const struct auth_conf *a = r->ref;
	struct str about[ABOUTS];

	h->version = HTTP_1_1;
	h->method_text = r->text[TEXT_METHOD].p ? r->text[TEXT_METHOD] : STR("GET");
	h->method = http_method_of(h->method_text);
	h->framing = HTTP_BODY_NONE;
	if (a->be->disabled || act_write(r->fmt[FMT_PATH], cx, &h->target) < 0 ||
		!is_target(h->target) || find_about(s, cx, about) < 0 ||
		add_fields(a, cx->req, about, h) < 0)
		return -1;
	return s->engine->hooks.begin_subrequest(s, r, a->be, h) < 0 ? -1 : 0;
}

static int
begin_question(const struct rule *r, struct sample_ctx *cx, struct stream *s)
{
	const unsigned int max = s->engine->limits.maxhdr + HTTP_FIELDS_ADDED;
	struct http_field *field = mem_alloc(max * sizeof(*field));
	size_t mark = arena_mark(cx->arena);
	struct http_head h = { 0 };
	int rc;

	if (!field)
		return -1;
	http_head_init(&h, HTTP_REQUEST, field, max);
	rc = send_question(r, cx, s, &h);
	arena_release(cx->arena, mark);
	mem_free(field);
	return rc;
}

/* --- the answer --- */

static enum rule_result
fail_closed(const struct auth_conf *a, struct rule_outcome *out)
{
	out->what = RULE_END_ERROR;
	out->status = (unsigned int)a->on_error;
	out->has_answer = 0;
	return RULE_FINAL;
}

/* The values of all fields of a name as a list, in the arena; of Set-Cookie, which is none, the
 * first one. p NULL: there is no such field. 0, or -1: they do not fit. */
static int
list_values(const struct http_head *h, struct str name, struct arena *a, struct str *out)
{
	int is_list = !str_is_nocase(name, STR("Set-Cookie"));

	*out = (struct str){ NULL, 0 };
	for (int i = http_find(h, name, 0); i >= 0 && (!out->p || is_list);
		i = http_find(h, name, (unsigned int)i + 1)) {
		const struct str part[] = { *out, out->p ? STR(", ") : STR(""), h->field[i].value };

		*out = join_texts(a, part, 3);
		if (!out->p)
			return -1;
	}
	return 0;
}

/* 0, or -1: there is no memory for it. */
static int
keep_value(struct sample_ctx *cx, const struct http_head *h, struct str name, struct var_name var)
{
	size_t mark = arena_mark(cx->arena);
	struct sample value = { .type = SAMPLE_STR };
	int rc;

	var_forget(cx, var);
	rc = list_values(h, name, cx->arena, &value.u.str);
	if (rc == 0 && value.u.str.p)
		rc = var_store(cx, var, &value);
	arena_release(cx->arena, mark);
	return rc < 0 ? -1 : 0;
}

static int
keep_values(const struct auth_conf *a, struct sample_ctx *cx, const struct http_head *h)
{
	struct sample status = { .type = SAMPLE_SINT, .u.sint = h->status };

	if (var_store(cx, a->status, &status) < 0 ||
		keep_value(cx, h, STR("Location"), a->location) < 0)
		return -1;
	for (unsigned int i = 0; i < a->n_copy; i++)
		if (keep_value(cx, h, a->copy[i].name, a->copy[i].var) < 0)
			return -1;
	return 0;
}

/* Replaces the fields of this name in the request, and of names like it, by those of the answer:
 * 0, or -1: they do not fit. */
static int
copy_field(struct sample_ctx *cx, struct rule_outcome *out, const struct http_head *h,
	struct str name)
{
	struct http_head *req = cx->req;
	size_t less = http_fields_size(req, name), more = http_fields_size(h, name);

	if (!act_fits(out, req, more, less))
		return -1;
	for (unsigned int i = 0; i < req->n; i++)
		if (!req->field[i].dropped && is_alike(req->field[i].name, name))
			(void)http_drop_all(req, req->field[i].name);
	for (int i = http_find(h, name, 0); i >= 0; i = http_find(h, name, (unsigned int)i + 1)) {
		struct str value = arena_copy(cx->arena, h->field[i].value);

		if (!value.p || http_add(req, name, value) < 0)
			return -1;
	}
	return 0;
}

static enum rule_result
permit_request(const struct auth_conf *a, struct sample_ctx *cx, struct rule_outcome *out,
	const struct http_head *h)
{
	for (unsigned int i = 0; i < a->n_copy; i++)
		if (!a->copy[i].only_var && copy_field(cx, out, h, a->copy[i].name) < 0)
			return fail_closed(a, out);
	return RULE_CONT;
}

/* True of the fields of the answer that are about its connection or its framing. */
static int
is_for_proxy(const struct http_field *f)
{
	return f->dropped || http_field_is_framing((enum http_field_id)f->id) ||
		str_is_nocase(f->name, STR("Keep-Alive")) ||
		str_is_nocase(f->name, STR("Upgrade")) || str_is_nocase(f->name, STR("Trailer"));
}

/* Passes the answer to the client: its texts are those of the subrequest. 0, or -1: it does not
 * fit. */
static int
pass_answer(struct sample_ctx *cx, struct rule_outcome *out, const struct subrequest *q)
{
	const struct http_head *h = &q->head;

	answer_begin(out, h->status);
	for (unsigned int i = 0; i < h->n; i++) {
		const struct http_field *f = &h->field[i];

		if (is_for_proxy(f) || (q->lacks_body && has_prefix(f->name, STR("Content-"))))
			continue;
		if (answer_field(out, f->name, f->value) < 0)
			return -1;
	}
	if (q->body.len)
		out->body = (struct str){ q->body.p, q->body.len };
	return answer_length(cx, out);
}

/* The URL where the client logs in after this status, empty if it is not redirected. 0, or -1: it
 * is not valid. */
static int
find_login(const struct rule *r, struct sample_ctx *cx, unsigned int status, struct str *url)
{
	*url = STR("");
	if (status != 401 || !r->fmt[FMT_LOGIN])
		return 0;
	return act_write(r->fmt[FMT_LOGIN], cx, url) < 0 || !act_is_value(*url) ? -1 : 0;
}

/* Redirects the client; cookies of the answer belong to its login. 0, or -1: it does not fit. */
static int
redirect_to_login(struct sample_ctx *cx, struct rule_outcome *out, const struct http_head *h,
	struct str url)
{
	answer_begin(out, 302);
	if (answer_field(out, STR("Location"), url) < 0 ||
		answer_field(out, STR("Cache-Control"), STR("no-cache")) < 0)
		return -1;
	for (int i = http_find_id(h, HTTP_F_SET_COOKIE, 0); i >= 0;
		i = http_find_id(h, HTTP_F_SET_COOKIE, (unsigned int)i + 1))
		if (answer_field(out, STR("Set-Cookie"), h->field[i].value) < 0)
			return -1;
	return answer_length(cx, out);
}

static int
is_redirect(unsigned int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static enum rule_result
deny_request(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out,
	const struct subrequest *q)
{
	unsigned int status = q->head.status;
	struct str url;
	int rc;

	if (status != 401 && status != 403 && !is_redirect(status))
		return fail_closed(r->ref, out);
	if (find_login(r, cx, status, &url) < 0)
		return fail_closed(r->ref, out);
	rc = url.len ? redirect_to_login(cx, out, &q->head, url) : pass_answer(cx, out, q);
	out->what = out->status / 100 == 3 ? RULE_END_REPLY : RULE_END_DENY;
	return rc < 0 ? fail_closed(r->ref, out) : RULE_FINAL;
}

static enum rule_result
judge_answer(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out,
	const struct subrequest *q)
{
	const struct auth_conf *a = r->ref;

	if (q->state != SUBREQUEST_COMPLETE || keep_values(a, cx, &q->head) < 0)
		return fail_closed(a, out);
	return q->head.status / 100 == 2 ? permit_request(a, cx, out, &q->head)
					 : deny_request(r, cx, out, q);
}

static int
has_asked(const struct rule *r, const struct rule_outcome *out)
{
	return subrequest_of(out->proxy, r) != NULL;
}

/* A denial keeps the subrequest, whose texts it has, until the exchange is over. */
static enum rule_result
run_auth_request(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct stream *s = out->proxy;
	struct subrequest *q = subrequest_of(s, r);
	enum rule_result result;

	if (!q && begin_question(r, cx, s) < 0)
		return fail_closed(r->ref, out);
	if (!q || q->state == SUBREQUEST_PENDING) {
		out->awaits_answer = 1;
		return RULE_YIELD;
	}
	s->txn->wait_until_ms = 0;
	result = judge_answer(r, cx, out, q);
	if (result == RULE_CONT)
		s->engine->hooks.drop_subrequest(s);
	return result;
}

const struct rule_action auth_request_actions[] = {
	{ .name = "auth-request",
		.places = RULE_IN(HTTP_REQUEST),
		.parse = parse_auth_request,
		.run = run_auth_request,
		.has_begun = has_asked,
		.free = free_auth,
		.check = check_auth_request,
		.values = words,
		.syntax = "<backend> <path> [method <method>] [header <name>]... [copy <name>]... "
			"[login <fmt>] [on-error <status>]",
		.doc = "Asks a backend, the authority, whether the request is permitted: a "
			"complete answer with status 2xx is a permission, one with 401, 403, 301, "
			"302, 303, 307 or 308 goes to the client, with its body if that is not "
			"longer than tune.bufsize, and anything else is an error. The request "
			"waits meanwhile. The path is a format. See 'Forward authentication' "
			"below.",
		.example = "http-request auth-request api /verify copy X-User "
			   "if { path_beg /private/ }" },
	{ 0 },
};
