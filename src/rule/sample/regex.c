/* PCRE2. A compiled regex is only read, by all workers; match data and limits belong to one
 * worker. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "rule/sample/regex.h"

#include <pcre2.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "rule/sample/sample.h"
#include "rule/sample/shortfall.h"

#define SHOWN_MAX 120

struct regex {
	pcre2_code *code;
	uint32_t groups;
	char shown[SHOWN_MAX + 1]; /* the beginning of its text, for messages */
};

struct regex_work {
	pcre2_match_data *data;
	pcre2_match_context *bounds;
	pcre2_jit_stack *stack;
};

/* The library allocates through mem.h. */
static void *
get_memory(PCRE2_SIZE size, void *arg)
{
	(void)arg;
	return mem_alloc(size);
}

static void
put_memory(void *p, void *arg)
{
	(void)arg;
	mem_free(p);
}

static pcre2_general_context *
our_memory(void)
{
	return pcre2_general_context_create(get_memory, put_memory, NULL);
}

static int
regex_fail(struct regex_err *why, size_t at, int reason, const char *text)
{
	why->at = at;
	snprintf(why->text, sizeof(why->text), "%s", text);
	return reason;
}

static int
regex_compile(struct regex *r, struct str text, unsigned int flags, struct regex_err *why)
{
	pcre2_general_context *memory = our_memory();
	pcre2_compile_context *context = memory ? pcre2_compile_context_create(memory) : NULL;
	PCRE2_SIZE at = 0;
	int error = 0;

	if (context) {
		/* Invalid UTF-8 would prevent matches: bytes are compared. */
		r->code = pcre2_compile((PCRE2_SPTR)text.p, text.len,
			PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C |
				(flags & REGEX_NOCASE ? PCRE2_CASELESS : 0),
			&error, &at, context);
		pcre2_compile_context_free(context);
	}
	if (memory)
		pcre2_general_context_free(memory);
	if (!context || (!r->code && error == PCRE2_ERROR_NOMEMORY))
		return regex_fail(why, 0, -ERR_NOMEM, err_text(-ERR_NOMEM));
	if (!r->code) {
		why->at = at;
		pcre2_get_error_message(error, (PCRE2_UCHAR *)why->text, sizeof(why->text));
		return -ERR_SYNTAX;
	}
	return 0;
}

int
regex_new(struct str text, unsigned int flags, struct regex **out, struct regex_err *why)
{
	struct regex *r;
	int rc;

	*out = NULL;
	if (text.len > REGEX_TEXT_MAX)
		return regex_fail(why, REGEX_TEXT_MAX, -ERR_RANGE, "longer than 8192 bytes");
	r = mem_zalloc(sizeof(*r));
	if (!r)
		return regex_fail(why, 0, -ERR_NOMEM, err_text(-ERR_NOMEM));
	rc = regex_compile(r, text, flags, why);
	if (rc < 0) {
		mem_free(r);
		return rc;
	}
	/* Where JIT is not available or memory must not be executable (MemoryDenyWriteExecute), the
	 * interpreter is used. */
	(void)pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE);
	pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->groups);
	memcpy(r->shown, text.p, MIN(text.len, (size_t)SHOWN_MAX));
	*out = r;
	return 0;
}

void
regex_free(struct regex **r)
{
	if (!*r)
		return;
	pcre2_code_free((*r)->code);
	mem_free(*r);
	*r = NULL;
}

struct regex_work *
regex_work_new(void)
{
	struct regex_work *w = mem_zalloc(sizeof(*w));
	pcre2_general_context *memory = w ? our_memory() : NULL;

	if (memory) {
		w->data = pcre2_match_data_create(REGEX_GROUPS, memory);
		w->bounds = pcre2_match_context_create(memory);
		/* NULL without JIT: then it is not used. */
		w->stack = pcre2_jit_stack_create(32u << 10, REGEX_JIT_STACK, memory);
		pcre2_general_context_free(memory);
	}
	if (!memory || !w->data || !w->bounds) {
		regex_work_free(&w);
		return NULL;
	}
	pcre2_set_heap_limit(w->bounds, REGEX_HEAP_KB);
	if (w->stack)
		pcre2_jit_stack_assign(w->bounds, NULL, w->stack);
	return w;
}

void
regex_work_free(struct regex_work **w)
{
	if (!*w)
		return;
	pcre2_match_data_free((*w)->data);
	pcre2_match_context_free((*w)->bounds);
	pcre2_jit_stack_free((*w)->stack);
	mem_free(*w);
	*w = NULL;
}

static void
take_groups(const struct regex *r, struct regex_work *w, struct str subject, struct regex_match *m)
{
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(w->data);
	uint32_t n = MIN(r->groups + 1, REGEX_GROUPS);

	for (uint32_t i = 0; i < REGEX_GROUPS; i++) {
		m->group[i] = (struct str){ subject.p, 0 };
		/* \K in a lookahead can put the start after the end. */
		if (i < n && at[2 * i] != PCRE2_UNSET && at[2 * i] <= at[2 * i + 1])
			m->group[i] = (struct str){ subject.p + at[2 * i],
				at[2 * i + 1] - at[2 * i] };
	}
}

