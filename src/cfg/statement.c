/* One line of a section: finds the keyword, checks where and how it may stand, and calls its
 * parser. Main thread, while the configuration is read. */
#include "cfg/statement.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cfg/ctx.h"
#include "cfg/known.h"
#include "cfg/lexer.h"
#include "cfg/suggest.h"

enum {
	NAME_MAX_LEN = 128,	/* maximum length of a keyword; longer ones are unknown */
	LIST_MAX = 400,		/* maximum length of a list of names in a message */
};

/* The keyword found at the start of a line. */
struct found {
	const struct cfg_kw *kw;		/* the keyword, valid here */
	const struct cfg_kw *elsewhere;		/* registered, for other sections */
	const struct cfg_known_kw *known;	/* known to HAProxy only */
	unsigned int words;
};

/* Joins words kwpos.. to a name of n words; 0 with `out` unchanged if that is not possible. */
static int
join_words(const struct cfg_ctx *ctx, unsigned int n, char out[NAME_MAX_LEN])
{
	const struct cfg_word *w = ctx->word + ctx->kwpos;
	size_t len = 0;

	if (ctx->kwpos + n > ctx->nword)
		return 0;
	for (unsigned int i = 0; i < n; i++) {
		size_t l = strlen(w[i].text);

		if (l == 0 || l >= NAME_MAX_LEN || strchr(w[i].text, ' '))
			return 0;
		len += l + 1;
	}
	if (len > NAME_MAX_LEN)
		return 0;
	len = 0;
	for (unsigned int i = 0; i < n; i++)
		len += (size_t)snprintf(
			out + len, NAME_MAX_LEN - len, "%s%s", i ? " " : "", w[i].text);
	return 1;
}

/* The longest name is used; among equals a keyword that is valid here, then a registered one. */
static void
look_up_kw(const struct cfg_ctx *ctx, struct found *f)
{
	char name[NAME_MAX_LEN];

	memset(f, 0, sizeof(*f));
	for (unsigned int n = CFG_KW_WORDS_MAX; n > 0; n--) {
		if (!join_words(ctx, n, name))
			continue;
		f->words = n;
		f->kw = cfg_registry_kw(ctx->registry, name, ctx->section->bit);
		if (f->kw)
			return;
		/* Sections such as rings have keywords of proxies, too. */
		f->elsewhere = cfg_registry_kw(ctx->registry, name, CFG_PROXIES);
		if (!f->elsewhere)
			f->elsewhere = cfg_registry_kw(ctx->registry, name, ~0u);
		f->known = cfg_known_kw(name);
		/* HAProxy's keyword for this section is preferred to ours for another one */
		if (f->known && (f->known->sections & ctx->section->bit) && f->elsewhere &&
		    !(f->elsewhere->sections & CFG_PROXIES & f->known->sections))
			f->elsewhere = NULL;
		if (f->elsewhere || f->known)
			return;
	}
}

static const char *
section_names(unsigned int bits, char out[LIST_MAX])
{
	static const struct {
		unsigned int bit;
		const char *name;
	} names[] = {
		{ CFG_GLOBAL, "global" },
		{ CFG_DEFAULTS, "defaults" },
		{ CFG_FRONTEND, "frontend" },
		{ CFG_BACKEND, "backend" },
		{ CFG_LISTEN, "listen" },
		{ CFG_HTTP_ERRORS, "http-errors" },
		{ CFG_USERLIST, "userlist" },
		{ CFG_RESOLVERS, "resolvers" },
		{ CFG_RING, "ring" },
		{ CFG_CRT_STORE, "crt-store" },
		{ CFG_LOG_PROFILE, "log-profile" },
		{ CFG_PEERS, "peers" },
		{ CFG_CACHE, "cache" },
		{ CFG_MAILERS, "mailers" },
		{ CFG_SPOE_AGENT, "spoe-agent" },
		{ CFG_SPOE_MESSAGE, "spoe-message" },
		{ CFG_SPOE_GROUP, "spoe-group" },
	};
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (bits & names[i].bit)
			len += (size_t)snprintf(out + len, LIST_MAX - len, "%s'%s'",
						len ? ", " : "", names[i].name);
	return out;
}

