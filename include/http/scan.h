/*
 * Character classes of HTTP/1 heads, and scans for runs of a class. These scans read every byte of
 * a head, so they process 16 bytes at a time where the CPU supports it. Each has a portable
 * version; a test compares both. Nothing is read beyond p[n).
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
	HTTP_C_HEX = 32,
	HTTP_C_LOWER = 64  /* tchar without upper case: names in HTTP/2 (RFC 9113, 8.2.1) */
};

/* The classes of each byte. */
extern const unsigned char http_class[256];

static inline int
http_is(char c, enum http_class class)
{
	return http_class[(unsigned char)c] & class;
}

/* The number of leading bytes of p[0..n) in the class. */
size_t http_scan_token(const char *p, size_t n);
size_t http_scan_value(const char *p, size_t n);
size_t http_scan_target(const char *p, size_t n);
size_t http_scan_name(const char *p, size_t n);
size_t http_scan_lower(const char *p, size_t n);

#endif
