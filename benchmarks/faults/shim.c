/* A library that makes the nth call of a kind fail.
 *
 *     cc -O2 -shared -fPIC -o shim.so shim.c -ldl
 *     KOKORO_LIVE_FAULTS=CONTROL [KOKORO_LIVE_FAULTS_ACTIVE=1] LD_PRELOAD=./shim.so PROGRAM
 *
 * CONTROL is a file that holds a `struct control` (`benchmarks/faults/shim.py` has the same layout). All processes that map
 * it count their calls together, so "the nth" is one call of the whole program. Linux with glibc only.
 *
 * A call's site is the lines of Python that made it. In the mode SITES nothing fails, and CONTROL.log gets a line for each
 * call: its group and its site. Else only the calls of the control's site are counted.
 *
 * In the mode RECORD nothing fails: each change of our files is appended to CONTROL.log, in the order of the calls, as
 * `benchmarks/faults/power.py` reads it. Changes by a mapping, or from within the C library, aren't seen.
 *
 * A file is ours if its path begins with the control's prefix. Descriptors 0 to 2 are never meant: a log that can't be
 * written tells nobody anything.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum group { WRITE, OPEN, RENAME, SYNC, READ, DESCRIPTOR, TRANSFER_IN, TRANSFER_OUT, MEMORY, PROCESS, THREAD, CLOCK, GROUPS };
enum mode { FAIL, SHORT, JUMP, RECORD, SITES };

struct control {
    int32_t armed, group, mode, error;
    int64_t nth; /* 0: count only */
    int64_t jump; /* seconds by which the wall clock is off from the nth reading on */
    int64_t counts[GROUPS];
    int64_t fired;
    char call[32], path[256], prefix[256], site[512];
};

