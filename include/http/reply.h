/*
 * Answers that we make ourselves: errors, those of files, redirections. Made once, when the
 * configuration is read, and sent as often as need be: nothing is allocated or copied then.
 */
#ifndef TACIT_HTTP_REPLY_H
#define TACIT_HTTP_REPLY_H

#include "base/compiler.h"
#include "http/head.h"

/* The errors with an answer of their own: http/errors.tbl.h. */
enum http_error_id {
#define HTTP_ERROR(status, reason, text) HTTP_ERROR_##status,
#include "http/errors.tbl.h"
#undef HTTP_ERROR
	HTTP_ERRORS
};

/* Fields of one reply. */
#define HTTP_REPLY_FIELDS 64

struct http_reply {
	/* 0: nothing is sent, the connection is closed (an empty file: errorfile 408 /dev/null) */
	unsigned int status;
	struct str reason;
	const struct http_field *field; /* Content-Length among them, Connection never */
	unsigned int n;
	struct str body;
	unsigned int refs;              /* of those that were made */
};

/* -1: there is no error of that status. */
int http_error_id(unsigned int status);
/* "400, 401, ...", for messages. */
const char *http_error_list(void);
/* The built-in answer. Static. */
const struct http_reply *http_error(enum http_error_id id);

/*
 * Makes a reply of copies: status, its registered phrase, the fields in that order, Content-Length
 * (not for 1xx, 204 and 304, which have no body: -ERR_INVAL if there is one), body. 0 or
 * -ERR_NOMEM, -ERR_RANGE (too many fields), -ERR_INVAL (what could not be sent; a status outside
 * 200..599; Content-Length, Transfer-Encoding or Connection among the fields).
 */
int http_reply_new(unsigned int status, const struct http_field *field, unsigned int n,
	struct str body, struct http_reply **out) must_check;
/* The same, of what has been checked already: nothing is refused, any reason phrase is taken. */
int http_reply_make(unsigned int status, struct str reason, const struct http_field *field,
	unsigned int n, struct str body, struct http_reply **out) must_check;
/* 1xx, 204 and 304 never have a body (RFC 9110, 6.4.1). */
int http_status_has_no_body(unsigned int status);
/* Those that are not the author's to say, but follow from the body and the connection. */
int http_field_is_framing(enum http_field_id id);
/* References, for replies that several proxies share. put clears the pointer; NULL is allowed. */
struct http_reply *http_reply_get(struct http_reply *r);
void http_reply_put(struct http_reply **r);

/* --- sending --- */

/* What the answer says of its connection: nothing where the version says it already. */
enum http_conn { HTTP_CONN_UNSAID, HTTP_CONN_CLOSE, HTTP_CONN_KEEP_ALIVE };

/*
 * Fills in the head of the answer, its array of fields being set up already. Its texts are the
 * reply's. 0, or -ERR_RANGE when there are not places enough.
 */
int http_reply_head(const struct http_reply *r, enum http_conn conn,
	struct http_head *out) must_check;
/* What follows it: nothing to HEAD. */
struct str http_reply_body(const struct http_reply *r, enum http_method method);
/* The most bytes that http_reply_write() makes of it. */
size_t http_reply_size(const struct http_reply *r);
/*
 * The whole answer at once, where no rule looks at it. How many bytes (0: close without a word),
 * or -ERR_RANGE when out is too small.
 */
long http_reply_write(const struct http_reply *r, enum http_conn conn, enum http_method method,
	char *out, size_t cap);

#endif
