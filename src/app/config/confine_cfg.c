/* Keywords of `global` about what the process may do while it serves. Main thread, while the
 * configuration is read. */
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "app/config/global.h"
#include "cfg/ctx.h"

#define FIELD(name) ((intptr_t)offsetof(struct global_conf, name))

static const struct {
	const char *name;
	unsigned int cap;
} names[] = {
	{ "cap_dac_override", CAP_DAC_OVERRIDE },
	{ "cap_ipc_lock", CAP_IPC_LOCK },
	{ "cap_net_admin", CAP_NET_ADMIN },
	{ "cap_net_bind_service", CAP_NET_BIND_SERVICE },
	{ "cap_net_raw", CAP_NET_RAW },
	{ "cap_sys_resource", CAP_SYS_RESOURCE },
};

static int
parse_switch(struct cfg_ctx *ctx)
{
	int *flag = (int *)(void *)((char *)ctx->obj + ctx->kw->arg);

	*flag = ctx->form == CFG_FORM_SET;
	return 0;
}

/* 0 for a name that is not in the table. */
static uint64_t
capability_bit(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0)
			return UINT64_C(1) << names[i].cap;
	return 0;
}

static int
capability_error(struct cfg_ctx *ctx, const char *name, size_t len)
{
	char all[160] = "";
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		at += (size_t)snprintf(
			all + at, sizeof(all) - at, "%s%s", i ? ", " : "", names[i].name);
	return cfg_error(ctx, 0, "'setcap' : '%.*s' is not supported; these are: %s.",
		(int)MIN(len, 64), name, all);
}

static int
parse_setcap(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	for (const char *s = cfg_arg(ctx, 0); s;) {
		size_t len = strcspn(s, ",");
		uint64_t bit = capability_bit(s, len);

		if (!bit)
			return capability_error(ctx, s, len);
		g->setcap |= bit;
		s = s[len] ? s + len + 1 : NULL;
	}
	return 0;
}

#define KW_INSECURE(n, fld, text)                                              \
	{ .name = n, .sections = CFG_GLOBAL, .flags = CFG_KW_NO, .parse = parse_switch, \
	  .doc = text, .arg = FIELD(fld) }

static const struct cfg_kw kws[] = {
	KW_INSECURE("insecure-fork-wanted", insecure_fork, "Allows the process to fork."),
	KW_INSECURE("insecure-setuid-wanted", insecure_setuid,
		"Allows the process to gain privileges; its files and system calls are not "
		"limited."),
	KW_INSECURE("insecure-capabilities-wanted", insecure_caps,
		"Lets a process that stays root keep its capabilities. By default it gives up "
		"all that the configuration does not need."),
	KW_INSECURE("insecure-files-wanted", insecure_files,
		"Allows the process to use files and to bind TCP ports while it serves."),
	KW_INSECURE("insecure-syscalls-wanted", insecure_syscalls,
		"Allows all system calls. By default one that tacit does not need while it "
		"serves ends the process, and the master and commands of checks may not make "
		"those that only attackers need."),
	{ .name = "setcap",
		.example = "setcap cap_net_admin",
		.dflt = "none",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_setcap,
		.syntax = "<name>[,<name>...]",
		.doc = "Capabilities to keep (capabilities(7)): cap_dac_override, cap_ipc_lock, "
			"cap_net_admin, cap_net_bind_service, cap_net_raw or cap_sys_resource. "
			"cap_net_raw for usesrc, and cap_net_bind_service for source ports "
			"below 1024, are kept without it." },
	{ 0 },
};

const struct cfg_module confine_cfg_module = {
	.name = "confine",
	.kws = kws,
};
