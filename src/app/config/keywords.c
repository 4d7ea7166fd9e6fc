/* The words of the language as text: -dK, tacit.cfg(5) and --explain. Main thread. */
#include "app/config/keywords.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/sbuf.h"
#include "cfg/known.h"
#include "cfg/suggest.h"
#include "rule/action/action_dump.h"
#include "rule/sample/dump.h"

/* Calls fn for each entry of tacit.cfg(5). */
static void
each_entry(const struct config *c, cfg_entry_fn *fn, void *arg)
{
	cfg_entries(&c->registry, fn, arg);
	rule_action_entries(&c->proxies.vocab, fn, arg);
	rule_sample_entries(&c->proxies.vocab, fn, arg);
}

/* --- lists and the page --- */

struct page {
	struct sbuf *out;
	const char *heading;
};

static void
put_on_page(void *arg, const struct cfg_entry *e)
{
	struct page *p = arg;

	cfg_entry_man(p->out, e, &p->heading);
}

/* Writes what was gathered: 0, or -ERR_NOMEM if memory was short. */
static int
write_out(struct sbuf *out, FILE *to)
{
	int failed = out->failed;

	if (out->len > 0 && !failed)
		fputs(out->p, to);
	sbuf_fini(out);
	return failed ? -ERR_NOMEM : 0;
}

int
keywords_print(const struct config *c, keywords_more_fn *more, enum cfg_dump kind, FILE *to)
{
	const struct rule_vocab *v = &c->proxies.vocab;
	struct sbuf out;

	cfg_dump(&c->registry, kind, to);
	sbuf_init(&out, 0);
	if (kind == CFG_DUMP_MAN)
		each_entry(c, put_on_page, &(struct page){ &out, NULL });
	if (kind == CFG_DUMP_MAN8)
		more(put_on_page, &(struct page){ &out, NULL });
	if (kind == CFG_DUMP_SMP || kind == CFG_DUMP_ALL)
		rule_dump_fetches(v, &out);
	if (kind == CFG_DUMP_CNV || kind == CFG_DUMP_ALL)
		rule_dump_convs(v, &out);
	return write_out(&out, to);
}

/* --- --explain --- */

/* WHOLE_MAX: more entries that have the word as an argument are only named. */
enum { WORD_MAX = 128, WHOLE_MAX = 3 };

struct question {
	struct sbuf *out;
	keywords_more_fn *more;
	const char *word;
	const char *heading;	/* of the entries; NULL: any */
	int n;			/* entries found */
	struct cfg_suggest near;
	char best[WORD_MAX];	/* its name: those of actions do not stay */
	struct sbuf names;	/* of entries that have it as an argument, one a line */
};

/* True if the entry has this name, without what stands in parentheses. What is in its name
 * between < and > may be letters and digits: track-sc<n> is track-sc0. */
static int
entry_is_named(const struct cfg_entry *e, const char *word)
{
	size_t n = strcspn(e->name, "("), m = strcspn(word, "("), open = strcspn(e->name, "<");
	const char *close = strchr(e->name, '>');

	if (n == m && strncmp(e->name, word, n) == 0)
		return 1;
	if (open > n || !close || strncmp(e->name, word, open) != 0)
		return 0;
	for (word += open, n = 0; isalnum((unsigned char)word[n]); n++)
		;
	return n > 0 && strcmp(word + n, close + 1) == 0;
}

static void
answer_entry(void *arg, const struct cfg_entry *e)
{
	struct question *q = arg;

	cfg_suggest_offer(&q->near, e->name);
	if (q->near.best == e->name) {
		snprintf(q->best, sizeof(q->best), "%s", e->name);
		q->near.best = q->best;
	}
	if (!entry_is_named(e, q->word) || (q->heading && strcmp(e->heading, q->heading) != 0))
		return;
	if (q->n++ > 0)
		sbuf_addc(q->out, '\n');
	cfg_entry_text(q->out, e);
}

static int
is_known_name(const char *word)
{
	return cfg_known_opt(CFG_OPT_BIND, word) || cfg_known_opt(CFG_OPT_SERVER, word) ||
		cfg_known_is_section(word) || rule_is_known(str_of(word)) ||
		rule_is_known_action(str_of(word));
}

