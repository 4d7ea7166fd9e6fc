/* The process as it was started: environment, messages, stats sockets, libraries (management
 * manual 9.3). On the first worker; nothing of it changes. */
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "app/admin/admin_int.h"
#include "app/process/report.h"
#include "cfg/diag.h"

/* The connection goes to what passes the sockets: it answers. */
void
admin_cmd_getsocks(struct admin_conn *c, int argc, char **argv)
{
	int fd;

	(void)argc;
	(void)argv;
	if (!c->exposes_fd) {
		admin_msg(c, ADMIN_ERR, "This socket has no 'expose-fd listeners'.");
		return;
	}
	fd = conn_take_fd(&c->conn);
	c->quit = 1;
	sbuf_reset(&c->out);
	(void)!socket_pass_start(&c->admin->process->pass, fd);
}

/* The environment as the configuration has left it. */
void
admin_cmd_show_env(struct admin_conn *c, int argc, char **argv)
{
	const struct cfg_env *env = &c->admin->process->cfg->env;
	const char *value;

	if (argc > 0) {
		value = cfg_env_get(env, argv[0]);
		if (value)
			sbuf_addf(&c->out, "%s=%s\n", argv[0], value);
		else
			admin_msg(c, ADMIN_ERR, "Variable not found");
		return;
	}
	for (unsigned int i = 0; i < env->nvar; i++)
		sbuf_addf(&c->out, "%s=%s\n", env->var[i].name, env->var[i].value);
}

void
admin_cmd_show_startup_logs(struct admin_conn *c, int argc, char **argv)
{
	const struct process *p = c->admin->process;

	(void)argc;
	(void)argv;
	cfg_diag_text(&p->cfg->diag, &c->out, p->report->quiet);
	if (p->report->kept && p->report->kept->len)
		sbuf_add(&c->out, p->report->kept->p, p->report->kept->len);
}

/* --- show cli sockets --- */

static const char *
socket_prefix(const struct addr *a)
{
	return addr_family(a) == AF_INET     ? "ipv4@"
		: addr_family(a) == AF_INET6 ? "ipv6@"
					     : "";
}

void
admin_cmd_show_cli_sockets(struct admin_conn *c, int argc, char **argv)
{
	char text[ADDR_TEXT];

	(void)argc;
	(void)argv;
	sbuf_adds(&c->out, "# socket lvl processes\n");
	list_each (b, &c->admin->process->cfg->global.admin_binds) {
		const struct bind_conf *bind = list_entry(b, struct bind_conf, link);

		list_each (it, &bind->listeners) {
			const struct addr *a = &list_entry(it, struct listener, link)->addr;

			sbuf_addf(&c->out, "%s%s %s all\n", socket_prefix(a), addr_text(a, text),
				admin_level_name(bind->level));
		}
	}
}

/* --- show libs --- */

/* The addresses of its segments, from the first to the last. */
static int
add_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = info->dlpi_name;
	uintptr_t from = UINTPTR_MAX, to = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		from = MIN(from, at);
		to = MAX(to, at + info->dlpi_phdr[i].p_memsz);
	}
	/* Without a path it is the program, or mapped by the kernel. */
	if (name && !*name)
		name = (const char *)getauxval(AT_EXECFN);
	if (name && strchr(name, '/') && from < to)
		sbuf_addf(arg, "0x%012llx-0x%012llx (0x%07llx) %s\n", (unsigned long long)from,
			(unsigned long long)to - 1, (unsigned long long)(to - from), name);
	return 0;
}

void
admin_cmd_show_libs(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	(void)dl_iterate_phdr(add_library, &c->out);
}
