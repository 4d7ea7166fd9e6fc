/* What a command of the admin socket requires besides a level; a connection of the master's says
 * which modes are on. */
#ifndef TACIT_APP_PROCESS_CLI_MODE_H
#define TACIT_APP_PROCESS_CLI_MODE_H

enum admin_mode {
	ADMIN_MODE_NONE,
	ADMIN_MODE_HIDDEN,       /* nothing, but help does not list it */
	ADMIN_MODE_EXPERIMENTAL, /* experimental-mode on */
	ADMIN_MODE_EXPERT        /* expert-mode on */
};

#endif