/* Appends the entry of a name that is not supported, with what to use instead. */
static void
answer_known(struct question *q)
{
	const struct cfg_known_kw *k = cfg_known_kw(q->word);
	const char *fix = k ? k->fix : NULL, *advice = cfg_known_advice(q->word);

	if (q->n > 0 || !(k || advice || is_known_name(q->word)))
		return;
	fix = fix && *fix ? fix : advice;
	sbuf_addf(q->out, "%s\n    Not supported%s%s.\n", q->word, fix ? ": " : "", fix ? fix : "");
	q->n++;
}

/* True if a line's syntax has the word itself; the name of an argument stands in < and >. */
static int
is_in_syntax(const char *syntax, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = syntax; p && (p = strstr(p, word)) != NULL; p += n)
		if ((p == syntax || strchr(" [{|(", p[-1])) && strchr(" ]}|),", p[n]))
			return 1;
	return 0;
}

static void
answer_argument(void *arg, const struct cfg_entry *e)
{
	struct question *q = arg;
	char line[WORD_MAX + 8];

	if (e->is_hint || !((e->values && cfg_enum_find(e->values, q->word, strlen(q->word))) ||
			  is_in_syntax(e->syntax, q->word)))
		return;
	snprintf(line, sizeof(line), "    %s\n", e->name);
	if (!q->names.p || !strstr(q->names.p, line))
		sbuf_adds(&q->names, line);
	if (q->n++ > 0)
		sbuf_addc(q->out, '\n');
	cfg_entry_text(q->out, e);
}

/* Looks the word up as an argument: the entries that have it, or only their names. */
static void
ask_arguments(const struct config *c, struct question *q)
{
	sbuf_init(&q->names, 0);
	each_entry(c, answer_argument, q);
	q->more(answer_argument, q);
	if (q->n > WHOLE_MAX) {
		sbuf_reset(q->out);
		sbuf_addf(q->out, "'%s' is a word of:\n%s", q->word, q->names.p);
	}
	sbuf_fini(&q->names);
}

/* Looks the word up: as a keyword; behind the name of its list or line as an action or option; as
 * the name that an ACL has for a fetch with a matching method; as an argument. */
static void
ask_tables(const struct config *c, struct question *q)
{
	static const struct {
		const char *before, *heading;
	} places[] = { { "http-request ", "ACTIONS" }, { "http-response ", "ACTIONS" },
		{ "http-after-response ", "ACTIONS" }, { "tcp-request connection ", "ACTIONS" },
		{ "tcp-request session ", "ACTIONS" }, { "tcp-request content ", "ACTIONS" },
		{ "tcp-response content ", "ACTIONS" }, { "bind ", "BIND OPTIONS" },
		{ "server ", "SERVER OPTIONS" } };
	const struct rule_fetch *f;
	const char *method;

	each_entry(c, answer_entry, q);
	q->more(answer_entry, q);
	for (size_t i = 0; !q->n && i < ARRAY_LEN(places); i++) {
		if (strncmp(q->word, places[i].before, strlen(places[i].before)) != 0)
			continue;
		q->word += strlen(places[i].before);
		q->heading = places[i].heading;
		each_entry(c, answer_entry, q);
	}
	answer_known(q);
	f = q->n ? NULL : rule_find_acl_fetch(&c->proxies.vocab, str_of(q->word), &method);
	if (f) {
		q->word = f->name;
		q->heading = "FETCHES";
		each_entry(c, answer_entry, q);
	}
	if (!q->n)
		ask_arguments(c, q);
}

int
keywords_explain(const struct config *c, keywords_more_fn *more, char *const *words, unsigned int n,
	FILE *to, FILE *err)
{
	char word[WORD_MAX] = "";
	struct sbuf out;
	struct question q = { .out = &out, .more = more, .word = word };
	size_t len = 0;
	int r;

	for (unsigned int i = 0; i < n && len < sizeof(word); i++)
		len += (size_t)snprintf(word + len, sizeof(word) - len, "%s%s", i ? " " : "",
			words[i]);
	sbuf_init(&out, 0);
	cfg_suggest_init(&q.near, word);
	ask_tables(c, &q);
	r = write_out(&out, to);
	if (r < 0 || q.n > 0)
		return r;
	fprintf(err, "'%s' is unknown", word);
	if (q.near.best)
		fprintf(err, "; did you mean '%s'?\n", q.near.best);
	else
		fputs(".\n", err);
	return -ERR_UNKNOWN;
}
