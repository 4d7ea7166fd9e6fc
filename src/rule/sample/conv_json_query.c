/* Converters that take a value out of JSON (manual 7.3.1): out of a text, or of the parts of a JSON
 * Web Token (RFC 7519). */
#include "base/json_find.h"
#include "base/mem.h"
#include "rule/sample/conv.h"
#include "rule/sample/sample.h"

struct json_path {
	size_t n;
	struct json_step *step;
};

/* --- paths ----------------------------------------------------------------------------------- */

/*
 * The way to a value of JSON, as it is written in expressions. Parsed by the main thread while
 * the configuration is read, only read after that.
 */

struct path_text {
	const char *p, *end;
	char *names;             /* room for what is left of all names */
	const char *why;
};

/* Copies a name up to one of the characters in stop. */
static struct str
take_path_name(struct path_text *t, const char *stop)
{
	struct str name = { t->names, 0 };

	for (; t->p < t->end && !strchr(stop, *t->p); t->p++) {
		if (*t->p == '\\' && t->p + 1 < t->end)
			t->p++;
		*t->names++ = *t->p;
	}
	name.len = (size_t)(t->names - name.p);
	return name;
}

static int
take_member(struct path_text *t, struct json_step *step)
{
	const char *start = t->p;

	t->why = "a name is missing behind '.'";
	step->name = take_path_name(t, ".[");
	if (t->p == start)
		return -1;
	t->why = "'*' stands for several values, which is not supported";
	return t->p - start == 1 && *start == '*' ? -1 : 0;
}

static int
take_quoted(struct path_text *t, struct json_step *step)
{
	char stop[2] = { *t->p++, '\0' };

	t->why = "a quote is not closed";
	step->name = take_path_name(t, stop);
	return t->p++ < t->end ? 0 : -1;
}

static int
take_index(struct path_text *t, struct json_step *step)
{
	const char *start = t->p;

	t->why = "a number from 0 on, or a name in quotes, is expected behind '['";
	step->name = (struct str){ NULL, 0 };
	for (step->nth = 0; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++)
		if (__builtin_mul_overflow(step->nth, 10, &step->nth) ||
			__builtin_add_overflow(step->nth, (size_t)(*t->p - '0'), &step->nth))
			return -1;
	return t->p > start ? 0 : -1;
}

static int
take_path_step(struct path_text *t, struct json_step *step)
{
	char c = *t->p++;
	int r;

	t->why = "'.' or '[' is expected";
	if (c == '.')
		return take_member(t, step);
	if (c != '[')
		return -1;
	if (t->p < t->end && (*t->p == '\'' || *t->p == '"'))
		r = take_quoted(t, step);
	else
		r = take_index(t, step);
	if (r)
		return r;
	t->why = "']' is missing";
	return t->p < t->end && *t->p++ == ']' ? 0 : -1;
}

/*
 * Reads "$.name.name[0]['name']"; a backslash makes the next character a part of a name. NULL with
 * why: it is not one, or it may lead to several values. Freed with mem_free().
 */
static struct json_path *
json_path_parse(struct str text, const char **why)
{
	struct path_text t = { text.p + 1, text.p + text.len, NULL, NULL };
	struct json_path *path;
	size_t most = 0;

	*why = "it begins with '$'";
	if (text.len == 0 || text.p[0] != '$')
		return NULL;
	for (size_t i = 0; i < text.len; i++)
		most += text.p[i] == '.' || text.p[i] == '[';
	*why = "out of memory";
	path = mem_zalloc(sizeof(*path) + most * sizeof(*path->step) + text.len);
	if (!path)
		return NULL;
	path->step = (struct json_step *)(void *)(path + 1);
	t.names = (char *)(path->step + most);
	while (t.p < t.end) {
		if (take_path_step(&t, &path->step[path->n++])) {
			*why = t.why;
			mem_free(path);
			return NULL;
		}
	}
	return path;
}

static int
json_string_sample(struct str raw, struct arena *arena, struct sample *s)
{
	struct str v = raw;
	char *p;
	long n;

	if (raw.len > 0 && memchr(raw.p, '\\', raw.len)) {
		p = arena_get(arena, raw.len);
		n = p ? json_unescape(raw, p) : -1;
		if (n < 0)
			return 0;
		v = (struct str){ p, (size_t)n };
		arena_release(arena, (size_t)(p - arena->p) + v.len);
	}
	sample_set_str(s, v);
	return 1;
}

