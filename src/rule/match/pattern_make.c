/* Parses a pattern: its key, its value. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/str.h"
#include "rule/match/pattern_entry.h"
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
	struct str text = pattern_entry_text(t->entry);
	const char *reason = NULL;

	if (pattern_range_parse(text, p->method == PATTERN_VER, &t->lo, &t->hi, &reason) < 0)
		return pattern_fail(why, -ERR_SYNTAX, "'%.60s' %s", text.p, reason);
	if (op == PATTERN_EQ)
		return 0;
	if (t->lo != t->hi)
		return pattern_fail(why, -ERR_SYNTAX,
			"'%.60s' is a range, where an operator takes a number", text.p);
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
	struct str text = pattern_entry_text(t->entry);

	if (text.len % 2)
		return pattern_fail(why, -ERR_SYNTAX,
			"'%.60s' has an odd number of hexadecimal digits", text.p);
	for (size_t i = 0; i < text.len; i += 2) {
		int high = str_hex_digit(text.p[i]), low = str_hex_digit(text.p[i + 1]);

		if (high < 0 || low < 0) {
			why->at = i;
			snprintf(why->text, sizeof(why->text), "'%.60s' is not hexadecimal",
				text.p);
			return -ERR_SYNTAX;
		}
		to[i / 2] = (char)(high << 4 | low);
	}
	t->key = (struct str){ to, text.len / 2 };
	return 0;
}

static int
take_net(struct pattern *t, unsigned int flags, struct rule_err *why)
{
	struct pattern_net net;
	struct sockaddr_storage ss;
	socklen_t len;
	struct str text = pattern_entry_text(t->entry);
	const char *reason;

	if (pattern_net_parse(text, &net, &reason) < 0) {
		/* Names are IPv4 only and have no mask. */
		if (flags & PATTERN_NO_DNS || strpbrk(text.p, ":/ ") || !text.len)
			return pattern_fail(why, -ERR_SYNTAX, "'%.60s' %s", text.p, reason);
		if (names_host(text.p, AF_INET, &ss, &len) < 0)
			return pattern_fail(why, -ERR_RESOLVE,
				"'%.60s' is no address, and no name that can be resolved",
				text.p);
		net = (struct pattern_net){ .bits = 32 };
		net.hi = (uint64_t)ntohl(((struct sockaddr_in *)(void *)&ss)->sin_addr.s_addr)
			<< 32;
	}
	pattern_net_key(&net, t->net);
	t->key = (struct str){ t->net, PATTERN_NET_KEY };
	return 0;
}

static int
take_regex(struct pattern *t, struct rule_err *why)
{
	struct str text = pattern_entry_text(t->entry);
	struct regex_err reason = { 0 };
	int rc = regex_new(text, t->nocase ? REGEX_NOCASE : 0, &t->regex, &reason);

	t->has_regex = rc == 0;
	if (rc < 0) {
		why->at = reason.at;
		snprintf(why->text, sizeof(why->text), "regex '%.60s' : %.120s", text.p,
			reason.text);
	}
	return rc;
}

/* The text to compare with, without delimiters around parts; in lower case it is a copy. */
static void
make_text(const struct pattern_set *p, struct pattern *t, char *to)
{
	struct str s = pattern_entry_text(t->entry);

	if (p->method == PATTERN_DIR || p->method == PATTERN_DOM) {
		while (s.len && pattern_is_delimiter(p->method, s.p[0])) {
			s.p++;
			s.len--;
		}
		while (s.len && pattern_is_delimiter(p->method, s.p[s.len - 1]))
			s.len--;
	}
	t->key = s;
	if (!t->nocase)
		return;
	for (size_t i = 0; i < s.len; i++)
		to[i] = (char)pattern_fold((unsigned char)s.p[i]);
	t->key.p = to;
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
		t->key = (struct str){ (const char *)&t->lo, sizeof(t->lo) };
		return 0;
	case PATTERN_IP:
		return take_net(t, flags, why);
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

/* True if values have another type than text. */
static int
is_typed(const struct pattern_set *p)
{
	return p->out == SAMPLE_SINT || p->out == SAMPLE_ADDR;
}

/* True if the keys of texts have bytes of their own. */
static int
copies_key(const struct pattern_set *p, unsigned int flags)
{
	return p->method == PATTERN_BIN || (flags & PATTERN_NOCASE && p->method >= PATTERN_STR &&
		p->method != PATTERN_REG);
}

size_t
pattern_room(const struct pattern_set *p, unsigned int flags, size_t len)
{
	return (is_typed(p) ? sizeof(struct pattern_data) : 0) + (copies_key(p, flags) ? len : 0);
}

/* The typed value behind a pattern of a set whose values are typed. */
static struct pattern_data *
typed_value(const struct pattern *t)
{
	return (struct pattern_data *)(void *)pattern_entry_bytes(t);
}

struct pattern_data
pattern_value(const struct pattern *t)
{
	struct pattern_data d = { .type = SAMPLE_STR };

	if (is_typed(t->feed->set))
		return *typed_value(t);
	d.u.str = pattern_entry_value(t->entry);
	return d;
}

int
pattern_change(struct pattern *t, struct str value, struct rule_err *why)
{
	struct sample data = { 0 };
	int rc;

	if (!is_typed(t->feed->set))
		return 0;
	rc = read_value(t->feed->set->out, value, &data, why);
	if (rc == 0)
		*typed_value(t) = (struct pattern_data){ data.type, data.u };
	return rc;
}

/* --- making --- */

void
pattern_drop(struct pattern *t)
{
	/* The set may be gone. */
	if (t->has_regex)
		regex_free(&t->regex);
}

int
pattern_make(struct pattern *t, const struct pattern_feed *feed, struct pattern_entry *e,
	enum pattern_op op, unsigned int flags, struct rule_err *why)
{
	size_t data = is_typed(feed->set) ? sizeof(struct pattern_data) : 0;
	int rc;

	why->at = 0;
	if (e->text_len > PATTERN_TEXT_MAX)
		return pattern_fail(
			why, -ERR_RANGE, "a pattern has at most %d bytes", PATTERN_TEXT_MAX);
	memset(t, 0, sizeof(*t));
	t->feed = feed;
	t->entry = e;
	t->nocase = (flags & PATTERN_NOCASE) != 0;
	list_init(&t->same);
	rc = take_key(feed->set, t, op, flags, pattern_entry_bytes(t) + data, why);
	if (rc == 0)
		rc = pattern_change(t, pattern_entry_value(e), why);
	if (rc < 0)
		pattern_drop(t);
	return rc;
}