static int
check_counts(struct cfg_ctx *ctx)
{
	const struct cfg_kw *kw = ctx->kw;

	/* HAProxy's wording, which users search for */
	if (ctx->form == CFG_FORM_SET && ctx->argc < kw->min && kw->syntax &&
		strncmp(kw->syntax, "<time", 5) == 0)
		return cfg_error(ctx, ctx->argc,
			"'%s' expects an integer value (in milliseconds unless it has a unit).",
			kw->name);
	if (ctx->form == CFG_FORM_SET && ctx->argc < kw->min)
		return cfg_error(ctx, ctx->argc, "'%s' expects %s.", kw->name,
				 kw->syntax ? kw->syntax : "an argument");
	if (kw->max >= 0 && ctx->argc > kw->max)
		return cfg_error(ctx, kw->max, "'%s' cannot handle unexpected argument '%.60s'.",
				 kw->name, cfg_arg(ctx, kw->max));
	return 0;
}

/* Warns of keywords for the side that the section does not have: they have no effect. */
static const char *
other_side(const struct cfg_ctx *ctx)
{
	return ctx->section->bit == CFG_BACKEND ? "frontend" : "backend";
}

static int
warn_misplaced(struct cfg_ctx *ctx, const char *name)
{
	cfg_warn(ctx, -1, "'%s' ignored because %s '%s' has no %s capability.", name,
		 ctx->section->name, ctx->name, other_side(ctx));
	return 0;
}

/* Reports a keyword that is not allowed in this section. */
static int
report_misplaced(struct cfg_ctx *ctx, const struct cfg_kw *kw)
{
	char list[LIST_MAX];

	if (!(ctx->section->bit & CFG_PROXIES) || !(kw->sections & CFG_PROXIES))
		return cfg_error(ctx, -1, "unknown keyword '%s' in '%s' section; it belongs to %s.",
				 kw->name, ctx->section->name, section_names(kw->sections, list));
	if (ctx->section->bit == CFG_DEFAULTS)
		return cfg_error(ctx, -1, "'%s' not allowed in 'defaults' section.", kw->name);
	if (kw->flags & CFG_KW_STRICT)
		return cfg_error(ctx, -1, "'%s' not allowed because %s '%s' has no %s capability.",
				 kw->name, ctx->section->name, ctx->name, other_side(ctx));
	if (kw->class == CFG_IMPLEMENTED && check_counts(ctx))
		return -1;
	return warn_misplaced(ctx, kw->name);
}

static int
report_unsupported(struct cfg_ctx *ctx, const char *name, const char *why)
{
	return cfg_error(ctx, -1, "keyword '%s' is known but not supported%s%s%s",
		name, why ? " (" : "", why ? why : "", why ? ")." : ".");
}

/* Disabling an unsupported feature has no effect: "no option forwardfor". */
static int
is_off_anyway(const struct cfg_ctx *ctx, const char *name)
{
	return ctx->form != CFG_FORM_SET && strncmp(name, "option ", 7) == 0;
}

static int
known_only(struct cfg_ctx *ctx, const struct cfg_known_kw *k)
{
	char list[LIST_MAX];

	if (k->removed && (k->sections & ctx->section->bit))
		return cfg_error(ctx, -1, "keyword '%s' was removed in HAProxy %s: %s.", k->name,
			k->removed, k->fix);
	if (k->sections & ctx->section->bit && is_off_anyway(ctx, k->name)) {
		cfg_note(ctx, -1, "'%s' is not supported, so it is off already.", k->name);
		return 0;
	}
	if (k->sections & ctx->section->bit)
		return report_unsupported(ctx, k->name, k->fix);
	/* HAProxy ignores keywords of the other side. */
	if ((ctx->section->bit & (CFG_FRONTEND | CFG_BACKEND)) && (k->sections & CFG_LISTEN))
		return warn_misplaced(ctx, k->name);
	return cfg_error(ctx, -1,
		"unknown keyword '%s' in '%s' section; it belongs to %s and is not supported.",
		k->name, ctx->section->name, section_names(k->sections, list));
}

