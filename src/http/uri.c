/* Splits targets and their parameters, and builds new targets. Pure: slices, or the caller's
 * storage. */
#include "http/uri.h"

#include "base/err.h"
#include "http/scan.h"

/* --- taking apart --- */

static struct str
from_to(const char *from, const char *to)
{
	return (struct str){ from, (size_t)(to - from) };
}

static const char *
find_char(struct str s, char c)
{
	return s.len ? memchr(s.p, c, s.len) : NULL;
}

/* The length of a scheme followed by "://" (RFC 3986, 3.1), or 0. */
static size_t
scheme_length(struct str s)
{
	size_t n = 0;

	while (n < s.len && (http_is(s.p[n], HTTP_C_NAME)) && s.p[n] != ':')
		n++;
	return s.len - n >= 3 && memcmp(s.p + n, "://", 3) == 0 ? n : 0;
}

static void
split_path(struct str pathq, struct http_uri *out)
{
	const char *mark = find_char(pathq, '?'), *end = pathq.p + pathq.len;

	out->pathq = pathq;
	out->path = from_to(pathq.p, mark ? mark : end);
	if (mark)
		out->query = from_to(mark + 1, end);
}

void
http_uri_split(struct str target, struct http_uri *out)
{
	const char *end = target.p + target.len, *p;
	size_t scheme = scheme_length(target);

	*out = (struct http_uri){ .form = HTTP_FORM_ORIGIN };
	if (scheme) {
		out->form = HTTP_FORM_ABSOLUTE;
		out->scheme = from_to(target.p, target.p + scheme);
		for (p = target.p + scheme + 3; p < end && *p != '/' && *p != '?'; p++)
			;
		out->authority = from_to(target.p + scheme + 3, p);
		split_path(from_to(p, end), out);
	} else if (str_is(target, STR("*"))) {
		out->form = HTTP_FORM_ASTERISK;
	} else if (target.len && target.p[0] == '/') {
		split_path(target, out);
	} else {
		out->form = HTTP_FORM_AUTHORITY;
		out->authority = target;
	}
}

int
http_authority_parse(struct str text, struct http_authority *out)
{
	struct str port;

	*out = (struct http_authority){ .port = -1 };
	if (http_authority_split(text, &out->host, &port) < 0)
		return -ERR_SYNTAX;
	if (out->host.len && out->host.p[0] == '[') {
		out->bracketed = 1;
		out->host.p++;
		out->host.len -= 2;
	}
	if (port.len)
		out->port = 0;
	for (size_t i = 0; i < port.len; i++)
		out->port = 10 * out->port + (port.p[i] - '0');
	return 0;
}

/* --- making --- */

/* Texts concatenated in the caller's storage. */
struct joint {
	char *p;
	size_t len, cap;
	int failed;
};

static void
join_add(struct joint *j, struct str s)
{
	if (s.len > j->cap - j->len) {
		j->failed = 1;
		return;
	}
	if (s.len)
		memcpy(j->p + j->len, s.p, s.len);
	j->len += s.len;
}

long
http_base(const struct http_head *req, int with_query, char *out, size_t cap)
{
	struct joint j = { .p = out, .cap = cap };
	int host = http_find_id(req, HTTP_F_HOST, 0);
	struct http_uri uri;

	http_uri_split(req->target, &uri);
	if (host >= 0)
		join_add(&j, req->field[host].value);
	join_add(&j, with_query ? uri.pathq : uri.path);
	return j.failed ? -ERR_RANGE : (long)j.len;
}

/* --- parameters --- */

struct str
http_params(struct str target, char delim)
{
	const char *p = find_char(target, delim);

	return p ? from_to(p + 1, target.p + target.len) : (struct str){ NULL, 0 };
}

static size_t
param_length(struct str s, char delim)
{
	size_t n = 0;

	while (n < s.len && s.p[n] != '&' && s.p[n] != ';' && s.p[n] != delim)
		n++;
	return n;
}

