"""Functions that must not be called, or only in one place."""
from ctext import calls_of

# (reason, places where they may be called, names)
GROUPS = (
    ('allocation belongs to src/base/mem.c', ('src/base/mem.c',), '''
        malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf posix_memalign aligned_alloc
        memalign valloc alloca mallocx rallocx sdallocx dallocx xallocx getline getdelim open_memstream'''),
    ('never: unbounded, unchecked or not reentrant', (), '''
        strcpy strcat sprintf vsprintf gets strncpy strncat strtok system popen atoi atol atoll atof mktemp tmpnam
        tempnam sigsetjmp siglongjmp rand srand random srandom localtime gmtime ctime asctime
        gethostbyname inet_ntoa inet_addr usleep alarm vfork signal scanf sscanf fscanf wordexp'''),
    ('a library that would end the process without memory is left by it, nothing else', ('src/http/brotli.c',), '''
        setjmp longjmp'''),
    ('the console belongs to src/app/ and the diagnostics of src/cfg/', ('src/app/', 'src/cfg/'), '''
        printf fprintf vprintf vfprintf puts fputs putchar fputc putc perror fwrite fflush dprintf vdprintf syslog
        openlog'''),
    ('system calls belong to src/base/sys_linux.c', ('src/base/sys_linux.c',), '''
        accept accept4 access bind capget capset chdir chmod chown chroot clock_gettime clone close close_range
        closefrom connect creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2
        epoll_wait eventfd execl execle execlp execv execve execvp execvpe fchmod fchown fcntl fdatasync fork
        fstat fstatat fsync ftruncate getegid geteuid getgid getpeername getpid getppid getrandom getrlimit
        getrusage getsockname getsockopt gettimeofday getuid initgroups ioctl kill listen lseek lstat madvise
        mkdir mkdirat mkstemp mlock mlockall mmap mount mprotect munmap nanosleep open openat pause pidfd_open
        pipe pipe2 poll ppoll prctl pread prlimit pselect pwrite read readlink readv recv recvfrom recvmmsg
        recvmsg rename renameat rmdir sched_setaffinity sched_yield select send sendfile sendmmsg sendmsg sendto
        setegid seteuid setgid setgroups setpgid setregid setresgid setresuid setreuid setrlimit setsid setsockopt
        setuid shutdown sigaction signalfd sigprocmask sleep socket socketpair splice stat symlink syscall tee
        time timerfd_create timerfd_settime truncate umask uname unlink unlinkat unshare vmsplice wait wait3 wait4
        waitid waitpid write writev clock_nanosleep opendir readdir scandir fopen fdopen freopen fread fgets
        getaddrinfo getpwnam getgrnam getpwuid getgrgid sd_notify inotify_init1'''),
)


def check(tree):
    for why, places, names in GROUPS:
        names = names.split()
        for path in tree.c_files('src', 'include'):
            if places and path.startswith(places):
                continue
            for line, name in calls_of(tree.text(path), names):
                yield path, line, f'{name}(): {why}', name
