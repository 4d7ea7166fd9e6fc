/* A recursive descent parser for conditions: || of && of terms. Pure; the depth of recursion
 * is bounded by CFG_COND_DEPTH_MAX. */
#include "cfg/cond.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

enum { ARGS_MAX = 2 };

struct parse {
	const struct cfg_facts *facts;
	const char *expr, *p;
	struct cfg_cond_err *err;
	unsigned int depth;
	/* arguments of the current predicate */
	char arg[ARGS_MAX][CFG_COND_ARG_MAX];
};

struct predicate {
	const char *name;
	int nargs;	/* 0: none, or one that is ignored */
	int (*test)(const struct parse *ps);
};

static int cond_fail(struct parse *ps, const char *at, const char *fmt, ...) fmt_printf(3, 4);

static int
cond_fail(struct parse *ps, const char *at, const char *fmt, ...)
{
	va_list ap;

	if (ps->err) {
		va_start(ap, fmt);
		vsnprintf(ps->err->text, sizeof(ps->err->text), fmt, ap);
		va_end(ap);
		ps->err->at = (unsigned int)(at - ps->expr);
	}
	return -1;
}

/* --- versions ------------------------------------------------------------ */

/* The digits at *p; a number that is too long saturates. */
static unsigned int
version_number(const char **p)
{
	unsigned int v = 0;

	for (; isdigit((unsigned char)**p); ++*p)
		if (v < 100000000)
			v = v * 10 + (unsigned int)(**p - '0');
	return v;
}

/* "A.B.C", "A.B-devN" or "A.B-preN" as three numbers; a development version is below its release.
 * Missing components are zero. */
static void
version_split(const char *s, int64_t out[3])
{
	const char *p = s;

	out[0] = version_number(&p);
	if (*p == '.')
		p++;
	out[1] = version_number(&p);
	out[2] = 0;
	if (*p == '.') {
		p++;
		out[2] = version_number(&p);
	} else if (strncmp(p, "-dev", 4) == 0 || strncmp(p, "-pre", 4) == 0) {
		p += 4;
		out[2] = (int64_t)version_number(&p) - 1000000000;
	}
}

/* Compares versions as HAProxy writes them ("2.6.12", "3.4-dev10"): <0, 0, >0. */
static int
version_cmp(const char *a, const char *b)
{
	int64_t va[3], vb[3];

	version_split(a, va);
	version_split(b, vb);
	for (int i = 0; i < 3; i++)
		if (va[i] != vb[i])
			return va[i] < vb[i] ? -1 : 1;
	return 0;
}

/* --- predicates ---------------------------------------------------------- */

static int
is_listed(const char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return 1;
	return 0;
}

static int
test_defined(const struct parse *ps)
{
	const struct cfg_facts *f = ps->facts;

	return f->getenv && f->getenv(f->getenv_arg, ps->arg[0]);
}

static int
test_feature(const struct parse *ps)
{
	return is_listed(ps->facts->features, ps->arg[0]);
}

static int
test_enabled(const struct parse *ps)
{
	return is_listed(ps->facts->enabled, ps->arg[0]);
}

static int
test_streq(const struct parse *ps)
{
	return strcmp(ps->arg[0], ps->arg[1]) == 0;
}

static int
test_strneq(const struct parse *ps)
{
	return strcmp(ps->arg[0], ps->arg[1]) != 0;
}

static int
test_strstr(const struct parse *ps)
{
	return strstr(ps->arg[0], ps->arg[1]) != NULL;
}

static int
test_version_atleast(const struct parse *ps)
{
	return ps->facts->version && version_cmp(ps->facts->version, ps->arg[0]) >= 0;
}

static int
test_version_before(const struct parse *ps)
{
	return ps->facts->version && version_cmp(ps->facts->version, ps->arg[0]) < 0;
}

static int
test_ssl_atleast(const struct parse *ps)
{
	return ps->facts->ssl_version && version_cmp(ps->facts->ssl_version, ps->arg[0]) >= 0;
}

