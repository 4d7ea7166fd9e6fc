/* Converters of dates (manual 7.3.1). */
#include <time.h>

#include "rule/sample/conv.h"
#include "http/date.h"

#define TIME_TEXT_MAX 512
#define FRACTION_MAX 8 /* ".123456" and a NUL */

/* kind: true for local time. */
static int
conv_strftime(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	char text[TIME_TEXT_MAX];
	struct str t = { text, 0 };
	struct tm tm;
	int64_t sec;
	time_t at;

	if (__builtin_add_overflow(s->u.sint, a->arg[1].num, &sec))
		return 0;
	at = (time_t)sec;
	if (!(a->kind ? localtime_r(&at, &tm) : gmtime_r(&at, &tm)))
		return 0;
	if (a->arg[0].type != ARG_END)
		t.len = strftime(text, sizeof(text), a->arg[0].text.p, &tm);
	t = arena_copy(cx->arena, t);
	sample_set_str(s, t);
	return t.p != NULL;
}

/* Units per second. */
static int
init_http_date(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	struct str unit = a->arg[1].text;

	a->kind = unit.len == 0 || str_is(unit, STR("s")) ? 1
		: str_is(unit, STR("ms"))                 ? 1000
		: str_is(unit, STR("us"))                 ? 1000000
							  : 0;
	a->bad = 1;
	*why = "the unit is 's', 'ms' or 'us'";
	return a->kind ? 0 : -1;
}

static int
conv_http_date(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	char date[HTTP_DATE_LEN + 1];
	char *p = arena_get(cx->arena, HTTP_DATE_LEN + FRACTION_MAX);
	size_t n = HTTP_DATE_LEN - 4;
	int64_t v, rest;

	if (!p || __builtin_add_overflow(s->u.sint, a->arg[0].num, &v))
		return 0;
	rest = v % a->kind;
	v /= a->kind;
	if (rest < 0) {
		rest += a->kind;
		v--;
	}
	http_date(v, date);
	memcpy(p, date, n);
	if (a->kind > 1) {
		p[n++] = '.';
		for (int64_t unit = a->kind / 10; unit > 0; unit /= 10)
			p[n++] = (char)('0' + rest / unit % 10);
	}
	memcpy(p + n, date + HTTP_DATE_LEN - 4, 4);
	return conv_text(cx, s, p, n + 4);
}

#define STRFTIME(n, local, text, ...)                                       \
	{                                                                   \
		.name = n, .arg = { ARG_ENUM, ARG_INT }, .in = SAMPLE_SINT, \
		.out = SAMPLE_STR, .conv = conv_strftime, .kind = local,    \
		.syntax = "[<format>][,<offset>]", .doc = text, __VA_ARGS__ \
	}

const struct rule_conv rule_time_convs[] = {
	{ .name = "http_date",
		.example = "int(0),http_date gives Thu, 01 Jan 1970 00:00:00 GMT",
		.arg = { ARG_INT, ARG_ENUM },
		.in = SAMPLE_SINT,
		.out = SAMPLE_STR,
		.conv = conv_http_date,
		.init = init_http_date,
		.syntax = "[<offset>],[s|ms|us]",
		.doc = "Formats a time since 1970 in this unit as an HTTP date." },
	STRFTIME("ltime", 1, "Formats seconds since 1970 in local time, as strftime(3); empty "
		"without a format."),
	STRFTIME("utime", 0, "Formats seconds since 1970 in UTC, as strftime(3); empty without a "
		"format.",
		.example = "int(0),utime(%Y-%m-%d) gives 1970-01-01"),
	{ .name = NULL },
};
