/* Lines `nameserver` of resolv.conf(5). Main thread, at start. */
#include "dns/resolv_conf.h"

#include <string.h>

#include "base/err.h"
#include "dns/nameserver.h"

#define BLANKS " \t\r\n"

/* 1: it was added, 0: it is no address or known, or -ERR_NOMEM. */
static int
add_conf_nameserver(struct resolvers *res, const char *text)
{
	struct dns_nameserver *ns;
	struct addr a;

	if (addr_parse_ip(text, &a) < 0 || resolvers_find_nameserver(res, text))
		return 0;
	ns = dns_nameserver_new(res, text);
	if (!ns)
		return -ERR_NOMEM;
	ns->where = res->where;
	ns->addr = a;
	addr_set_port(&ns->addr, DNS_PORT);
	list_append(&res->nameservers, &ns->link);
	res->n_nameservers++;
	return 1;
}

int
resolv_conf_add(struct resolvers *res, char *text)
{
	char *line, *rest = text, *word, *in_line;
	int n = 0, r;

	while ((line = strsep(&rest, "\n")) != NULL) {
		in_line = NULL;
		word = strtok_r(line, BLANKS, &in_line);
		if (!word || strcmp(word, "nameserver") != 0)
			continue;
		word = strtok_r(NULL, BLANKS, &in_line);
		r = word ? add_conf_nameserver(res, word) : 0;
		if (r < 0)
			return r;
		n += r;
	}
	return n;
}
