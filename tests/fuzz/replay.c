/*
 * The main() of a fuzz target without libFuzzer: replays the target's corpus, one TAP line per
 * file, so that every build repeats earlier findings. The corpus of fuzz_x is tests/fuzz/corpus/x,
 * relative to the top of the tree; other files may be given on the command line instead.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

/* A heap copy of the exact size, so that a sanitizer detects reads beyond it. */
static int
replay_file(const char *path, int n)
{
	static uint8_t in[INPUT_MAX];
	FILE *f = fopen(path, "rb");
	uint8_t *exact;
	size_t len;

	if (!f) {
		printf("not ok %d - %s cannot be read\n", n, path);
		return -1;
	}
	len = fread(in, 1, sizeof(in), f);
	fclose(f);
	exact = malloc(len ? len : 1);
	if (!exact)
		abort();
	memcpy(exact, in, len);
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	printf("ok %d - %s\n", n, path);
	return 0;
}

static int
replay_dir(const char *dir, int *n)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[4096];
	int rc = 0;

	if (!d)
		return 0;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		if (replay_file(path, ++*n))
			rc = 1;
	}
	closedir(d);
	return rc;
}

int
main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	static const uint8_t nothing[1];
	char dir[512];
	int n = 0, rc = 0;

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		if (replay_file(argv[i], ++n))
			rc = 1;
	if (argc > 1)
		return rc;
	LLVMFuzzerTestOneInput(nothing, 0);
	printf("ok %d - no input\n", ++n);
	name = name ? name + 1 : argv[0];
	if (strncmp(name, "fuzz_", 5) == 0)
		name += 5;
	snprintf(dir, sizeof(dir), "tests/fuzz/corpus/%s", name);
	return replay_dir(dir, &n) | rc;
}
