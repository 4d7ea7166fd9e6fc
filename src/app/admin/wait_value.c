/* Values of `show info` and `show stat` that `wait` compares. On the first worker, which owns
 * checks; counters of others are read as they are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/stat_rows.h"
#include "app/admin/wait_parse.h"
#include "app/admin/wait_value.h"
#include "base/atomic.h"
#include "proxy/model/proxy.h"

static void
see_text(struct wait_seen *out, const char *text)
{
	out->kind = WAIT_SEEN_TEXT;
	(void)snprintf(out->text, sizeof(out->text), "%s", text);
}

/* Numbers of some fields of type text are compared as texts. */
static void
see_field(struct wait_seen *out, const struct field_value *v, int is_text)
{
	struct sbuf b;

	if (v->kind == VAL_NONE) {
		out->kind = WAIT_SEEN_NONE;
	} else if (is_text) {
		out->kind = WAIT_SEEN_TEXT;
		sbuf_init_fixed(&b, out->text, sizeof(out->text));
		field_put_value(&b, v);
	} else {
		out->kind = WAIT_SEEN_NUMBER;
		out->n = v->kind == VAL_INT ? v->u.n : 0;
	}
}

/* One word for what `show stat` describes with more. */
static const char *
state_word(const struct server *s)
{
	unsigned int admin = atomic_read(&s->admin);

	return admin & SERVER_MAINT               ? "MAINT"
		: s->oper == SERVER_STOPPED       ? "DOWN"
		: admin & SERVER_DRAIN            ? "DRAIN"
		: s->oper == SERVER_STOPPING      ? "NOLB"
						  : "UP";
}

static void
read_server(const struct process *p, const struct server *s, const struct wait_cond *cond,
	struct wait_seen *out)
{
	enum stat_col col = (enum stat_col)cond->value.field;
	struct stat_texts texts;
	struct stat_row row;

	if (cond->value.of == WAIT_OF_STATE) {
		see_text(out, state_word(s));
		return;
	}
	stat_server_row(p, s, col, &row, &texts);
	see_field(out, &row.v[col], cond->test.is_text);
}

static void
read_proxy(const struct process *p, const struct wait_cond *cond, struct wait_seen *out)
{
	enum stat_col col = (enum stat_col)cond->value.field;
	struct stat_row row;

	if (cond->value.of == WAIT_OF_FRONTEND)
		stat_frontend_row(p, cond->value.px, &row);
	else
		stat_backend_row(p, cond->value.px, col, &row);
	see_field(out, &row.v[col], cond->test.is_text);
}

int
wait_value_read(struct admin_conn *c, const struct wait_cond *cond, struct wait_seen *out)
{
	const struct process *p = c->admin->process;
	const struct server *s;
	struct info info;

	switch (cond->value.of) {
	case WAIT_OF_PROCESS:
		info_read(&info, p, 0);
		see_field(out, &info.v[cond->value.field], cond->test.is_text);
		return 0;
	case WAIT_OF_FRONTEND:
	case WAIT_OF_BACKEND:
		read_proxy(p, cond, out);
		return 0;
	case WAIT_OF_SERVER:
	case WAIT_OF_STATE:
	default:
		break;
	}
	s = proxy_find_server(cond->value.px, str_of(cond->server));
	if (s) {
		read_server(p, s, cond, out);
		return 0;
	}
	admin_msg(c, ADMIN_ERR, "No such server.");
	return -1;
}

int
wait_test_is_met(const struct wait_test *t, const struct wait_seen *seen)
{
	int64_t order;

	if (seen->kind == WAIT_SEEN_NONE)
		return 0;
	if (t->is_text)
		order = strcmp(seen->text, t->text);
	else
		order = (seen->n > t->n) - (seen->n < t->n);
	switch (t->op) {
	case WAIT_EQ:
		return order == 0;
	case WAIT_NE:
		return order != 0;
	case WAIT_LT:
		return order < 0;
	case WAIT_LE:
		return order <= 0;
	case WAIT_GT:
		return order > 0;
	case WAIT_GE:
	case WAIT_OPS:
	default:
		return order >= 0;
	}
}

void
wait_test_print(struct sbuf *out, const struct wait_test *t)
{
	sbuf_addf(out, " %s ", wait_op_name(t->op));
	if (t->is_text)
		sbuf_adds(out, t->text);
	else
		sbuf_addi(out, t->n);
}

void
wait_seen_print(struct sbuf *out, const struct wait_seen *seen)
{
	switch (seen->kind) {
	case WAIT_SEEN_NUMBER:
		sbuf_addi(out, seen->n);
		break;
	case WAIT_SEEN_TEXT:
		sbuf_addf(out, "'%s'", seen->text);
		break;
	case WAIT_SEEN_NONE:
	default:
		sbuf_adds(out, "not known");
		break;
	}
}
