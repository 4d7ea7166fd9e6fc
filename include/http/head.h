/*
 * The head of a message as data (RFC 9110, 6): its control data and its fields, as slices. Nothing
 * is copied: the text lies in the buffer that was parsed, in storage of whoever added a field, or
 * is static, and has to outlive the head. The bytes of HTTP/1 are read by http/h1_parse.h and
 * written by http/h1_write.h. Sans-I/O: no descriptor, no clock, no configuration.
 */
#ifndef TACIT_HTTP_HEAD_H
#define TACIT_HTTP_HEAD_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

enum http_kind { HTTP_REQUEST, HTTP_RESPONSE };

enum http_version { HTTP_1_0, HTTP_1_1 };

/* Methods that mean something to a proxy; any other token is HTTP_OTHER (RFC 9110, 9). */
enum http_method {
	HTTP_OTHER,
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_PUT,
	HTTP_DELETE,
	HTTP_CONNECT,
	HTTP_OPTIONS,
	HTTP_TRACE,
	HTTP_PATCH,
	HTTP_METHODS
};

/* Fields that mean something to a proxy: http/names.tbl.h. HTTP_F_OTHER is 0. */
enum http_field_id {
	HTTP_F_OTHER,
#define HTTP_FIELD(id, name) HTTP_F_##id,
#include "http/names.tbl.h"
#undef HTTP_FIELD
	HTTP_FIELD_IDS
};

struct http_field {
	struct str name, value; /* the value without blanks around it */
	uint16_t id;            /* enum http_field_id */
	uint8_t dropped;        /* deleted, and not sent on */
};

struct http_head {
	enum http_kind kind;
	enum http_version version;
	/* Request. */
	enum http_method method;
	struct str method_text;
	struct str target;      /* as received (RFC 9112, 3.2) */
	/* Response. */
	unsigned int status;    /* 100..999 */
	struct str reason;
	/* Both. */
	struct http_field *field; /* the caller's array */
	unsigned int n, max;
};

/* field[] of max places; nothing else is set. */
void http_head_init(struct http_head *h, enum http_kind kind, struct http_field *field,
	unsigned int max);

enum http_method http_method_of(struct str text);
/* HTTP_F_OTHER for a name that means nothing to us. Case does not matter. */
enum http_field_id http_field_id(struct str name);
const char *http_field_name(enum http_field_id id);
/* "Not Found": http/status.tbl.h. A status that is not there has the phrase of its class, as in
 * HAProxy: "Client Error". */
const char *http_status_reason(unsigned int status);

/*
 * May that stand as a field's name, as its value (RFC 9110, 5.1 and 5.5)? What a rule makes of
 * decoded text must not become a line of its own.
 */
int http_name_is_valid(struct str name);
int http_value_is_valid(struct str value);

/* A Content-Length longer than that is refused, however many of the digits are zeros. */
#define HTTP_LENGTH_DIGITS 20
/* A Content-Length: 0, -ERR_SYNTAX for what is not all digits, -ERR_RANGE beyond 2^63 - 1. */
int http_length_of(struct str value, uint64_t *n) must_check;

/* --- looking --- */

/* The first field of that id (name) from place `from` on that was not dropped: its place, or -1. */
int http_find_id(const struct http_head *h, enum http_field_id id, unsigned int from);
int http_find(const struct http_head *h, struct str name, unsigned int from);
/*
 * Steps through a comma-separated list (RFC 9110, 5.6.1): the next element of *rest, without
 * blanks, into *out. Quoted strings hold no separators. 0 when there is none left. Empty
 * elements are skipped.
 */
int http_list_next(struct str *rest, struct str *out);
/* Does any field of that id list the token (case does not matter)? */
int http_lists(const struct http_head *h, enum http_field_id id, struct str token);

/* --- changing --- */

/*
 * Adds a field behind all others of its name. 0, -ERR_RANGE when all places are taken, or
 * -ERR_INVAL when the name or the value could not be sent. The texts must outlive the head.
 * Places that others hold stay what they are; once the array is full, one that was dropped is
 * used again.
 */
int http_add(struct http_head *h, struct str name, struct str value) must_check;
/* Another value for the field at that place. 0 or -ERR_INVAL. */
int http_set_value(struct http_head *h, unsigned int place, struct str value) must_check;
void http_drop(struct http_head *h, unsigned int place);
/* Drops all of that name; how many. */
unsigned int http_drop_all(struct http_head *h, struct str name);

/* --- its texts --- */

/*
 * Copies all texts to out, one behind the other: no more bytes than h1_size() says. They are the
 * head's from now on, as if they lay at home, where the caller copies them to. How many bytes.
 */
size_t http_pack(struct http_head *h, char *out, const char *home);

#endif
