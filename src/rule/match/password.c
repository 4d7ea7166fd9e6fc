/* Compares passwords, by crypt(3) where a hash is given, on the worker that asks. The
 * comparison takes as long wherever two texts differ. */
#include "rule/match/password.h"

#include <crypt.h>
#include <string.h>

/* Constant time: does not stop at a difference. */
static int
hashes_are_equal(const char *a, const char *b, size_t n)
{
	volatile unsigned char differs = 0;

	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}

/*
 * The hash of text with the settings at the start of `hash`; NULL: not supported by libcrypt. The
 * work area is large but fits on a thread's stack, and libcrypt wipes it.
 */
static const char *
make_hash(const char *text, const char *hash, struct crypt_data *room)
{
	const char *made;

	room->initialized = 0;
	made = crypt_r(text, hash, room);
	return made && made[0] != '*' ? made : NULL;
}

/*
 * Settings without a hash match no password, nor does a truncated hash. The traditional method may
 * continue with 11 more characters for each 8 of the password.
 */
static int
hash_is_whole(const char *hash, const char *made)
{
	size_t is = strlen(hash), due = strlen(made);

	if (hash[0] == '$' || hash[0] == '_')
		return is == due;
	return is >= due && (is - due) % 11 == 0;
}

const char *
password_hash_fault(const char *hash)
{
	struct crypt_data room;
	const char *made;

	if (crypt_checksalt(hash) == CRYPT_SALT_INVALID)
		return "it is no hash of crypt(3)";
	made = make_hash("", hash, &room);
	if (!made)
		return "crypt(3) of this system does not support its method";
	return hash_is_whole(hash, made) ? NULL : "it is not whole";
}

int
password_has_hash(struct str said, const char *hash)
{
	char text[PASSWORD_MAX + 1];
	struct crypt_data room;
	const char *made;
	size_t n;
	int is;

	if (said.len > PASSWORD_MAX || memchr(said.p, '\0', said.len))
		return 0;
	memcpy(text, said.p, said.len);
	text[said.len] = '\0';
	made = make_hash(text, hash, &room);
	explicit_bzero(text, sizeof(text));
	if (!made)
		return 0;
	n = strlen(hash);
	is = strlen(made) == n && hashes_are_equal(made, hash, n);
	explicit_bzero(&room, sizeof(room));
	return is;
}

/* The number of steps depends on the given text, not on the password. */
int
password_is_text(struct str said, struct str text)
{
	volatile unsigned char differs = said.len != text.len;

	for (size_t i = 0; i < said.len; i++)
		differs |= (unsigned char)(said.p[i] ^ (text.len ? text.p[i % text.len] : 0));
	return !differs;
}
