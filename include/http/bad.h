/* Reasons for rejecting messages, and the status sent to the client. */
#ifndef TACIT_HTTP_BAD_H
#define TACIT_HTTP_BAD_H

/* Reason for rejecting a message: http/bad.tbl.h. HTTP_BAD_NONE is 0. */
enum http_bad {
	HTTP_BAD_NONE,
#define HTTP_BAD_ROW(id, status, text) HTTP_BAD_##id,
#include "http/bad.tbl.h"
#undef HTTP_BAD_ROW
	HTTP_BADS
};

/* The status of the response to a rejected request: 400, 414, 431, 505. */
unsigned int http_bad_status(enum http_bad b);
/* Text for the log and show errors. */
const char *http_bad_text(enum http_bad b);

#endif
