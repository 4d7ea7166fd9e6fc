/* A whole configuration with its k-th allocation failing, for every k, and with each of its lines
 * cut behind each of its words: it is refused with a message, or loaded. */
#include <string.h>

#include "app/config/config.h"
#include "sim/faults.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"
#include "unit/tls/identity.h"

static const char text[] =
	"global\n"
	" nbthread 2\n maxconn 100\n daemon\n node here\n description what it is for\n"
	" stats socket %1$s/admin level admin mode 600 expose-fd listeners\n"
	" stats timeout 1m\n user nobody\n group nogroup\n chroot /var/empty\n"
	" log 127.0.0.1:514 local0\n log ring@kept local1\n log-tag own\n log-send-hostname "
	"a.example\n"
	" server-state-file %1$s/states\n setenv A b\n presetenv C \"d ${A}\"\n"
	" cpu-map 1 0\n set-var proc.a str(b)\n set-var-fmt proc.b \"%%[var(proc.a)]\"\n"
	" ssl-default-bind-ciphers HIGH\n ssl-default-server-ciphersuites "
	"TLS_AES_128_GCM_SHA256\n"
	" ca-base %1$s\n crt-base %1$s\n tune.memory 100m\n tune.ssl.keylog on\n"
	" insecure-fork-wanted\n external-check\n h1-case-adjust a-b A-B\n"
	"ring kept\n format rfc5424\n size 16384\n server far 192.0.2.1:514\n timeout "
	"connect 1s\n timeout server 1s\n"
	"log-profile short\n log-tag profile\n on any format \"%%ci\" sd \"[a@1 b=c]\"\n on "
	"close drop\n"
	"mailers post\n mailer one 192.0.2.1:25\n timeout mail 5s\n"
	"crt-store web\n crt-base %1$s\n key-base %1$s\n load crt site.pem alias main\n"
	"resolvers dns\n nameserver a 192.0.2.1:53\n parse-resolv-conf\n"
	"peers group\n bind 127.0.0.1:1025 ssl crt site.pem\n server here\n server there "
	"192.0.2.5:1024 ssl verify none\n"
	"userlist u\n group g\n user a insecure-password b groups g\n"
	"defaults base\n mode http\n timeout connect 1s\n timeout client 1s\n timeout server "
	"1s\n log global\n"
	" option httplog\n errorfile 503 /dev/null\n"
	"frontend f from base\n"
	" bind 127.0.0.1:1026 ssl crt site.pem ca-file site.pem verify optional "
	"alpn h2,http/1.1 curves P-256\n"
	" bind 127.0.0.1:1027 ssl crt-list %1$s/list ssl-min-ver TLSv1.2 tls-ticket-keys "
	"%1$s/keys\n"
	" bind 127.0.0.1:1028 ssl crt @web/main strict-sni\n"
	" http-request set-header x %%[ssl_c_s_dn(cn)]\n http-request auth if !{ "
	"http_auth(u) }\n"
	" default_backend b\n"
	"backend b from base\n balance roundrobin\n email-alert mailers post\n email-alert "
	"from a@b\n email-alert to c@d\n"
	" option external-check\n external-check command /bin/true\n external-check path /bin\n"
	" server s 192.0.2.1:443 ssl ca-file site.pem verify required verifyhost a.example "
	"sni str(a.example) crt site.pem check check-ssl check-sni b\n"
	" server t 192.0.2.2:443 ssl verify none alpn h2 sni req.hdr(host) ciphers HIGH "
	"no-tlsv12\n";

/* 48 bytes in base64 */
#define TICKET_KEY "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm\n"

static char whole[8192];
static struct options options;

static void
write_files(void)
{
	struct rig_id id = rig_identity(rig_ec(), "a.example", "DNS:a.example", NULL, 10);
	char pem[RIG_TEXT] = "";

	rig_pem_cert(pem, id.cert);
	rig_pem_key(pem, id.key, NULL);
	rig_free(&id);
	(void)files_write("site.pem", pem);
	(void)files_write("list", "site.pem [ocsp-update off] a.example !b.example\n");
	(void)files_write("keys", TICKET_KEY TICKET_KEY TICKET_KEY);
	assert_true(snprintf(whole, sizeof(whole), text, files_dir) < (int)sizeof(whole));
	options.files[0] = strdup(files_write("t.cfg", whole));
	options.n_files = 1;
	options.local_peer = "here";
}

/* Loads the file, and forgets it. what, n: for messages. */
static int
load(const char *what, unsigned int n)
{
	int r;

	sys_init(&sys, &sys_linux, NULL);
	assert_int_equal(world_open(NULL), 0);
	faults_apply(1);
	r = config_load(&cfg, &sys, &options);
	faults_apply(0);
	if (r != 0 && !cfg.diag.count[CFG_ALERT])
		fail_msg("%s %u: refused without a message", what, n);
	world_close(NULL);
	return r;
}

static void
allocations_fail(void **state)
{
	unsigned int k = 1;

	(void)state;
	do {
		faults_set(k);
		(void)load("allocation", k);
		k += test_every();
	} while (faults_hit());
	assert_in_range(k, 300, 20000);
}

static void
lines_are_cut(void **state)
{
	unsigned int n = 0, played = 0, refused = 0;

	(void)state;
	faults_set(0);
	for (const char *p = strpbrk(whole, " \n"); p; p = strpbrk(p + 1, " \n")) {
		const char *rest = strchr(p, '\n');
		FILE *f;

		if (n++ % test_every())
			continue;
		f = fopen(options.files[0], "w");
		assert_non_null(f);
		fprintf(f, "%.*s%s", (int)(p - whole), whole, rest);
		fclose(f);
		refused += load("word", n) != 0;
		played++;
	}
	assert_in_range(refused, played / 3, played);
}

static int
open_files(void **state)
{
	if (files_open(state))
		return -1;
	write_files();
	faults_set(0);
	return load("the whole text", 0);
}

static int
close_files(void **state)
{
	free((void *)(uintptr_t)options.files[0]);
	return files_close(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(allocations_fail),
		cmocka_unit_test(lines_are_cut) };

	return cmocka_run_group_tests(tests, open_files, close_files);
}
