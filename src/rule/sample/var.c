/* Variables. A set belongs to one session, transaction or to the process: the set of the process is
 * changed and copied from under its lock. */
#include "rule/sample/var.h"

#include "base/err.h"
#include "base/mem.h"

struct var {
	struct list link;
	uint64_t id;
	struct sample value;     /* its text follows the structure */
	size_t size;
	char text[];
};

static void
vars_drop(struct vars *v, struct var *x)
{
	list_remove(&x->link);
	v->bytes -= x->size;
}

void
vars_fini(struct vars *v)
{
	list_each_safe (it, &v->all) {
		struct var *x = list_entry(it, struct var, link);

		vars_drop(v, x);
		mem_free(x);
	}
}

void
vars_move(struct vars *to, struct vars *from)
{
	assert(list_is_empty(&to->all));
	list_each_safe (it, &from->all) {
		struct var *x = list_entry(it, struct var, link);

		vars_drop(from, x);
		list_append(&to->all, &x->link);
		to->bytes += x->size;
	}
}

/* FNV-1a, then mixed: hashes of short names differ in few bits. */
static uint64_t
hash_of(struct str s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

static int
is_var_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '.' || c == '_';
}

int
var_name_parse(struct str text, struct var_name *out, const char **why)
{
	static const struct str scopes[VAR_SCOPES] = {
		[VAR_PROC] = { "proc.", 5 },
		[VAR_SESS] = { "sess.", 5 },
		[VAR_TXN] = { "txn.", 4 },
		[VAR_REQ] = { "req.", 4 },
		[VAR_RES] = { "res.", 4 },
		[VAR_CHECK] = { "check.", 6 },
	};

	const struct str whole = text;

	for (unsigned int i = 0; i < VAR_SCOPES; i++) {
		struct str s = scopes[i];

		if (text.len < s.len || memcmp(text.p, s.p, s.len) != 0)
			continue;
		text = (struct str){ text.p + s.len, text.len - s.len };
		*why = "a variable's name follows the scope";
		if (text.len == 0)
			return -1;
		*why = "the name is too long";
		if (text.len > VAR_NAME_MAX)
			return -1;
		*why = "a variable's name is made of letters, digits, '.' and '_'";
		for (size_t k = 0; k < text.len; k++)
			if (!is_var_char(text.p[k]))
				return -1;
		*out = (struct var_name){ .scope = (enum var_scope)i, .id = hash_of(whole) };
		return 0;
	}
	*why = "a variable's name begins with its scope: proc. sess. txn. req. res. or "
	       "check.";
	return -1;
}

static struct vars *
vars_of_scope(const struct sample_ctx *cx, enum var_scope s)
{
	switch (s) {
	case VAR_PROC:
		return cx->proc;
	case VAR_SESS:
		return cx->sess;
	case VAR_TXN:
		return cx->txn;
	case VAR_REQ:
		return cx->reqv;
	case VAR_RES:
		return cx->resv;
	case VAR_CHECK:
		return cx->check;
	case VAR_SCOPES:
		break;
	}
	return NULL;
}

static struct var *
vars_find(const struct vars *v, uint64_t id)
{
	list_each (it, &v->all) {
		struct var *x = list_entry(it, struct var, link);

		if (x->id == id)
			return x;
	}
	return NULL;
}

static struct var *
var_new(uint64_t id, const struct sample *s)
{
	int text = s->type == SAMPLE_STR || s->type == SAMPLE_BIN;
	size_t n = text ? s->u.str.len : 0;
	struct var *x = n < VARS_BYTES_MAX ? mem_alloc(sizeof(*x) + n) : NULL;

	if (!x)
		return NULL;
	list_init(&x->link);
	x->id = id;
	x->size = sizeof(*x) + n;
	x->value = *s;
	x->value.has_more = x->value.may_change = 0;
	if (text) {
		if (n > 0)
			memcpy(x->text, s->u.str.p, n);
		x->value.u.str.p = x->text;
	}
	return x;
}

/* Replaces the old value by x. Returns what has to be freed: the old one, or NULL, or x itself if
 * there is no room for it. */
static struct var *
vars_exchange(struct vars *v, struct var *x)
{
	struct var *old = vars_find(v, x->id);

	if (v->bytes - (old ? old->size : 0) + x->size > VARS_BYTES_MAX)
		return x;
	if (old)
		vars_drop(v, old);
	list_append(&v->all, &x->link);
	v->bytes += x->size;
	return old;
}

static int
vars_set(struct vars *v, struct var_name name, const struct sample *s)
{
	struct var *x = var_new(name.id, s), *old;

	if (!x)
		return -ERR_NOMEM;
	old = vars_exchange(v, x);
	mem_free(old);
	return old == x ? -ERR_NOMEM : 0;
}

static int
vars_get(const struct vars *v, struct var_name name, struct sample *s)
{
	const struct var *x = vars_find(v, name.id);

	if (!x)
		return 0;
	*s = x->value;
	return 1;
}

/* --- in a context: the lock is there for scope proc only --- */

int
var_store(const struct sample_ctx *cx, struct var_name name, const struct sample *s)
{
	struct vars *v = vars_of_scope(cx, name.scope);
	struct var *x, *old;

	if (!v)
		return -ERR_MISSING;
	if (!v->lock)
		return vars_set(v, name, s);
	x = var_new(name.id, s);
	if (!x)
		return -ERR_NOMEM;
	lock_take(v->lock, cx->sys);
	old = vars_exchange(v, x);
	lock_drop(v->lock);
	mem_free(old);
	return old == x ? -ERR_NOMEM : 0;
}

void
var_forget(const struct sample_ctx *cx, struct var_name name)
{
	struct vars *v = vars_of_scope(cx, name.scope);
	struct var *x;

	if (!v)
		return;
	if (v->lock)
		lock_take(v->lock, cx->sys);
	x = vars_find(v, name.id);
	if (x)
		vars_drop(v, x);
	if (v->lock)
		lock_drop(v->lock);
	mem_free(x);
}

int
var_find(const struct sample_ctx *cx, struct var_name name, struct sample *s)
{
	struct vars *v = vars_of_scope(cx, name.scope);
	int r;

	if (!v)
		return 0;
	if (!v->lock)
		return vars_get(v, name, s);
	lock_take(v->lock, cx->sys);
	r = vars_get(v, name, s);
	if (r && (s->type == SAMPLE_STR || s->type == SAMPLE_BIN)) {
		s->u.str = arena_copy(cx->arena, s->u.str);
		r = s->u.str.p != NULL;
	}
	lock_drop(v->lock);
	return r;
}
