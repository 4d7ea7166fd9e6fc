/* The converters fix_is_valid and fix_tag_value (manual 7.3.1): messages of FIX, Financial
 * Information eXchange. A message is a list of "TAG=VALUE", each ended by SOH. */
#include <strings.h>

#include "rule/sample/conv.h"

#define SOH '\x01'
#define CHECKSUM_DIGITS 3

enum fix_tag { FIX_BEGIN = 8, FIX_LENGTH = 9, FIX_CHECKSUM = 10, FIX_TYPE = 35 };

/* --- arguments --- */

static int
init_fix_tag(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	static const struct {
		const char *name;
		int tag;
	} names[] = {
		{ "BeginString", FIX_BEGIN },
		{ "BodyLength", FIX_LENGTH },
		{ "CheckSum", FIX_CHECKSUM },
		{ "MsgType", FIX_TYPE },
		{ "SenderCompID", 49 },
		{ "TargetCompID", 56 },
	};
	struct str t = a->arg[0].text;
	int64_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcasecmp(t.p, names[i].name) != 0)
			continue;
		a->kind = names[i].tag;
		return 0;
	}
	*why = "a tag is a number from 1 to 2147483647, BeginString, BodyLength, MsgType, "
	       "SenderCompID, TargetCompID or CheckSum";
	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] < '0' || t.p[i] > '9' || n > INT32_MAX)
			return -1;
		n = n * 10 + (t.p[i] - '0');
	}
	a->kind = (intptr_t)n;
	return n > 0 && n <= INT32_MAX ? 0 : -1;
}

/* --- messages --- */

/* Takes a field. 1; 0: its end is missing; -1: its tag is no number, or its value is missing. */
static int
take_fix_field(struct str *t, int64_t *tag, struct str *value)
{
	const char *p = t->p, *end = t->len > 0 ? memchr(p, SOH, t->len) : NULL;

	if (!end)
		return 0;
	for (*tag = 0; *p >= '0' && *p <= '9' && *tag <= INT32_MAX; p++)
		*tag = *tag * 10 + (*p - '0');
	if (p == t->p || *p != '=' || *tag == 0 || *tag > INT32_MAX)
		return -1;
	p++;
	*value = (struct str){ p, (size_t)(end - p) };
	*t = (struct str){ end + 1, t->len - (size_t)(end + 1 - t->p) };
	return 1;
}

static int
is_fix_version(struct str v)
{
	static const char *const versions[] = { "FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3",
		"FIX.4.4", "FIXT.1.1" };

	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		if (str_is(v, str_of(versions[i])))
			return 1;
	return 0;
}

/* A number of digits alone; -1: it is none, or does not fit. */
static int64_t
fix_number(struct str v)
{
	int64_t n = 0;

	for (size_t i = 0; i < v.len; i++) {
		if (v.p[i] < '0' || v.p[i] > '9' || n > INT32_MAX)
			return -1;
		n = n * 10 + (v.p[i] - '0');
	}
	return v.len > 0 ? n : -1;
}

/* The sum of the bytes before the last field, which has the expected one. */
static int
is_fix_checksum(struct str message, struct str value)
{
	unsigned char sum = 0;

	for (size_t i = 0; i < message.len; i++)
		sum = (unsigned char)(sum + (unsigned char)message.p[i]);
	return value.len == CHECKSUM_DIGITS && fix_number(value) == sum;
}

/* The field with this index may stand there: the first three have their places. */
static int
is_fix_place(unsigned int i, int64_t tag, struct str value)
{
	static const int64_t first[] = { FIX_BEGIN, FIX_LENGTH, FIX_TYPE };

	if (i < ARRAY_LEN(first))
		return tag == first[i] && value.len > 0 && (i > 0 || is_fix_version(value));
	return value.len > 0;
}

/* No result: the message has not ended, and nothing is wrong yet. */
static int
conv_fix_valid(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	struct str t = s->u.str, value = { NULL, 0 }, sum;
	const char *start = t.p, *body_end = NULL, *at = t.p;
	int64_t tag = 0, len;
	int r = 0;

	for (unsigned int i = 0; tag != FIX_CHECKSUM; i++, at = t.p) {
		r = take_fix_field(&t, &tag, &value);
		if (r == 0)
			return 0;
		if (r < 0 || !is_fix_place(i, tag, value))
			break;
		if (i == 1) {
			len = fix_number(value);
			if (len < 0)
				break;
			if ((size_t)len > t.len)
				return 0;
			body_end = t.p + len;
		}
		sum = (struct str){ start, (size_t)(at - start) };
		r = tag != FIX_CHECKSUM || (at == body_end && is_fix_checksum(sum, value));
		if (!r)
			break;
	}
	sample_set_bool(s, r > 0 && tag == FIX_CHECKSUM);
	return 1;
}

static int
conv_fix_value(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str t = s->u.str, value;
	int64_t tag;

	while (take_fix_field(&t, &tag, &value) > 0) {
		if (tag == a->kind && value.len > 0) {
			s->u.str = value;
			return 1;
		}
		if (tag == FIX_CHECKSUM)
			break;
	}
	return 0;
}

const struct rule_conv rule_fix_convs[] = {
	{ .name = "fix_is_valid",
		.in = SAMPLE_BIN,
		.out = SAMPLE_BOOL,
		.conv = conv_fix_valid,
		.doc = "True for a valid message of FIX: the first three fields in their places, "
		       "the length and the checksum right, no field empty. No result while its "
		       "end is missing." },
	{ .name = "fix_tag_value",
		.arg = { ARG_ENUM },
		.min = 1,
		.in = SAMPLE_BIN,
		.out = SAMPLE_BIN,
		.conv = conv_fix_value,
		.init = init_fix_tag,
		.syntax = "<tag>",
		.doc = "The value of the first field with this tag in a message of FIX." },
	{ .name = NULL },
};
