/* Names of hosts, users and groups, asked of the C library. Start-up only, since it may block. */
#include "base/names.h"

#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <string.h>

#include "base/err.h"

int
names_host(const char *host, int family, struct sockaddr_storage *out, socklen_t *len)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL, *first;

	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return -ERR_RESOLVE;
	/* The C library has put them into the order in which they are to be tried. */
	for (first = found; first; first = first->ai_next)
		if (first->ai_family == AF_INET || first->ai_family == AF_INET6)
			break;
	if (first) {
		memcpy(out, first->ai_addr, first->ai_addrlen);
		*len = first->ai_addrlen;
	}
	freeaddrinfo(found);
	return first ? 0 : -ERR_RESOLVE;
}

int
names_user(const char *name, uid_t *uid)
{
	const struct passwd *pw = getpwnam(name);

	if (!pw)
		return -ERR_UNKNOWN;
	*uid = pw->pw_uid;
	return 0;
}

int
names_group(const char *name, gid_t *gid)
{
	const struct group *gr = getgrnam(name);

	if (!gr)
		return -ERR_UNKNOWN;
	*gid = gr->gr_gid;
	return 0;
}
