/* Settings for resolving a server's name. Set while the configuration is read. */
#include "proxy/model/resolve_conf.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

void
resolve_conf_init(struct resolve_conf *c)
{
	memset(c, 0, sizeof(*c));
	c->prefer = AF_INET6;
}

void
resolve_conf_fini(struct resolve_conf *c)
{
	mem_free(c->section);
	c->section = NULL;
}

int
resolve_conf_copy(struct resolve_conf *to, const struct resolve_conf *from)
{
	char *section;

	if (mem_copy_string(&section, from->section) < 0)
		return -ERR_NOMEM;
	*to = *from;
	to->section = section;
	return 0;
}
