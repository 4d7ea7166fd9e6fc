/*
 * Replies of rules: the arguments of return, deny and tarpit (manual, http-request return), and
 * making the reply.
 */
#ifndef TACIT_RULE_ACTION_ANSWER_H
#define TACIT_RULE_ACTION_ANSWER_H

#include "rule/action/act.h"

#define ANSWER_HDRS_MAX 32
/* Maximum payload: with its head it has to fit into a buffer. */
#define ANSWER_BODY_MAX 15360

/* Values of the words of return, deny, tarpit and http-error. */
enum {
	ANSWER_STATUS,
	ANSWER_DENY_STATUS,
	ANSWER_TYPE,
	ANSWER_HDR,
	/* Sources of the answer, of which there is one. */
	ANSWER_DEFAULT,
	ANSWER_ERRORFILE,
	ANSWER_ERRORFILES,
	ANSWER_FILE,
	ANSWER_LF_FILE,
	ANSWER_STRING,
	ANSWER_LF_STRING
};

/* The words that all of them have, in a table of struct cfg_enum. */
#define ANSWER_WORDS \
	{ "content-type <type>", ANSWER_TYPE, "Type of the body." }, \
	{ "errorfile <file>", ANSWER_ERRORFILE, "A file with a whole response." }, \
	{ "errorfiles <section>", ANSWER_ERRORFILES, "The page of a section http-errors." }, \
	{ "file <file>", ANSWER_FILE, "A file with the body." }, \
	{ "lf-file <file>", ANSWER_LF_FILE, "A file with a format that makes the body." }, \
	{ "string <text>", ANSWER_STRING, "The body." }, \
	{ "lf-string <fmt>", ANSWER_LF_STRING, "A format that makes the body." }

struct answer;

/* An answer without fields and body. */
void answer_begin(struct rule_outcome *v, unsigned int status);
/* The status is not one that a reply can have. */
enum rule_result answer_failed(struct rule_outcome *v);
/* Adds a field, in the arena or static. 0, or -1: no room. */
int answer_field(struct rule_outcome *v, struct str name, struct str value) must_check;
/* Adds Content-Length if the status has one. */
int answer_length(struct sample_ctx *cx, struct rule_outcome *v) must_check;

#endif
