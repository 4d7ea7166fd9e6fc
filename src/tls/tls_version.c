/* The version of OpenSSL, and its providers. First worker. */
#include "tls/tls_version.h"

#include "base/sbuf.h"
#include "tls/openssl.h"

const char *const tls_version_name = OPENSSL_VERSION_TEXT;
const char *const tls_version_number = OPENSSL_VERSION_STR;

static int
show_provider(OSSL_PROVIDER *p, void *arg)
{
	sbuf_addf(arg, "\t- %s\n", OSSL_PROVIDER_get0_name(p));
	return 1;
}

void
tls_show_providers(struct sbuf *out)
{
	(void)OSSL_PROVIDER_do_all(NULL, show_provider, out);
}