/* --- misspellings -------------------------------------------------------- */

static int
is_group(const char *name, const char *first, size_t len)
{
	return strncmp(name, first, len) == 0 && name[len] == ' ';
}

/* The maximum number of words of a name starting with `first`; 0: none. */
static size_t
group_members(const struct cfg_ctx *ctx, const char *first, char out[LIST_MAX])
{
	size_t flen = strlen(first), len = 0;

	out[0] = '\0';
	for (unsigned int i = 0; i < ctx->registry->nkw; i++) {
		const struct cfg_kw *kw = ctx->registry->kw[i];

		if (!(kw->sections & ctx->section->bit) || !is_group(kw->name, first, flen))
			continue;
		len += (size_t)snprintf(out + len, LIST_MAX - len, "%s'%s'", len ? ", " : "",
					kw->name + flen + 1);
		if (len >= LIST_MAX - 1)
			break;
	}
	return len;
}

static unsigned int
count_words(const char *s)
{
	unsigned int n = 1;

	for (; *s; s++)
		n += *s == ' ';
	return n;
}

/* Offers every name with as many words as `given`. */
static void
suggest_kw(const struct cfg_ctx *ctx, unsigned int words, const char *given,
	struct cfg_suggest *near)
{
	cfg_suggest_init(near, given);
	for (unsigned int i = 0; i < ctx->registry->nkw; i++) {
		const struct cfg_kw *kw = ctx->registry->kw[i];

		if ((kw->sections & ctx->section->bit) && count_words(kw->name) == words)
			cfg_suggest_offer(near, kw->name);
	}
	for (const struct cfg_known_kw *k = cfg_known_kws; k->name; k++)
		if ((k->sections & ctx->section->bit) && count_words(k->name) == words)
			cfg_suggest_offer(near, k->name);
	if (words > 1)
		return;
	for (unsigned int i = 0; i < ctx->registry->nmodule; i++)
		for (const struct cfg_section *s = ctx->registry->module[i]->sections; s && s->name;
			s++)
			cfg_suggest_offer(near, s->name);
}

static int
report_unknown(struct cfg_ctx *ctx)
{
	const char *first = ctx->word[ctx->kwpos].text;
	char given[NAME_MAX_LEN], both[NAME_MAX_LEN], list[LIST_MAX];
	struct cfg_suggest near = { 0 };
	unsigned int words = 1;
	size_t members = group_members(ctx, first, list);

	if (members && join_words(ctx, 2, given))
		words = 2;
	else
		snprintf(given, sizeof(given), "%.80s", first);
	suggest_kw(ctx, words, given, &near);
	/* "tiemout client": the first word of a longer name */
	if (!near.best && words == 1 && join_words(ctx, 2, both))
		suggest_kw(ctx, 2, both, &near);
	if (members && words == 2 && !near.best)
		return cfg_error(ctx, -1, "unknown keyword '%s' in '%s' section; '%s' supports %s.",
			given, ctx->section->name, first, list);
	if (members && words == 1)
		return cfg_error(ctx, -1, "'%s' expects one more word: %s.", first, list);
	ctx->is_section = near.best && cfg_registry_section(ctx->registry, near.best) &&
		!cfg_registry_kw(ctx->registry, near.best, ctx->section->bit);
	if (near.best)
		return cfg_error(ctx, -1,
			"unknown keyword '%s' in '%s' section; did you mean '%s' maybe ?%s", given,
			ctx->section->name, near.best, cfg_word_oddity(given));
	return cfg_error(ctx, -1, "unknown keyword '%s' in '%s' section.%s", given,
		ctx->section->name, cfg_word_oddity(given));
}

/* --- dispatch ------------------------------------------------------------ */

