/*
 * The head of a message as data (RFC 9110, 6): control data, fields, as slices, and what body
 * follows. Nothing is copied: the texts are in the parsed buffer, in memory of the code that added
 * a field, or static, and must outlive the head. http/h1_parse.h parses HTTP/1 and http/h1_write.h
 * writes it. No I/O, no clock, no configuration.
 */
#ifndef TACIT_HTTP_HEAD_H
#define TACIT_HTTP_HEAD_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

/* Trailers are the fields behind a body: a head without control data and without framing. */
enum http_kind { HTTP_REQUEST, HTTP_RESPONSE, HTTP_TRAILERS };

enum http_version { HTTP_1_0, HTTP_1_1, HTTP_2 };

/* Methods that a proxy handles specially; other tokens are HTTP_OTHER (RFC 9110, 9). */
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

/* Fields that a proxy handles specially: http/names.tbl.h. HTTP_F_OTHER is 0. */
enum http_field_id {
	HTTP_F_OTHER,
#define HTTP_FIELD(id, name, letter) HTTP_F_##id,
#include "http/names.tbl.h"
#undef HTTP_FIELD
	HTTP_FIELD_IDS
};

/* The kind of body that follows a head (RFC 9110, 6.4). */
enum http_framing {
	HTTP_BODY_NONE,    /* the message has no body */
	HTTP_BODY_LENGTH,  /* as many bytes as the head says */
	/* of unknown length, and its end is marked: by the last chunk, in HTTP/2 by END_STREAM */
	HTTP_BODY_CHUNKED,
	HTTP_BODY_CLOSE,   /* until the sender closes: responses of HTTP/1 only */
	HTTP_BODY_TUNNEL   /* no HTTP any more: after CONNECT or 101 */
};

struct http_field {
	struct str name, value; /* the value without surrounding blanks */
	uint16_t id;            /* enum http_field_id */
	uint8_t dropped;        /* deleted: not sent */
	uint8_t arrived;        /* as its sender wrote it: no rule has added or changed it */
	/* A secret: no compression of HTTP/2 may put it into a table (RFC 7541, 7.1.3). */
	uint8_t never_indexed;
	/* Its name was parsed with ": ", the value and CRLF behind it, which is how h1_write()
	 * writes it. The value may have changed since. */
	uint8_t is_line;
};

struct http_head {
	enum http_kind kind;
	enum http_version version;
	/* The request's. In a response: of the request that it answers, set before its end is
	 * parsed. */
	enum http_method method;
	/* At least so many bytes of texts can be added before it is as long as it may be: known
	 * without reading all fields. 0: nothing is known. */
	uint32_t room;
	/* Requests only. */
	uint8_t takes_old_content; /* a body, whatever the method is, also of HTTP/1.0 */
	struct str method_text;
	struct str target;      /* as received (RFC 9112, 3.2) */
	/* Responses only. */
	unsigned int status;    /* 100..999 */
	struct str reason;
	/* Both. Content-Length, if there is a body, has the same value. */
	enum http_framing framing;
	uint64_t length;        /* of the body: HTTP_BODY_LENGTH */
	struct http_field *field; /* array of the caller */
	unsigned int n, max;
	uint64_t had;           /* a bit for each id that a field has, or has had */
};
_Static_assert(HTTP_FIELD_IDS <= 64, "a bit for each id");

/* Sets field[] with room for max fields; other members are not set. */
void http_head_init(struct http_head *h, enum http_kind kind, struct http_field *field,
	unsigned int max);

/* Copies a head into the array of the other one. 0, or -ERR_RANGE: it has no room, and is
 * unchanged. */
int http_head_copy(struct http_head *to, const struct http_head *from) must_check;

/* "HTTP/1.1", as it is written in logs. */
struct str http_version_name(enum http_version v);
/* HTTP_OTHER for other methods. Case-sensitive. */
enum http_method http_method_of(struct str text);
/* HTTP_F_OTHER for other names. Case-insensitive. */
enum http_field_id http_field_id(struct str name);
/* The name in lower case, static; "" of HTTP_F_OTHER. */
const char *http_field_name(enum http_field_id id);

