/* The keyword tables as text. Main thread; names are sorted, so that two dumps can be
 * compared. */
#include "cfg/dump.h"

#include <string.h>

#include "base/compiler.h"
#include "base/sbuf.h"
#include "cfg/known.h"

static const struct {
	const char *name;
	enum cfg_dump kind;
} kinds[] = {
	{ "cfg", CFG_DUMP_CFG },
	{ "all", CFG_DUMP_ALL },
	{ "man", CFG_DUMP_MAN },
	{ "vim", CFG_DUMP_VIM },
	{ "vscode", CFG_DUMP_VSCODE },
	{ "smp", CFG_DUMP_SMP },
	{ "cnv", CFG_DUMP_CNV },
	{ "man8", CFG_DUMP_MAN8 },
};

static const struct {
	const char *name;
	unsigned int bit;
} sections[] = {
	{ "global", CFG_GLOBAL },
	{ "defaults", CFG_DEFAULTS },
	{ "frontend", CFG_FRONTEND },
	{ "backend", CFG_BACKEND },
	{ "listen", CFG_LISTEN },
	{ "http-errors", CFG_HTTP_ERRORS },
	{ "userlist", CFG_USERLIST },
	{ "resolvers", CFG_RESOLVERS },
	{ "ring", CFG_RING },
	{ "crt-store", CFG_CRT_STORE },
	{ "log-profile", CFG_LOG_PROFILE },
	{ "peers", CFG_PEERS },
	{ "cache", CFG_CACHE },
	{ "mailers", CFG_MAILERS },
};

/* The first rows, which HAProxy lists too; keywords of http-errors are also valid in proxies. */
#define LETTERS 5

static const char *const place_line[CFG_OPT_PLACES] = {
	[CFG_OPT_BIND] = "bind <addr>",
	[CFG_OPT_SERVER] = "server <name> <addr>",
};

static const char *const place_name[CFG_OPT_PLACES] = {
	[CFG_OPT_BIND] = "bind",
	[CFG_OPT_SERVER] = "server",
};

static const char *const class_name[] = {
	[CFG_IMPLEMENTED] = "implemented",
	[CFG_HINT] = "hint",
	[CFG_UNSUPPORTED] = "unsupported",
};

int
cfg_dump_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (int)kinds[i].kind;
	return -1;
}

/* The option of `place` that follows `after` in byte order, NULL at the end. Tables are short, so
 * no sorted copy is allocated. */
static const struct cfg_opt *
next_opt(const struct cfg_registry *reg, enum cfg_opt_place place, const char *after)
{
	const struct cfg_opt *best = NULL;

	for (unsigned int i = 0; i < reg->nmodule; i++)
		for (const struct cfg_opt *o = reg->module[i]->opts[place]; o && o->name; o++)
			if ((!after || strcmp(o->name, after) > 0) &&
				(!best || strcmp(o->name, best->name) < 0))
				best = o;
	return best;
}

#define EACH_OPT(o, reg, place)                                            \
	for (const struct cfg_opt *(o) = next_opt((reg), (place), NULL); (o); \
		(o) = next_opt((reg), (place), (o)->name))

/* --- cfg: what HAProxy's -dKcfg prints ----------------------------------- */

static void
dump_args(FILE *to, int min, int max)
{
	if (max < 0 || max > min)
		fputs(" +-1", to);
	else if (min > 0)
		fprintf(to, " +%d", min);
	fputc('\n', to);
}

