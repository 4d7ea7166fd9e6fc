/* A transaction whose request line is kept for the log. */
#ifndef TESTS_UNIT_PROXY_LINE_RIG_H
#define TESTS_UNIT_PROXY_LINE_RIG_H

#include <string.h>

#include "proxy/sample/http_line.h"

#define LINE_RIG_LINES 4

/* Gives a transaction that is in no pool room for its line; the last few have it. */
static inline void
line_rig_room(struct http_txn *t)
{
	static char room[LINE_RIG_LINES][HTTP_LINE_MAX];
	static unsigned int n;

	if (t->line)
		return;
	t->line = room[n++ % LINE_RIG_LINES];
	t->line_max = HTTP_LINE_MAX;
}

/* "": no request was parsed. A line without a version was truncated before it. */
static inline void
line_rig_keep(struct http_txn *t, const char *line)
{
	const char *end = line + strlen(line), *version = strstr(line, " HTTP/");
	const char *blank = strchr(line, ' ');
	const struct http_head kept = t->req;

	line_rig_room(t);
	http_line_drop(t);
	if (end == line)
		return;
	if (!version)
		version = end;
	if (!blank)
		blank = end;
	t->req.method_text = (struct str){ line, (size_t)(blank - line) };
	t->req.target = STR("");
	if (blank < version)
		t->req.target = (struct str){ blank + 1, (size_t)(version - blank - 1) };
	t->req.version = strcmp(version, " HTTP/1.0") == 0 ? HTTP_1_0 : HTTP_1_1;
	http_line_keep(t);
	t->line_len = (uint32_t)(end - line);
	t->req = kept;
}

#endif
