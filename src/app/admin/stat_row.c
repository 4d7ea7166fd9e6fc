/* Rows of show stat as text. Pure: changes nothing but the string. */
#include "app/admin/stat_row.h"

#include <string.h>

enum {
	NUMBER_MAX = 20, /* digits, or a sign and 19 digits */
	PLAIN_MAX = 32   /* text that is copied as it is; not less than a number */
};

const char *
stat_type_name(enum stat_type type)
{
	static const char *const names[] = { [TYPE_FRONTEND] = "Frontend",
		[TYPE_BACKEND] = "Backend", [TYPE_SERVER] = "Server",
		[TYPE_LISTENER] = "Listener" };

	return names[type];
}

void
stat_row_header(struct sbuf *out)
{
	static const char *const names[STAT_COLS] = {
#define STAT_NAMED(id, text, tags, type, desc) text,
#define STAT_COL(name, tags, type, desc) STAT_NAMED(name, #name, tags, type, desc)
#include "app/admin/stat.tbl.h"
#undef STAT_COL
#undef STAT_NAMED
	};

	sbuf_adds(out, "# ");
	for (int c = 0; c < STAT_COLS; c++)
		sbuf_addf(out, "%s,", names[c]);
	sbuf_addc(out, '\n');
}

/* Text with a comma or quote is quoted as in RFC 4180. */
static void
print_quoted(struct sbuf *out, const char *s)
{
	sbuf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			sbuf_addc(out, '"');
		sbuf_addc(out, *s);
	}
	sbuf_addc(out, '"');
}

/* Writes its digits without a NUL. Returns their number. */
static size_t
put_number(char *to, int64_t n)
{
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char digits[NUMBER_MAX];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (n < 0)
		digits[--at] = '-';
	memcpy(to, digits + at, sizeof(digits) - at);
	return sizeof(digits) - at;
}

/* Copies a text that needs no quotes and is short. Returns its length, or -1. */
static int
put_plain(char *to, const char *s)
{
	int n = 0;

	for (; s[n]; n++) {
		if (n == PLAIN_MAX || s[n] == ',' || s[n] == '"' || s[n] == '\n')
			return -1;
		to[n] = s[n];
	}
	return n;
}

static void
print_text(struct sbuf *out, const char *s)
{
	if (strpbrk(s, ",\"\n"))
		print_quoted(out, s);
	else
		sbuf_adds(out, s);
}

/* Most values are buffered: a row has about a hundred, and there are many rows. */
void
stat_row_print(struct sbuf *out, const struct stat_row *r)
{
	char text[STAT_COLS * (PLAIN_MAX + 1) + 1];
	size_t n = 0;
	int len;

	for (int c = 0; c < STAT_COLS; c++) {
		if (r->v[c].kind == VAL_INT) {
			n += put_number(text + n, r->v[c].u.n);
		} else if (r->v[c].kind == VAL_TEXT) {
			len = put_plain(text + n, r->v[c].u.s);
			if (len >= 0) {
				n += (size_t)len;
			} else {
				sbuf_add(out, text, n);
				n = 0;
				print_text(out, r->v[c].u.s);
			}
		}
		text[n++] = ',';
	}
	text[n++] = '\n';
	sbuf_add(out, text, n);
}

/* --- forms ----------------------------------------------------------------------------------- */

/* Rows of show stat in the typed and JSON forms. Pure: changes nothing but the string. */

/* Positions count the columns before it. */
const struct field *
stat_field(enum stat_col c)
{
	static const struct field cols[STAT_COLS] = {
#define STAT_NAMED(id, text, tags, type, desc) \
	{ text, STAT_##id - (STAT_##id > STAT_separator), tags, type, desc },
#define STAT_COL(name, tags, type, desc) STAT_NAMED(name, #name, tags, type, desc)
#include "app/admin/stat.tbl.h"
#undef STAT_COL
#undef STAT_NAMED
	};

	return &cols[c];
}

static enum stat_type
row_type(const struct stat_row *r)
{
	return (enum stat_type)r->v[STAT_type].u.n;
}

/* A few columns mean something else in the row of a server or of a backend. */
static struct field
stat_column(enum stat_col c, enum stat_type type)
{
	struct field f = *stat_field(c);

	if (type == TYPE_SERVER && (c == STAT_act || c == STAT_bck))
		f.tags = "SGP";
	if (type == TYPE_BACKEND && (c == STAT_rate || c == STAT_rate_max))
		f.tags = "MGP";
	return f;
}

static int
is_in_row(const struct stat_row *r, enum stat_col c)
{
	return c != STAT_separator && r->v[c].kind != VAL_NONE;
}

void
stat_row_print_typed(struct sbuf *out, const struct stat_row *r, int has_desc)
{
	enum stat_type type = row_type(r);

	for (enum stat_col c = 0; c < STAT_COLS; c++) {
		struct field f;

		if (!is_in_row(r, c))
			continue;
		f = stat_column(c, type);
		sbuf_addf(out, "%c.%lld.%lld.%u.%s.1", "FBSL"[type],
			(long long)r->v[STAT_iid].u.n, (long long)r->v[STAT_sid].u.n, f.pos,
			f.name);
		field_put_typed(out, &f, &r->v[c], has_desc);
	}
}

void
stat_row_print_json(struct sbuf *out, const struct stat_row *r)
{
	enum stat_type type = row_type(r);
	const char *before = "[";

	for (enum stat_col c = 0; c < STAT_COLS; c++) {
		struct field f;

		if (!is_in_row(r, c))
			continue;
		f = stat_column(c, type);
		sbuf_addf(out, "%s{\"objType\":\"%s\",\"proxyId\":%lld,\"id\":%lld,", before,
			stat_type_name(type), (long long)r->v[STAT_iid].u.n,
			(long long)r->v[STAT_sid].u.n);
		field_put_json(out, &f, &r->v[c]);
		sbuf_addc(out, '}');
		before = ",";
	}
}