/* Warns if the section has this setting already; returns 1 if the first one is kept. */
static int
warn_if_repeated(struct cfg_ctx *ctx)
{
	const struct cfg_kw *kw = ctx->kw;
	unsigned int i = 0;

	if (!kw->once || ctx->form != CFG_FORM_SET)
		return 0;
	while (i < ctx->n_once && strcmp(ctx->once[i].what, kw->once) != 0)
		i++;
	if (i == ctx->n_once) {
		assert(i < CFG_ONCE_MAX);
		ctx->once[ctx->n_once++].what = kw->once;
	} else if (kw->flags & CFG_KW_FIRST) {
		cfg_warn(ctx, -1, "'%s' ignored: it is already set at line %u.", kw->name,
			ctx->once[i].line);
		return 1;
	} else {
		cfg_warn(ctx, -1, "'%s' overrides line %u.", kw->name,
			ctx->once[i].line);
	}
	ctx->once[i].line = ctx->where.line;
	return 0;
}

static int
run_parser(struct cfg_ctx *ctx)
{
	const struct cfg_kw *kw = ctx->kw;
	unsigned int before = ctx->diag->count[CFG_ALERT];
	int rc;

	if (kw->class == CFG_UNSUPPORTED && is_off_anyway(ctx, kw->name)) {
		cfg_note(ctx, -1, "'%s' is not supported, so it is off already.", kw->name);
		return 0;
	}
	if (kw->class == CFG_UNSUPPORTED)
		return report_unsupported(ctx, kw->name, kw->doc);
	if (ctx->form != CFG_FORM_SET && !(kw->flags & CFG_KW_NO))
		return cfg_error(
			ctx, -1, "negation and default are not supported for '%s'.", kw->name);
	if (kw->class == CFG_HINT) {
		if (!(kw->flags & CFG_KW_QUIET) || ctx->diag->diagmode)
			cfg_note(ctx, -1, "'%s' is accepted and has no effect%s%s", kw->name,
				 kw->doc ? ": " : ".", kw->doc ? kw->doc : "");
		return 0;
	}
	if (check_counts(ctx))
		return -1;
	if (warn_if_repeated(ctx))
		return 0;
	rc = kw->parse(ctx);
	if (rc && ctx->diag->count[CFG_ALERT] == before)
		cfg_error(ctx, -1, "'%s' could not be applied.", kw->name);
	return rc ? -1 : 0;
}

/* "no" and "default" before the keyword. */
static enum cfg_form
take_form(struct cfg_ctx *ctx)
{
	const char *w = ctx->word[0].text;

	ctx->kwpos = 0;
	if (ctx->nword > 1 && strcmp(w, "no") == 0) {
		ctx->kwpos = 1;
		return CFG_FORM_NO;
	}
	if (ctx->nword > 1 && strcmp(w, "default") == 0) {
		ctx->kwpos = 1;
		return CFG_FORM_DEFAULT;
	}
	return CFG_FORM_SET;
}

static void
take_args(struct cfg_ctx *ctx, const struct cfg_kw *kw, unsigned int words)
{
	ctx->kw = kw;
	ctx->base = ctx->kwpos + words;
	ctx->argc = (int)(ctx->nword - ctx->base);
	/* an unset "$VAR" at the end is ignored, as in HAProxy */
	while (ctx->argc > 0 && !*ctx->word[ctx->base + (unsigned int)ctx->argc - 1].text)
		ctx->argc--;
}

int
cfg_statement(struct cfg_ctx *ctx)
{
	struct found f;
	int rc;

	ctx->is_section = 0;
	ctx->form = take_form(ctx);
	ctx->opt = NULL;
	ctx->kw = NULL;
	ctx->base = ctx->kwpos + 1;
	ctx->argc = 0;
	look_up_kw(ctx, &f);
	if (f.kw) {
		take_args(ctx, f.kw, f.words);
		rc = run_parser(ctx);
	} else if (f.elsewhere) {
		take_args(ctx, f.elsewhere, f.words);
		rc = report_misplaced(ctx, f.elsewhere);
	} else if (f.known) {
		rc = known_only(ctx, f.known);
	} else {
		rc = report_unknown(ctx);
	}
	ctx->kw = NULL;
	ctx->argc = 0;
	return rc;
}
