/* Base64 with padding, as commands and files have it. Any thread. */
#ifndef TACIT_TLS_BASE64_H
#define TACIT_TLS_BASE64_H

#include <stddef.h>

#include "base/compiler.h"

/* Room for what len characters may become. */
#define TLS_BASE64_ROOM(len) ((len) / 4 * 3 + 6)

/* Decodes; blanks and line breaks are skipped. out has TLS_BASE64_ROOM(len). The number of bytes,
 * or -ERR_SYNTAX. */
long tls_base64_decode(const char *text, size_t len, unsigned char *out) must_check;

#endif
