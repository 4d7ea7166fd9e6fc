/* The way to a value of JSON, as it is written in expressions. Parsed by the main thread while the
 * configuration is read, only read after that. */
#include "rule/sample/json_path.h"

#include "base/mem.h"

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

struct json_path *
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

int
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
