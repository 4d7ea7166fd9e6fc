/* Dates in the formats of logs; one worker's, which caches the last second. Names do not depend on
 * the locale. */
#include "base/wall.h"

/* Not strftime(): names must not depend on the locale. */
static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
				    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

const struct tm *
wall_local(struct wall *w, int64_t sec)
{
	time_t t = (time_t)sec;

	if (likely(w->valid && w->sec == sec))
		return &w->tm;
	if (!localtime_r(&t, &w->tm))
		w->tm = (struct tm){ .tm_mday = 1, .tm_year = 70 };
	w->sec = sec;
	w->valid = 1;
	return &w->tm;
}

/* v in n digits; v is below 10^n. */
static void
add_digits(struct sbuf *b, unsigned int v, unsigned int n)
{
	char d[10];

	for (unsigned int i = n; i-- > 0; v /= 10)
		d[i] = (char)('0' + v % 10);
	sbuf_add(b, d, n);
}

static void
add_clock(struct sbuf *b, const struct tm *tm)
{
	add_digits(b, (unsigned int)tm->tm_hour, 2);
	sbuf_addc(b, ':');
	add_digits(b, (unsigned int)tm->tm_min, 2);
	sbuf_addc(b, ':');
	add_digits(b, (unsigned int)tm->tm_sec, 2);
}

static void
add_offset(struct sbuf *b, const struct tm *tm, int colon)
{
	long minutes = tm->tm_gmtoff / 60;

	sbuf_addc(b, minutes < 0 ? '-' : '+');
	if (minutes < 0)
		minutes = -minutes;
	add_digits(b, (unsigned int)(minutes / 60), 2);
	if (colon)
		sbuf_addc(b, ':');
	add_digits(b, (unsigned int)(minutes % 60), 2);
}

void
wall_add_syslog(struct sbuf *b, const struct tm *tm)
{
	sbuf_add(b, months[tm->tm_mon % 12], 3);
	sbuf_addc(b, ' ');
	if (tm->tm_mday < 10)
		sbuf_addc(b, ' ');
	sbuf_addu(b, (unsigned int)tm->tm_mday);
	sbuf_addc(b, ' ');
	add_clock(b, tm);
}

void
wall_add_iso(struct sbuf *b, const struct tm *tm, unsigned int usec)
{
	add_digits(b, (unsigned int)tm->tm_year + 1900, 4);
	sbuf_addc(b, '-');
	add_digits(b, (unsigned int)tm->tm_mon + 1, 2);
	sbuf_addc(b, '-');
	add_digits(b, (unsigned int)tm->tm_mday, 2);
	sbuf_addc(b, 'T');
	add_clock(b, tm);
	sbuf_addc(b, '.');
	add_digits(b, usec, 6);
	add_offset(b, tm, 1);
}

void
wall_add_clf(struct sbuf *b, const struct tm *tm)
{
	add_digits(b, (unsigned int)tm->tm_mday, 2);
	sbuf_addc(b, '/');
	sbuf_add(b, months[tm->tm_mon % 12], 3);
	sbuf_addc(b, '/');
	add_digits(b, (unsigned int)tm->tm_year + 1900, 4);
	sbuf_addc(b, ':');
	add_clock(b, tm);
}

void
wall_add_mail(struct sbuf *b, const struct tm *tm)
{
	sbuf_add(b, days[tm->tm_wday % 7], 3);
	sbuf_adds(b, ", ");
	add_digits(b, (unsigned int)tm->tm_mday, 2);
	sbuf_addc(b, ' ');
	sbuf_add(b, months[tm->tm_mon % 12], 3);
	sbuf_addc(b, ' ');
	add_digits(b, (unsigned int)tm->tm_year + 1900, 4);
	sbuf_addc(b, ' ');
	add_clock(b, tm);
	sbuf_addc(b, ' ');
	add_offset(b, tm, 0);
	sbuf_addf(b, " (%s)", tm->tm_zone ? tm->tm_zone : "UTC");
}

void
wall_add_zone(struct sbuf *b, const struct tm *tm)
{
	add_offset(b, tm, 0);
}