static void
dump_cfg(const struct cfg_registry *reg, FILE *to)
{
	fputs("# List of registered configuration keywords:\n", to);
	for (size_t s = 0; s < LETTERS; s++) {
		fprintf(to, "%s\n", sections[s].name);
		for (unsigned int i = 0; i < reg->nkw; i++)
			if (reg->kw[i]->sections & sections[s].bit &&
				reg->kw[i]->class != CFG_UNSUPPORTED)
				fprintf(to, "\t%s\n", reg->kw[i]->name);
		for (unsigned int p = 0; p < CFG_OPT_PLACES; p++) {
			if (!cfg_registry_kw(reg, place_name[p], sections[s].bit))
				continue;
			EACH_OPT(o, reg, (enum cfg_opt_place)p) {
				if (o->class == CFG_UNSUPPORTED)
					continue;
				fprintf(to, "\t%s %s", place_line[p], o->name);
				dump_args(to, o->min, o->max);
			}
		}
	}
}

/* --- all: every name and its class --------------------------------------- */

static void
dump_bits(FILE *to, unsigned int bits)
{
	static const char letters[LETTERS] = "GDFBL";

	for (size_t s = 0; s < LETTERS; s++)
		fputc(bits & sections[s].bit ? letters[s] : '-', to);
}

static void
dump_row(FILE *to, const char *class, unsigned int bits, const char *name, const char *more)
{
	fprintf(to, "%-12s ", class);
	dump_bits(to, bits);
	fprintf(to, " %s%s%s\n", name, more && *more ? " " : "", more ? more : "");
}

/* Merges the sorted tables of registered and of HAProxy's other names. */
static void
dump_all_kws(const struct cfg_registry *reg, FILE *to)
{
	const struct cfg_known_kw *k = cfg_known_kws;

	for (unsigned int i = 0; i < reg->nkw || k->name;) {
		int d = !k->name ? -1 : i == reg->nkw ? 1 : strcmp(reg->kw[i]->name, k->name);

		if (d <= 0) {
			const struct cfg_kw *kw = reg->kw[i++];

			dump_row(to, class_name[kw->class], kw->sections, kw->name, kw->syntax);
			/* the same name may be registered for other sections too */
			while (k->name && d == 0 && strcmp(kw->name, k->name) == 0 &&
				(i == reg->nkw || strcmp(reg->kw[i]->name, k->name) != 0))
				k++;
			continue;
		}
		dump_row(to, "unsupported", k->sections, k->name, k->fix);
		k++;
	}
}

static void
dump_all(const struct cfg_registry *reg, FILE *to)
{
	fputs("# implemented: has its effect. hint: accepted without effect, with a notice that "
	      "says why.\n"
	      "# unsupported: HAProxy 2.6 to 3.x knows it, and here it is an error.\n"
	      "# class, sections (Global Defaults Frontend Backend Listen), keyword, arguments\n",
		to);
	dump_all_kws(reg, to);
	for (unsigned int p = 0; p < CFG_OPT_PLACES; p++) {
		fprintf(to, "# options of '%s' lines\n", place_name[p]);
		EACH_OPT(o, reg, (enum cfg_opt_place)p)
		fprintf(to, "%-12s %s%s%s\n", class_name[o->class], o->name, o->syntax ? " " : "",
			o->syntax ? o->syntax : "");
		for (const struct cfg_known_opt *k = cfg_known_opts[p]; k->name; k++)
			if (!cfg_registry_opt(reg, (enum cfg_opt_place)p, k->name))
				fprintf(to, "%-12s %s\n", "unsupported", k->name);
	}
	fputs("# sections\n", to);
	for (const char *const *s = cfg_known_sections; *s; s++)
		fprintf(to, "%-12s %s\n",
			cfg_registry_section(reg, *s) ? "implemented" : "unsupported", *s);
}

/* --- entries of the manual ------------------------------------------------------ */

/* Appends the names of the sections, behind "In". */
static void
put_sections(struct sbuf *to, unsigned int in)
{
	const char *sep = "In ";

	for (size_t s = 0; s < ARRAY_LEN(sections); s++) {
		if (!(in & sections[s].bit))
			continue;
		sbuf_addf(to, "%s%s", sep, sections[s].name);
		sep = ", ";
	}
}

