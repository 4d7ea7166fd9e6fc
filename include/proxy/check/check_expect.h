/*
 * Evaluates the bytes that a health check received, and words the result of a step as HAProxy does
 * (manual 4.2: http-check expect, tcp-check expect). Pure: no descriptor, no clock.
 */
#ifndef TACIT_PROXY_CHECK_CHECK_EXPECT_H
#define TACIT_PROXY_CHECK_CHECK_EXPECT_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/str.h"
#include "proxy/model/check.h"

struct sample_ctx;

enum check_step {
	CHECK_STEP_WAIT,   /* more data may change it */
	CHECK_STEP_NEXT,   /* matched: the verdict is that of the check if no rule but those on
			    * variables follows */
	CHECK_STEP_FAIL    /* the check is over with this verdict, mostly a failure */
};

struct check_verdict {
	enum check_status status;
	/* HTTP status, status-code or the protocol's; -1: none. HAProxy shows it with L7OK, L7OKC
	 * and L7STS only. */
	int code;
	char info[CHECK_INFO_MAX]; /* for the log; "": none */
};

/* The input of an expect rule. */
struct check_input {
	struct str received;     /* all bytes since the last send or connect: the next expect sees
				  * them too */
	uint8_t ended;           /* the server has closed */
	uint8_t is_h2;           /* the response has come over HTTP/2 */
	uint8_t full;            /* there is no room for more */
	uint8_t accepts_404;     /* http-check disable-on-404, and the server is up */
	struct http_field *field; /* room for the fields of a response; NULL: for a few */
	unsigned int max_fields;
};

/*
 * Evaluates an expect rule, or runs one that sets or unsets a variable: it sees the bytes of the
 * expect rule before it. It uses cx's arena, which it releases, the regex work, and what formats
 * use; it sets res, res_len and, for rules of tcp-check, res_bytes while it runs. *out is not set
 * after CHECK_STEP_WAIT, nor by a rule on variables.
 */
enum check_step check_expect_eval(const struct check_rule *r, const struct check_input *in,
	struct sample_ctx *cx, struct check_verdict *out) must_check;

#endif
