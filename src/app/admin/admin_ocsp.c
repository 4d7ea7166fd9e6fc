/* OCSP responses at run time (management manual 9.3). On the first worker; the others are paused
 * for the moment of a change only. */
#include <stdio.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/process/ocsp_job.h"
#include "base/err.h"
#include "base/mem.h"
#include "tls/base64.h"
#include "tls/cert.h"
#include "tls/ocsp_store.h"

static struct tls_store *
certs_of(const struct admin_conn *c)
{
	return &c->admin->process->cfg->tls.certs;
}

/* --- show --- */

struct key_walk {
	struct tls_ocsp_keys keys;
	size_t at;
};

static int
next_key(struct admin_conn *c, void *state)
{
	struct key_walk *w = state;

	if (w->at == w->keys.n)
		return 0;
	tls_ocsp_key_show(&w->keys.key[w->at++], &c->out);
	return 1;
}

static void
end_keys(void *state)
{
	tls_ocsp_keys_free(&((struct key_walk *)state)->keys);
}

static void
list_keys(struct admin_conn *c)
{
	struct key_walk w = { .at = 0 };

	if (tls_ocsp_keys(certs_of(c), &w.keys) < 0) {
		admin_msg(c, ADMIN_ERR, "Can't allocate memory!");
		return;
	}
	/* As in HAProxy, nothing is a list without a title. */
	if (w.keys.n)
		sbuf_adds(&c->out, "# Certificate IDs\n");
	admin_walk_with_end(c, next_key, end_keys, &w, sizeof(w));
}

/* By the id, or by the name of the certificate's file. */
static const struct tls_cert *
find_cert(const struct admin_conn *c, const char *name)
{
	const struct tls_entry *e = tls_store_find(certs_of(c), name);

	if (e)
		return e->cert && e->cert->ocsp_id ? e->cert : NULL;
	return tls_ocsp_find(certs_of(c), name);
}

void
admin_cmd_show_ssl_ocsp_response(struct admin_conn *c, int argc, char **argv)
{
	int is_base64 = argc > 0 && strcmp(argv[0], "base64") == 0;
	int is_text = argc > 0 && strcmp(argv[0], "text") == 0;
	const struct tls_cert *cert;

	if (is_base64 || is_text) {
		argc--;
		argv++;
		if (argc == 0) {
			admin_msg(c, ADMIN_ERR,
				"'show ssl ocsp-response [text|base64]' expects a valid "
				"certificate ID or the name of a certificate's file.");
			return;
		}
	}
	if (argc == 0) {
		list_keys(c);
		return;
	}
	cert = find_cert(c, argv[0]);
	if (!cert)
		admin_msg(c, ADMIN_ERR, "Certificate ID does not match any certificate.");
	else if (cert->ocsp && is_base64)
		tls_ocsp_show_base64(cert->ocsp->p, cert->ocsp->len, &c->out);
	else if (cert->ocsp)
		tls_ocsp_show(cert->ocsp->p, cert->ocsp->len, &c->out);
}

/* --- set --- */

/* Gives it to all certificates that it is about. 0 or a negative reason with why (TLS_WHY_MAX). */
static int
apply_response(struct admin_conn *c, struct tls_ocsp *o, const struct ocsp_cert_id_st *about,
	char *why)
{
	struct tls_ocsp_users users;
	int r = tls_ocsp_users(certs_of(c), about, &users);

	if (r < 0) {
		(void)snprintf(why, TLS_WHY_MAX, "Out of memory");
		return r;
	}
	if (!users.n) {
		(void)snprintf(why, TLS_WHY_MAX,
			"OCSP single response: Certificate ID does not match any certificate or "
			"issuer");
		r = -ERR_UNKNOWN;
	} else {
		admin_stop_workers(c);
		tls_ocsp_users_set(&users, o);
		admin_resume_workers(c);
	}
	tls_ocsp_users_free(&users);
	return r;
}

static void
set_response(struct admin_conn *c, const unsigned char *der, size_t len)
{
	char why[TLS_WHY_MAX];
	struct ocsp_cert_id_st *about;
	struct tls_ocsp *o = tls_ocsp_read(der, len, &about, why);

	if (o && apply_response(c, o, about, why) == 0)
		admin_msg(c, ADMIN_INFO, "OCSP Response updated!");
	else
		admin_msg(c, ADMIN_ERR, "%s.", why);
	tls_ocsp_put(o);
	tls_ocsp_id_free(about);
}

void
admin_cmd_set_ssl_ocsp_response(struct admin_conn *c, int argc, char **argv)
{
	const char *text = c->payload ? c->payload : argc > 0 ? argv[0] : NULL;
	size_t len = text ? strlen(text) : 0;
	unsigned char *der;
	long n;

	if (!text) {
		admin_msg(c, ADMIN_ERR,
			"'set ssl ocsp-response' expects response in base64 encoding.");
		return;
	}
	der = mem_alloc(TLS_BASE64_ROOM(len));
	n = der ? tls_base64_decode(text, len, der) : -ERR_NOMEM;
	if (n >= 0)
		set_response(c, der, (size_t)n);
	else if (der)
		admin_msg(c, ADMIN_ERR,
			"'set ssl ocsp-response' received invalid base64 encoded response.");
	else
		admin_msg(c, ADMIN_ERR, "Out of memory.");
	mem_free(der);
}

/* --- updates --- */

static int
next_job(struct admin_conn *c, void *state)
{
	struct list **at = state;
	const struct ocsp_job *j;

	if (*at == &c->admin->process->ocsp.jobs)
		return 0;
	j = list_entry(*at, const struct ocsp_job, link);
	/* Its lines may have been removed. */
	if (j->entry->binds)
		ocsp_job_show(j, &c->out);
	*at = (*at)->next;
	return 1;
}

/* Jobs are never removed while the process serves. */
void
admin_cmd_show_ssl_ocsp_updates(struct admin_conn *c, int argc unused, char **argv unused)
{
	struct list *at = c->admin->process->ocsp.jobs.next;

	sbuf_adds(&c->out,
		"OCSP Certid | Path | Next Update | Last Update | Successes | Failures | Last "
		"Update Status | Last Update Status (str)\n");
	if (c->admin->process->ocsp.is_on)
		admin_walk(c, next_job, &at, sizeof(struct list *));
}

void
admin_cmd_update_ssl_ocsp_response(struct admin_conn *c, int argc, char **argv)
{
	char why[TLS_WHY_MAX];
	struct tls_entry *e;

	if (argc < 1) {
		admin_msg(c, ADMIN_ERR, "'update ssl ocsp-response' expects a filename");
		return;
	}
	e = tls_store_find(certs_of(c), argv[0]);
	if (!e)
		admin_msg(c, ADMIN_ERR, "'update ssl ocsp-response' unknown file '%s'.", argv[0]);
	else if (ocsp_update_now(c->admin->process, e, why) < 0)
		admin_msg(c, ADMIN_ERR, "Can't update '%s': %s.", argv[0], why);
}
