/* The TLS options of a server line. Main thread, while the configuration is read; then they do not
 * change. */
#ifndef TACIT_PROXY_MODEL_SERVER_TLS_H
#define TACIT_PROXY_MODEL_SERVER_TLS_H

#include "base/compiler.h"
#include "cfg/diag.h"
#include "tls/settings.h"

enum server_check_tls {
	SERVER_CHECK_TLS_AUTO, /* as the server's connections, unless checks have another address */
	SERVER_CHECK_TLS_ON,   /* check-ssl */
	SERVER_CHECK_TLS_OFF   /* no-check-ssl */
};

struct server_tls_conf {
	int is_on;               /* `ssl` */
	int is_off;              /* `no-ssl`, whose default was `ssl`: it may be set at run time */
	enum server_check_tls check;
	char *sni;               /* `sni`: an expression; NULL: none */
	char *check_sni;         /* NULL: none */
	/* Without such a name: the host of the request, or of the request of the check. */
	uint8_t sni_auto, check_sni_auto;
	struct tls_bytes check_alpn; /* len 0: as sessions */
	int has_ssl_check;       /* it is checked, and a rule connect has the word ssl */
	struct cfg_where where;  /* of the first option */
	struct tls_settings set;
};

/* 0 or -ERR_NOMEM with nothing copied. */
int server_tls_copy(struct server_tls_conf *to, const struct server_tls_conf *from) must_check;
void server_tls_fini(struct server_tls_conf *c);

#endif
