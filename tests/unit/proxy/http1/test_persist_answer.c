/* Responses as the client receives them; the expected texts are those of HAProxy 2.6. */
#include "unit/proxy/session_rig.h"

#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/http_txn.h"
#include "proxy/http1/persist.h"

/* The persistence settings of the next world's proxy. */
static struct persist_conf want;
static const char *own_cookie;

static void
prepare(struct proxy *px)
{
	struct persist_conf *c = &px->persist;
	struct server *srv = list_first(&px->servers, struct server, link);
	struct cfg_diag d;

	c->way = want.way;
	c->indirect = want.indirect;
	c->nocache = want.nocache;
	c->postonly = want.postonly;
	c->preserve = want.preserve;
	c->max_idle = want.max_idle;
	c->max_life = want.max_life;
	c->name = mem_strdup("SRV");
	c->attrs = want.attrs ? mem_strdup(want.attrs) : NULL;
	srv->conf.cookie = own_cookie ? mem_strdup(own_cookie) : NULL;
	cfg_diag_init(&d, 0);
	assert_int_equal(persist_conf_finish(px, NULL, &d), 0);
	cfg_diag_fini(&d);
}

static char secure[] = "; Secure";

/* One exchange: the request's cookies and the response's fields, and the results. */
struct row {
	const char *name;
	struct persist_conf conf;
	const char *cookie;    /* the server's */
	const char *method, *brings, *says;
	const char *passed;    /* instead of `brings` */
	const char *gets;      /* instead of `says` */
};

#define INSERT .way = PERSIST_INSERT

static const struct row rows[] = {
	{ "nothing configured but a name", { .way = PERSIST_PASSIVE }, "A", "GET",
		"Cookie: SRV=A\r\n", "Set-Cookie: SRV=x\r\n", "Cookie: SRV=A\r\n",
		"Set-Cookie: SRV=x\r\n" },
	/* insert */
	{ "a new client", { INSERT }, "A", "GET", "", "X: y\r\n", "",
		"X: y\r\nSet-Cookie: SRV=A; path=/\r\n" },
	{ "attributes", { INSERT, .attrs = secure }, "A", "GET", "", "", "",
		"Set-Cookie: SRV=A; path=/; Secure\r\n" },
	{ "it is known", { INSERT }, "A", "GET", "Cookie: SRV=A\r\n", "", "Cookie: SRV=A\r\n", "" },
	{ "a wrong one", { INSERT }, "A", "GET", "Cookie: SRV=Z\r\n", "", "Cookie: SRV=Z\r\n",
		"Set-Cookie: SRV=A; path=/\r\n" },
	{ "indirect", { INSERT, .indirect = 1 }, "A", "GET", "Cookie: b; SRV=A\r\n", "",
		"Cookie: b\r\n", "" },
	{ "the server's own is overwritten", { INSERT }, "A", "GET", "",
		"Set-Cookie: SRV=x; path=/y\r\nSet-Cookie: a=b\r\nSet-Cookie: SRV=z\r\n", "",
		"Set-Cookie: a=b\r\nSet-Cookie: SRV=A; path=/\r\n" },
	{ "or deleted", { INSERT }, "A", "GET", "Cookie: SRV=A\r\n", "Set-Cookie: SRV=x\r\n",
		"Cookie: SRV=A\r\n", "" },
	{ "or preserved", { INSERT, .preserve = 1 }, "A", "GET", "", "Set-Cookie: SRV=x\r\n", "",
		"Set-Cookie: SRV=x\r\n" },
	{ "postonly", { INSERT, .postonly = 1 }, "A", "GET", "", "", "", "" },
	{ "postonly, and a POST", { INSERT, .postonly = 1 }, "A", "POST", "", "", "",
		"Set-Cookie: SRV=A; path=/\r\n" },
	{ "a server without a cookie", { INSERT, .max_idle = 5, .attrs = secure }, NULL, "GET", "",
		"", "",
		"Set-Cookie: SRV=; Expires=Thu, 01-Jan-1970 00:00:01 GMT; path=/; Secure\r\n" },
	/* dates: this world begins at aVW5A */
	{ "it gets a date", { INSERT, .max_life = 6000 }, "A", "GET", "", "", "",
		"Set-Cookie: SRV=A|aVW5A|aVW5A; path=/\r\n" },
	{ "it had none", { INSERT, .max_idle = 60 }, "A", "GET", "Cookie: SRV=A\r\n", "",
		"Cookie: SRV=A\r\n", "Set-Cookie: SRV=A|aVW5A; path=/\r\n" },
	{ "and keeps the first", { INSERT, .max_life = 6000 }, "A", "GET",
		"Cookie: SRV=A|aVW5A|aVW4A\r\n", "", "Cookie: SRV=A|aVW5A|aVW4A\r\n", "" },
	{ "also when it gets another", { INSERT, .max_life = 6000, .max_idle = 60 }, "A", "GET",
		"Cookie: SRV=A||aVW4A\r\n", "", "Cookie: SRV=A||aVW4A\r\n",
		"Set-Cookie: SRV=A|aVW5A|aVW4A; path=/\r\n" },
	/* nocache */
	{ "nocache", { INSERT, .nocache = 1 }, "A", "GET", "", "", "",
		"Set-Cookie: SRV=A; path=/\r\nCache-Control: private\r\n" },
	{ "nocache, no cookie", { INSERT, .nocache = 1 }, "A", "GET", "Cookie: SRV=A\r\n", "",
		"Cookie: SRV=A\r\n", "" },
	{ "nocache, said already", { INSERT, .nocache = 1 }, "A", "GET", "",
		"Cache-Control: max-age=3, no-store\r\n", "",
		"Cache-Control: max-age=3, no-store\r\nSet-Cookie: SRV=A; path=/\r\n" },
	{ "nocache, a POST", { INSERT, .nocache = 1 }, "A", "POST", "", "", "",
		"Set-Cookie: SRV=A; path=/\r\n" },
	/* rewrite */
	{ "rewrite", { .way = PERSIST_REWRITE }, "A", "GET", "",
		"Set-Cookie: SRV = x ; path=/y\r\nSet-Cookie: a=b\r\n", "",
		"Set-Cookie: SRV = A ; path=/y\r\nSet-Cookie: a=b\r\n" },
	{ "rewrite, nothing there", { .way = PERSIST_REWRITE }, "A", "GET", "", "", "", "" },
	{ "rewrite, and no name", { .way = PERSIST_REWRITE }, NULL, "GET", "",
		"Set-Cookie: SRV=x\r\n", "", "Set-Cookie: SRV=x\r\n" },
	/* prefix */
	{ "prefix", { .way = PERSIST_PREFIX }, "A", "GET", "Cookie: SRV=A~q\r\n",
		"Set-Cookie: SRV=\"x;y\"; path=/y\r\nSet-Cookie: SRV=\r\n", "Cookie: SRV=q\r\n",
		"Set-Cookie: SRV=A~\"x;y\"; path=/y\r\nSet-Cookie: SRV=A~\r\n" },
	{ "prefix indirect", { .way = PERSIST_PREFIX, .indirect = 1 }, "A", "GET",
		"Cookie: SRV=A~q\r\n", "Set-Cookie: SRV=x\r\n", "Cookie: SRV=q\r\n", "" },
	{ "prefix indirect, a new client", { .way = PERSIST_PREFIX, .indirect = 1 }, "A", "GET",
		"Cookie: SRV=Z~q\r\n", "Set-Cookie: SRV=x\r\n", "Cookie: SRV=q\r\n",
		"Set-Cookie: SRV=A~x\r\n" },
};

