/* An entry of a map or an ACL and its patterns, one for each set. Changed while workers are
 * paused, or by the one that holds the guard. */
#include "rule/match/pattern_entry.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/str.h"
#include "rule/match/pattern_key.h"
#include "rule/match/pattern_net.h"

/* --- making patterns ------------------------------------------------------------------------- */

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

/* Sets the key of a pattern: it lies in its entry's text, or in the bytes that the pattern
 * needs. */
static void
set_key(struct pattern *t, const char *at, size_t len)
{
	t->key_at = (uint32_t)(at - (const char *)t);
	t->key_len = (uint16_t)len;
}

static int
make_number(const struct pattern_set *p, struct str text, enum pattern_op op,
	struct pattern_range *r, struct rule_err *why)
{
	const char *reason = NULL;

	if (pattern_range_parse(text, p->method == PATTERN_VER, &r->lo, &r->hi, &reason) < 0)
		return pattern_fail(why, -ERR_SYNTAX, "'%.60s' %s", text.p, reason);
	if (op == PATTERN_EQ)
		return 0;
	if (r->lo != r->hi)
		return pattern_fail(why, -ERR_SYNTAX,
			"'%.60s' is a range: an operator needs a number", text.p);
	if (op == PATTERN_GE || op == PATTERN_GT) {
		/* No number is above the largest one: an empty range. */
		r->lo += op == PATTERN_GT && r->lo < INT64_MAX;
		r->hi = op == PATTERN_GT && r->hi == INT64_MAX ? INT64_MIN : INT64_MAX;
	} else {
		r->hi -= op == PATTERN_LT && r->hi > INT64_MIN;
		r->lo = op == PATTERN_LT && r->lo == INT64_MIN ? INT64_MAX : INT64_MIN;
	}
	return 0;
}

static int
make_bytes(struct pattern *t, struct str text, char *to, struct rule_err *why)
{

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
	set_key(t, to, text.len / 2);
	return 0;
}

/* to: has room for the key of an IPv6 address only if there is a colon in the text. */
static int
take_net(struct pattern *t, struct str text, unsigned int flags, char *to, struct rule_err *why)
{
	struct pattern_net net;
	struct sockaddr_storage ss;
	socklen_t len;
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
	set_key(t, to, pattern_net_key(&net, to));
	return 0;
}

static int
take_regex(struct pattern *t, struct str text, char *to, struct rule_err *why)
{
	struct regex_err reason = { 0 };
	struct regex **regex = (struct regex **)(void *)to;
	int rc = regex_new(text, t->nocase ? REGEX_NOCASE : 0, regex, &reason);

	set_key(t, to, 0);
	t->has_regex = rc == 0;
	if (rc < 0) {
		why->at = reason.at;
		snprintf(why->text, sizeof(why->text), "regex '%.60s' : %.120s", text.p,
			reason.text);
	}
	return rc;
}

/* True if -i compares it with another text. */
static int
is_folded(unsigned int flags, struct str s)
{
	size_t i = 0;

	while (flags & PATTERN_NOCASE && i < s.len &&
		pattern_fold((unsigned char)s.p[i]) == (unsigned char)s.p[i])
		i++;
	return flags & PATTERN_NOCASE && i < s.len;
}

/* True if a text is not compared where the entry has it. */
static int
copies_text(unsigned int flags, struct str text, int is_first)
{
	return !is_first || is_folded(flags, text);
}

/* The text to compare with, without delimiters around parts. */
static void
make_text(const struct pattern_set *p, struct pattern *t, struct str s, char *to)
{
	int copies = copies_text(t->nocase ? PATTERN_NOCASE : 0, s, t->is_first);

	if (p->method == PATTERN_DIR || p->method == PATTERN_DOM) {
		while (s.len && pattern_is_delimiter(p->method, s.p[0])) {
			s.p++;
			s.len--;
		}
		while (s.len && pattern_is_delimiter(p->method, s.p[s.len - 1]))
			s.len--;
	}
	for (size_t i = 0; copies && i < s.len; i++)
		to[i] = t->nocase ? (char)pattern_fold((unsigned char)s.p[i]) : s.p[i];
	set_key(t, copies ? to : s.p, s.len);
}

