/* OpenSSL's reasons as texts. Any thread: the queue belongs to the thread. */
#include "tls/tls_error.h"

#include <stdio.h>

#include "tls/openssl.h"

const char *
tls_error_take(char *out, size_t size)
{
	unsigned long code = ERR_peek_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;

	if (reason)
		(void)snprintf(out, size, "%s", reason);
	else if (code)
		(void)snprintf(out, size, "error %08lX of OpenSSL", code);
	else
		(void)snprintf(out, size, "no reason given");
	ERR_clear_error();
	return out;
}
