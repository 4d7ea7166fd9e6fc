/* The variables of log formats that are about TLS with the client (manual 8.2.6). */
#include "base/sbuf.h"
#include "proxy/log/log_alias_int.h"
#include "tls/conn_info.h"

#define NAME_MAX_LEN 128 /* of a version or cipher */

static void
put_tls_name(struct log_render *r, enum tls_info what)
{
	char storage[NAME_MAX_LEN];
	struct sbuf b;
	struct str text = { NULL, 0 };

	sbuf_init_fixed(&b, storage, sizeof(storage));
	if (tls_info_text(&r->s->conn[CLIENT], what, &b) == 0)
		text = (struct str){ b.p, b.len };
	rule_fmt_put(r->out, r->flags, text);
}

void
put_sslc(struct log_render *r)
{
	put_tls_name(r, TLS_INFO_CIPHER);
}

void
put_sslv(struct log_render *r)
{
	put_tls_name(r, TLS_INFO_VERSION);
}