static int
take_key(const struct pattern_set *p, struct pattern *t, enum pattern_op op, unsigned int flags,
	char *to, struct rule_err *why)
{
	struct str text = pattern_entry_text(pattern_entry_of(t));

	switch (p->method) {
	case PATTERN_INT:
	case PATTERN_VER:
	case PATTERN_LEN:
		set_key(t, to, sizeof(int64_t));
		return make_number(p, text, op, (struct pattern_range *)(void *)to, why);
	case PATTERN_IP:
		return take_net(t, text, flags, to, why);
	case PATTERN_BIN:
		return make_bytes(t, text, to, why);
	case PATTERN_REG:
		return take_regex(t, text, to, why);
	case PATTERN_STR:
	case PATTERN_BEG:
	case PATTERN_END:
	case PATTERN_SUB:
	case PATTERN_DIR:
	case PATTERN_DOM:
		make_text(p, t, text, to);
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
is_typed(unsigned int out)
{
	return out == SAMPLE_SINT || out == SAMPLE_ADDR;
}

/* The number of bytes that the key needs. */
static size_t
key_room(const struct pattern_set *p, unsigned int flags, struct str text, int is_first)
{
	switch (p->method) {
	case PATTERN_INT:
	case PATTERN_VER:
	case PATTERN_LEN:
		return sizeof(struct pattern_range);
	case PATTERN_IP:
		return text.len && memchr(text.p, ':', text.len) ? PATTERN_NET_KEY
								 : PATTERN_NET_KEY4;
	case PATTERN_BIN:
		return text.len / 2;
	case PATTERN_REG:
		return sizeof(struct regex *);
	case PATTERN_STR:
	case PATTERN_BEG:
	case PATTERN_END:
	case PATTERN_SUB:
	case PATTERN_DIR:
	case PATTERN_DOM:
		return copies_text(flags, text, is_first) ? text.len : 0;
	case PATTERN_FOUND:
	case PATTERN_BOOL:
	case PATTERN_METHODS:
		break;
	}
	return 0;
}

/* The number of bytes that a pattern of this text needs in this set. is_first: it can refer to the
 * entry's text. */
static size_t
pattern_room(const struct pattern_set *p, unsigned int flags, struct str text, int is_first)
{
	return (is_typed(p->out) ? sizeof(struct pattern_data) : 0) +
		key_room(p, flags, text, is_first);
}

/* The alignment of these bytes: 1 or 8. */
static size_t
pattern_room_alignment(const struct pattern_set *p)
{
	int is_aligned = is_typed(p->out) || p->method == PATTERN_INT || p->method == PATTERN_VER ||
		p->method == PATTERN_LEN || p->method == PATTERN_REG;

	return is_aligned ? sizeof(int64_t) : 1;
}

/* The offset of the bytes that `first` needs. */
static size_t
room_at(size_t text_len, size_t alignment)
{
	return (text_len + 1 + alignment - 1) & ~(alignment - 1);
}

/* Returns the bytes that a pattern of the entry needs in a set with this alignment. */
static char *
pattern_entry_bytes(const struct pattern *t, size_t alignment)
{
	struct pattern_entry *e = pattern_entry_of(t);

	return t->is_first ? e->bytes + room_at(e->first.text_len, alignment)
			   : container_of(t, struct pattern_more, t)->bytes;
}

/* Returns the typed value of a pattern, in a set of typed values. */
static struct pattern_data *
typed_value(const struct pattern *t)
{
	return (struct pattern_data *)(void *)pattern_entry_bytes(t, sizeof(int64_t));
}

struct pattern_data
pattern_value(const struct pattern *t)
{
	struct pattern_data d = { .type = SAMPLE_STR };

	if (is_typed(t->out))
		return *typed_value(t);
	d.u.str = pattern_entry_value(pattern_entry_of(t));
	return d;
}

/* Reads another value of its entry. The old value is kept if the new one is invalid. */
static int
pattern_change(struct pattern *t, struct str value, struct rule_err *why)
{
	struct sample data = { 0 };
	int rc;

	if (!is_typed(t->out))
		return 0;
	rc = read_value((enum sample_type)t->out, value, &data, why);
	if (rc == 0)
		*typed_value(t) = (struct pattern_data){ data.type, data.u };
	return rc;
}

/* --- making --- */

int
pattern_check_text(struct str text, struct rule_err *why)
{
	if (text.len <= PATTERN_TEXT_MAX)
		return 0;
	return pattern_fail(why, -ERR_RANGE, "a pattern has at most %d bytes", PATTERN_TEXT_MAX);
}

/* Frees what a pattern that is in no set owns. */
static void
pattern_drop(struct pattern *t)
{
	/* The set may be gone. */
	if (t->has_regex)
		regex_free((struct regex **)(uintptr_t)pattern_key(t).p);
}

/*
 * Makes a pattern of its entry's text and value for this set, without adding it. It has the bytes
 * that it needs (pattern_entry_bytes()); `next` and `is_first` are set already. 0, or a negative
 * reason with *why, whose `at` is an offset in the text.
 */
static int
pattern_make(struct pattern *t, const struct pattern_set *p, enum pattern_op op, unsigned int flags,
	struct rule_err *why)
{
	size_t data = is_typed(p->out) ? sizeof(struct pattern_data) : 0;
	int rc;

	why->at = 0;
	t->out = (uint8_t)p->out;
	t->nocase = (flags & PATTERN_NOCASE) != 0;
	t->has_regex = 0;
	list_init(&t->same);
	rc = take_key(p, t, op, flags, pattern_entry_bytes(t, pattern_room_alignment(p)) + data,
		why);
	if (rc == 0)
		rc = pattern_change(t, pattern_entry_value(pattern_entry_of(t)), why);
	if (rc < 0) {
		pattern_drop(t);
		return rc;
	}
	t->hash = pattern_key_hash(p, t);
	return 0;
}

/* A map of a million hosts has a million of them. */
_Static_assert(sizeof(void *) != 8 || sizeof(struct pattern_entry) <= 96, "a small entry");

/* Returns an entry with `room` bytes at this offset between text and value. NULL when memory is
 * out, or for a text that no pattern may have. */
static struct pattern_entry *
alloc_entry(const struct keyhash *key, struct str text, struct str value, size_t at, size_t room)
{
	struct pattern_entry *e = NULL;

	if (text.len <= PATTERN_TEXT_MAX)
		e = mem_alloc(sizeof(*e) + at + room + (value.p ? value.len + 1 : 0));
	if (!e)
		return NULL;
	memset(e, 0, sizeof(*e));
	list_init(&e->link);
	e->hash = keyhash(key, text.p, text.len);
	if (text.len)
		memcpy(e->bytes, text.p, text.len);
	e->bytes[text.len] = '\0';
	e->first.text_len = (uint16_t)text.len;
	if (!value.p)
		return e;
	e->value = e->bytes + at + room;
	e->value_len = (uint32_t)value.len;
	memcpy(e->value, value.p, value.len);
	e->value[value.len] = '\0';
	return e;
}

struct pattern_entry *
pattern_entry_new(const struct keyhash *key, struct str text, struct str value)
{
	return alloc_entry(key, text, value, text.len + 1, 0);
}

struct pattern_entry *
pattern_entry_new_for(const struct keyhash *key, struct str text, struct str value,
	const struct pattern_set *set, unsigned int flags)
{
	size_t room = pattern_room(set, flags, text, 1);
	struct pattern_entry *e = alloc_entry(
		key, text, value, room_at(text.len, pattern_room_alignment(set)), room);

	if (e)
		e->first.has_room = 1;
	return e;
}

static void
free_value(struct pattern_entry *e)
{
	if (e->first.owns_value)
		mem_free(e->value);
}

static void
free_pattern(struct pattern *t)
{
	if (!t->is_first)
		mem_free(container_of(t, struct pattern_more, t));
}

void
pattern_entry_free(struct pattern_entry *e)
{
	struct pattern *t, *next;

	for (t = pattern_entry_first(e); t; t = next) {
		next = t->next;
		pattern_drop(t);
		free_pattern(t);
	}
	free_value(e);
	mem_free(e);
}

/* Returns a pattern that is not yet one of its entry's. */
static struct pattern *
alloc_pattern(struct pattern_entry *e, const struct pattern_set *set, unsigned int flags)
{
	struct pattern_more *more;

	if (e->first.has_room && !e->first.is_first) {
		e->first.is_first = 1;
		return &e->first;
	}
	more = mem_zalloc(
		sizeof(*more) + pattern_room(set, flags, pattern_entry_text(e), 0));
	if (!more)
		return NULL;
	more->entry = e;
	return &more->t;
}

static void
append_pattern(struct pattern_entry *e, struct pattern *t)
{
	struct pattern *last = &e->first;

	if (t == last)
		return;
	while (last->next)
		last = last->next;
	last->next = t;
}

int
pattern_entry_feed(struct pattern_entry *e, const struct pattern_set *set, enum pattern_op op,
	unsigned int flags, struct pattern **out, struct rule_err *why)
{
	struct pattern *t = alloc_pattern(e, set, flags);
	int rc;

	why->at = 0;
	if (!t) {
		snprintf(why->text, sizeof(why->text), "%s", err_text(-ERR_NOMEM));
		return -ERR_NOMEM;
	}
	rc = pattern_make(t, set, op, flags, why);
	if (rc < 0) {
		free_pattern(t);
		e->first.is_first &= t != &e->first;
		return rc;
	}
	append_pattern(e, t);
	*out = t;
	return 0;
}

/* The sets of an entry's patterns: these, or those of the feeds. */
struct entry_sets {
	struct pattern_set *set;
	struct pattern_feed *const *feed;
};

static struct pattern_set *
nth_set(const struct entry_sets *s, unsigned int i)
{
	return s->set ? &s->set[i] : s->feed[i]->set;
}

/* Leaves those before `end`, NULL: all. */
static void
leave_before(struct pattern_entry *e, const struct entry_sets *s, const struct pattern *end)
{
	unsigned int i = 0;

	for (struct pattern *t = pattern_entry_first(e); t != end; t = t->next, i++)
		pattern_set_leave(nth_set(s, i), t);
}

static int
enter_all(struct pattern_entry *e, const struct entry_sets *s, struct rule_err *why)
{
	unsigned int i = 0;

	for (struct pattern *t = pattern_entry_first(e); t; t = t->next, i++) {
		int rc = pattern_set_enter(nth_set(s, i), t);

		if (rc == 0)
			continue;
		leave_before(e, s, t);
		why->at = 0;
		snprintf(why->text, sizeof(why->text), "%s", err_text(rc));
		return rc;
	}
	return 0;
}

int
pattern_entry_enter(struct pattern_entry *e, struct pattern_feed *const *feed, struct rule_err *why)
{
	return enter_all(e, &(struct entry_sets){ NULL, feed }, why);
}

void
pattern_entry_leave(struct pattern_entry *e, struct pattern_feed *const *feed)
{
	leave_before(e, &(struct entry_sets){ NULL, feed }, NULL);
}

int
pattern_entry_enter_sets(struct pattern_entry *e, struct pattern_set *sets, struct rule_err *why)
{
	return enter_all(e, &(struct entry_sets){ sets, NULL }, why);
}

void
pattern_entry_leave_sets(struct pattern_entry *e, struct pattern_set *sets)
{
	leave_before(e, &(struct entry_sets){ sets, NULL }, NULL);
}

int
pattern_entry_change(struct pattern_entry *e, struct str value, struct rule_err *why)
{
	char *own = mem_alloc(value.len + 1);
	struct str copy = { own, value.len };
	int rc = 0;

	if (!own) {
		why->at = 0;
		snprintf(why->text, sizeof(why->text), "%s", err_text(-ERR_NOMEM));
		return -ERR_NOMEM;
	}
	if (value.len)
		memcpy(own, value.p, value.len);
	own[value.len] = '\0';
	for (struct pattern *t = pattern_entry_first(e); t && rc == 0; t = t->next)
		rc = pattern_change(t, copy, why);
	if (rc < 0) {
		struct rule_err old;

		/* If one set rejects the value, the others get the old one back. */
		for (struct pattern *t = pattern_entry_first(e); t; t = t->next)
			if (pattern_change(t, pattern_entry_value(e), &old) < 0)
				break;
		mem_free(own);
		return rc;
	}
	free_value(e);
	e->first.owns_value = 1;
	e->value = own;
	e->value_len = (uint32_t)value.len;
	return 0;
}
