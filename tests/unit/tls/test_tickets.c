/* Keys of tickets: files, changes, and what another process keeps. */
#include "tls/tls_conf.c"

#include "unit/tls/tls_rig.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/counter.h"

static struct sys sys_;
static char why[TLS_WHY_MAX];
static char path[] = "/tmp/tacit-test-tickets-XXXXXX";

static int
setup(void **state)
{
	(void)state;
	sys_init(&sys_, &sys_linux, NULL);
	return 0;
}

static int
setup_file(void **state)
{
	int fd = mkstemp(path);

	return setup(state) || fd < 0 || close(fd);
}

/* Key i in base64 into out. */
static void
text_of(const struct tls_tickets *t, unsigned int i, char out[128])
{
	struct sbuf b;

	sbuf_init_fixed(&b, out, 128);
	tls_tickets_show(t, i, &b);
	assert_false(b.failed);
}

static void
test_random_keys(void **state)
{
	struct tls_tickets *t = tls_tickets_new(&sys_);
	char a[TLS_TICKETS_NO][128], b[128];

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->key_len, TLS_TICKET_KEY_256);
	for (unsigned int i = 0; i < TLS_TICKETS_NO; i++)
		text_of(t, i, a[i]);
	assert_string_not_equal(a[0], a[1]);
	assert_string_not_equal(a[1], a[2]);
	assert_int_equal(tls_tickets_rotate(t, 77), 0);
	assert_int_equal(t->keys->renewed_ms, 77);
	text_of(t, 0, b);
	assert_string_equal(b, a[1]);
	text_of(t, 1, b);
	assert_string_equal(b, a[2]);
	tls_tickets_free(t);
	tls_tickets_free(NULL);
}

static struct tls_tickets *
read_text(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	why[0] = '\0';
	return tls_tickets_read(&sys_, path, why);
}

static void
encode(char out[128], unsigned char c, int len)
{
	unsigned char key[96];

	memset(key, c, sizeof(key));
	EVP_EncodeBlock((unsigned char *)out, key, len);
}

static void
test_file(void **state)
{
	char k[5][128], text[1024], got[128];
	struct tls_tickets *t;

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		encode(k[i], (unsigned char)('a' + i), 48);
	encode(k[4], 'e', 80);
	/* The last three of four, blanks and empty lines aside. */
	snprintf(text, sizeof(text), "%s\n\n%s \r\n%s\n%s", k[0], k[1], k[2], k[3]);
	t = read_text(text);
	assert_non_null(t);
	assert_string_equal(t->file, path);
	for (unsigned int i = 0; i < TLS_TICKETS_NO; i++) {
		text_of(t, i, got);
		assert_string_equal(got, k[i + 1]);
	}
	assert_int_equal(tls_tickets_push(t, k[0]), 0);
	text_of(t, 2, got);
	assert_string_equal(got, k[0]);
	assert_int_equal(tls_tickets_push(t, k[4]), -ERR_RANGE);
	assert_int_equal(tls_tickets_push(t, "abc"), -ERR_SYNTAX);
	assert_int_equal(tls_tickets_push(t, ""), -ERR_SYNTAX);
	text_of(t, 2, got);
	assert_string_equal(got, k[0]);
	/* all at once; a text with a fault changes nothing, whatever stood before it */
	snprintf(text, sizeof(text), "%s\n%s\n%s\n%s\n", k[3], k[2], k[1], k[0]);
	assert_int_equal(tls_tickets_replace(t, text, why), 0);
	for (unsigned int i = 0; i < 4; i++) {
		static const char *const bad[] = { "!!!\n", "", "YWJj\n", NULL };

		snprintf(text, sizeof(text), "%s\n%s\n%s", k[3], k[3], bad[i] ? bad[i] : k[4]);
		assert_true(tls_tickets_replace(t, text, why) < 0);
		assert_non_null(strstr(why, i == 1 ? "at least 3 keys" : "on line 3"));
		for (unsigned int j = 0; j < TLS_TICKETS_NO; j++) {
			text_of(t, j, got);
			assert_string_equal(got, k[2 - j]);
		}
	}
	tls_tickets_free(t);

	snprintf(text, sizeof(text), "%s\n%s\n", k[0], k[1]);
	assert_null(read_text(text));
	assert_non_null(strstr(why, "at least 3 keys"));
	snprintf(text, sizeof(text), "%s\n%s\n%s\n", k[0], k[1], k[4]);
	assert_null(read_text(text));
	assert_non_null(strstr(why, "wrong key size on line 3"));
	assert_null(read_text("YWJj\n"));
	assert_non_null(strstr(why, "48 or 80 bytes"));
	assert_null(read_text("!!!\n"));
	assert_non_null(strstr(why, "base64"));
	memset(text, 'A', 1000);
	text[1000] = '\0';
	assert_null(read_text(text));
	unlink(path);
	assert_null(tls_tickets_read(&sys_, path, why));
	assert_non_null(strstr(why, "No such file"));
	assert_int_equal(ERR_peek_error(), 0);
}

static void
test_kept(void **state)
{
	struct tls_tickets *a = tls_tickets_new(&sys_), *b = tls_tickets_new(&sys_);
	struct tls_ticket_keys *kept = mem_zalloc_aligned(TLS_SECRET_SIZE, TLS_SECRET_SIZE);

	(void)state;
	/* There are none yet. */
	assert_false(tls_tickets_restore(b, kept));
	tls_tickets_keep(a, &sys_, kept);
	assert_memory_equal(kept->key, a->keys->key, sizeof(kept->key));
	assert_int_equal(tls_tickets_rotate(a, 5), 0);
	assert_memory_equal(kept->key, a->keys->key, sizeof(kept->key));
	assert_true(tls_tickets_restore(b, kept));
	assert_memory_equal(b->keys->key, a->keys->key, sizeof(kept->key));
	assert_int_equal(b->keys->renewed_ms, 5);
	/* A change was under way when its process died. */
	counter_set(&kept->version, 0u);
	assert_false(tls_tickets_restore(b, kept));
	tls_tickets_free(a);
	tls_tickets_free(b);
	mem_free(kept);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_random_keys, setup),
		cmocka_unit_test_setup(test_file, setup_file),
		cmocka_unit_test_setup(test_kept, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
