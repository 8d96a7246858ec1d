/*
 * Preloaded into a daemon, lets what it does to the files below one directory fail, or kills it there.
 *
 * FAULT_DIRECTORY names the directory, FAULT_CONTROL a file that holds a struct control, which a test maps and writes
 * into while the daemon runs. Every call is counted, so that a test can name the one that fails by its number. It can
 * have the system clock set for the daemon too, and for nobody else.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTORS = 65536, TRACED = 65536 };

enum when { BEFORE, AFTER_HALF, AFTER };

struct control {
	_Atomic uint64_t calls;  /* so many were counted */
	_Atomic uint64_t first;  /* the first one that fails; 0: none does */
	_Atomic uint64_t last;   /* the last one that fails */
	_Atomic uint64_t failed; /* so many have failed */
	_Atomic int64_t step;    /* CLOCK_REALTIME is told that many ns further on */
	_Atomic int32_t error;   /* the errno of a failure; 0: SIGKILL */
	_Atomic uint32_t reads;  /* not 0: calls that change nothing are counted too */
	_Atomic uint32_t when;   /* the error or the end comes: before the call, after half of a write, or after the call */
	uint32_t reserved;
	char trace[TRACED];      /* a letter for each call that was counted */
};

static struct control *control;
static const char *directory;
static size_t directory_length;
/* Descriptors of files below the directory. */
static _Atomic unsigned char ours[DESCRIPTORS];
/* Whether the call that this thread is in is the last. */
static _Thread_local int ends;
/* The errno with which it fails although it is done; 0: with none. */
static _Thread_local int fails_done;

#define REAL(name) ((__typeof__(&name))real(#name, &real_##name))

static void *real(const char *name, void **known)
{
	if (*known == NULL)
		*known = dlsym(RTLD_NEXT, name);
	return *known;
}

static void *real_open, *real_open64, *real_openat, *real_openat64, *real_close, *real_read, *real_pread, *real_pread64,
	*real_write, *real_pwrite, *real_pwrite64, *real_fsync, *real_fdatasync, *real_ftruncate, *real_ftruncate64,
	*real_posix_fallocate, *real_posix_fallocate64, *real_rename, *real_renameat, *real_linkat, *real_unlink,
	*real_unlinkat, *real_rmdir, *real_mkdir, *real_mmap, *real_mmap64,
	*real_fcntl, *real_fcntl64, *real_flock, *real_stat, *real_stat64, *real_lstat, *real_lstat64, *real_fstat,
	*real_fstat64, *real_fstatat, *real_fstatat64, *real_access, *real_clock_gettime;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAULT_CONTROL");
	directory = getenv("FAULT_DIRECTORY");
	if (path == NULL || directory == NULL)
		return;
	directory_length = strlen(directory);
	int file = REAL(open)(path, O_RDWR | O_CLOEXEC);
	void *mapped = REAL(mmap)(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	REAL(close)(file);
	if (mapped == MAP_FAILED)
		abort();
	control = mapped;
}

static int is_ours(const char *path)
{
	return control != NULL && strncmp(path, directory, directory_length) == 0
		&& (path[directory_length] == '/' || path[directory_length] == 0);
}

static int has_ours(int descriptor)
{
	return control != NULL && descriptor >= 0 && descriptor < DESCRIPTORS && ours[descriptor];
}

/* Counts a call; whether it fails, with errno set. */
static int fails(char letter, int changes, int descriptor, const void *bytes, size_t count, off_t offset)
{
	if (!changes && !control->reads)
		return 0;
	uint64_t number = ++control->calls;
	if (number <= TRACED)
		control->trace[number - 1] = letter;
	if (control->first == 0 || number < control->first || number > control->last)
		return 0;
	/* Only a lock can be held by somebody else. */
	if (control->error == EAGAIN && letter != 'l')
		return 0;
	/* A disk that fails for good does not take the kernel's locks along. */
	if (control->error != EAGAIN && letter == 'l' && control->last > control->first)
		return 0;
	control->failed++;
	if (control->error != 0 && control->when == AFTER) {
		fails_done = control->error;
		return 0;
	}
	if (control->error != 0) {
		errno = control->error;
		return 1;
	}
	ends = control->when == AFTER;
	if (ends)
		return 0;
	if (control->when == AFTER_HALF && bytes != NULL)
		(void)!REAL(pwrite)(descriptor, bytes, count / 2, offset);
	raise(SIGKILL);
	return 0;
}

