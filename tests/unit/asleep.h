/* Waiting until another task sleeps in the kernel: how a test waits for it without a pause. */
#ifndef TACIT_TESTS_UNIT_ASLEEP_H
#define TACIT_TESTS_UNIT_ASLEEP_H

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns 1 if the task of this stat file (proc(5)) sleeps or is gone, 0 if it runs. */
static inline int
is_asleep(const char *path)
{
	char text[512] = "";
	FILE *f = fopen(path, "re");
	const char *state;

	if (!f)
		return 1;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	/* The name before it may have parentheses of its own. */
	state = strrchr(text, ')');
	return !state || strchr("SZX", state[2]) != NULL;
}

/* Waits until all other threads of this process sleep. */
static inline void
wait_others_asleep(void)
{
	char path[64];
	int n_awake;

	do {
		DIR *dir = opendir("/proc/self/task");

		n_awake = 0;
		for (struct dirent *e; dir && (e = readdir(dir));) {
			long id = strtol(e->d_name, NULL, 10);

			snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", id);
			n_awake += id > 0 && id != syscall(SYS_gettid) && !is_asleep(path);
		}
		if (dir)
			closedir(dir);
		sched_yield();
	} while (n_awake);
}

#endif
