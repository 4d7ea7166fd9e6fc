/* Sums of the counters that the copies of a listener have. Any thread may read them; the workers
 * count meanwhile. */
#include "net/listener_stat.h"

#include "base/compiler.h"
#include "base/counter.h"
#include "net/listener.h"
#include "net/shards.h"

static unsigned int
n_copies(const struct listener *ln)
{
	return ln->group ? ln->group->n : 1;
}

static const struct listener *
copy_at(const struct listener *ln, unsigned int i)
{
	return ln->group ? ln->group->of[i] : ln;
}

static void
add_copy(struct listener_stat *sum, const struct listener_stat *st)
{
	counter_add(&sum->cum_conn, counter_read(&st->cum_conn));
	counter_add(&sum->bytes_in, counter_read(&st->bytes_in));
	counter_add(&sum->bytes_out, counter_read(&st->bytes_out));
	counter_add(&sum->denied_req, counter_read(&st->denied_req));
	counter_add(&sum->denied_resp, counter_read(&st->denied_resp));
	counter_add(&sum->denied_conn, counter_read(&st->denied_conn));
	counter_add(&sum->denied_sess, counter_read(&st->denied_sess));
	counter_add(&sum->failed_req, counter_read(&st->failed_req));
	counter_add(&sum->failed_rewrites, counter_read(&st->failed_rewrites));
	counter_add(&sum->cur, counter_read(&st->cur));
	counter_max(&sum->cur_max, counter_read(&st->cur_max));
}

void
listener_stat_sum(const struct listener *ln, struct listener_stat *out)
{
	*out = (struct listener_stat){ 0 };
	for (unsigned int i = 0; i < n_copies(ln); i++)
		add_copy(out, &copy_at(ln, i)->stat);
}

unsigned int
listener_sessions(const struct listener *ln)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < n_copies(ln); i++)
		n += counter_read(&copy_at(ln, i)->stat.cur);
	return n;
}

enum listener_load
listener_load(const struct listener *ln)
{
	unsigned int maxconn = (unsigned int)ln->bind->maxconn;
	int is_full = maxconn != 0, is_held = 1;

	for (unsigned int i = 0; i < n_copies(ln); i++) {
		const struct listener *copy = copy_at(ln, i);

		is_full = is_full && counter_read(&copy->stat.cur) >= maxconn;
		is_held = is_held && counter_read(&copy->state) == LISTENER_FULL;
	}
	return is_full ? LISTENER_LOAD_FULL : is_held ? LISTENER_LOAD_HELD : LISTENER_LOAD_OPEN;
}

void
listener_clear_stat(struct listener *ln, int all)
{
	for (unsigned int i = 0; i < n_copies(ln); i++) {
		struct listener_stat *st = &(ln->group ? ln->group->of[i] : ln)->stat;
		unsigned int cur = counter_read(&st->cur);

		if (all)
			*st = (struct listener_stat){ .cur = cur };
		counter_set(&st->cur_max, 0);
	}
}
