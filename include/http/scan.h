/*
 * What a byte may be part of in an HTTP/1 head, and how far a run of such bytes goes: the part of
 * the parser that looks at every byte, so it looks at 16 at a time where the CPU can. Each scan
 * has a portable twin, which a test holds equal. Nothing is read beyond p[n).
 */
#ifndef TACIT_HTTP_SCAN_H
#define TACIT_HTTP_SCAN_H

#include <stddef.h>

enum http_class {
	HTTP_C_TOKEN = 1,  /* tchar (RFC 9110, 5.6.2): methods, field names */
	HTTP_C_VALUE = 2,  /* VCHAR, obs-text, SP and HTAB: field values, reason phrases */
	HTTP_C_TARGET = 4, /* '!' to '~' without '#': request targets (RFC 9112, 3.2) */
	HTTP_C_NAME = 8,   /* unreserved, sub-delims without ',': in a host (RFC 3986, 3.2.2) */
	HTTP_C_DIGIT = 16,
	HTTP_C_HEX = 32
};

/* Which of the classes each byte is in. */
extern const unsigned char http_class[256];

static inline int
http_is(char c, enum http_class class)
{
	return http_class[(unsigned char)c] & class;
}

/* How many bytes of p[0..n) from the first on are of the class. */
size_t http_scan_token(const char *p, size_t n);
size_t http_scan_value(const char *p, size_t n);
size_t http_scan_target(const char *p, size_t n);
/* The portable twin of all three. */
size_t http_scan_plain(const char *p, size_t n, enum http_class class);

#endif