/*
 * True if this is a valid field name or value (RFC 9110, 5.1 and 5.5), so that decoded text cannot
 * inject a line.
 */
int http_name_is_valid(struct str name);
int http_value_is_valid(struct str value);

/* Maximum number of digits of a Content-Length, including leading zeros. */
#define HTTP_LENGTH_DIGITS 20
/* Writes a length to digits, which has room for that many. */
struct str http_length_text(uint64_t n, char *digits);
/* Parses a Content-Length: 0, -ERR_SYNTAX unless all are digits, -ERR_RANGE above 2^63 - 1. */
int http_length_of(struct str value, uint64_t *n) must_check;

/* --- look-ups --- */

/* False if no field has this id. */
static inline int
http_may_have(const struct http_head *h, enum http_field_id id)
{
	return (int)(h->had >> id & 1);
}

/* Counts a field that was put at index h->n. */
static inline void
http_count_field(struct http_head *h, const struct http_field *f)
{
	h->had |= (uint64_t)1 << f->id;
	h->n++;
}

/* Index of the first field with this id (name) from index `from` on that is not dropped, or -1. */
int http_search_id(const struct http_head *h, enum http_field_id id, unsigned int from);
static inline int
http_find_id(const struct http_head *h, enum http_field_id id, unsigned int from)
{
	return http_may_have(h, id) ? http_search_id(h, id, from) : -1;
}
/* The same by name, case-insensitive. */
int http_find(const struct http_head *h, struct str name, unsigned int from);
/*
 * Iterates over a comma-separated list (RFC 9110, 5.6.1): puts the next element of *rest, without
 * blanks, into *out. Separators in quoted strings are ignored and empty elements skipped. 0 when
 * there are no more.
 */
int http_list_next(struct str *rest, struct str *out);
/* True if the list has the token (case-insensitive). */
int http_list_has(struct str list, struct str token);
/* True if any field of this id lists the token (case-insensitive). */
int http_lists(const struct http_head *h, enum http_field_id id, struct str token);

/* --- changing --- */

/*
 * Adds a field after all others of its name. 0, -ERR_RANGE when the array is full, or -ERR_INVAL
 * when the name or value is invalid. The texts must outlive the head. Indexes of other fields do
 * not change; when the array is full, a dropped field's entry is reused.
 */
int http_add(struct http_head *h, struct str name, struct str value) must_check;
int http_add_id(struct http_head *h, enum http_field_id id, struct str value) must_check;
/* Sets the value of the field at this index. 0 or -ERR_INVAL. */
int http_set_value(struct http_head *h, unsigned int place, struct str value) must_check;
/* Drops the field at this index; those of others do not change. */
void http_drop(struct http_head *h, unsigned int place);
/* Drops all fields of this name; returns their number. */
unsigned int http_drop_all(struct http_head *h, struct str name);
/* Drops all fields of this id. */
void http_drop_id(struct http_head *h, enum http_field_id id);
/*
 * A body of this length follows: Content-Length is added, and contradicting fields are dropped.
 * Its text is written to digits, HTTP_LENGTH_DIGITS bytes that must outlive the head. 0 or
 * -ERR_RANGE: the array is full.
 */
int http_set_length(struct http_head *h, uint64_t length, char *digits) must_check;

/* --- its texts --- */

/* The bytes of a field besides its texts: what separates them in HTTP/1. */
#define HTTP_FIELD_EXTRA 4

/* The length of all texts, with HTTP_FIELD_EXTRA for each field. */
size_t http_texts_size(const struct http_head *h);
/* The part of it that is in fields of this name. */
size_t http_fields_size(const struct http_head *h, struct str name);
/*
 * Copies all texts to out, one after the other: at most h1_size() bytes. The head then refers to
 * the copies as if they were at home, where the caller moves them. Returns the number of bytes.
 */
size_t http_pack(struct http_head *h, char *out, const char *home);

#endif
