#include "rule/pattern.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "rule/pattern_key.h"
#include "rule/pattern_number.h"

#define ALL_TYPES (~0u)
#define T(t) (1u << SAMPLE_##t)
#define IPS (T(IPV4) | T(IPV6) | T(ADDR))
#define TEXTS (T(STR) | T(BIN))

static const struct {
	const char *name;
	unsigned int types; /* of samples it can judge */
} methods[PATTERN_METHODS] = {
	[PATTERN_FOUND] = { "found", ALL_TYPES },
	[PATTERN_BOOL] = { "bool", T(BOOL) | T(SINT) | T(STR) },
	[PATTERN_INT] = { "int", T(BOOL) | T(SINT) | IPS | T(STR) },
	[PATTERN_VER] = { NULL, T(SINT) },
	[PATTERN_IP] = { "ip", IPS | TEXTS },
	[PATTERN_BIN] = { "bin", TEXTS },
	[PATTERN_LEN] = { "len", ALL_TYPES },
	[PATTERN_STR] = { "str", ALL_TYPES },
	[PATTERN_BEG] = { "beg", ALL_TYPES },
	[PATTERN_END] = { "end", ALL_TYPES },
	[PATTERN_SUB] = { "sub", ALL_TYPES },
	[PATTERN_DIR] = { "dir", ALL_TYPES },
	[PATTERN_DOM] = { "dom", ALL_TYPES },
	[PATTERN_REG] = { "reg", ALL_TYPES },
};

const char *
pattern_method_name(enum pattern_method m)
{
	return m < PATTERN_METHODS ? methods[m].name : NULL;
}

enum pattern_method
pattern_method_of(struct str name)
{
	unsigned int m = 0;

	while (m < PATTERN_METHODS &&
		!(methods[m].name && str_is(name, str_of(methods[m].name))))
		m++;
	return (enum pattern_method)m;
}

enum pattern_method
pattern_method_default(enum sample_type t)
{
	static const enum pattern_method by_type[] = {
		[SAMPLE_BOOL] = PATTERN_BOOL,
		[SAMPLE_SINT] = PATTERN_INT,
		[SAMPLE_IPV4] = PATTERN_IP,
		[SAMPLE_IPV6] = PATTERN_IP,
		[SAMPLE_STR] = PATTERN_STR,
		[SAMPLE_BIN] = PATTERN_METHODS,
		[SAMPLE_ADDR] = PATTERN_IP,
		[SAMPLE_ANY] = PATTERN_STR,
	};

	return by_type[t];
}

int
pattern_method_fits(enum pattern_method m, enum sample_type t)
{
	return m < PATTERN_METHODS && (methods[m].types >> t & 1 || t == SAMPLE_ANY);
}

enum pattern_op
pattern_op_of(struct str word)
{
	static const char names[PATTERN_OPS][3] = { "eq", "ge", "gt", "le", "lt" };
	unsigned int op = 0;

	while (op < PATTERN_OPS && !str_is(word, str_of(names[op])))
		op++;
	return (enum pattern_op)op;
}

/* --- the set --- */

void
pattern_set_init(struct pattern_set *p, enum pattern_method m, enum sample_type out)
{
	memset(p, 0, sizeof(*p));
	p->method = m;
	p->out = out;
	pattern_index_init(&p->index[0], 0);
	pattern_index_init(&p->index[1], m != PATTERN_IP);
}

static void
free_pattern(struct pattern *t)
{
	regex_free(&t->regex);
	mem_free(t);
}

void
pattern_set_fini(struct pattern_set *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free_pattern(p->all[i]);
	mem_free(p->all);
	mem_free(p->list);
	pattern_index_fini(&p->index[0]);
	pattern_index_fini(&p->index[1]);
	memset(p, 0, sizeof(*p));
}

static int refuse(struct rule_err *why, int reason, const char *fmt, ...) fmt_printf(3, 4);

static int
refuse(struct rule_err *why, int reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	why->at = 0;
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return reason;
}

static int
no_memory(struct rule_err *why)
{
	return refuse(why, -ERR_NOMEM, "%s", err_text(-ERR_NOMEM));
}

/* Room for one more at the end of an array of pointers. */
static int
make_room(struct pattern ***array, uint32_t n, uint32_t *cap)
{
	struct pattern **grown;
	uint32_t want = *cap ? 2 * *cap : 4;

	if (n < *cap)
		return 0;
	grown = mem_resize(*array, want, sizeof(struct pattern *));
	if (!grown)
		return -ERR_NOMEM;
	*array = grown;
	*cap = want;
	return 0;
}