static int
test_ssl_before(const struct parse *ps)
{
	return ps->facts->ssl_version && version_cmp(ps->facts->ssl_version, ps->arg[0]) < 0;
}

static int
test_ssllib_name(const struct parse *ps)
{
	const char *name = ps->facts->ssl_name;

	return name && strncmp(name, ps->arg[0], strlen(ps->arg[0])) == 0;
}

static int
test_false(const struct parse *ps)
{
	(void)ps;
	return 0;
}

static const struct predicate predicates[] = {
	{ "awslc_api_atleast", 1, test_false },		/* never built with AWS-LC */
	{ "awslc_api_before", 1, test_false },
	{ "defined", 1, test_defined },
	{ "enabled", 1, test_enabled },
	{ "feature", 1, test_feature },
	{ "openssl_version_atleast", 1, test_ssl_atleast },
	{ "openssl_version_before", 1, test_ssl_before },
	{ "ssllib_name_startswith", 1, test_ssllib_name },
	{ "streq", 2, test_streq },
	{ "strneq", 2, test_strneq },
	{ "strstr", 2, test_strstr },
	{ "version_atleast", 1, test_version_atleast },
	{ "version_before", 1, test_version_before },
};

/* --- the expression ------------------------------------------------------ */

static void
skip_blanks(struct parse *ps)
{
	while (*ps->p == ' ' || *ps->p == '\t')
		ps->p++;
}

/* One argument up to ',' or ')', with quotes as in arguments of HAProxy functions (manual 2.2); a
 * backslash escapes only itself, quotes and blanks. */
static int
parse_argument(struct parse *ps, char out[CFG_COND_ARG_MAX])
{
	const char *start = ps->p;
	char quote = 0;
	size_t n = 0;

	for (; *ps->p && (quote || (*ps->p != ',' && *ps->p != ')')); ps->p++) {
		char c = *ps->p;

		if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? 0 : c;
			continue;
		}
		if (c == '\\' && quote != '\'' && ps->p[1] && strchr(" \t\\'\"nrt", ps->p[1])) {
			c = *++ps->p;
			c = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
		}
		if (n + 1 >= CFG_COND_ARG_MAX)
			return cond_fail(
				ps, start, "argument longer than %d bytes", CFG_COND_ARG_MAX - 1);
		out[n++] = c;
	}
	out[n] = '\0';
	return quote ? cond_fail(ps, start, "unmatched quote in the argument of a predicate") : 0;
}

static int
parse_predicate(struct parse *ps)
{
	const char *start = ps->p;
	const struct predicate *pr = NULL;
	size_t len = 0;

	while (isalnum((unsigned char)start[len]) || start[len] == '_')
		len++;
	for (size_t i = 0; i < ARRAY_LEN(predicates) && !pr; i++)
		if (strlen(predicates[i].name) == len && !memcmp(predicates[i].name, start, len))
			pr = &predicates[i];
	if (!pr)
		return cond_fail(ps, start, "unparsable conditional expression '%.60s'", start);
	ps->p += len;
	for (int i = 0; i < ARGS_MAX; i++)
		ps->arg[i][0] = '\0';
	if (*ps->p != '(') {
		if (pr->nargs > 1)
			return cond_fail(ps, ps->p, "predicate '%s' expects %d arguments", pr->name,
				pr->nargs);
		return pr->test(ps);
	}
	ps->p++;
	for (int i = 0; i < pr->nargs; i++) {
		if (i > 0 && *ps->p != ',')
			return cond_fail(ps, ps->p, "predicate '%s' expects %d arguments, got %d",
				pr->name, pr->nargs, i);
		ps->p += i > 0;
		if (parse_argument(ps, ps->arg[i]))
			return -1;
	}
	if (*ps->p != ')')
		return cond_fail(ps, ps->p, "expected ')' after %d argument%s of predicate '%s'",
			pr->nargs, pr->nargs > 1 ? "s" : "", pr->name);
	ps->p++;
	return pr->test(ps);
}

