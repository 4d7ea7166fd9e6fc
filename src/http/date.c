/* Writes and reads dates as HTTP wants them. Pure. */
#include "http/date.h"

#include <string.h>
#include <time.h>

#include "base/err.h"

/* Not strftime(): names must not depend on the locale. */
static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
				    "Oct", "Nov", "Dec" };

static void
two_digits(char *out, int v)
{
	out[0] = (char)('0' + v / 10 % 10);
	out[1] = (char)('0' + v % 10);
}

void
http_date(int64_t sec, char out[HTTP_DATE_LEN + 1])
{
	time_t t = (time_t)sec;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || tm.tm_year < -900 || tm.tm_year > 8099)
		tm = (struct tm){ .tm_mday = 1, .tm_year = 70, .tm_wday = 4 };
	memcpy(out, "Ddd, 00 Mmm 0000 00:00:00 GMT", HTTP_DATE_LEN + 1);
	memcpy(out, days[tm.tm_wday], 3);
	two_digits(out + 5, tm.tm_mday);
	memcpy(out + 8, months[tm.tm_mon], 3);
	two_digits(out + 12, (tm.tm_year + 1900) / 100);
	two_digits(out + 14, (tm.tm_year + 1900) % 100);
	two_digits(out + 17, tm.tm_hour);
	two_digits(out + 20, tm.tm_min);
	two_digits(out + 23, tm.tm_sec);
}

/* --- reading --- */

/* A year of two digits is at most so far in the future (RFC 9110, 5.6.7). */
#define CENTURY_SPLIT 70

/* The number of n digits at *s, which advances; a leading blank counts as 0. -1: there is none. */
static int
next_number(struct str *s, size_t n)
{
	int v = 0;

	if (s->len < n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		char c = i == 0 && s->p[0] == ' ' ? '0' : s->p[i];

		if (c < '0' || c > '9')
			return -1;
		v = v * 10 + (c - '0');
	}
	s->p += n;
	s->len -= n;
	return v;
}

/* 1 if this text is next, which is skipped. */
static int
next_text(struct str *s, const char *text)
{
	size_t n = strlen(text);

	if (s->len < n || memcmp(s->p, text, n) != 0)
		return 0;
	s->p += n;
	s->len -= n;
	return 1;
}

/* The month, from 0 on; -1: there is none. */
static int
next_month(struct str *s)
{
	for (int i = 0; i < 12; i++)
		if (next_text(s, months[i]))
			return i;
	return -1;
}

/* 0 or -1. */
static int
next_time(struct str *s, struct tm *tm)
{
	tm->tm_hour = next_number(s, 2);
	if (tm->tm_hour < 0 || !next_text(s, ":"))
		return -1;
	tm->tm_min = next_number(s, 2);
	if (tm->tm_min < 0 || !next_text(s, ":"))
		return -1;
	tm->tm_sec = next_number(s, 2);
	return tm->tm_hour > 23 || tm->tm_min > 59 || tm->tm_sec < 0 || tm->tm_sec > 60 ? -1 : 0;
}

/* "06 Nov 1994 08:49:37 GMT", or "06-Nov-94 08:49:37 GMT". 0 or -1. */
static int
take_day_first(struct str *s, struct tm *tm, int is_old)
{
	const char *between = is_old ? "-" : " ";

	tm->tm_mday = next_number(s, 2);
	if (tm->tm_mday < 0 || !next_text(s, between))
		return -1;
	tm->tm_mon = next_month(s);
	if (tm->tm_mon < 0 || !next_text(s, between))
		return -1;
	tm->tm_year = next_number(s, is_old ? 2 : 4);
	if (tm->tm_year < 0 || !next_text(s, " ") || next_time(s, tm) < 0)
		return -1;
	if (!is_old)
		tm->tm_year -= 1900;
	else if (tm->tm_year < CENTURY_SPLIT)
		tm->tm_year += 100;
	return next_text(s, " GMT") ? 0 : -1;
}

/* "Nov  6 08:49:37 1994": 0 or -1. */
static int
take_month_first(struct str *s, struct tm *tm)
{
	tm->tm_mon = next_month(s);
	if (tm->tm_mon < 0 || !next_text(s, " "))
		return -1;
	tm->tm_mday = next_number(s, 2);
	if (tm->tm_mday < 0 || !next_text(s, " ") || next_time(s, tm) < 0 || !next_text(s, " "))
		return -1;
	tm->tm_year = next_number(s, 4) - 1900;
	return tm->tm_year < -1900 ? -1 : 0;
}

int
http_date_parse(struct str text, int64_t *sec)
{
	struct str s = text;
	struct tm tm = { 0 };
	int day = -1, r;

	for (int i = 0; i < 7 && day < 0; i++)
		day = next_text(&s, days[i]) ? i : -1;
	if (day < 0)
		return -ERR_SYNTAX;
	if (next_text(&s, ", ")) {
		r = take_day_first(&s, &tm, 0);
	} else if (next_text(&s, " ")) {
		r = take_month_first(&s, &tm);
	} else {
		while (s.len && *s.p >= 'a' && *s.p <= 'z')
			(void)next_text(&s, (char[2]){ *s.p, 0 });
		r = next_text(&s, ", ") ? take_day_first(&s, &tm, 1) : -1;
	}
	if (r < 0 || s.len || tm.tm_mday < 1 || tm.tm_mday > 31)
		return -ERR_SYNTAX;
	*sec = timegm(&tm);
	return 0;
}
