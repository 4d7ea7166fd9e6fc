/* Rings: stored messages, what readers hold, what is lost and reported; and batches of several
 * threads. */
#include "base/log_ring.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "unit/test.h"

#define THREADS 3
#define EACH 2000

struct watch {
	struct log_ring_reader reader;
	unsigned int news;
};

static struct sys sys;
static struct log_sink sink;
static struct log_ring ring;

static int
setup(void **state)
{
	const struct log_ident id = { "tacit", NULL, 7, NULL };

	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	log_sink_init(&sink, &sys, &id);
	log_ring_init(&ring);
	ring.size = 100;
	assert_int_equal(log_ring_open(&ring), 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	log_ring_fini(&ring);
	log_sink_fini(&sink);
	return 0;
}

static int
post(const char *text)
{
	uint32_t len = (uint32_t)strlen(text);
	struct log_batch *b = mem_alloc(sizeof(*b) + sizeof(len) + len);
	int r;

	assert_non_null(b);
	memcpy(b->text, &len, sizeof(len));
	memcpy(b->text + sizeof(len), text, len);
	b->len = sizeof(len) + len;
	r = log_ring_post(&ring, b);
	if (r < 0)
		mem_free(b);
	return r;
}

static void
put(const char *text)
{
	assert_int_equal(post(text), 1);
	log_ring_collect(&ring, &sink);
}

static void
on_news(struct log_ring_reader *rd)
{
	container_of(rd, struct watch, reader)->news++;
}

/* All messages from the reader's on, with a bar behind each. */
static const char *
kept(const struct log_ring_reader *rd)
{
	static char out[1024];
	uint64_t at = rd ? rd->at : ring.head;
	size_t n = 0;
	long len;

	while ((len = log_ring_len(&ring, at)) >= 0) {
		at = log_ring_copy(&ring, at, out + n);
		n += (size_t)len;
		out[n++] = '|';
	}
	out[n] = '\0';
	return out;
}

static void
the_oldest_are_overwritten(void **state)
{
	char text[32];

	(void)state;
	put("");
	put("a");
	assert_string_equal(kept(NULL), "|a|");
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "message number %d", i);
		put(text);
	}
	/* 100 bytes: 4 of 18 bytes, each with 4 before it. */
	assert_string_equal(kept(NULL), "message number 996|message number 997|"
					"message number 998|message number 999|");
	assert_int_equal(counter_read(&ring.dropped), 0);
}

static void
the_owner_is_notified_once_for_a_batch(void **state)
{
	(void)state;
	assert_int_equal(post("a"), 1);
	assert_int_equal(post("b"), 0);
	log_ring_collect(&ring, &sink);
	assert_string_equal(kept(NULL), "a|b|");
	assert_int_equal(post("c"), 1);
}

static void
a_reader_that_holds_makes_new_ones_be_dropped(void **state)
{
	struct watch w = { .reader = { .on_news = on_news, .holds = 1, .is_target = 1 } };

	(void)state;
	log_ring_join(&ring, &w.reader, 0);
	put("01234567890123456789012345678901234567890123456789");
	put("0123456789012345678901234567890123456789");
	put("lost");
	put("lost, too");
	assert_int_equal(w.news, 2);
	assert_int_equal(counter_read(&ring.dropped), 2);
	assert_int_equal(atomic_read(&ring.unreported), 2);
	log_ring_advance(&w.reader);
	put("new");
	assert_string_equal(kept(&w.reader),
		"0123456789012345678901234567890123456789|2 events dropped|new|");
	assert_int_equal(atomic_read(&ring.unreported), 0);
	assert_int_equal(counter_read(&ring.dropped), 2);
	log_ring_leave(&w.reader);
	log_ring_leave(&w.reader);
}

static void
a_target_that_does_not_hold_loses_the_oldest(void **state)
{
	struct watch w = { .reader = { .on_news = on_news, .is_target = 1 } }, other = w;

	(void)state;
	other.reader.is_target = 0;
	put("x");
	log_ring_join(&ring, &w.reader, 0);
	log_ring_join(&ring, &other.reader, 1);
	assert_string_equal(kept(&other.reader), "");
	put("01234567890123456789012345678901234567890123456789");
	put("abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij");
	assert_string_equal(kept(&w.reader), "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij|");
	assert_string_equal(kept(&other.reader),
		"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij|");
	assert_int_equal(counter_read(&ring.dropped), 2);
	log_ring_leave(&w.reader);
	log_ring_leave(&other.reader);
}

