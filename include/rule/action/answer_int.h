/* The parsed arguments: made by act_end.c and used by answer.c. */
#ifndef TACIT_RULE_ACTION_ANSWER_INT_H
#define TACIT_RULE_ACTION_ANSWER_INT_H

#include "http/reply.h"
#include "rule/action/answer.h"

/* Source of the payload. */
enum answer_source {
	FROM_NOTHING,
	FROM_PROXY,       /* default-errorfiles */
	FROM_ERRORFILE,   /* a whole response */
	FROM_SECTION,     /* one of http-errors */
	FROM_TEXT,        /* body */
	FROM_FORMAT       /* fmt */
};

struct answer_hdr {
	struct str name;  /* owned, terminated */
	struct rule_fmt *fmt;
};

struct answer {
	enum answer_source source;
	unsigned int status;
	struct str type;      /* Content-Type, owned; p NULL: not given */
	struct str body;      /* owned */
	struct rule_fmt *fmt;
	struct answer_hdr hdr[ANSWER_HDRS_MAX];
	unsigned int n_hdr;
	struct http_reply *reply; /* of an errorfile; of a section after it was checked */
	struct str section;       /* its name, owned */
	struct http_reply *(*page)(const void *root, const char *section, unsigned int status,
		const char **why);
};

#endif
