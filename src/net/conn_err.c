/* The table of reasons, constant. */
#include "net/conn_err.h"

struct err_row {
	int number;
	const char *text;
};

static const struct err_row errs[] = {
#define CONN_ERR_ROW(id, number, text) { number, text },
#include "net/conn_err.tbl.h"
#undef CONN_ERR_ROW
};

int
conn_err_number(enum conn_err err)
{
	return errs[err].number;
}

const char *
conn_err_text(enum conn_err err)
{
	return errs[err].text;
}
