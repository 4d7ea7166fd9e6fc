/* The TLS options of a server line, as data. Main thread. */
#include "proxy/model/server_tls.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

void
server_tls_fini(struct server_tls_conf *c)
{
	mem_free(c->sni);
	mem_free(c->check_sni);
	mem_free(c->check_alpn.p);
	tls_settings_free(&c->set);
	memset(c, 0, sizeof(*c));
}

int
server_tls_copy(struct server_tls_conf *to, const struct server_tls_conf *from)
{
	struct server_tls_conf copy = *from;

	memset(&copy.set, 0, sizeof(copy.set));
	memset(&copy.check_alpn, 0, sizeof(copy.check_alpn));
	copy.sni = copy.check_sni = NULL;
	if (mem_copy_string(&copy.sni, from->sni) < 0 ||
		mem_copy_string(&copy.check_sni, from->check_sni) < 0 ||
		tls_bytes_copy(&copy.check_alpn, &from->check_alpn) < 0 ||
		tls_settings_copy(&copy.set, &from->set) < 0) {
		server_tls_fini(&copy);
		return -ERR_NOMEM;
	}
	*to = copy;
	return 0;
}
