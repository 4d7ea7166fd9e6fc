/* The whole language: the input is one file, read by the real keywords and then checked as a whole.
 * Nothing is bound, and names are not resolved: this program has its own names. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/config.h"
#include "base/err.h"
#include "base/names.h"
#include "cfg/reader.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/config/proxy_life.h"
#include "fake/print_diag.h"

int
names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len)
{
	(void)host, (void)family, (void)out, (void)len;
	return -ERR_RESOLVE;
}

int
names_user(const char *name, uid_t *uid)
{
	*uid = 1;
	return name[0] == 'x' ? -ERR_UNKNOWN : 0;
}

int
names_group(const char *name, gid_t *gid)
{
	*gid = 1;
	return name[0] == 'x' ? -ERR_UNKNOWN : 0;
}

static void
expect(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const environment[] = { "X=a b  c", "PORT=80", NULL };
	struct cfg_reader_opts opts = { 0 };
	struct cfg_reader reader;
	struct cfg_facts facts;
	struct config c;
	char *out = NULL;
	size_t len = 0;
	FILE *f;
	int rc;

	expect(config_init(&c, environment) == 0);
	config_facts(&c, &facts);
	opts.root = &c;
	opts.registry = &c.registry;
	opts.diag = &c.diag;
	opts.env = &c.env;
	opts.facts = &facts;
	cfg_reader_init(&reader, &opts);
	rc = cfg_reader_text(&reader, "fuzz", (const char *)data, size);
	cfg_reader_fini(&reader);
	expect((rc != 0) == (c.diag.count[CFG_ALERT] > 0));
	rc = proxies_finish(&c.proxies, &c.diag);
	expect(rc == 0 || c.diag.count[CFG_ALERT] > 0);
	f = open_memstream(&out, &len);
	expect(f != NULL);
	print_diag(&c.diag, f, 0);
	fclose(f);
	free(out);
	config_fini(&c);
	return 0;
}