/* --- what an entry says --- */

static int
take_number(struct pattern_set *p, struct pattern *t, enum pattern_op op, struct rule_err *why)
{
	const char *text = NULL;

	if (pattern_range_parse(t->text, p->method == PATTERN_VER, &t->lo, &t->hi, &text) < 0)
		return refuse(why, -ERR_SYNTAX, "'%.60s' %s", t->text.p, text);
	if (op == PATTERN_EQ)
		return 0;
	if (t->lo != t->hi)
		return refuse(why, -ERR_SYNTAX,
			"'%.60s' is a range, where an operator takes a number", t->text.p);
	if (op == PATTERN_GE || op == PATTERN_GT) {
		/* Nothing is above the last: a range that holds nothing. */
		t->lo += op == PATTERN_GT && t->lo < INT64_MAX;
		t->hi = op == PATTERN_GT && t->hi == INT64_MAX ? INT64_MIN : INT64_MAX;
	} else {
		t->hi -= op == PATTERN_LT && t->hi > INT64_MIN;
		t->lo = op == PATTERN_LT && t->lo == INT64_MIN ? INT64_MAX : INT64_MIN;
	}
	return 0;
}

static int
nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int
take_bytes(struct pattern *t, char *to, struct rule_err *why)
{
	if (t->text.len % 2)
		return refuse(why, -ERR_SYNTAX, "'%.60s' has an odd number of hexadecimal digits",
			t->text.p);
	for (size_t i = 0; i < t->text.len; i += 2) {
		int high = nibble(t->text.p[i]), low = nibble(t->text.p[i + 1]);

		if (high < 0 || low < 0) {
			why->at = i;
			snprintf(why->text, sizeof(why->text), "'%.60s' is not hexadecimal",
				t->text.p);
			return -ERR_SYNTAX;
		}
		to[i / 2] = (char)(high << 4 | low);
	}
	t->key = (struct str){ to, t->text.len / 2 };
	return 0;
}

static int
take_net(struct pattern *t, unsigned int flags, char *to, struct rule_err *why)
{
	struct pattern_net net;
	struct sockaddr_storage ss;
	socklen_t len;
	const char *text;

	if (pattern_net_parse(t->text, &net, &text) < 0) {
		/* Names are for IPv4, and have no mask. */
		if (flags & PATTERN_NO_DNS || strpbrk(t->text.p, ":/ ") || !t->text.len)
			return refuse(why, -ERR_SYNTAX, "'%.60s' %s", t->text.p, text);
		if (names_host(t->text.p, AF_INET, &ss, &len) < 0)
			return refuse(why, -ERR_RESOLVE,
				"'%.60s' is no address, and no name that can be resolved",
				t->text.p);
		net = (struct pattern_net){ .bits = 32 };
		net.hi = (uint64_t)ntohl(((struct sockaddr_in *)(void *)&ss)->sin_addr.s_addr)
			<< 32;
	}
	pattern_net_key(&net, to);
	t->key = (struct str){ to, PATTERN_NET_KEY };
	t->lo = net.bits;
	t->hi = net.v6;
	return 0;
}

static int
take_regex(struct pattern *t, struct rule_err *why)
{
	struct regex_err reason = { 0 };
	int rc = regex_new(t->text, t->nocase ? REGEX_NOCASE : 0, &t->regex, &reason);

	if (rc < 0) {
		why->at = reason.at;
		snprintf(why->text, sizeof(why->text), "regex '%.60s' : %.120s", t->text.p,
			reason.text);
	}
	return rc;
}

/* What strings are compared with: in lower case, without the delimiters around parts. */
static void
take_text(struct pattern_set *p, struct pattern *t, char *to)
{
	struct str s = t->text;

	if (p->method == PATTERN_DIR || p->method == PATTERN_DOM) {
		while (s.len && pattern_is_delimiter(p->method, s.p[0])) {
			s.p++;
			s.len--;
		}
		while (s.len && pattern_is_delimiter(p->method, s.p[s.len - 1]))
			s.len--;
	}
	for (size_t i = 0; i < s.len; i++)
		to[i] = (char)(t->nocase ? pattern_fold((unsigned char)s.p[i])
					 : (unsigned char)s.p[i]);
	t->key = (struct str){ to, s.len };
}

