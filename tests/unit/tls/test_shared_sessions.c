/* Sessions that workers share: which worker gets which, what replaces what, and all
 * of it by four threads at once. */
#include "base/thread.h"
#include "unit/tls/tls_rig.h"

#include "tls/sessions.h"

#define THREADS 4
#define ROUNDS  4000

static struct shared_sessions *sh;
static SSL_CTX *ctx;

static int
setup(void **state)
{
	(void)state;
	sh = shared_sessions_new();
	ctx = SSL_CTX_new(TLS_client_method());
	assert_non_null(sh);
	assert_non_null(ctx);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	shared_sessions_put(sh);
	SSL_CTX_free(ctx);
	assert_int_equal(ERR_peek_error(), 0);
	return 0;
}

/* Its id and its key are made of the name and the number, so that a mixture shows. */
static void
fill_for(const char *name, unsigned int number, unsigned char out[32])
{
	for (unsigned int i = 0; i < 32; i++)
		out[i] = (unsigned char)(name[i % (strlen(name) + 1)] + (int)(number * (i + 1)));
	memcpy(out, &number, sizeof(number));
}

static SSL_SESSION *
make_session(const char *name, unsigned int number)
{
	const SSL_CIPHER *cipher = sk_SSL_CIPHER_value(SSL_CTX_get_ciphers(ctx), 0);
	SSL_SESSION *s = SSL_SESSION_new();
	unsigned char bytes[32];

	fill_for(name, number, bytes);
	assert_non_null(s);
	assert_int_equal(SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION), 1);
	assert_int_equal(SSL_SESSION_set_cipher(s, cipher), 1);
	assert_int_equal(SSL_SESSION_set1_id(s, bytes, sizeof(bytes)), 1);
	assert_int_equal(SSL_SESSION_set1_master_key(s, bytes, sizeof(bytes)), 1);
	return s;
}

/* The number of a session of this name; it is freed. */
static unsigned int
number_of(SSL_SESSION *s, const char *name)
{
	unsigned char bytes[32], key[48];
	unsigned int number, len = 0;
	const unsigned char *id = SSL_SESSION_get_id(s, &len);

	assert_int_equal(len, sizeof(bytes));
	memcpy(&number, id, sizeof(number));
	fill_for(name, number, bytes);
	assert_memory_equal(id, bytes, sizeof(bytes));
	assert_int_equal(SSL_SESSION_get_master_key(s, key, sizeof(key)), sizeof(bytes));
	assert_memory_equal(key, bytes, sizeof(bytes));
	SSL_SESSION_free(s);
	return number;
}

static void
publish(const char *name, unsigned int number, int is_new, uint64_t now_ms)
{
	SSL_SESSION *s = make_session(name ? name : "", number);

	shared_sessions_publish(sh, name, s, is_new, now_ms);
	SSL_SESSION_free(s);
}

/* 0: none. */
static unsigned int
copy_of(const char *name)
{
	SSL_SESSION *s = shared_sessions_copy(sh, name);

	return s ? number_of(s, name ? name : "") : 0;
}

static void
test_names_are_kept_apart(void **state)
{
	(void)state;
	assert_int_equal(copy_of(NULL), 0);
	publish("a.example", 1, 1, 0);
	assert_int_equal(copy_of("b.example"), 0);
	assert_int_equal(copy_of("A.example"), 0);
	assert_int_equal(copy_of(NULL), 0);
	/* As often as anybody asks. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(copy_of("a.example"), 1);
	publish(NULL, 2, 1, 0);
	assert_int_equal(copy_of(NULL), 2);
	assert_int_equal(copy_of("a.example"), 1);
}

static void
test_many_names(void **state)
{
	unsigned int kept = 0;
	char name[20];

	(void)state;
	for (unsigned int i = 1; i <= 100; i++) {
		(void)snprintf(name, sizeof(name), "n%u.example", i);
		publish(name, i, 1, 0);
		assert_int_equal(copy_of(name), i);
	}
	for (unsigned int i = 1; i <= 100; i++) {
		unsigned int found;

		(void)snprintf(name, sizeof(name), "n%u.example", i);
		found = copy_of(name);
		assert_true(!found || found == i);
		kept += found != 0;
	}
	assert_int_equal(kept, 16);
}

/* A resumed handshake brings the same again; a whole one shows that the offered one is of no
 * use. */
static void
test_replacement(void **state)
{
	(void)state;
	publish("a", 1, 0, 5000);
	assert_int_equal(copy_of("a"), 1);
	publish("a", 2, 0, 5999);
	assert_int_equal(copy_of("a"), 1);
	publish("a", 3, 1, 5999);
	assert_int_equal(copy_of("a"), 3);
	publish("a", 4, 0, 6998);
	assert_int_equal(copy_of("a"), 3);
	publish("a", 5, 0, 6999);
	assert_int_equal(copy_of("a"), 5);
}

static void
test_references(void **state)
{
	struct shared_sessions *more = shared_sessions_get(sh);

	(void)state;
	publish("a", 1, 1, 0);
	shared_sessions_put(more);
	assert_int_equal(copy_of("a"), 1);
	shared_sessions_put(NULL);
}

/* --- four workers --- */

static const char *const names[] = { "a.example", "b.example", "c.example", "" };

struct worker {
	struct thread thread;
	unsigned int index, found;
};

static void
work(void *arg)
{
	struct worker *w = arg;

	for (unsigned int i = 1; i <= ROUNDS; i++) {
		const char *name = names[(i * (w->index + 1)) % ARRAY_LEN(names)];

		if (i % 3 == w->index % 3)
			publish(name, i, i % 2, i);
		w->found += copy_of(name) != 0;
	}
	shared_sessions_put(sh);
}

static void
test_workers_at_once(void **state)
{
	static struct worker workers[THREADS];

	(void)state;
	for (unsigned int i = 0; i < THREADS; i++) {
		workers[i].index = i;
		(void)shared_sessions_get(sh);
		assert_int_equal(thread_start(&workers[i].thread, work, &workers[i], "worker"), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(thread_join(&workers[i].thread), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_true(workers[i].found > ROUNDS / 4);
	/* None was lost. */
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_true(copy_of(names[i]) > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_names_are_kept_apart),
		CASE(test_many_names),
		CASE(test_replacement),
		CASE(test_references),
		CASE(test_workers_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
