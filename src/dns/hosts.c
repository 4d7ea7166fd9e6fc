/* The file of hosts. Its text is searched for each name: that is rare, and a copy in another
 * form would be no smaller. Any thread. */
#include "dns/hosts.h"

#include <string.h>
#include <strings.h>

#include "base/err.h"

#define BLANKS " \t\r"

/* A word of a line; len 0: the line, or what of it is no comment, is over. */
struct word {
	const char *p;
	size_t len;
};

static struct word
hosts_word(const char **at)
{
	struct word w;

	*at += strspn(*at, BLANKS);
	w.p = *at;
	w.len = strcspn(*at, BLANKS "#\n");
	*at += w.len;
	return w;
}

static int
has_name(const char *at, const char *name)
{
	size_t n = strlen(name);

	for (struct word w = hosts_word(&at); w.len; w = hosts_word(&at))
		if (w.len == n && strncasecmp(w.p, name, n) == 0)
			return 1;
	return 0;
}

static int
read_address(struct word w, struct addr *out)
{
	char text[INET6_ADDRSTRLEN];

	if (w.len >= sizeof(text))
		return -ERR_SYNTAX;
	memcpy(text, w.p, w.len);
	text[w.len] = '\0';
	return addr_parse_ip(text, out);
}

int
hosts_find(const char *text, const char *name, struct addr *out)
{
	struct addr a;
	int r = -ERR_MISSING;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *at = line;
		struct word address = hosts_word(&at);

		if (!address.len || !has_name(at, name) || read_address(address, &a) < 0)
			continue;
		if (r == 0 && addr_family(&a) != AF_INET)
			continue;
		*out = a;
		r = 0;
		/* As with DNS (A before AAAA), prefer IPv4. */
		if (addr_family(&a) == AF_INET)
			break;
	}
	return r;
}