static int
take_key(struct pattern_set *p, struct pattern *t, enum pattern_op op, unsigned int flags,
	char *to, struct rule_err *why)
{
	switch (p->method) {
	case PATTERN_INT:
	case PATTERN_VER:
	case PATTERN_LEN:
		if (take_number(p, t, op, why) < 0)
			return -ERR_SYNTAX;
		memcpy(to, &t->lo, sizeof(t->lo));
		t->key = (struct str){ to, sizeof(t->lo) };
		return 0;
	case PATTERN_IP:
		return take_net(t, flags, to, why);
	case PATTERN_BIN:
		return take_bytes(t, to, why);
	case PATTERN_REG:
		return take_regex(t, why);
	case PATTERN_STR:
	case PATTERN_BEG:
	case PATTERN_END:
	case PATTERN_SUB:
	case PATTERN_DIR:
	case PATTERN_DOM:
		take_text(p, t, to);
		return 0;
	case PATTERN_FOUND:
	case PATTERN_BOOL:
	case PATTERN_METHODS:
		break;
	}
	return 0; /* these look at no pattern */
}

static int
take_value(struct pattern_set *p, struct pattern *t, struct rule_err *why)
{
	t->data.type = SAMPLE_STR;
	t->data.u.str = t->value;
	if (p->out == SAMPLE_SINT) {
		t->data.type = SAMPLE_SINT;
		if (pattern_number_parse(t->value, &t->data.u.sint) < 0)
			return refuse(why, -ERR_SYNTAX, "the value '%.60s' is not a number",
				t->value.p);
	} else if (p->out == SAMPLE_ADDR) {
		if (pattern_address_parse(t->value, &t->data) < 0)
			return refuse(why, -ERR_SYNTAX, "the value '%.60s' is not an address",
				t->value.p);
	}
	return 0;
}

/* --- adding --- */

static struct pattern *
make(struct str text, struct str value, unsigned int flags)
{
	/* Keys are never longer than the text, but for those of a fixed size. */
	size_t key = MAX(text.len, (size_t)PATTERN_KEY_FIXED);
	struct pattern *t = mem_zalloc(sizeof(*t) + text.len + 1 + value.len + 1 + key);

	if (!t)
		return NULL;
	if (text.len)
		memcpy(t->bytes, text.p, text.len);
	t->text = (struct str){ t->bytes, text.len };
	if (value.p) {
		t->value = (struct str){ t->bytes + text.len + 1, value.len };
		memcpy(t->bytes + text.len + 1, value.p, value.len);
	}
	t->nocase = (flags & PATTERN_NOCASE) != 0;
	return t;
}

/* Into the index that finds it, or the list. */
static int
enter(struct pattern_set *p, struct pattern *t)
{
	struct pattern_index *x;
	uint64_t hash;
	size_t len;
	int rc;

	x = pattern_key_index(p, t, &hash, &len);
	if (x) {
		rc = pattern_index_add(x, t, hash, len);
		return rc == -ERR_EXISTS ? 0 : rc;
	}
	if (make_room(&p->list, p->n_list, &p->list_cap) < 0)
		return -ERR_NOMEM;
	p->list[p->n_list++] = t;
	return 0;
}

int
pattern_set_add(struct pattern_set *p, struct str text, enum pattern_op op, unsigned int flags,
	struct str value, struct rule_err *why)
{
	struct pattern *t;
	int rc;

	why->at = 0;
	if (text.len > PATTERN_TEXT_MAX)
		return refuse(why, -ERR_RANGE, "a pattern has at most %d bytes", PATTERN_TEXT_MAX);
	if (p->n == PATTERN_SET_MAX)
		return refuse(why, -ERR_FULL, "more than %u patterns", PATTERN_SET_MAX);
	if (make_room(&p->all, p->n, &p->cap) < 0)
		return no_memory(why);
	t = make(text, value, flags);
	if (!t)
		return no_memory(why);
	rc = take_key(p, t, op, flags, t->bytes + text.len + 1 + value.len + 1, why);
	if (rc == 0 && p->out != SAMPLE_ANY)
		rc = take_value(p, t, why);
	if (rc < 0) {
		free_pattern(t);
		return rc;
	}
	t->order = p->n;
	p->all[p->n++] = t;
	return enter(p, t) < 0 ? no_memory(why) : 0;
}