/* The default of a row: its own, "off" of a flag, or none of what has no effect. */
static const char *
default_of(const char *dflt, enum cfg_class class, int is_flag)
{
	if (class == CFG_HINT)
		return NULL;
	return dflt || !is_flag ? dflt : "off";
}

/* Calls fn for the keywords of these sections with, or without, the flag. */
static void
each_kw(const struct cfg_registry *reg, const struct cfg_entry *shape, unsigned int bits,
	unsigned int switches, cfg_entry_fn *fn, void *arg)
{
	for (unsigned int i = 0; i < reg->nkw; i++) {
		const struct cfg_kw *kw = reg->kw[i];
		struct cfg_entry e = *shape;
		struct sbuf place;

		if (!(kw->sections & bits) || kw->class == CFG_UNSUPPORTED ||
			(kw->flags & CFG_KW_SWITCH) != switches)
			continue;
		sbuf_init(&place, 0);
		put_sections(&place, kw->sections & bits);
		e.name = kw->name;
		e.syntax = kw->syntax;
		e.doc = kw->doc;
		e.is_hint = kw->class == CFG_HINT;
		e.values = kw->values;
		e.dflt = default_of(kw->dflt, kw->class, kw->max == 0);
		e.example = kw->example;
		e.place = place.p;
		fn(arg, &e);
		sbuf_fini(&place);
	}
}

/* Appends the names of the keywords that have an effect in the section. */
static void
put_section_words(struct sbuf *to, const struct cfg_registry *reg, const struct cfg_section *s)
{
	const char *sep = "Keywords: ";

	for (unsigned int i = 0; i < reg->nkw; i++) {
		if (!(reg->kw[i]->sections & s->bit) || reg->kw[i]->class != CFG_IMPLEMENTED)
			continue;
		sbuf_addf(to, "%s%s", sep, reg->kw[i]->name);
		sep = ",\n";
	}
}

static void
each_section(const struct cfg_registry *reg, cfg_entry_fn *fn, void *arg)
{
	for (unsigned int i = 0; i < reg->nmodule; i++)
		for (const struct cfg_section *s = reg->module[i]->sections; s && s->name; s++) {
			const char *name = s->flags & CFG_SEC_NAMED ? "<name>"
				: s->flags & CFG_SEC_OPTNAME	    ? "[<name>]"
								    : "";
			struct cfg_entry e = { .heading = "SECTIONS", .name = s->name,
				.doc = s->doc };
			struct sbuf words;
			char syntax[64];

			snprintf(syntax, sizeof(syntax), "%s%s", name,
				 s->flags & CFG_SEC_FROM ? " [from <defaults>]" : "");
			sbuf_init(&words, 0);
			put_section_words(&words, reg, s);
			e.syntax = *syntax ? syntax : NULL;
			e.place = words.p;
			fn(arg, &e);
			sbuf_fini(&words);
		}
}

static void
each_opt(const struct cfg_registry *reg, enum cfg_opt_place p, cfg_entry_fn *fn, void *arg)
{
	static const char *const heading[CFG_OPT_PLACES] = {
		[CFG_OPT_BIND] = "BIND OPTIONS",
		[CFG_OPT_SERVER] = "SERVER OPTIONS",
	};
	static const char *const place[CFG_OPT_PLACES] = {
		[CFG_OPT_BIND] = "An option of bind lines.",
		[CFG_OPT_SERVER] = "An option of server lines.",
	};

	EACH_OPT(o, reg, p) {
		const struct cfg_entry e = { .heading = heading[p],
			.name = o->name,
			.syntax = o->syntax,
			.doc = o->doc,
			.is_hint = o->class == CFG_HINT,
			.values = o->values,
			.dflt = default_of(o->dflt, o->class, o->max == 0),
			.place = place[p],
			.example = o->example };

		if (o->class != CFG_UNSUPPORTED)
			fn(arg, &e);
	}
}

