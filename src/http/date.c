/* Writes dates as HTTP wants them. Pure. */
#include "http/date.h"

#include <string.h>
#include <time.h>

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
