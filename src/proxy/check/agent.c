/* Parses the words of an agent. Pure. */
#include "proxy/check/agent.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

/* Findings besides the result. */
struct words {
	struct agent_report *say;
	struct str health;       /* the word on health as it was written */
	struct str note;         /* the description, or the first unknown word; p NULL: none */
	int has_unknown;
	const char *warning;
};

static int
is_word_separator(char c)
{
	return c == ' ' || c == '\t' || c == ',';
}

static int
is_line_end(char c)
{
	return c == '\r' || c == '\n' || c == '\0';
}

/* --- numbers --- */

/* Digits at the beginning, saturated; the number of digits. */
static size_t
take_digits(struct str word, int *out)
{
	size_t n = 0;
	int v = 0;

	for (; n < word.len && isdigit((unsigned char)word.p[n]); n++)
		v = v > (INT_MAX - 9) / 10 ? INT_MAX : v * 10 + word.p[n] - '0';
	*out = v;
	return n;
}

static void
take_weight(struct words *w, struct str word)
{
	int percent;
	size_t n = take_digits(word, &percent);

	if (n + 1 == word.len && word.p[n] == '%')
		w->say->weight = percent;
	else
		w->warning = "Trailing garbage in weight string";
}

#define MAXCONN "maxconn:"

static void
take_maxconn(struct words *w, struct str word)
{
	struct str number = { word.p + sizeof(MAXCONN) - 1, word.len - (sizeof(MAXCONN) - 1) };
	int n;
	size_t digits = take_digits(number, &n);

	if (number.len == 0)
		w->warning = "Require <maxconn>.";
	else if (digits == 0)
		w->warning = "maxconn string empty or preceded by garbage";
	else if (digits != number.len)
		w->warning = "Trailing garbage in maxconn string";
	else
		w->say->maxconn = n;
}

/* --- words --- */

/* Values of words: one of these bits, with the enum agent_health or enum agent_admin. */
#define WORD_HEALTH 0x100
#define WORD_ADMIN 0x200
#define WORD_MEANING 0xff

#define AS_COMMAND "The administrative state, as of the command 'set server ... state'."

const struct cfg_enum agent_words[] = {
	{ "up", WORD_HEALTH | AGENT_SAYS_UP, "The server is up." },
	{ "down", WORD_HEALTH | AGENT_SAYS_DOWN, "It is down." },
	{ "fail", WORD_HEALTH | AGENT_SAYS_DOWN, "It is down; the log says that it failed." },
	{ "stopped", WORD_HEALTH | AGENT_SAYS_DOWN, "It is down; the log says that it was "
		"stopped." },
	{ "ready", WORD_ADMIN | AGENT_ADMIN_READY, AS_COMMAND },
	{ "drain", WORD_ADMIN | AGENT_ADMIN_DRAIN, AS_COMMAND },
	{ "maint", WORD_ADMIN | AGENT_ADMIN_MAINT, AS_COMMAND },
	{ "<n>%", 0, "The weight, as a percentage of the one in the configuration." },
	{ MAXCONN "<n>", 0, "The server's maxconn." },
	{ "# <text>", 0, "The rest of the line is a description, for the log." },
	{ 0 },
};

/* Takes a word on health or on the administrative state; false if it is neither. */
static int
take_state(struct words *w, struct str word)
{
	for (const struct cfg_enum *e = agent_words; e->value; e++) {
		if (!str_is_nocase(str_of(e->name), word))
			continue;
		if (e->value & WORD_HEALTH) {
			w->say->health = (enum agent_health)(e->value & WORD_MEANING);
			w->health = word;
		} else {
			w->say->admin = (enum agent_admin)(e->value & WORD_MEANING);
		}
		return 1;
	}
	return 0;
}

static void
parse_agent_word(struct words *w, struct str word)
{
	const struct str maxconn = STR(MAXCONN);

	if (take_state(w, word))
		return;
	if (word.len >= maxconn.len &&
		str_is_nocase((struct str){ word.p, maxconn.len }, maxconn)) {
		take_maxconn(w, word);
	} else if (isdigit((unsigned char)*word.p) && memchr(word.p, '%', word.len)) {
		take_weight(w, word);
	} else if (!w->note.p) {
		w->note = word;
		w->has_unknown = 1;
	}
}

/* After '#' the rest of the line is a description. */
static void
take_description(struct words *w, struct str rest)
{
	while (rest.len && (is_word_separator(*rest.p) || *rest.p == '#')) {
		rest.p++;
		rest.len--;
	}
	if (rest.len == 0)
		return;
	w->note = rest;
	w->has_unknown = 0;
}

static void
parse_agent_words(struct words *w, struct str rest)
{
	while (rest.len) {
		struct str word = { rest.p, 0 };

		if (*rest.p == '#') {
			take_description(w, rest);
			return;
		}
		while (word.len < rest.len && !is_word_separator(rest.p[word.len]))
			word.len++;
		if (word.len)
			parse_agent_word(w, word);
		rest.p += MAX(word.len, (size_t)1);
		rest.len -= MAX(word.len, (size_t)1);
	}
}

/* --- the text --- */

static int
len_of(struct str s)
{
	return (int)MIN(s.len, (size_t)CHECK_INFO_MAX);
}

static void
write_verdict(const struct words *w, struct check_verdict *v)
{
	struct str note = w->note.p ? w->note : (struct str){ "", 0 };

	v->status = CHECK_CHECKED;
	v->code = -1;
	v->info[0] = '\0';
	if (w->say->health != AGENT_SAYS_NOTHING) {
		v->status = w->say->health == AGENT_SAYS_UP ? CHECK_L7OK : CHECK_L7STS;
		v->code = 0;
		(void)snprintf(v->info, sizeof(v->info), "via agent : %.*s%s%.*s%s",
			len_of(w->health), w->health.p, note.len ? " (" : "", len_of(note), note.p,
			note.len ? ")" : "");
	} else if (w->has_unknown) {
		(void)snprintf(v->info, sizeof(v->info), "agent reports an error : %.*s",
			len_of(note), note.p);
	} else if (w->warning) {
		(void)snprintf(v->info, sizeof(v->info), "agent warns : %s", w->warning);
	}
}

void
agent_parse(struct str line, struct agent_report *out)
{
	struct words w = { .say = out };
	size_t n = 0;

	memset(out, 0, sizeof(*out));
	out->weight = out->maxconn = -1;
	while (n < line.len && !is_line_end(line.p[n]))
		n++;
	parse_agent_words(&w, (struct str){ line.p, n });
	write_verdict(&w, &out->verdict);
}
