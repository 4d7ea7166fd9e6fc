/* The name in a server's certificate. On the worker of the connection. */
#include "tls/server_name.h"

#include <string.h>

#include "base/compiler.h"
#include "base/str.h"
#include "tls/names.h"
#include "tls/openssl.h"
#include "tls/settings.h"

static struct str
first_label(const char *name)
{
	return (struct str){ name, strcspn(name, ".") };
}

static struct str
last_bytes(struct str s, size_t n)
{
	return (struct str){ s.p + s.len - n, n };
}

/* True if the label matches a pattern with one '*'. */
static int
label_matches(struct str pattern, const char *star, struct str label)
{
	size_t before = (size_t)(star - pattern.p), after = pattern.len - before - 1;

	return label.len && label.len >= before + after &&
		str_is_nocase((struct str){ pattern.p, before }, (struct str){ label.p, before }) &&
		str_is_nocase(last_bytes(pattern, after), last_bytes(label, after));
}

int
tls_name_covers(const char *name, const char *host)
{
	struct str pattern = first_label(name), label = first_label(host);
	const char *star = memchr(pattern.p, '*', pattern.len);

	if (!star)
		return str_is_nocase(str_of(name), str_of(host));
	/* A '*' alone covers nothing. */
	return name[pattern.len] && label_matches(pattern, star, label) &&
		str_is_nocase(str_of(name + pattern.len), str_of(host + label.len));
}

static int
compare_name(void *host, const char *name, struct tls_line *line unused)
{
	return tls_name_covers(name, host);
}

/* True if no name is asked for, or the certificate has it: as a name, or as an address. */
static int
cert_fits(X509 *x, const char *host)
{
	return !host || tls_names_of_cert(x, compare_name, (void *)(uintptr_t)host, NULL) ||
		X509_check_ip_asc(x, host, 0) == 1;
}

static int
on_server_verified(int ok, X509_STORE_CTX *x)
{
	const SSL *ssl = X509_STORE_CTX_get_ex_data(x, SSL_get_ex_data_X509_STORE_CTX_idx());
	const struct tls_settings *set = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	const char *host = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	if (!ok || X509_STORE_CTX_get_error_depth(x) > 0)
		return ok;
	if (cert_fits(X509_STORE_CTX_get_current_cert(x), host ? host : set->verifyhost))
		return 1;
	X509_STORE_CTX_set_error(x, X509_V_ERR_HOSTNAME_MISMATCH);
	return 0;
}

void
tls_server_name_enable(SSL_CTX *ctx, const struct tls_settings *set)
{
	(void)SSL_CTX_set_app_data(ctx, (void *)(uintptr_t)set);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, on_server_verified);
}