static struct control *control;
static int active; /* this process is meant */
static __thread int exempt; /* this thread isn't */

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv("KOKORO_LIVE_FAULTS");
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    void *(*map)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
    int fd = path ? real(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *found = map(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (found != MAP_FAILED) control = found;
    active = getenv("KOKORO_LIVE_FAULTS_ACTIVE") != NULL;
}

void faults_active(int value) { active = value; }
void faults_exempt(int value) { exempt = value; }

static int meant(void) { return control && active && !exempt && control->armed; }

static int ours(const char *path) {
    size_t length = strlen(control->prefix);
    if (!path) return 0;
    if (path[0] != '/') return 0;
    return strncmp(path, control->prefix, length) == 0;
}

/* The path of a descriptor's file; empty for what has none. */
static int described(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0;
}

static int our_file(int fd, char *path, size_t size) { return fd > 2 && described(fd, path, size) && ours(path); }

/* A pipe or a socket: all of a program's are its own. */
static int our_stream(int fd, struct stat *found) {
    return fd > 2 && fstat(fd, found) == 0 && (S_ISFIFO(found->st_mode) || S_ISSOCK(found->st_mode));
}

/* CPython's own functions, by name: this library also goes into programs that have none. */
#define PYTHON(type, name, ...) \
    static type (*name)(__VA_ARGS__); \
    if (!name) name = dlsym(RTLD_DEFAULT, #name); \
    if (!name) return

static void append_line(char *site, size_t size, void *frame) {
    PYTHON(void *, PyFrame_GetCode, void *);
    PYTHON(int, PyFrame_GetLineNumber, void *);
    PYTHON(void *, PyObject_GetAttrString, void *, const char *);
    PYTHON(const char *, PyUnicode_AsUTF8, void *);
    PYTHON(void, Py_DecRef, void *);
    void *code = PyFrame_GetCode(frame), *file = PyObject_GetAttrString(code, "co_filename");
    const char *path = PyUnicode_AsUTF8(file), *name = strrchr(path, '/');
    while (name && name > path && name[-1] != '/') name--;
    size_t used = strlen(site);
    snprintf(site + used, size - used, " < %s:%d", name ? name : path, PyFrame_GetLineNumber(frame));
    Py_DecRef(file);
    Py_DecRef(code);
}

enum { INNERMOST = 4 };
static void append_lines(char *site, size_t size) {
    PYTHON(int, Py_IsInitialized, void);
    PYTHON(void *, PyGILState_GetThisThreadState, void);
    PYTHON(int, PyGILState_Ensure, void);
    PYTHON(void, PyGILState_Release, int);
    PYTHON(void *, PyThreadState_GetFrame, void *);
    PYTHON(void *, PyFrame_GetBack, void *);
    PYTHON(void, Py_DecRef, void *);
    if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return;
    int state = PyGILState_Ensure();
    void *frame = PyThreadState_GetFrame(PyGILState_GetThisThreadState());
    for (int depth = 0; frame && depth < INNERMOST; depth++) {
        append_line(site, size, frame);
        void *back = PyFrame_GetBack(frame);
        Py_DecRef(frame);
        frame = back;
    }
    if (frame) Py_DecRef(frame);
    PyGILState_Release(state);
}

/* The process's title, the function of the C library, and the innermost lines of Python that call it. */
static void locate(char *site, size_t size, const char *call) {
    int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat");
    ssize_t (*get)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
    int before = errno, held = exempt;
    exempt = 1; /* what Python does for this isn't meant */
    char title[64] = "";
    int fd = real(AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t length = get(fd, title, sizeof title - 1, 0);
        title[length < 0 ? 0 : length] = 0;
        close(fd);
    }
    snprintf(site, size, "%s, %s", title, call);
    append_lines(site, size);
    exempt = held;
    errno = before;
}

static void append_to_log(const struct iovec *parts, int count) {
    int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat");
    ssize_t (*put)(int, const struct iovec *, int) = dlsym(RTLD_NEXT, "writev");
    char name[512];
    snprintf(name, sizeof name, "%s.log", getenv("KOKORO_LIVE_FAULTS"));
    int log = real(AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    put(log, parts, count);
    close(log);
}

/* Count a call; true if it is the one that fails. */
static int hit(enum group group, const char *call, const char *path) {
    if (!meant()) return 0;
    if (control->mode == SITES || ((int)group == control->group && control->site[0])) {
        char site[sizeof control->site];
        locate(site, sizeof site, call);
        if (control->mode == SITES) {
            char line[sizeof site + 8];
            int before = errno;
            struct iovec part = {line, snprintf(line, sizeof line, "%d\t%s\n", group, site)};
            append_to_log(&part, 1);
            errno = before;
        } else if (strcmp(site, control->site)) {
            return 0;
        }
    }
    int64_t number = __atomic_add_fetch(&control->counts[group], 1, __ATOMIC_SEQ_CST);
    if ((int)group != control->group || control->nth == 0 || number != control->nth) return 0;
    control->fired = getpid();
    strncpy(control->call, call, sizeof control->call - 1);
    strncpy(control->path, path ? path : "", sizeof control->path - 1);
    return 1;
}

/* Append a change to the log: its letter, the path, a rename's new path, an offset or length, and `size` bytes that were
 * just written there. */
struct change { char letter; uint16_t path, other; int64_t at, size; } __attribute__((packed));
static void changed(char letter, const char *path, const char *other, int64_t at, int fd, ssize_t size) {
    if (!meant() || control->mode != RECORD || !ours(other ? other : path)) return;
    int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat");
    ssize_t (*get)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
    char link[64], *data = NULL;
    int before = errno;
    if (size > 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        int again = real(AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
        data = malloc(size);
        size = get(again, data, size, at);
        close(again);
    }
    struct change head = {letter, strlen(path), other ? strlen(other) : 0, at, size > 0 ? size : 0};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)path, head.path}, {(void *)other, head.other}, {data, head.size}};
    append_to_log(parts, 4);
    free(data);
    errno = before;
}

/* After a call that wrote `size` bytes at an offset, or if that is negative before the descriptor's own. */
static void wrote(int fd, off64_t at, ssize_t size) {
    char path[1024];
    if (!meant() || control->mode != RECORD || size <= 0 || !our_file(fd, path, sizeof path)) return;
    changed('w', path, NULL, at < 0 ? lseek64(fd, 0, SEEK_CUR) - size : at, fd, size);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = dlsym(RTLD_NEXT, name)

/* ---- files ---- */

static int opened(int (*real)(int, const char *, int, ...), const char *call, int dir, const char *path, int flags, mode_t mode) {
    int mine = control && active && ours(path);
    if (mine && hit(DESCRIPTOR, call, path)) { errno = control->error; return -1; }
    if (mine && hit(OPEN, call, path)) { errno = control->error; return -1; }
    int was = !mine || faccessat(dir, path, F_OK, 0) == 0;
    int fd = real(dir, path, flags, mode);
    if (mine && fd >= 0 && !was) changed('c', path, NULL, 0, fd, 0);
    else if (mine && fd >= 0 && flags & O_TRUNC) changed('t', path, NULL, 0, fd, 0);
    return fd;
}

#define MODE mode_t mode = 0; if (flags & (O_CREAT | __O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
#define OPENAT(name) \
    int name(int dir, const char *path, int flags, ...) { \
        MODE REAL(int, "openat", int, const char *, int, ...); \
        return opened(real, #name, dir, path, flags, mode); \
    }
#define OPEN_(name) \
    int name(const char *path, int flags, ...) { \
        MODE REAL(int, "openat", int, const char *, int, ...); \
        return opened(real, #name, AT_FDCWD, path, flags, mode); \
    }
OPENAT(openat) OPENAT(openat64) OPEN_(open) OPEN_(open64)

#define FOPEN(name) \
    FILE *name(const char *path, const char *mode) { \
        REAL(FILE *, #name, const char *, const char *); \
        if (control && ours(path) && (hit(DESCRIPTOR, #name, path) || hit(OPEN, #name, path))) { errno = control->error; return NULL; } \
        return real(path, mode); \
    }
FOPEN(fopen) FOPEN(fopen64)

DIR *opendir(const char *path) {
    REAL(DIR *, "opendir", const char *);
    if (control && ours(path) && (hit(DESCRIPTOR, "opendir", path) || hit(OPEN, "opendir", path))) { errno = control->error; return NULL; }
    return real(path);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    if (control && ours(path) && hit(OPEN, "mkdir", path)) { errno = control->error; return -1; }
    int result = real(path, mode);
    if (control && result == 0) changed('d', path, NULL, 0, -1, 0);
    return result;
}

#define RENAMED(call, expression) \
    if (control && ours(to) && hit(RENAME, call, to)) { errno = control->error; return -1; } \
    int result = expression; \
    if (control && result == 0) changed('r', from, to, 0, -1, 0); \
    return result;
int rename(const char *from, const char *to) { REAL(int, "rename", const char *, const char *); RENAMED("rename", real(from, to)) }
int renameat(int a, const char *from, int b, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    RENAMED("renameat", real(a, from, b, to))
}

#define REMOVED(name) \
    int name(const char *path) { \
        REAL(int, #name, const char *); \
        if (control && ours(path) && hit(RENAME, #name, path)) { errno = control->error; return -1; } \
        int result = real(path); \
        if (control && result == 0) changed('u', path, NULL, 0, -1, 0); \
        return result; \
    }
REMOVED(unlink) REMOVED(rmdir)
/* shutil.rmtree removes by folder descriptor. */
int unlinkat(int dir, const char *name, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    char path[1024] = "";
    if (control && active && dir >= 0 && name[0] != '/' && described(dir, path, 700)) {
        strcat(path, "/");
        strncat(path, name, 300);
    } else {
        strncpy(path, name, sizeof path - 1);
    }
    if (control && ours(path) && hit(RENAME, "unlinkat", path)) { errno = control->error; return -1; }
    int result = real(dir, name, flags);
    if (control && result == 0) changed('u', path, NULL, 0, -1, 0);
    return result;
}

#define SYNCED(name) \
    int name(int fd) { \
        REAL(int, #name, int); \
        char path[1024]; \
        int mine = control && active && our_file(fd, path, sizeof path); \
        if (mine && hit(SYNC, #name, path)) { errno = control->error; return -1; } \
        if (mine) changed('s', path, NULL, 0, fd, 0); \
        return real(fd); \
    }
SYNCED(fsync) SYNCED(fdatasync)

#define TRUNCATED(name) \
    int name(int fd, off64_t length) { \
        REAL(int, #name, int, off64_t); \
        char path[1024]; \
        int mine = control && active && our_file(fd, path, sizeof path); \
        if (mine && hit(WRITE, #name, path)) { errno = control->error; return -1; } \
        if (mine) changed('t', path, NULL, length, fd, 0); \
        return real(fd, length); \
    }
TRUNCATED(ftruncate) TRUNCATED(ftruncate64)

#define ALLOCATED(name) \
    int name(int fd, off64_t from, off64_t length) { \
        REAL(int, #name, int, off64_t, off64_t); \
        char path[1024]; \
        if (control && active && our_file(fd, path, sizeof path)) { if (hit(WRITE, #name, path)) return control->error; changed('a', path, NULL, from + length, fd, 0); } \
        else if (hit(MEMORY, #name, "")) return control->error; \
        return real(fd, from, length); \
    }
ALLOCATED(posix_fallocate) ALLOCATED(posix_fallocate64)

/* ---- reading and writing ---- */

/* Whether a call of `size` bytes on a file or stream fails (-1), or does so many bytes at most. */
static ssize_t allowed(int out, const char *call, int fd, size_t size) {
    char path[1024];
    struct stat found;
    if (!control || !active) return size;
    int file = our_file(fd, path, sizeof path);
    if (!file && !our_stream(fd, &found)) return size;
    int is_hit = 0;
    if (file) is_hit |= hit(out ? WRITE : READ, call, path);
    /* What the kernel gives and takes whole isn't cut: messages, and what fits into a pipe at once (PIPE_BUF). */
    int type = SOCK_STREAM;
    socklen_t length = sizeof type;
    if (!file && S_ISSOCK(found.st_mode)) getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length);
    int whole = control->mode == SHORT && (size < 2 || type != SOCK_STREAM || (!file && S_ISFIFO(found.st_mode) && size <= 4096));
    if (!whole) is_hit |= hit(out ? TRANSFER_OUT : TRANSFER_IN, call, path);
    if (!is_hit) return size;
    if (control->mode == SHORT) return (size + 1) / 2;
    errno = control->error;
    return -1;
}

#define READS(name, parameters, arguments) \
    ssize_t name parameters { \
        static ssize_t (*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        ssize_t may = allowed(0, #name, fd, size); \
        if (may < 0) return -1; \
        size = may; \
        return real arguments; \
    }
READS(read, (int fd, void *data, size_t size), (fd, data, size))
READS(pread, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))
READS(pread64, (int fd, void *data, size_t size, off64_t at), (fd, data, size, at))
READS(recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
READS(recvfrom, (int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length), (fd, data, size, flags, from, length))

#define WRITES(name, where, parameters, arguments) \
    ssize_t name parameters { \
        static ssize_t (*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        ssize_t may = allowed(1, #name, fd, size); \
        if (may < 0) return -1; \
        size = may; \
        ssize_t done = real arguments; \
        wrote(fd, where, done); \
        return done; \
    }
WRITES(write, -1, (int fd, const void *data, size_t size), (fd, data, size))
WRITES(pwrite, at, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRITES(pwrite64, at, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
WRITES(send, -1, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags))
WRITES(sendto, -1, (int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length), (fd, data, size, flags, to, length))

/* Messages and vectors fail, and are never short. */
static int vector_fails(int out, const char *call, int fd) {
    if (control && control->mode == SHORT) return 0;
    return allowed(out, call, fd, 1) < 0;
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    if (vector_fails(1, "writev", fd)) return -1;
    ssize_t done = real(fd, parts, count);
    wrote(fd, -1, done);
    return done;
}
ssize_t readv(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "readv", int, const struct iovec *, int);
    return vector_fails(0, "readv", fd) ? -1 : real(fd, parts, count);
}
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    REAL(ssize_t, "sendmsg", int, const struct msghdr *, int);
    return vector_fails(1, "sendmsg", fd) ? -1 : real(fd, message, flags);
}
ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    REAL(ssize_t, "recvmsg", int, struct msghdr *, int);
    return vector_fails(0, "recvmsg", fd) ? -1 : real(fd, message, flags);
}

/* shutil.copyfile lets the kernel copy. */
#define SENDS(name) \
    ssize_t name(int out, int in, off64_t *from, size_t size) { \
        REAL(ssize_t, #name, int, int, off64_t *, size_t); \
        ssize_t may = allowed(1, #name, out, size); \
        if (may < 0) return -1; \
        ssize_t done = real(out, in, from, may); \
        wrote(out, -1, done); \
        return done; \
    }
SENDS(sendfile) SENDS(sendfile64)

/* ---- descriptors, memory, processes, threads, clocks ---- */

#define TAKES(group, type, failed, name, parameters, arguments) \
    type name parameters { \
        static type (*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        if (hit(group, #name, "")) { errno = control->error; return failed; } \
        return real arguments; \
    }
TAKES(DESCRIPTOR, int, -1, socket, (int domain, int type, int protocol), (domain, type, protocol))
TAKES(DESCRIPTOR, int, -1, socketpair, (int domain, int type, int protocol, int pair[2]), (domain, type, protocol, pair))
TAKES(DESCRIPTOR, int, -1, accept, (int fd, struct sockaddr *from, socklen_t *length), (fd, from, length))
TAKES(DESCRIPTOR, int, -1, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), (fd, from, length, flags))
TAKES(DESCRIPTOR, int, -1, pipe, (int pair[2]), (pair))
TAKES(DESCRIPTOR, int, -1, pipe2, (int pair[2], int flags), (pair, flags))
TAKES(DESCRIPTOR, int, -1, eventfd, (unsigned int value, int flags), (value, flags))
TAKES(DESCRIPTOR, int, -1, epoll_create1, (int flags), (flags))
TAKES(DESCRIPTOR, int, -1, memfd_create, (const char *name, unsigned int flags), (name, flags))
TAKES(DESCRIPTOR, int, -1, dup, (int fd), (fd))
TAKES(PROCESS, pid_t, -1, fork, (void), ())

/* The child of a `vfork` in a wrapper would return into the wrapper's frame, so it becomes a fork. */
pid_t vfork(void) { return fork(); }

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[], char *const env[]) {
    REAL(int, "posix_spawn", pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);
    return hit(PROCESS, "posix_spawn", path) ? control->error : real(pid, path, actions, attributes, argv, env);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *given) {
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return hit(THREAD, "pthread_create", "") ? control->error : real(thread, attributes, run, given);
}

/* Memory that is mapped from a descriptor; malloc's own never comes here. The loader maps libraries by other ways. */
#define MAPS(name) \
    void *name(void *at, size_t size, int protection, int flags, int fd, off64_t from) { \
        REAL(void *, #name, void *, size_t, int, int, int, off64_t); \
        if (meant() && fd >= 0 && hit(MEMORY, #name, "")) { errno = control->error; return MAP_FAILED; } \
        return real(at, size, protection, flags, fd, from); \
    }
MAPS(mmap) MAPS(mmap64)

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(int, "clock_gettime", clockid_t, struct timespec *);
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME && meant()) {
        hit(CLOCK, "clock_gettime", "");
        if (control->mode == JUMP && control->fired) now->tv_sec += control->jump;
    }
    return result;
}
