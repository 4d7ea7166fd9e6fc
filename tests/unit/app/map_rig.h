/* An admin connection to a process with a map and some ACLs. */
#ifndef TESTS_UNIT_APP_MAP_RIG_H
#define TESTS_UNIT_APP_MAP_RIG_H

#include "admin_rig.h"
#include "unit/test.h"

#include "rule/match/pattern_file.h"

static char map[64];

#define COMMAND(fmt) (snprintf(line, sizeof(line), fmt, map), rig_command(line))

static char line[500];

static inline int
setup(void **st)
{
	static const char text[] = "a 1\nb two words\na 3\n";
	char proxy[330];
	int fd;

	(void)st;
	snprintf(map, sizeof(map), "/tmp/tacit-map-XXXXXX");
	fd = mkstemp(map);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	snprintf(proxy, sizeof(proxy),
		"frontend f\n bind unix@/nowhere/at.all\n mode http\n disabled\n"
		" acl n req.hdr_val(x) gt 100\n acl s req.hdr(host) -i -u 40 FOO.com\n"
		" use_backend %%[path,map(%s)]\n acl s req.hdr(host) -i bar.com\n",
		map);
	rig_open("", proxy);
	return 0;
}

static inline int
teardown(void **st)
{
	(void)st;
	rig_close();
	unlink(map);
	return 0;
}

#define TEST(name) CASE(name)

#endif
