/* Rows of show stat in the typed and JSON forms. Pure: changes nothing but the string. */
#include "app/admin/stat_forms.h"

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
