/* Base64 through OpenSSL, which also stops at '-' and takes an end without padding: both are
 * errors here. */
#include "tls/base64.h"

#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "tls/openssl.h"

static int
is_base64(const char *text, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/=";
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] && strchr(" \t\r\n", text[i]))
			continue;
		if (!text[i] || !strchr(digits, text[i]))
			return 0;
		n++;
	}
	return n % 4 == 0;
}

long
tls_base64_decode(const char *text, size_t len, unsigned char *out)
{
	EVP_ENCODE_CTX *ctx = len <= INT32_MAX && is_base64(text, len) ? EVP_ENCODE_CTX_new()
								       : NULL;
	int n = 0, last = 0;
	long r = -ERR_SYNTAX;

	if (!ctx)
		return r;
	EVP_DecodeInit(ctx);
	if (EVP_DecodeUpdate(ctx, out, &n, (const unsigned char *)text, (int)len) >= 0 &&
		EVP_DecodeFinal(ctx, out + n, &last) == 1)
		r = n + last;
	EVP_ENCODE_CTX_free(ctx);
	ERR_clear_error();
	return r;
}