/* Returns PCRE2's result when it may take so many steps. */
static int
match_within(const struct regex *r, struct regex_work *w, struct str s, size_t from, uint32_t steps)
{
	PCRE2_SPTR p = (PCRE2_SPTR)s.p;
	int rc;

	pcre2_set_match_limit(w->bounds, steps);
	rc = pcre2_match(r->code, p, s.len, from, 0, w->data, w->bounds);
	if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
		rc = pcre2_match(r->code, p, s.len, from, PCRE2_NO_JIT, w->data, w->bounds);
	return rc;
}

/* Returns the CPU time of this thread, so that matches do not end earlier on a busy machine. */
static uint64_t
processor_ns(struct sys *sys)
{
	return sys ? sys_clock_ns(sys, CLOCK_THREAD_CPUTIME_ID) : 0;
}

/* Returns PCRE2's result when a match that has used up its first steps gets more, as long as the
 * time allows. Each time it begins again: PCRE2 cannot continue. */
static int
match_longer(const struct regex *r, struct sample_ctx *cx, struct str s, size_t from)
{
	uint64_t steps = REGEX_STEPS_FIRST, left = REGEX_TIME_MS * UINT64_C(1000000), next;

	for (;;) {
		uint64_t took = processor_ns(cx->sys);
		int rc = match_within(r, cx->regex, s, from, (uint32_t)steps);

		if (rc != PCRE2_ERROR_MATCHLIMIT || steps == REGEX_STEPS_MAX)
			return rc;
		took = processor_ns(cx->sys) - took;
		left -= MIN(left, took);
		next = MIN(steps * REGEX_STEPS_GROW, (uint64_t)REGEX_STEPS_MAX);
		if (took && next > steps * left / took)
			next = steps * left / took;
		if (next <= steps)
			return rc;
		steps = next;
	}
}

/* Counts and reports why the match was given up. */
static void
report_give_up(const struct regex *r, struct sample_ctx *cx, int rc)
{
	char why[120] = "";

	(void)pcre2_get_error_message(rc, (PCRE2_UCHAR *)why, sizeof(why));
	shortfall_add(cx, SHORTFALL_REGEX, why, "regex '%s'", r->shown);
}

int
regex_match(const struct regex *r, struct sample_ctx *cx, struct str subject, size_t from,
	struct regex_match *m)
{
	struct str s = { subject.p ? subject.p : "", subject.len };
	int rc;

	if (!cx->regex)
		return 0;
	rc = match_within(r, cx->regex, s, from, REGEX_STEPS_FIRST);
	if (rc == PCRE2_ERROR_MATCHLIMIT)
		rc = match_longer(r, cx, s, from);
	if (rc < 0) {
		if (rc != PCRE2_ERROR_NOMATCH)
			report_give_up(r, cx, rc);
		return 0;
	}
	if (m)
		take_groups(r, cx->regex, s, m);
	return 1;
}

/* --- replacing --- */

static int
hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *
regex_subst_why_not(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] != '\\')
			continue;
		if (++i == s.len)
			return "a backslash at the end of the replacement";
		if (s.p[i] == 'x' &&
			(i + 2 >= s.len || hex_of(s.p[i + 1]) < 0 || hex_of(s.p[i + 2]) < 0))
			return "\\x in the replacement needs two hexadecimal digits";
	}
	return NULL;
}

void
regex_subst(struct str s, const struct regex_match *m, struct sbuf *out)
{
	for (size_t i = 0; i < s.len; i++) {
		const char *next = s.p + i + 1;

		if (s.p[i] != '\\' || i + 1 == s.len) {
			sbuf_addc(out, s.p[i]);
			continue;
		}
		i++;
		if (*next >= '0' && *next <= '9') {
			const struct str *g = &m->group[*next - '0'];

			sbuf_add(out, g->p, g->len);
		} else if (*next == 'x' && i + 2 < s.len && hex_of(next[1]) >= 0 &&
			   hex_of(next[2]) >= 0) {
			sbuf_addc(out, (char)(hex_of(next[1]) << 4 | hex_of(next[2])));
			i += 2;
		} else {
			sbuf_addc(out, *next);
		}
	}
}

unsigned int
regex_replace(const struct regex *r, struct sample_ctx *cx, struct str subject, struct str subst,
	int all, struct sbuf *out)
{
	struct regex_match m;
	unsigned int n = 0;
	size_t from = 0, done = 0, start;

	if (!subject.p)
		subject.p = "";
	while (from <= subject.len && !out->failed && regex_match(r, cx, subject, from, &m)) {
		start = (size_t)(m.group[0].p - subject.p);
		from = start + m.group[0].len;
		/* An empty match directly after a replacement does not count, as in sed. */
		if (n && from == done) {
			from++;
			continue;
		}
		n++;
		sbuf_add(out, subject.p + done, start - done);
		regex_subst(subst, &m, out);
		done = from;
		if (!all)
			break;
		from += !m.group[0].len;
	}
	sbuf_add(out, subject.p + done, subject.len - done);
	return n;
}
