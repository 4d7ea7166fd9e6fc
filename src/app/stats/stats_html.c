/* Texts and numbers as HTML. Changes nothing but the string. */
#include "app/stats/stats_html.h"

#include "base/compiler.h"

void
html_text(struct sbuf *out, struct str text)
{
	static const struct {
		char c;
		const char *as;
	} escapes[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" },
			{ '\'', "&#39;" } };
	size_t from = 0;

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];
		const char *as = c < ' ' || c == 127 ? " " : NULL;

		for (size_t k = 0; k < ARRAY_LEN(escapes); k++)
			if (c == (unsigned char)escapes[k].c)
				as = escapes[k].as;
		if (!as)
			continue;
		sbuf_add(out, text.p + from, i - from);
		sbuf_adds(out, as);
		from = i + 1;
	}
	sbuf_add(out, text.p + from, text.len - from);
}

/* Three digits and a unit, "15.9 MB"; behind a space that does not break. */
static void
put_scaled(struct sbuf *out, double v, const char *unit)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	size_t i = 0;

	for (; v >= 999.5 && i < ARRAY_LEN(prefixes) - 1; i++)
		v /= 1000;
	sbuf_addf(out, "%.*f\xc2\xa0%s%s", !i || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v,
		prefixes[i], unit);
}

void
html_count(struct sbuf *out, uint64_t n)
{
	if (n >= 100000)
		put_scaled(out, (double)n, "");
	else if (n >= 1000)
		sbuf_addf(out, "%u,%03u", (unsigned int)(n / 1000), (unsigned int)(n % 1000));
	else
		sbuf_addu(out, n);
}

void
html_bytes(struct sbuf *out, uint64_t n)
{
	put_scaled(out, (double)n, "B");
}

/* Prints an age in one unit: with two, all rows of a page would change each second. */
void
html_age(struct sbuf *out, int64_t s)
{
	static const struct {
		int64_t s;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } };

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (s >= 2 * units[i].s) {
			sbuf_addf(out, "%lld%c", (long long)(s / units[i].s), units[i].unit);
			return;
		}
	sbuf_addf(out, "%llds", (long long)s);
}