/* The persistence letters in the log. */
static const char *const letters[ARRAY_LEN(rows)] = { "--", "NI", "NI", "VN", "II", "VN", "NI",
	"VD", "NP", "NN", "NI", "NI", "NI", "VU", "VN", "VU", "NI", "VN", "NI", "NI", "NR", "NN",
	"NP", "VR", "VD", "IR" };

static void
play(const struct row *r, const char *expected)
{
	char request[300], passed[300], says[300], gets[300];
	struct http_dialogue d = { .name = r->name,
		.cfg = { HTTP_WORLD, .prepare = prepare },
		.client = { SAY(request), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(says), EOF_CLOSE },
		.to_server = passed, .to_client = gets, .terms = "--", .served = 1 };
	const char *more = strcmp(r->method, "POST") == 0 ? "Content-Length: 0\r\n" : "";

	snprintf(request, sizeof(request), "%s / HTTP/1.1\r\nHost: a\r\n%s%s\r\n", r->method, more,
		r->brings);
	snprintf(passed, sizeof(passed),
		"%s / HTTP/1.1\r\nHost: a\r\n%s%sConnection: close\r\n\r\n", r->method, more,
		r->passed);
	snprintf(says, sizeof(says), OK2 "%s\r\nok", r->says);
	snprintf(gets, sizeof(gets), OK2 "%s\r\nok", r->gets);
	want = r->conf;
	own_cookie = r->cookie;
	http_play(&d);
	if (strcmp(w.end[0].cookie, expected) != 0)
		fail_msg("%s: %s", r->name, w.end[0].cookie);
}

static void
cookies_are_inserted_rewritten_and_removed(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		play(&rows[i], letters[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies_are_inserted_rewritten_and_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