/* What a call returned, where it is not the last. */
#define RETURN(value)                                                                                                  \
	do {                                                                                                           \
		__typeof__(value) returned = (value);                                                                  \
		if (ends)                                                                                              \
			raise(SIGKILL);                                                                                \
		if (fails_done) {                                                                                      \
			errno = fails_done;                                                                            \
			fails_done = 0;                                                                                \
			returned = (__typeof__(value))-1;                                                              \
		}                                                                                                      \
		return returned;                                                                                       \
	} while (0)

/* Whether a name is of the directory, or relative to a descriptor of it. */
static int is_ours_at(int at, const char *path)
{
	return path[0] == '/' ? is_ours(path) : has_ours(at);
}

static int opened(int descriptor, int at, const char *path)
{
	if (descriptor >= 0 && descriptor < DESCRIPTORS)
		ours[descriptor] = is_ours_at(at, path);
	return descriptor;
}

static int changes_by(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

#define OPEN(name, at, parameters, arguments)                                                                              \
	int name parameters                                                                                            \
	{                                                                                                              \
		mode_t mode = 0;                                                                                       \
		if (flags & (O_CREAT | O_TMPFILE)) {                                                                   \
			va_list rest;                                                                                  \
			va_start(rest, flags);                                                                         \
			mode = va_arg(rest, mode_t);                                                                   \
			va_end(rest);                                                                                  \
		}                                                                                                      \
		if (is_ours_at(at, path) && fails('o', changes_by(flags), -1, NULL, 0, 0))                             \
			return -1;                                                                                     \
		RETURN(opened(REAL(name) arguments, at, path));                                                         \
	}

OPEN(open, -1, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, -1, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, at, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPEN(openat64, at, (int at, const char *path, int flags, ...), (at, path, flags, mode))

int close(int descriptor)
{
	if (descriptor >= 0 && descriptor < DESCRIPTORS)
		ours[descriptor] = 0;
	return REAL(close)(descriptor);
}

#define ON_DESCRIPTOR(type, name, letter, changes, parameters, arguments)                                              \
	type name parameters                                                                                           \
	{                                                                                                              \
		if (has_ours(descriptor) && fails(letter, changes, -1, NULL, 0, 0))                                    \
			return -1;                                                                                     \
		RETURN(REAL(name) arguments);                                                                           \
	}

ON_DESCRIPTOR(ssize_t, read, 'r', 0, (int descriptor, void *to, size_t count), (descriptor, to, count))
ON_DESCRIPTOR(ssize_t, pread, 'r', 0, (int descriptor, void *to, size_t count, off_t at), (descriptor, to, count, at))
ON_DESCRIPTOR(ssize_t, pread64, 'r', 0, (int descriptor, void *to, size_t count, off64_t at),
	      (descriptor, to, count, at))
ON_DESCRIPTOR(int, fsync, 's', 1, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, fdatasync, 's', 1, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, ftruncate, 't', 1, (int descriptor, off_t length), (descriptor, length))
ON_DESCRIPTOR(int, ftruncate64, 't', 1, (int descriptor, off64_t length), (descriptor, length))

ON_DESCRIPTOR(int, fstat, 'q', 0, (int descriptor, struct stat *to), (descriptor, to))
ON_DESCRIPTOR(int, fstat64, 'q', 0, (int descriptor, struct stat64 *to), (descriptor, to))
ON_DESCRIPTOR(int, flock, 'l', 0, (int descriptor, int operation), (descriptor, operation))

/* Locks that are taken; those that are given up cannot fail. */
#define CONTROL(name)                                                                                                  \
	int name(int descriptor, int command, ...)                                                                     \
	{                                                                                                              \
		va_list rest;                                                                                          \
		va_start(rest, command);                                                                               \
		void *argument = va_arg(rest, void *);                                                                 \
		va_end(rest);                                                                                          \
		int locks = (command == F_SETLK || command == F_SETLKW) && ((struct flock *)argument)->l_type != F_UNLCK; \
		if (locks && has_ours(descriptor) && fails('l', 0, -1, NULL, 0, 0))                                    \
			return -1;                                                                                     \
		RETURN(REAL(name)(descriptor, command, argument));                                                     \
	}

CONTROL(fcntl)
CONTROL(fcntl64)

#define WRITE(name, parameters, arguments, offset)                                                                     \
	ssize_t name parameters                                                                                        \
	{                                                                                                              \
		if (has_ours(descriptor) && fails('w', 1, descriptor, bytes, count, offset))                           \
			return -1;                                                                                     \
		RETURN(REAL(name) arguments);                                                                           \
	}

WRITE(write, (int descriptor, const void *bytes, size_t count), (descriptor, bytes, count),
      lseek(descriptor, 0, SEEK_CUR))
WRITE(pwrite, (int descriptor, const void *bytes, size_t count, off_t at), (descriptor, bytes, count, at), at)
WRITE(pwrite64, (int descriptor, const void *bytes, size_t count, off64_t at), (descriptor, bytes, count, at), at)

/* These return what others set errno to. */
#define ALLOCATE(name, offset)                                                                                         \
	int name(int descriptor, offset at, offset length)                                                             \
	{                                                                                                              \
		if (has_ours(descriptor) && fails('a', 1, -1, NULL, 0, 0))                                             \
			return errno;                                                                                  \
		RETURN(REAL(name)(descriptor, at, length));                                                             \
	}

ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

#define ON_PATH(name, at, letter, changes, parameters, arguments)                                                          \
	int name parameters                                                                                            \
	{                                                                                                              \
		if (is_ours_at(at, path) && fails(letter, changes, -1, NULL, 0, 0))                                    \
			return -1;                                                                                     \
		RETURN(REAL(name) arguments);                                                                           \
	}

ON_PATH(rename, -1, 'n', 1, (const char *path, const char *to), (path, to))
ON_PATH(unlink, -1, 'u', 1, (const char *path), (path))
ON_PATH(renameat, at, 'n', 1, (int at, const char *path, int other, const char *to), (at, path, other, to))
ON_PATH(linkat, at, 'n', 1, (int at, const char *path, int other, const char *to, int flags), (at, path, other, to, flags))
ON_PATH(unlinkat, at, 'u', 1, (int at, const char *path, int flags), (at, path, flags))
ON_PATH(rmdir, -1, 'u', 1, (const char *path), (path))
ON_PATH(mkdir, -1, 'd', 1, (const char *path, mode_t mode), (path, mode))
ON_PATH(access, -1, 'q', 0, (const char *path, int mode), (path, mode))
ON_PATH(stat, -1, 'q', 0, (const char *path, struct stat *to), (path, to))
ON_PATH(stat64, -1, 'q', 0, (const char *path, struct stat64 *to), (path, to))
ON_PATH(lstat, -1, 'q', 0, (const char *path, struct stat *to), (path, to))
ON_PATH(lstat64, -1, 'q', 0, (const char *path, struct stat64 *to), (path, to))
ON_PATH(fstatat, at, 'q', 0, (int at, const char *path, struct stat *to, int flags), (at, path, to, flags))
ON_PATH(fstatat64, at, 'q', 0, (int at, const char *path, struct stat64 *to, int flags), (at, path, to, flags))

#define MAP(name, offset)                                                                                              \
	void *name(void *address, size_t length, int protection, int flags, int descriptor, offset at)                 \
	{                                                                                                              \
		if (has_ours(descriptor) && fails('m', 1, -1, NULL, 0, 0))                                             \
			return MAP_FAILED;                                                                             \
		RETURN(REAL(name)(address, length, protection, flags, descriptor, at));                                 \
	}

MAP(mmap, off_t)
MAP(mmap64, off64_t)

int clock_gettime(clockid_t clock, struct timespec *to)
{
	int result = REAL(clock_gettime)(clock, to);
	if (result == 0 && clock == CLOCK_REALTIME && control != NULL && control->step != 0) {
		int64_t nanoseconds = to->tv_nsec + control->step;
		int64_t carry = nanoseconds / 1000000000 - (nanoseconds % 1000000000 < 0);
		to->tv_sec += carry;
		to->tv_nsec = nanoseconds - carry * 1000000000;
	}
	return result;
}
