/* Sections `mailers` and keywords `email-alert` in a configuration. */
#include "proxy/check/mailers_cfg.h"

#define WORLD_BEGINS() assert_int_equal(cfg_registry_add(&w->registry, &mailers_cfg_module), 0)
#define WORLD_ENDS() ((void)0)
#include "unit/proxy/proxies_rig.h"

#define MAILERS "mailers ms\n    mailer m 127.0.0.1:25\n"
#define DEFAULTS                                                                         \
	"defaults\n    timeout client 1s\n    timeout connect 1s\n    timeout server 1s\n"
#define BACKEND "backend b\n    server s 127.0.0.1:1 check\n"
#define FROM "    email-alert from a@x\n"
#define TO "    email-alert to b@x\n"
#define BY "    email-alert mailers ms\n"

static void
sections_are_checked(void **st)
{
	(void)st;
	world_reports(MAILERS MAILERS, -1, "section 'mailers ms' exists already");
	world_reports(MAILERS "    mailer m 127.0.0.1:26\n", -1,
		"'mailer' : 'm' is in this section already");
	world_reports(MAILERS "    mailer n 127.0.0.1\n", -1, "'mailer n' : '127.0.0.1' : ");
	world_reports(MAILERS "    timeout mail 0\n", -1, "'timeout mail'");
	world_reports("mailers ms\n" DEFAULTS BACKEND FROM TO BY, 0,
		"section 'mailers ms' has no mailer: it sends no alerts");
	world_reports(MAILERS, 0,
		"section 'mailers ms' has no effect: no proxy sends alerts to it");
}

static void
alerts_are_checked(void **st)
{
	(void)st;
	world_reports("mailers mails\n    mailer m 127.0.0.1:25\n" DEFAULTS BACKEND FROM TO
		"    email-alert mailers mail\n", -1,
		"there is no section 'mailers mail', which backend 'b' names; did you mean "
		"'mails'?");
	world_reports(DEFAULTS BACKEND FROM TO BY, -1,
		"there is no section 'mailers ms', which backend 'b' names.");
	world_reports(MAILERS DEFAULTS BACKEND TO BY "    email-alert from <a@x>\n", -1,
		"'email-alert from' : '<a@x>' : blanks, angle brackets");
	world_reports(MAILERS DEFAULTS BACKEND FROM TO BY
		"frontend f\n    bind 127.0.0.1:2\n    email-alert level notice\n", 0,
		"'email-alert level' has no effect in a frontend: alerts are about servers");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_checked),
		cmocka_unit_test(alerts_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
