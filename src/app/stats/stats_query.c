/* Parses the parameters of a request for the statistics: ";csv", "?scope=name". Pure. */
#include "app/stats/stats_query.h"

#include "base/compiler.h"

/* Words may follow the prefix in any order, each behind one of these. */
static int
ends_word(char c)
{
	return c == ';' || c == '?' || c == '&';
}

/* The value behind "name=", if the word is that. */
static int
take_query_value(struct str word, struct str name, struct str *out)
{
	if (word.len < name.len || !str_is((struct str){ word.p, name.len }, name))
		return 0;
	*out = (struct str){ word.p + name.len, word.len - name.len };
	return 1;
}

/* A number of up to nine digits, and the character behind it unless that is 0. -1: none. */
static int
take_row_number(struct str *text, char end)
{
	size_t n = 0;
	int v = 0;

	for (; n < text->len && n < 9 && text->p[n] >= '0' && text->p[n] <= '9'; n++)
		v = v * 10 + (text->p[n] - '0');
	if (!n || (end ? n == text->len || text->p[n] != end : n != text->len))
		return -1;
	n += end != 0;
	*text = (struct str){ text->p + n, text->len - n };
	return v;
}

/* "3.2.1"; what is no such number is ignored. */
static void
parse_row(struct str text, struct stats_query *q)
{
	int proxy = take_row_number(&text, '.');
	int type = proxy < 0 ? -1 : take_row_number(&text, '.');
	int server = type < 0 ? -1 : take_row_number(&text, 0);

	if (server < 0)
		return;
	q->row.proxy = proxy;
	q->row.type = type;
	q->row.server = server;
}

/* A form sends "up=" for "up". */
static void
take_query_word(struct str word, struct stats_query *q)
{
	static const struct {
		const char *name;
		int output; /* -1: none */
		unsigned int word;
	} words[] = {
		{ "csv", STATS_CSV, 0 },   { "typed", STATS_TYPED, 0 },
		{ "json", STATS_JSON, 0 }, { "up", -1, STATS_UP },
		{ "norefresh", -1, STATS_NOREFRESH },
	};

	struct str row;

	if (take_query_value(word, STR("row="), &row)) {
		parse_row(row, q);
		return;
	}
	if (take_query_value(word, STR("scope="), &q->scope) ||
		take_query_value(word, STR("st="), &q->result))
		return;
	if (word.len && word.p[word.len - 1] == '=')
		word.len--;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!str_is(word, str_of(words[i].name)))
			continue;
		q->words |= words[i].word;
		if (words[i].output >= 0)
			q->output = (enum stats_output)words[i].output;
	}
}

void
stats_query_parse(struct str target, struct str prefix, struct stats_query *out)
{
	size_t at = prefix.len;

	*out = (struct stats_query){ .scope = STR(""), .row = { -1, -1, -1 },
		.result = STR("") };
	while (at < target.len) {
		size_t from = at;

		while (at < target.len && !ends_word(target.p[at]))
			at++;
		take_query_word((struct str){ target.p + from, at - from }, out);
		at++;
	}
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte at text.p[*at], which moves on; -1: invalid. */
static int
decode_byte(struct str text, size_t *at)
{
	char c = text.p[(*at)++];
	int hi, lo;

	if (c == '+')
		return ' ';
	if (c != '%')
		return (unsigned char)c;
	if (text.len - *at < 2)
		return -1;
	hi = hex_digit(text.p[*at]);
	lo = hex_digit(text.p[*at + 1]);
	*at += 2;
	return hi < 0 || lo < 0 ? -1 : hi << 4 | lo;
}

int
stats_decode(struct str text, char *to, size_t max)
{
	size_t n = 0, at = 0;

	while (at < text.len) {
		int c = decode_byte(text, &at);

		if (c <= 0 || n + 1 >= max) {
			to[0] = '\0';
			return -1;
		}
		to[n++] = (char)c;
	}
	to[n] = '\0';
	return 0;
}
