/* Shared by the commands for maps and ACLs. */
#ifndef TACIT_APP_ADMIN_ADMIN_MAP_INT_H
#define TACIT_APP_ADMIN_ADMIN_MAP_INT_H

#include "app/admin/admin_int.h"
#include "base/compiler.h"
#include "rule/match/pattern_file.h"

/* A command on a map or an ACL, and the rest of its words. */
struct admin_map_asked {
	struct admin_conn *c;
	int is_map;
	int argc;
	char **argv;
	int has_version; /* "@<ver>" was given */
	uint32_t version;
	struct pattern_ref *ref;
};

/* "map" or "ACL". */
const char *admin_map_kind(const struct admin_map_asked *q);
/* Parses a leading "@<ver>". 0, or -1 after a message. */
int admin_map_version(struct admin_map_asked *q) must_check;
/* Finds the map or ACL that the next word names. 0, or -1 after a message. */
int admin_map_ref(struct admin_map_asked *q) must_check;
/* The same, but a command for maps takes an ACL, too, and the reverse: they share their numbers. */
int admin_map_ref_either(struct admin_map_asked *q) must_check;

/* The commands `show` and `get`. */
void admin_map_show(struct admin_map_asked *q);
void admin_map_get(struct admin_map_asked *q);

#endif