static int
parse_integer(struct parse *ps)
{
	int nonzero = 0;

	if (*ps->p == '+' || *ps->p == '-')
		ps->p++;
	for (; isdigit((unsigned char)*ps->p); ps->p++)
		nonzero |= *ps->p != '0';
	return nonzero;
}

static int parse_or(struct parse *ps);

static int
parse_term(struct parse *ps)
{
	const char *start;
	int negate = 0;
	int v;

	skip_blanks(ps);
	start = ps->p;
	for (; *ps->p == '!'; skip_blanks(ps)) {
		negate = !negate;
		ps->p++;
	}
	if (*ps->p == '(') {
		if (++ps->depth > CFG_COND_DEPTH_MAX)
			return cond_fail(
				ps, start, "more than %d nested parentheses", CFG_COND_DEPTH_MAX);
		ps->p++;
		v = parse_or(ps);
		if (v < 0)
			return -1;
		if (*ps->p != ')')
			return cond_fail(ps, ps->p,
				"expected ')' after conditional expression '%.60s'", start);
		ps->p++;
		ps->depth--;
	} else if (isdigit((unsigned char)*ps->p) ||
		   ((*ps->p == '-' || *ps->p == '+') && isdigit((unsigned char)ps->p[1]))) {
		v = parse_integer(ps);
	} else {
		v = parse_predicate(ps);
	}
	if (v < 0)
		return -1;
	skip_blanks(ps);
	return negate ? !v : v;
}

static int
parse_and(struct parse *ps)
{
	int all = parse_term(ps), v;

	while (all >= 0 && strncmp(ps->p, "&&", 2) == 0) {
		ps->p += 2;
		v = parse_term(ps);
		if (v < 0)
			return -1;
		all = all && v;
	}
	return all;
}

static int
parse_or(struct parse *ps)
{
	int any = parse_and(ps), v;

	while (any >= 0 && strncmp(ps->p, "||", 2) == 0) {
		ps->p += 2;
		v = parse_and(ps);
		if (v < 0)
			return -1;
		any = any || v;
	}
	return any;
}

int
cfg_cond_eval(const struct cfg_facts *facts, const char *expr, struct cfg_cond_err *err)
{
	struct parse ps = { .facts = facts, .expr = expr, .p = expr, .err = err };
	int v;

	skip_blanks(&ps);
	if (!*ps.p)
		return 0;
	v = parse_or(&ps);
	if (v >= 0 && *ps.p)
		return cond_fail(&ps, ps.p,
			"unexpected character '%c' at the end of conditional expression",
			isprint((unsigned char)*ps.p) ? *ps.p : '?');
	return v;
}

int
cfg_cond_line(const struct cfg_facts *facts, const char *line, struct cfg_cond_err *err)
{
	struct parse ps = { .facts = facts, .expr = line, .p = line, .err = err };
	struct cfg_lexer lx;
	char *expr;
	int rc;

	cfg_lexer_init(&lx, facts->getenv, facts->getenv_arg);
	lx.nocomment = 1;
	rc = cfg_lexer_line(&lx, line, strlen(line));
	if (rc < 0) {
		rc = cond_fail(
			&ps, line + (lx.errcol ? lx.errcol - 1 : 0), "%s", cfg_lexer_strerror(rc));
	} else {
		expr = cfg_cond_join(lx.word, lx.nword);
		rc = expr ? cfg_cond_eval(facts, expr, err) : cond_fail(&ps, line, "out of memory");
		mem_free(expr);
	}
	cfg_lexer_fini(&lx);
	return rc;
}

char *
cfg_cond_join(const struct cfg_word *word, unsigned int n)
{
	size_t len = 1;
	char *s, *p;

	for (unsigned int i = 0; i < n; i++)
		len += strlen(word[i].text) + 1;
	s = p = mem_alloc(len);
	if (!s)
		return NULL;
	for (unsigned int i = 0; i < n; i++) {
		size_t l = strlen(word[i].text);

		if (i > 0)
			*p++ = ' ';
		memcpy(p, word[i].text, l);
		p += l;
	}
	*p = '\0';
	return s;
}