int
http_param_next(struct str *rest, char delim, struct str *name, struct str *value)
{
	while (rest->len) {
		struct str word = { rest->p, param_length(*rest, delim) };
		const char *equal = find_char(word, '=');
		size_t step = MIN(word.len + 1, rest->len);

		rest->p += step;
		rest->len -= step;
		if (!equal)
			continue;
		*name = from_to(word.p, equal);
		*value = from_to(equal + 1, word.p + word.len);
		return 1;
	}
	return 0;
}

/* --- new targets --- */

static int
target_is_valid(enum http_method method, struct str target)
{
	struct str authority;

	return target.len && http_scan_target(target.p, target.len) == target.len &&
		http_target_form(method, target, &authority) != HTTP_FORM_NONE;
}

/* Everything before the path. */
static struct str
before_path(struct str target, const struct http_uri *uri)
{
	return uri->pathq.p ? from_to(target.p, uri->pathq.p) : (struct str){ NULL, 0 };
}

/* Scheme and authority are kept; "*" is replaced by a path. */
static void
join_target(struct joint *j, const struct http_head *req, const struct http_uri *uri,
	enum http_part part, struct str value)
{
	switch (part) {
	case HTTP_PART_PATH:
		join_add(j, before_path(req->target, uri));
		join_add(j, value);
		if (uri->query.p)
			join_add(j, from_to(uri->query.p - 1, uri->query.p + uri->query.len));
		break;
	case HTTP_PART_PATHQ:
		join_add(j, before_path(req->target, uri));
		join_add(j, value);
		break;
	case HTTP_PART_QUERY:
		if (uri->query.p)
			join_add(j, from_to(req->target.p, uri->query.p));
		else
			join_add(j, req->target);
		if (!uri->query.p && value.len)
			join_add(j, STR("?"));
		join_add(j, value);
		break;
	case HTTP_PART_URI:
		join_add(j, value);
		break;
	}
}

/* Sets the target if it is valid for the request. */
static int
take_target(struct http_head *req, const struct joint *j)
{
	struct str target = { j->p, j->len };
	struct http_uri uri;
	int host;

	if (j->failed)
		return -ERR_RANGE;
	if (!target_is_valid(req->method, target))
		return -ERR_INVAL;
	http_uri_split(target, &uri);
	host = http_find_id(req, HTTP_F_HOST, 0);
	if (host >= 0 && uri.authority.p)
		req->field[host].value = uri.authority;
	req->target = target;
	return 0;
}

int
http_set_part(struct http_head *req, enum http_part part, struct str value, char *out, size_t cap)
{
	struct joint j = { .p = out, .cap = cap };
	struct http_uri uri;

	http_uri_split(req->target, &uri);
	if (uri.form == HTTP_FORM_AUTHORITY && part != HTTP_PART_URI)
		return -ERR_INVAL;
	if (uri.form == HTTP_FORM_ASTERISK && part == HTTP_PART_QUERY)
		return -ERR_INVAL;
	/* Directly after an authority a path without a leading slash would become part of it. */
	if (uri.authority.len && part <= HTTP_PART_PATHQ && value.len && value.p[0] != '/' &&
		value.p[0] != '?')
		return -ERR_INVAL;
	join_target(&j, req, &uri, part, value);
	return take_target(req, &j);
}

int
http_follow_host(struct http_head *req, char *out, size_t cap)
{
	struct joint j = { .p = out, .cap = cap };
	int host = http_find_id(req, HTTP_F_HOST, 0);
	struct http_uri uri;

	http_uri_split(req->target, &uri);
	if (!uri.authority.p || host < 0 ||
		str_is(req->field[host].value, uri.authority))
		return 0;
	join_add(&j, from_to(req->target.p, uri.authority.p));
	join_add(&j, req->field[host].value);
	join_add(&j, uri.pathq);
	return take_target(req, &j);
}
