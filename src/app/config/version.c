/* The name, the version and the features that -v, -vv and .if show. Constant data. */
#include "app/config/version.h"

#include <string.h>

#include "app/config/global.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "event/poller.h"
#include "proxy/filter/compress_conf.h"
#include "tls/settings.h"

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

/* Only supported features, so that tests which require others are skipped. HAProxy is built with
 * either SLZ or ZLIB: a test that requires one of them requires compression. */
const char *const version_features[] = { "ACCEPT4", "CPU_AFFINITY", "CRYPT_H", "EPOLL",
	"GETADDRINFO", "LIBCRYPT", "PCRE2", "PCRE2_JIT", "POLL", "PRCTL", "PROMEX",
	"LINUX_SPLICE", "OPENSSL", "SLZ",
	"SYSTEMD", "TFO", "THREAD", "TPROXY", "LINUX_TPROXY", "ZLIB", NULL };
const char *const version_enabled[] = { "POLL", "EPOLL", "GETADDRINFO", "SPLICE", NULL };

static void
print_features(FILE *to)
{
	static const char *const absent[] = { "LUA", "NS", "QUIC" };

	fputs("Feature list :", to);
	for (const char *const *f = version_features; *f; f++)
		fprintf(to, " +%s", *f);
	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		fprintf(to, " -%s", absent[i]);
	fputs("\n\n", to);
}

static void
print_algorithms(FILE *to)
{
	fputs("Compression algorithms supported :", to);
	for (unsigned int i = 0; i <= ALGO_ZSTD; i++) {
		const struct compress_algo_row *a = &compress_algos[i];

		if (!a->coder || a->coder->memory)
			fprintf(to, "%s %s(\"%s\")", i ? "," : "", a->word, a->coding);
	}
	fputs("\n\n", to);
}

/* Protocols and filters, as tools look for them in the output of HAProxy. */
static void
print_parts(FILE *to)
{
	fputs("\nAvailable multiplexer protocols :\n"
	      "         h2 : mode=HTTP  side=FE|BE  mux=H2\n"
	      "         h1 : mode=HTTP  side=FE|BE  mux=H1\n"
	      "       none : mode=TCP   side=FE|BE  mux=PASS\n"
	      "\nAvailable services : prometheus-exporter\n"
	      "\nAvailable filters :\n\t[BWLIM] bwlim-in\n\t[BWLIM] bwlim-out\n\t[CACHE] cache\n"
	      "\t[COMP] comp-req\n\t[COMP] comp-res\n\t[COMP] compression\n\t[SPOE] spoe\n",
		to);
}

static void
print_pollers(FILE *to)
{
	unsigned int n = 0;

	fputs("Available polling systems :\n", to);
	for (const struct poller_ops *const *p = poller_all(); *p; p++, n++)
		fprintf(to, "  %9s%s\n", (*p)->name,
			(*p)->has_edge ? " : modes unmerged, merged, edge"
				       : " : modes unmerged, merged");
	fprintf(to, "Total: %u, will use %s.\n", n, poller_all()[0]->name);
}

/* Tools take the first line for the version of HAProxy. */
static void
print_versions(FILE *to, const char *progname)
{
	if (strcmp(progname, "haproxy") == 0) {
		fprintf(to, "HAProxy version %s %s - %s\n", VERSION_COMPAT, VERSION_DATE,
			VERSION_URL);
		fprintf(to, "This is %s version %s.\n", VERSION_NAME, TACIT_VERSION);
		return;
	}
	fprintf(to, "%s version %s %s\n", VERSION_NAME, TACIT_VERSION, VERSION_DATE);
	fprintf(to, "Interfaces: HAProxy version %s\n", VERSION_COMPAT);
}

static void
print_build(FILE *to)
{
	fputs("Build options :\n  TARGET  = linux-glibc\n", to);
	fputs("  CC      = " COMPILER " " __VERSION__ "\n", to);
#ifdef TACIT_MAGIC
	fputs("  DEBUG   = magics, pools keep nothing\n", to);
#else
	fputs("  DEBUG   = none\n", to);
#endif
	fprintf(to, "  MALLOC  = %s\n", mem_allocator());
#if defined(TACIT_SECCOMP) && !defined(TACIT_UNCONFINED)
	fputs("  SECCOMP = libseccomp\n\n", to);
#else
	fputs("  SECCOMP = none\n\n", to);
#endif
}

void
version_print(FILE *to, const char *progname, int build)
{
	print_versions(to, progname);
	if (!build)
		return;
	print_build(to);
	print_features(to);
	fprintf(to, "Default settings :\n  bufsize = %d, maxpollevents = %d, maxaccept = %d\n\n",
		GLOBAL_BUFSIZE_DEFAULT, GLOBAL_POLLEVENTS_DEFAULT, GLOBAL_MAXACCEPT_DEFAULT);
	fprintf(to, "Built with multi-threading support (MAX_TGROUPS=1, MAX_THREADS=%d).\n\n",
		GLOBAL_THREADS_MAX);
	fprintf(to, "Built with OpenSSL version : %s\n\n", tls_version_name);
	fputs("Built with the Prometheus exporter as a service\n\n", to);
	print_algorithms(to);
	print_pollers(to);
	print_parts(to);
}
