/* Fields of stored heads. Pure. */
#include "http/stored.h"

#include <string.h>

#include "base/err.h"

int
http_stored_size(const struct http_field *f, char out[HTTP_STORED_FIELD])
{
	const uint16_t name = (uint16_t)f->name.len;
	const uint32_t value = (uint32_t)f->value.len;

	if (f->name.len > UINT16_MAX || f->value.len > UINT32_MAX)
		return -ERR_RANGE;
	memcpy(out, &name, sizeof(name));
	memcpy(out + sizeof(name), &value, sizeof(value));
	return 0;
}

int
http_stored_read(struct str bytes, struct http_head *h)
{
	while (bytes.len) {
		struct str name, value;
		uint16_t n;
		uint32_t v;
		int r;

		if (bytes.len < HTTP_STORED_FIELD)
			return -ERR_INVAL;
		memcpy(&n, bytes.p, sizeof(n));
		memcpy(&v, bytes.p + sizeof(n), sizeof(v));
		bytes.p += HTTP_STORED_FIELD;
		bytes.len -= HTTP_STORED_FIELD;
		if (bytes.len < n || bytes.len - n < v)
			return -ERR_INVAL;
		name = (struct str){ bytes.p, n };
		value = (struct str){ bytes.p + n, v };
		r = http_add(h, name, value);
		if (r < 0)
			return r;
		bytes.p += n + v;
		bytes.len -= n + (size_t)v;
	}
	return 0;
}
