/* The form of the statistics page: which servers, and what happens to them (`stats admin`). */
#ifndef TACIT_APP_STATS_STATS_FORM_H
#define TACIT_APP_STATS_STATS_FORM_H

#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/str.h"

struct process;
struct proxy;

/* The result of a form; the redirection and the page call it by HAProxy's word, ";st=DONE". */
enum stats_result {
	STATS_NONE,  /* nothing was changed */
	STATS_PART,  /* some servers are unknown, others were changed */
	STATS_ERRP,  /* unknown backend, servers or action */
	STATS_EXCD,  /* the form is too long */
	STATS_DENY,  /* it is not allowed */
	STATS_DONE,
	STATS_UNKN,
	STATS_RESULTS
};

struct stats_message {
	const char *word, *text;
	int is_good;
};

const struct stats_message *stats_message(enum stats_result r);
/* The message of a word; for an unknown one that of STATS_UNKN. */
const struct stats_message *stats_message_of(struct str word);

/* A form while it is carried out: "s=a&s=b&action=drain&b=%23st". */
struct stats_form {
	struct str rest;         /* the part that is not parsed yet */
	struct proxy *be;        /* NULL: unknown */
	const struct stats_action *action; /* NULL: unknown */
	int is_complete;         /* b, action and s are there */
	unsigned int changed, unknown; /* servers */
};

/* Finds out what the form is about. */
void stats_form_begin(struct stats_form *f, const struct process *p, struct str body);
/* Some more of its servers: 1. 0: there are no more. */
int stats_form_next(struct stats_form *f, struct process *p) must_check;
enum stats_result stats_form_result(const struct stats_form *f);

/* The actions as the options of a selection. */
void stats_actions_put(struct sbuf *out);

#endif
