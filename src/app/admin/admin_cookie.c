/* Dynamic cookies of a backend at run time (management manual 9.3). On the first worker; others
 * read cookies without a lock. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_server.h"
#include "base/mem.h"
#include "proxy/model/proxy.h"

static void
switch_cookies(struct admin_conn *c, int argc, char **argv, int on)
{
	struct proxy *be = admin_named_proxy(c, argc, argv, PROXY_BE);

	if (!be)
		return;
	be->persist.dynamic.is_on = on;
	dynamic_cookies_set(be);
}

void
admin_cmd_enable_dynamic_cookie_backend(struct admin_conn *c, int argc, char **argv)
{
	switch_cookies(c, argc, argv, 1);
}

void
admin_cmd_disable_dynamic_cookie_backend(struct admin_conn *c, int argc, char **argv)
{
	switch_cookies(c, argc, argv, 0);
}

void
admin_cmd_set_dynamic_cookie_key_backend(struct admin_conn *c, int argc, char **argv)
{
	struct proxy *be = admin_named_proxy(c, argc, argv, PROXY_BE);
	char *key;

	if (!be)
		return;
	if (argc < 2 || !*argv[1]) {
		admin_msg(c, ADMIN_ERR, "String value expected.");
		return;
	}
	if (strlen(argv[1]) > DYNAMIC_COOKIE_KEY_MAX) {
		admin_msg(c, ADMIN_ERR, "The key is longer than %d bytes.",
			DYNAMIC_COOKIE_KEY_MAX);
		return;
	}
	key = mem_strdup(argv[1]);
	if (!key) {
		admin_msg(c, ADMIN_ERR, "Failed to allocate memory for new dynamic cookie key");
		return;
	}
	mem_free(be->persist.dynamic.key);
	be->persist.dynamic.key = key;
	dynamic_cookies_set(be);
}
