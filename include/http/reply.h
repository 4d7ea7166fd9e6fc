/*
 * Local replies: errors, error files, redirects. They are created when the configuration is read;
 * sending one allocates and copies nothing.
 */
#ifndef TACIT_HTTP_REPLY_H
#define TACIT_HTTP_REPLY_H

#include "base/compiler.h"
#include "http/head.h"

/* The errors with a local reply: http/errors.tbl.h. */
enum http_error_id {
#define HTTP_ERROR(status, reason, text) HTTP_ERROR_##status,
#include "http/errors.tbl.h"
#undef HTTP_ERROR
	HTTP_ERRORS
};

/* Maximum fields of a reply. */
#define HTTP_REPLY_FIELDS 64

struct http_reply {
	/* 0: the connection is closed without a reply (an empty file: errorfile 408 /dev/null) */
	unsigned int status;
	struct str reason;
	const struct http_field *field; /* includes Content-Length, never Connection */
	unsigned int n;
	struct str body;
	unsigned int refs;              /* references to an allocated reply */
};

/* -1: no local reply has this status. */
int http_error_id(unsigned int status);
/* "400, 401, ...", for messages. */
const char *http_error_list(void);
/* The built-in reply. Static. */
const struct http_reply *http_error(enum http_error_id id);

/*
 * Creates a reply from copies: status, its registered phrase, the fields in this order,
 * Content-Length (not for 1xx, 204 and 304, which have no body: -ERR_INVAL if there is one), body.
 * 0 or -ERR_NOMEM, -ERR_RANGE (too many fields), -ERR_INVAL (invalid text; a status outside
 * 200..599; Content-Length, Transfer-Encoding or Connection among the fields).
 */
int http_reply_new(unsigned int status, const struct http_field *field, unsigned int n,
	struct str body, struct http_reply **out) must_check;
/* The same for data that was checked already: nothing is rejected, and any reason phrase is
 * accepted. */
int http_reply_make(unsigned int status, struct str reason, const struct http_field *field,
	unsigned int n, struct str body, struct http_reply **out) must_check;
/* 1xx, 204 and 304 never have a body (RFC 9110, 6.4.1). */
int http_status_has_no_body(unsigned int status);
/* Fields that cannot be configured, since they follow from the body and the connection. */
int http_field_is_framing(enum http_field_id id);
/* References, for replies that several proxies share. put clears the pointer; NULL is allowed. */
struct http_reply *http_reply_get(struct http_reply *r);
void http_reply_put(struct http_reply **r);

/* --- sending --- */

/* The Connection field of the reply: none if the version implies it. */
enum http_conn { HTTP_CONN_UNSAID, HTTP_CONN_CLOSE, HTTP_CONN_KEEP_ALIVE };

/*
 * Fills in the head of the reply; its field array must be set. Its texts belong to the reply. 0, or
 * -ERR_RANGE when the array is too small.
 */
int http_reply_head(const struct http_reply *r, enum http_conn conn,
	struct http_head *out) must_check;
/* The body: none for HEAD. */
struct str http_reply_body(const struct http_reply *r, enum http_method method);
/* The maximum number of bytes that http_reply_write() writes. */
size_t http_reply_size(const struct http_reply *r);
/*
 * Writes the complete reply, for replies that no rule changes. Returns the number of bytes (0:
 * close without a reply), or -ERR_RANGE when out is too small.
 */
long http_reply_write(const struct http_reply *r, enum http_conn conn, enum http_method method,
	char *out, size_t cap);

#endif
