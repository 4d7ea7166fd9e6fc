/*
 * The helper process that runs the commands of external checks. It is forked before privileges are
 * dropped and before there are threads, and ends when its socket is closed. It runs as the
 * configured user and group, but in the root directory that the process was started in: commands
 * are not inside the chroot.
 */
#ifndef TACIT_APP_PROCESS_CHECK_HELPER_H
#define TACIT_APP_PROCESS_CHECK_HELPER_H

#include <stdint.h>

#include "app/config/global.h"
#include "base/compiler.h"
#include "proxy/check/external.h"

struct sys;

struct check_helper_conf {
	const struct global_conf *global; /* whose user, group and limits it takes */
	uint64_t soft_fds;                /* RLIMIT_NOFILE of the commands; UINT64_MAX: unlimited */
	int background;                   /* commands do not write to the standard streams */
};

/* Forks it. 0 or -errno; does not return in the helper. */
int check_helper_start(struct sys *sys, const struct check_helper_conf *conf,
	struct external_helper *out) must_check;

#endif