void
cfg_entries(const struct cfg_registry *reg, cfg_entry_fn *fn, void *arg)
{
	static const struct {
		const char *title;
		unsigned int bits;
	} parts[] = { { "GLOBAL KEYWORDS", CFG_GLOBAL },
		{ "PROXY KEYWORDS", CFG_PROXIES | CFG_HTTP_ERRORS },
		{ "USERLIST KEYWORDS", CFG_USERLIST },
		{ "RESOLVERS KEYWORDS", CFG_RESOLVERS }, { "RING KEYWORDS", CFG_RING },
		{ "CRT-STORE KEYWORDS", CFG_CRT_STORE },
		{ "LOG-PROFILE KEYWORDS", CFG_LOG_PROFILE },
		{ "PEERS KEYWORDS", CFG_PEERS }, { "CACHE KEYWORDS", CFG_CACHE },
		{ "MAILERS KEYWORDS", CFG_MAILERS } };
	static const struct cfg_entry switches = { .heading = "SWITCHES FOR MEASUREMENTS",
		.intro = "These keywords of the global section disable a single optimization, or "
			 "count it,\nso that a benchmark can measure its effect.\n"
			 "In production do not change them.\n" };

	each_section(reg, fn, arg);
	for (size_t s = 0; s < ARRAY_LEN(parts); s++) {
		const struct cfg_entry shape = { .heading = parts[s].title };

		each_kw(reg, &shape, parts[s].bits, 0, fn, arg);
	}
	for (unsigned int p = 0; p < CFG_OPT_PLACES; p++)
		each_opt(reg, (enum cfg_opt_place)p, fn, arg);
	each_kw(reg, &switches, CFG_GLOBAL, CFG_KW_SWITCH, fn, arg);
}

/* --- vim ----------------------------------------------------------------- */

static void
vim_match(FILE *to, const char *group, const char *name)
{
	fprintf(to, "syn match %s \"^\\s*\\(\\(no\\|default\\)\\s\\+\\)\\?\\zs", group);
	for (; *name; name++) {
		if (*name == ' ')
			fputs("\\s\\+", to);
		else if (*name == '.')
			fputs("\\.", to);
		else
			fputc(*name, to);
	}
	fputs("\\>\"\n", to);
}

static void
dump_vim(const struct cfg_registry *reg, FILE *to)
{
	fputs("\" Syntax of the configuration, made from the keyword tables.\n"
	      "if exists(\"b:current_syntax\")\n  finish\nendif\n"
	      "syn match tacitComment \"#.*$\"\n"
	      "syn region tacitString start=+\"+ skip=+\\\\.+ end=+\"+ contains=tacitVariable\n"
	      "syn region tacitString start=+'+ end=+'+\n"
	      "syn match tacitVariable \"\\${\\?[.A-Za-z_][A-Za-z0-9_]*[^}\\\"]*}\\?\" contained\n"
	      "syn match tacitNumber \"\\<\\d\\+\\(us\\|ms\\|[smhdkKMgG]\\)\\?\\>\"\n"
	      "syn match tacitDirective \"^\\s*\\.[a-z]\\+\"\n",
		to);
	for (unsigned int i = 0; i < reg->nmodule; i++)
		for (const struct cfg_section *s = reg->module[i]->sections; s && s->name; s++)
			fprintf(to, "syn match tacitSection \"^\\s*%s\\>\"\n", s->name);
	for (unsigned int i = 0; i < reg->nkw; i++) {
		if (i > 0 && strcmp(reg->kw[i - 1]->name, reg->kw[i]->name) == 0)
			continue;
		vim_match(to, reg->kw[i]->class == CFG_IMPLEMENTED ? "tacitKeyword" : "tacitHint",
			reg->kw[i]->name);
	}
	fputs("hi def link tacitComment Comment\nhi def link tacitString String\n"
	      "hi def link tacitVariable Identifier\nhi def link tacitNumber Number\n"
	      "hi def link tacitDirective PreProc\nhi def link tacitSection Structure\n"
	      "hi def link tacitKeyword Keyword\nhi def link tacitHint Todo\n"
	      "let b:current_syntax = \"tacit\"\n",
		to);
}

