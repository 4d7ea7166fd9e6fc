/* What a pattern says: its key, its value. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/str.h"
#include "rule/match/pattern.h"
#include "rule/match/pattern_key.h"
#include "rule/match/pattern_number.h"

static int pattern_fail(struct rule_err *why, int reason, const char *fmt, ...) fmt_printf(3, 4);

static int
pattern_fail(struct rule_err *why, int reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	why->at = 0;
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return reason;
}

static int
make_number(
	const struct pattern_set *p, struct pattern *t, enum pattern_op op, struct rule_err *why)
{
	const char *text = NULL;

	if (pattern_range_parse(t->text, p->method == PATTERN_VER, &t->lo, &t->hi, &text) < 0)
		return pattern_fail(why, -ERR_SYNTAX, "'%.60s' %s", t->text.p, text);
	if (op == PATTERN_EQ)
		return 0;
	if (t->lo != t->hi)
		return pattern_fail(why, -ERR_SYNTAX,
			"'%.60s' is a range, where an operator takes a number", t->text.p);
	if (op == PATTERN_GE || op == PATTERN_GT) {
		/* No number is above the largest one: an empty range. */
		t->lo += op == PATTERN_GT && t->lo < INT64_MAX;
		t->hi = op == PATTERN_GT && t->hi == INT64_MAX ? INT64_MIN : INT64_MAX;
	} else {
		t->hi -= op == PATTERN_LT && t->hi > INT64_MIN;
		t->lo = op == PATTERN_LT && t->lo == INT64_MIN ? INT64_MAX : INT64_MIN;
	}
	return 0;
}

static int
make_bytes(struct pattern *t, char *to, struct rule_err *why)
{
	if (t->text.len % 2)
		return pattern_fail(why, -ERR_SYNTAX,
			"'%.60s' has an odd number of hexadecimal digits", t->text.p);
	for (size_t i = 0; i < t->text.len; i += 2) {
		int high = str_hex_digit(t->text.p[i]), low = str_hex_digit(t->text.p[i + 1]);

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
		/* Names are IPv4 only and have no mask. */
		if (flags & PATTERN_NO_DNS || strpbrk(t->text.p, ":/ ") || !t->text.len)
			return pattern_fail(why, -ERR_SYNTAX, "'%.60s' %s", t->text.p, text);
		if (names_host(t->text.p, AF_INET, &ss, &len) < 0)
			return pattern_fail(why, -ERR_RESOLVE,
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

/* The text to compare with: in lower case, without delimiters around parts. */
static void
make_text(const struct pattern_set *p, struct pattern *t, char *to)
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
take_key(const struct pattern_set *p, struct pattern *t, enum pattern_op op, unsigned int flags,
	char *to, struct rule_err *why)
{
	switch (p->method) {
	case PATTERN_INT:
	case PATTERN_VER:
	case PATTERN_LEN:
		if (make_number(p, t, op, why) < 0)
			return -ERR_SYNTAX;
		memcpy(to, &t->lo, sizeof(t->lo));
		t->key = (struct str){ to, sizeof(t->lo) };
		return 0;
	case PATTERN_IP:
		return take_net(t, flags, to, why);
	case PATTERN_BIN:
		return make_bytes(t, to, why);
	case PATTERN_REG:
		return take_regex(t, why);
	case PATTERN_STR:
	case PATTERN_BEG:
	case PATTERN_END:
	case PATTERN_SUB:
	case PATTERN_DIR:
	case PATTERN_DOM:
		make_text(p, t, to);
		return 0;
	case PATTERN_FOUND:
	case PATTERN_BOOL:
	case PATTERN_METHODS:
		break;
	}
	return 0; /* these methods have no patterns */
}

static int
read_value(enum sample_type out, struct str value, struct sample *data, struct rule_err *why)
{
	data->type = SAMPLE_STR;
	data->u.str = value;
	if (out == SAMPLE_SINT) {
		data->type = SAMPLE_SINT;
		if (pattern_number_parse(value, &data->u.sint) < 0)
			return pattern_fail(
				why, -ERR_SYNTAX, "the value '%.60s' is not a number", value.p);
	} else if (out == SAMPLE_ADDR) {
		if (pattern_address_parse(value, data) < 0)
			return pattern_fail(
				why, -ERR_SYNTAX, "the value '%.60s' is not an address", value.p);
	}
	return 0;
}

int
pattern_change(struct pattern *t, struct str value, struct rule_err *why)
{
	struct sample data = { 0 };
	int rc = read_value(t->set->out, value, &data, why);

	if (rc < 0)
		return rc;
	t->value = value;
	t->data = data;
	return 0;
}

/* --- making --- */

static void
copy_texts(struct pattern *t, struct str text, struct str value)
{
	if (text.len)
		memcpy(t->bytes, text.p, text.len);
	t->text = (struct str){ t->bytes, text.len };
	if (value.p) {
		t->value = (struct str){ t->bytes + text.len + 1, value.len };
		memcpy(t->bytes + text.len + 1, value.p, value.len);
	}
}

static struct pattern *
new_pattern(struct str text, struct str value, unsigned int flags, char **key)
{
	/* Keys are never longer than the text, except those of a fixed size. */
	size_t room = MAX(text.len, (size_t)PATTERN_KEY_FIXED);
	size_t texts = flags & PATTERN_BORROW ? 0 : text.len + 1 + value.len + 1;
	struct pattern *t = mem_zalloc(sizeof(*t) + texts + room);

	if (!t)
		return NULL;
	if (texts) {
		copy_texts(t, text, value);
	} else {
		t->text = text;
		t->value = value;
	}
	*key = t->bytes + texts;
	t->nocase = (flags & PATTERN_NOCASE) != 0;
	list_init(&t->same);
	return t;
}

void
pattern_free(struct pattern *t)
{
	regex_free(&t->regex);
	mem_free(t);
}

int
pattern_make(struct pattern_set *p, struct str text, enum pattern_op op, unsigned int flags,
	struct str value, struct pattern **out, struct rule_err *why)
{
	struct pattern *t;
	char *key;
	int rc;

	why->at = 0;
	if (text.len > PATTERN_TEXT_MAX)
		return pattern_fail(
			why, -ERR_RANGE, "a pattern has at most %d bytes", PATTERN_TEXT_MAX);
	t = new_pattern(text, value, flags, &key);
	if (!t)
		return pattern_fail(why, -ERR_NOMEM, "%s", err_text(-ERR_NOMEM));
	t->set = p;
	rc = take_key(p, t, op, flags, key, why);
	if (rc == 0 && p->out != SAMPLE_ANY)
		rc = read_value(p->out, t->value, &t->data, why);
	if (rc < 0)
		pattern_free(t);
	else
		*out = t;
	return rc;
}