/*
 * The value as a sample: a number, as it stands, and a string as text, in the arena if it has
 * escapes; as_int: a number as an integer. 0: none, or it is null, a list or an object.
 */
static int
json_path_sample(const struct json_path *path, int as_int, struct str json, struct arena *arena,
	struct sample *s)
{
	struct json_value v;
	int64_t n;

	if (!json_find(json, path->step, path->n, &v))
		return 0;
	switch (v.kind) {
	case JSON_TRUE:
	case JSON_FALSE:
		sample_set_bool(s, v.kind == JSON_TRUE);
		return 1;
	case JSON_STRING:
		return json_string_sample(v.text, arena, s);
	case JSON_NUMBER:
		if (!as_int) {
			sample_set_str(s, v.text);
			return 1;
		}
		if (json_to_int(v.text, &n))
			return 0;
		sample_set_int(s, n);
		return 1;
	case JSON_NULL:
	case JSON_LIST:
	case JSON_OBJECT:
		break;
	}
	return 0;
}

/* --- the converter --------------------------------------------------------------------------- */

static int
init_json_query(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	a->arg[0].ref = json_path_parse(a->arg[0].text, why);
	if (!a->arg[0].ref)
		return -1;
	a->bad = 1;
	*why = "the only type is 'int'";
	return a->arg[1].type == ARG_END || str_is(a->arg[1].text, STR("int")) ? 0 : -1;
}

static void
free_json_query(struct rule_args *a)
{
	mem_free(a->arg[0].ref);
	a->arg[0].ref = NULL;
}

static int
conv_json_query(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	return json_path_sample(a->arg[0].ref, a->arg[1].type != ARG_END, s->u.str, cx->arena, s);
}

/* --- tokens --- */

/* kind of the converters, and the index of the part. */
enum { TOKEN_HEADER, TOKEN_PAYLOAD };

unsigned int
conv_split_token(struct str token, struct str part[3])
{
	unsigned int n = 0;

	for (size_t start = 0, at = 0; at <= token.len; at++) {
		if (at < token.len && token.p[at] != '.')
			continue;
		if (n == 3)
			return 4;
		part[n++] = (struct str){ token.p + start, at - start };
		start = at + 1;
	}
	return n;
}

static int
init_token_query(struct rule_args *a, const struct rule_vocab *v, const char **why)
{
	if (a->arg[0].type != ARG_END)
		return init_json_query(a, v, why);
	*why = "a type needs a path";
	a->bad = 1;
	return a->arg[1].type == ARG_END ? 0 : -1;
}

static int
conv_token_query(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str part[3];
	char *p;
	long n;

	if (conv_split_token(s->u.str, part) <= (unsigned int)a->kind)
		return 0;
	p = arena_get(cx->arena, CODE_B64_ROOM(part[a->kind].len));
	n = p ? code_b64url_decode(part[a->kind], p) : -1;
	if (n < 0 || !conv_bytes(cx, s, p, (size_t)n))
		return 0;
	return !a->arg[0].ref || conv_json_query(a, cx, s);
}

#define TOKEN(n, k, text, ...)                                                                \
	{                                                                                     \
		.name = n, .arg = { ARG_ENUM, ARG_ENUM }, .in = SAMPLE_BIN,                   \
		.out = SAMPLE_ANY, .conv = conv_token_query, .init = init_token_query,        \
		.free = free_json_query, .kind = k, .syntax = "[<path>[,int]]",               \
		.doc = "The " text " of a JSON Web Token, or a value of it: see json_query.", \
		__VA_ARGS__                                                                   \
	}

const struct rule_conv rule_json_query_convs[] = {
	{ .name = "json_query",
		.example = "req.body,json_query('$.user.name')",
		.arg = { ARG_ENUM, ARG_ENUM },
		.min = 1,
		.in = SAMPLE_STR,
		.out = SAMPLE_ANY,
		.conv = conv_json_query,
		.init = init_json_query,
		.free = free_json_query,
		.syntax = "<path>[,int]",
		.doc = "The value at a path such as $.name.list[0]['a.b'] of a JSON text: a "
			"string, a number as it stands (an integer with int), or a boolean." },
	TOKEN("jwt_header_query", TOKEN_HEADER, "header"),
	TOKEN("jwt_payload_query", TOKEN_PAYLOAD, "payload",
		.example = "http_auth_bearer,jwt_payload_query('$.sub')"),
	{ .name = NULL },
};
