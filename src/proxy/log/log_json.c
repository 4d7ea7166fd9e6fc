/* Writes the JSON log line. On the session's worker; all fields of log_json.tbl.h are always
 * there. */
#include "proxy/log/log_json.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "proxy/sample/capture.h"
#include "proxy/model/addr_override.h"
#include "proxy/sample/http_line.h"
#include "proxy/sample/unique_id.h"
#include "proxy/log/log_alias.h"
#include "rule/sample/fmt.h"

struct json {
	struct stream *s;
	const struct eval *eval;
	size_t max;            /* maximum length of each text */
	struct sbuf *out;
};

/* The length of each text at which the line fits. */
static const size_t cuts[] = { SIZE_MAX, 512, 128, 32, 0 };

static void
json_put_text(struct json *j, struct str text)
{
	json_put(j->out, text, j->max);
}

static void
put_name(struct json *j, const char *name)
{
	json_put_text(j, name ? str_of(name) : (struct str){ NULL, 0 });
}

/* Aliases write "-" or -1 for missing values. */
static void
json_put_alias(struct json *j, const char *name)
{
	const struct rule_alias *a = log_alias_find(name);
	char text[128];
	struct sbuf b;

	assert(a);
	sbuf_init_fixed(&b, text, sizeof(text));
	a->write(&j->eval->cx, RULE_FMT_LOG, &b);
	sbuf_adds(j->out, b.len == 0 || text[0] == '-' ? "null" : text);
}

/* --- fields --- */

static const struct http_txn *
txn_with_line(const struct json *j)
{
	return j->s->txn && j->s->txn->line_len ? j->s->txn : NULL;
}

static void
put_time(struct json *j)
{
	const struct http_txn *t = j->s->txn;
	uint64_t ns = t ? t->began_wall_ns : j->s->sess->accept_wall_ns;
	time_t sec = (time_t)(ns / 1000000000u);
	struct tm tm = { 0 };

	(void)gmtime_r(&sec, &tm);
	sbuf_addf(j->out, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03uZ\"", tm.tm_year + 1900,
		tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		(unsigned int)(ns / 1000000u % 1000u));
}

static void
put_frontend(struct json *j)
{
	put_name(j, j->s->sess->fe->name);
}

static void
put_backend(struct json *j)
{
	put_name(j, j->s->be ? j->s->be->name : j->s->sess->fe->name);
}

static void
put_server(struct json *j)
{
	const struct stream *s = j->s;

	if (s->txn && s->txn->served_by)
		put_name(j, s->txn->served_by);
	else
		put_name(j, s->srv && !s->srv->is_dispatch ? s->srv->name : NULL);
}

static void
put_client(struct json *j)
{
	char text[ADDR_TEXT];
	const struct addr *a = addr_override_source(j->s);
	int family = addr_family(a);

	put_name(j, family == AF_INET || family == AF_INET6 ? addr_host_text(a, text) : NULL);
}

static void
put_method(struct json *j)
{
	json_put_text(j, http_line_method(txn_with_line(j)));
}

static void
put_uri(struct json *j)
{
	json_put_text(j, http_line_target(txn_with_line(j)));
}

static void
put_version(struct json *j)
{
	const struct http_txn *t = txn_with_line(j);

	put_name(j, t ? http_version_name(t->version).p : NULL);
}

static void
put_end(struct json *j)
{
	const struct rule_alias *a = log_alias_find("tsc");

	assert(a);
	sbuf_addc(j->out, '"');
	a->write(&j->eval->cx, RULE_FMT_LOG, j->out);
	sbuf_addc(j->out, '"');
}

static void
put_retries(struct json *j)
{
	sbuf_addu(j->out, j->s->retries);
}

static void
put_redispatched(struct json *j)
{
	sbuf_adds(j->out, j->s->redispatched ? "true" : "false");
}

static void
put_capture(struct json *j, enum capture_kind kind, unsigned int i)
{
	struct str text;

	if (!capture_get(j->s, kind, i, &text))
		text = (struct str){ NULL, 0 };
	json_put_text(j, text);
}

static void
put_captures(struct json *j, enum capture_kind kind)
{
	unsigned int n = j->s->sess->fe->captures.n[kind];

	sbuf_addc(j->out, '[');
	for (unsigned int i = 0; i < n; i++) {
		if (i)
			sbuf_addc(j->out, ',');
		put_capture(j, kind, i);
	}
	sbuf_addc(j->out, ']');
}

static void
put_request_cookie(struct json *j)
{
	put_capture(j, CAPTURE_COOKIE, 0);
}

static void
put_response_cookie(struct json *j)
{
	put_capture(j, CAPTURE_COOKIE, 1);
}

static void
put_request_headers(struct json *j)
{
	put_captures(j, CAPTURE_REQUEST);
}

static void
put_response_headers(struct json *j)
{
	put_captures(j, CAPTURE_RESPONSE);
}

static void
put_unique_id(struct json *j)
{
	struct str id;

	if (!unique_id_get(j->s, j->eval->cx.arena, &id))
		id = (struct str){ NULL, 0 };
	json_put_text(j, id);
}

static void
put_cut(struct json *j)
{
	sbuf_adds(j->out, j->max == SIZE_MAX ? "false" : "true");
}

/* --- the line --- */

struct field {
	const char *name;
	void (*put)(struct json *j);
	const char *alias; /* used if there is no function */
};

static const struct field fields[] = {
#define JSON_FIELD(name, fn, doc) { name, put_##fn, NULL },
#define JSON_ALIAS(name, alias, doc) { name, NULL, alias },
#include "proxy/log/log_json.tbl.h"
#undef JSON_FIELD
#undef JSON_ALIAS
};

static void
put_fields(struct json *j)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		sbuf_addf(j->out, "%c\"%s\":", i ? ',' : '{', fields[i].name);
		if (fields[i].put)
			fields[i].put(j);
		else
			json_put_alias(j, fields[i].alias);
	}
	sbuf_addc(j->out, '}');
}

void
log_json_write(struct stream *s, const struct log_context *cx, size_t room, struct sbuf *out)
{
	struct json j = { .s = s, .out = out };
	struct eval eval;

	eval_init(&eval, s, SAMPLE_AT_CONN | SAMPLE_AT_BACK | SAMPLE_AT_SERVER | SAMPLE_AT_END |
			SAMPLE_AT_TXN);
	eval.log = *cx;
	/* A total that is not final is not marked. */
	eval.log.asap = 0;
	j.eval = &eval;
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		j.max = cuts[i];
		sbuf_reset(out);
		put_fields(&j);
		if (!out->failed && out->len <= room)
			return;
	}
	sbuf_reset(out);
	sbuf_adds(out, "{\"cut\":true}");
}
