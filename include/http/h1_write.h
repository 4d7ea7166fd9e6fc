/* Writes heads in HTTP/1 syntax (RFC 9112, 2 to 5), and trailers (7.1.2). */
#ifndef TACIT_HTTP_H1_WRITE_H
#define TACIT_HTTP_H1_WRITE_H

#include <stddef.h>

#include "http/head.h"

/* The most that a head takes besides its texts, http_texts_size(). */
#define H1_EXTRA_MAX 17

/* The number of bytes that h1_write() writes, including the empty line. */
size_t h1_size(const struct http_head *h);
/* Writes the head to out, which has room for h1_size() bytes. Returns the number of bytes. */
size_t h1_write(const struct http_head *h, char *out);

#endif