static void
a_message_that_never_fits_is_dropped(void **state)
{
	char text[200];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put("a");
	put(text);
	assert_int_equal(counter_read(&ring.dropped), 1);
	assert_string_equal(kept(NULL), "a|");
	put("b");
	assert_string_equal(kept(NULL), "a|1 event dropped|b|");
}

static void
waiting_messages_are_bounded(void **state)
{
	char text[4096];
	int n = 0;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	while (post(text) >= 0)
		n++;
	assert_int_equal(n, LOG_RING_POSTED_MAX / (sizeof(text) - 1 + sizeof(uint32_t)));
	log_ring_collect(&ring, &sink);
	assert_int_equal(post("again"), 1);
}

/* --- a sink writes to it --- */

static void
a_line_has_the_format_and_length_of_the_ring(void **state)
{
	struct log_line l;
	struct list lines;

	(void)state;
	log_line_init(&l);
	list_init(&lines);
	list_append(&lines, &l.link);
	ring.form = l.form = LOG_FORM_PRIORITY;
	ring.maxlen = 12;
	l.dest.kind = LOG_DEST_RING;
	l.dest.ring = &ring;
	l.facility = 16;
	log_send(&sink, &lines, LOG_LEVEL_INFO, NULL, "0123456789", 10);
	l.max_len = 3;
	log_send(&sink, &lines, LOG_LEVEL_INFO, NULL, "0123456789", 10);
	assert_int_equal(log_room(&sink, &lines, LOG_LEVEL_INFO, NULL, NULL), 3);
	log_flush(&sink);
	log_ring_collect(&ring, &sink);
	assert_string_equal(kept(NULL), "<134>0123456|<134>012|");
	assert_int_equal(sink.sent, 2);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_socket), 0);
}

static void
own_messages_have_a_header(void **state)
{
	(void)state;
	ring.form = LOG_FORM_SHORT;
	log_ring_count_lost(&ring, 3);
	put("<6>a");
	assert_string_equal(kept(NULL), "<5>3 events dropped|<6>a|");
}

static void
in_json_too(void **state)
{
	(void)state;
	log_ring_fini(&ring);
	ring.size = 1000;
	assert_int_equal(log_ring_open(&ring), 0);
	ring.form = LOG_FORM_JSON;
	log_ring_count_lost(&ring, 1);
	put("{}");
	assert_non_null(strstr(kept(NULL),
		"\"level\":\"notice\",\"tag\":\"tacit\",\"pid\":7,"
		"\"message\":\"1 event dropped\"}|{}|"));
}

/* --- several threads --- */

static void *
post_many(void *arg)
{
	for (unsigned int i = 0; i < EACH; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%c%05u", *(const char *)arg, i);
		while (post(text) < 0) {
		}
	}
	return NULL;
}

/* Each thread's messages come once and in order. */
static void
take_news(struct log_ring_reader *rd, unsigned int next[THREADS])
{
	char text[32] = "";

	while (log_ring_len(&ring, rd->at) >= 0) {
		unsigned int who, i;

		(void)log_ring_copy(&ring, rd->at, text);
		log_ring_advance(rd);
		who = (unsigned int)(text[0] - 'a');
		assert_in_range(who, 0, THREADS - 1);
		assert_int_equal(sscanf(text + 1, "%u", &i), 1);
		assert_int_equal(i, next[who]);
		next[who]++;
	}
}

static void
threads_post_without_loss(void **state)
{
	static const char names[THREADS] = { 'a', 'b', 'c' };
	struct watch w = { .reader = { .on_news = on_news, .holds = 1 } };
	unsigned int next[THREADS] = { 0 };
	pthread_t t[THREADS];

	(void)state;
	log_ring_fini(&ring);
	ring.size = 1 << 20;
	assert_int_equal(log_ring_open(&ring), 0);
	log_ring_join(&ring, &w.reader, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&t[i], NULL, post_many, (void *)(uintptr_t)&names[i]), 0);
	while (next[0] + next[1] + next[2] < THREADS * EACH) {
		log_ring_collect(&ring, &sink);
		take_news(&w.reader, next);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	log_ring_leave(&w.reader);
}


int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(the_oldest_are_overwritten),
		CASE(the_owner_is_notified_once_for_a_batch),
		CASE(a_reader_that_holds_makes_new_ones_be_dropped),
		CASE(a_target_that_does_not_hold_loses_the_oldest),
		CASE(a_message_that_never_fits_is_dropped),
		CASE(waiting_messages_are_bounded),
		CASE(a_line_has_the_format_and_length_of_the_ring),
		CASE(own_messages_have_a_header),
		CASE(in_json_too),
		CASE(threads_post_without_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
