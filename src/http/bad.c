/* Reasons why messages are refused, in words and as a status. A table. */
#include "http/bad.h"

#include "base/compiler.h"

static const struct {
	unsigned short status;
	const char *text;
} bads[HTTP_BADS] = {
	[HTTP_BAD_NONE] = { 200, "" },
#define HTTP_BAD_ROW(id, status, text) [HTTP_BAD_##id] = { status, text },
#include "http/bad.tbl.h"
#undef HTTP_BAD_ROW
};

unsigned int
http_bad_status(enum http_bad b)
{
	return (unsigned int)b < HTTP_BADS ? bads[b].status : 400;
}

const char *
http_bad_text(enum http_bad b)
{
	return (unsigned int)b < HTTP_BADS ? bads[b].text : "";
}