/* --- Visual Studio Code ---------------------------------------------------- */

/* A blank in a name, as the text of a regular expression in JSON. */
#define JSON_BLANKS "\\\\s+"
/* The end of a word there. */
#define JSON_END ")(?=\\\\s|$)\" }"

/* Writes the rule for the keywords that have an effect, or for those that have none. */
static void
vscode_keywords(const struct cfg_registry *reg, int is_hint, const char *scope, FILE *to)
{
	const char *sep = "";

	fprintf(to, ",\n{ \"name\": \"%s\", \"match\": \"^\\\\s*(?:(?:no|default)\\\\s+)?(?:",
		scope);
	for (unsigned int i = 0; i < reg->nkw; i++) {
		if ((reg->kw[i]->class != CFG_IMPLEMENTED) != is_hint)
			continue;
		fputs(sep, to);
		for (const char *s = reg->kw[i]->name; *s; s++) {
			if (*s == '.')
				fputs("\\\\", to);
			if (*s == ' ')
				fputs(JSON_BLANKS, to);
			else
				fputc(*s, to);
		}
		sep = "|";
	}
	fputs(JSON_END, to);
}

static void
dump_vscode(const struct cfg_registry *reg, FILE *to)
{
	static const char *const first[] = {
		"{ \"name\": \"comment.line\", \"match\": \"#.*$\" }",
		"{ \"name\": \"string.quoted.double\", \"begin\": \"\\\"\", \"end\": \"\\\"\", "
		"\"patterns\": [",
		"{ \"name\": \"constant.character.escape\", \"match\": \"\\\\\\\\.\" },",
		"{ \"name\": \"variable.other\", "
		"\"match\": \"\\\\$\\\\{?[.A-Za-z_][^}\\\"]*\\\\}?\" }] }",
		"{ \"name\": \"string.quoted.single\", \"begin\": \"'\", \"end\": \"'\" }",
		"{ \"name\": \"keyword.control\", \"match\": \"^\\\\s*\\\\.[a-z]+\" }",
	};
	const char *sep = "";

	fputs("{ \"name\": \"tacit\", \"scopeName\": \"source.tacit\", \"patterns\": [\n", to);
	for (size_t i = 0; i < ARRAY_LEN(first); i++)
		fprintf(to, "%s%s\n", first[i], i == 1 || i == 2 ? "" : ",");
	fputs("{ \"name\": \"entity.name.section\", \"match\": \"^\\\\s*(?:", to);
	for (unsigned int i = 0; i < reg->nmodule; i++)
		for (const struct cfg_section *s = reg->module[i]->sections; s && s->name; s++) {
			fprintf(to, "%s%s", sep, s->name);
			sep = "|";
		}
	fputs(JSON_END, to);
	vscode_keywords(reg, 0, "keyword.other", to);
	vscode_keywords(reg, 1, "invalid.deprecated", to);
	fputs(",\n{ \"name\": \"constant.numeric\", \"match\": "
	      "\"\\\\b[0-9]+(?:us|ms|[smhdkKMgG])?\\\\b\" } ] }\n",
		to);
}

void
cfg_dump(const struct cfg_registry *reg, enum cfg_dump kind, FILE *to)
{
	switch (kind) {
	case CFG_DUMP_CFG:
		dump_cfg(reg, to);
		break;
	case CFG_DUMP_ALL:
		dump_all(reg, to);
		break;
	case CFG_DUMP_VIM:
		dump_vim(reg, to);
		break;
	case CFG_DUMP_VSCODE:
		dump_vscode(reg, to);
		break;
	case CFG_DUMP_MAN:
	case CFG_DUMP_SMP:
	case CFG_DUMP_CNV:
	case CFG_DUMP_MAN8:
		break;
	}
}
