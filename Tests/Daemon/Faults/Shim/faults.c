/*
 * Preloaded into a daemon, lets what it does to the files below one directory fail, or kills it there.
 *
 * FAULT_DIRECTORY names the directory, FAULT_CONTROL a file that holds a struct control, which a test maps and writes
 * into while the daemon runs. Every call is counted, so that a test can name the one that fails by its number. It can
 * have the system clock set for the daemon too, and for nobody else.
 *
 * If FAULT_TRACE names a file, every change to the directory and everything that is sent is appended to that, in its
 * order. FAULT_BOOT names a file in the place of the kernel's identity of the boot.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
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
	_Atomic uint32_t when;   /* the end comes: before the call, after half of a write, or after the call */
	uint32_t reserved;
	char trace[TRACED];      /* a letter for each call that was counted */
};

static struct control *control;
static const char *directory;
static size_t directory_length;
/* Descriptors of files below the directory. */
static _Atomic unsigned char ours[DESCRIPTORS];
/* The paths of directories among them, and of files. */
static char *paths[DESCRIPTORS];
/* The end of the call that this thread is in. */
static _Thread_local enum { GOES_ON, IS_LAST, FAILS_AFTER } ends;
/* The file of the trace, and whose turn it is to make a call and to append it. */
static int trace = -1;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

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
	*real_unlinkat, *real_rmdir, *real_mkdir, *real_mmap, *real_mmap64, *real_send,
	*real_fcntl, *real_fcntl64, *real_flock, *real_stat, *real_stat64, *real_lstat, *real_lstat64, *real_fstat,
	*real_fstat64, *real_fstatat, *real_fstatat64, *real_access, *real_clock_gettime;

/* What a record begins with; names and bytes follow. */
struct record {
	uint32_t letter;
	int32_t descriptor;
	int64_t offset;
	uint32_t path, other, bytes, reserved;
};

static void append(char letter, int descriptor, int64_t offset, const char *path, const char *other, const void *bytes,
		   size_t count)
{
	struct record record = { (uint32_t)letter, descriptor, offset, path ? strlen(path) : 0, other ? strlen(other) : 0,
				 count, 0 };
	struct iovec parts[] = { { &record, sizeof record }, { (void *)path, record.path }, { (void *)other, record.other },
				 { (void *)bytes, count } };
	if (writev(trace, parts, 4) != (ssize_t)(sizeof record + record.path + record.other + count))
		abort();
}

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
	if (getenv("FAULT_TRACE") == NULL)
		return;
	trace = REAL(open)(getenv("FAULT_TRACE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	append('P', -1, 0, NULL, NULL, NULL, 0);
}

/* The whole path of a name, in a buffer if it is relative to a directory of ours. */
static const char *whole(int at, const char *path, char *buffer)
{
	if (path[0] == '/' || at < 0 || at >= DESCRIPTORS || paths[at] == NULL)
		return path;
	snprintf(buffer, PATH_MAX, "%s/%s", paths[at], path);
	return buffer;
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

enum { CALL_FAILS = 1, CALL_IS_SHORT };

/* Counts a call; whether it fails, with errno set, or writes half. */
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
	/* A disk that fails for good does not take the kernel's locks along; SQLite would try for 10 s to get one. */
	if (control->error != EAGAIN && letter == 'l' && control->last > control->first)
		return 0;
	control->failed++;
	if (control->error != 0) {
		if (control->when == AFTER)
			ends = FAILS_AFTER;
		if (ends)
			return 0;
		if (control->when == AFTER_HALF && bytes != NULL && number == control->first && count > 1)
			return CALL_IS_SHORT;
		errno = control->error;
		return CALL_FAILS;
	}
	ends = control->when == AFTER ? IS_LAST : GOES_ON;
	if (ends)
		return 0;
	if (control->when == AFTER_HALF && bytes != NULL)
		(void)!REAL(pwrite)(descriptor, bytes, count / 2, offset);
	raise(SIGKILL);
	return 0;
}

/* What a call returned, if it is not the last and does not fail after all. */
#define RETURN(value)                                                                                                  \
	do {                                                                                                           \
		__typeof__(value) returned = (value);                                                                  \
		if (ends == IS_LAST)                                                                                   \
			raise(SIGKILL);                                                                                \
		if (ends == FAILS_AFTER) {                                                                             \
			ends = GOES_ON;                                                                                \
			errno = control->error;                                                                        \
			return (__typeof__(value))-1;                                                                  \
		}                                                                                                      \
		return returned;                                                                                       \
	} while (0)

/* The same, for a call that is appended to the trace if it succeeds. */
#define TRACED_RETURN(value, is_traced, ...)                                                                           \
	do {                                                                                                           \
		if (trace < 0 || !(is_traced))                                                                         \
			RETURN(value);                                                                                 \
		pthread_mutex_lock(&order);                                                                            \
		__typeof__(value) result = (value);                                                                    \
		int error = errno;                                                                                     \
		if (result >= 0)                                                                                       \
			append(__VA_ARGS__);                                                                           \
		pthread_mutex_unlock(&order);                                                                          \
		errno = error;                                                                                         \
		RETURN(result);                                                                                        \
	} while (0)

static int opened(int descriptor, const char *path)
{
	if (descriptor >= 0 && descriptor < DESCRIPTORS) {
		ours[descriptor] = is_ours(path);
		free(paths[descriptor]);
		paths[descriptor] = ours[descriptor] ? strdup(path) : NULL;
	}
	return descriptor;
}

static int changes_by(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

#define OPEN(name, at, parameters, arguments)                                                                          \
	int name parameters                                                                                            \
	{                                                                                                              \
		mode_t mode = 0;                                                                                       \
		if (flags & (O_CREAT | O_TMPFILE)) {                                                                   \
			va_list rest;                                                                                  \
			va_start(rest, flags);                                                                         \
			mode = va_arg(rest, mode_t);                                                                   \
			va_end(rest);                                                                                  \
		}                                                                                                      \
		if (strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 && getenv("FAULT_BOOT") != NULL)               \
			path = getenv("FAULT_BOOT");                                                                   \
		char buffer[PATH_MAX];                                                                                 \
		const char *place = whole(at, path, buffer);                                                           \
		if (is_ours(place) && fails('o', changes_by(flags), -1, NULL, 0, 0))                                   \
			return -1;                                                                                     \
		TRACED_RETURN(opened(REAL(name) arguments, place), is_ours(place), 'o', result, flags, place, NULL,     \
			      NULL, 0);                                                                                \
	}

OPEN(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, at, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPEN(openat64, at, (int at, const char *path, int flags, ...), (at, path, flags, mode))

int close(int descriptor)
{
	/* In the order of the trace, the number is free before another file can have it. */
	pthread_mutex_lock(&order);
	if (descriptor >= 0 && descriptor < DESCRIPTORS)
		ours[descriptor] = 0;
	if (trace >= 0 && descriptor != trace)
		append('x', descriptor, 0, NULL, NULL, NULL, 0);
	int result = REAL(close)(descriptor);
	pthread_mutex_unlock(&order);
	return result;
}

#define ON_DESCRIPTOR(type, name, letter, changes, parameters, arguments)                                              \
	type name parameters                                                                                           \
	{                                                                                                              \
		if (has_ours(descriptor) && fails(letter, changes, -1, NULL, 0, 0))                                    \
			return -1;                                                                                     \
		TRACED_RETURN(REAL(name) arguments, changes && has_ours(descriptor), letter, descriptor, DETAIL, NULL,  \
			      NULL, NULL, 0);                                                                          \
	}

#define DETAIL 0
ON_DESCRIPTOR(ssize_t, read, 'r', 0, (int descriptor, void *to, size_t count), (descriptor, to, count))
ON_DESCRIPTOR(ssize_t, pread, 'r', 0, (int descriptor, void *to, size_t count, off_t at), (descriptor, to, count, at))
ON_DESCRIPTOR(ssize_t, pread64, 'r', 0, (int descriptor, void *to, size_t count, off64_t at),
	      (descriptor, to, count, at))
ON_DESCRIPTOR(int, fsync, 's', 1, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, fdatasync, 's', 1, (int descriptor), (descriptor))
#undef DETAIL
#define DETAIL length
ON_DESCRIPTOR(int, ftruncate, 't', 1, (int descriptor, off_t length), (descriptor, length))
ON_DESCRIPTOR(int, ftruncate64, 't', 1, (int descriptor, off64_t length), (descriptor, length))
#undef DETAIL
#define DETAIL 0

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
		int locks = (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK)                      \
			&& ((struct flock *)argument)->l_type != F_UNLCK;                                              \
		if (locks && has_ours(descriptor) && fails('l', 0, -1, NULL, 0, 0))                                    \
			return -1;                                                                                     \
		RETURN(REAL(name)(descriptor, command, argument));                                                     \
	}

CONTROL(fcntl)
CONTROL(fcntl64)

#define WRITE(name, parameters, arguments, offset)                                                                     \
	ssize_t name parameters                                                                                        \
	{                                                                                                              \
		off_t place = has_ours(descriptor) ? offset : 0;                                                       \
		int failure = has_ours(descriptor) ? fails('w', 1, descriptor, bytes, count, place) : 0;               \
		if (failure == CALL_FAILS)                                                                             \
			return -1;                                                                                     \
		if (failure == CALL_IS_SHORT)                                                                          \
			count /= 2;                                                                                    \
		TRACED_RETURN(REAL(name) arguments, has_ours(descriptor), 'w', descriptor, place, NULL, NULL, bytes,    \
			      (size_t)result);                                                                         \
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

#define ON_PATH(name, letter, changes, parameters, arguments)                                                          \
	int name parameters                                                                                            \
	{                                                                                                              \
		if (is_ours(path) && fails(letter, changes, -1, NULL, 0, 0))                                                 \
			return -1;                                                                                     \
		RETURN(REAL(name) arguments);                                                                           \
	}

ON_PATH(access, 'q', 0, (const char *path, int mode), (path, mode))
ON_PATH(stat, 'q', 0, (const char *path, struct stat *to), (path, to))
ON_PATH(stat64, 'q', 0, (const char *path, struct stat64 *to), (path, to))
ON_PATH(lstat, 'q', 0, (const char *path, struct stat *to), (path, to))
ON_PATH(lstat64, 'q', 0, (const char *path, struct stat64 *to), (path, to))
ON_PATH(fstatat, 'q', 0, (int at, const char *path, struct stat *to, int flags), (at, path, to, flags))
ON_PATH(fstatat64, 'q', 0, (int at, const char *path, struct stat64 *to, int flags), (at, path, to, flags))

/* Changes of names. */
#define ON_NAME(name, letter, place, parameters, arguments, place_of_other)                                            \
	int name parameters                                                                                            \
	{                                                                                                              \
		char buffer[PATH_MAX], second[PATH_MAX];                                                               \
		const char *from = place, *to = place_of_other;                                                        \
		(void)second;                                                                                          \
		if (is_ours(from) && fails(letter, 1, -1, NULL, 0, 0))                                                 \
			return -1;                                                                                     \
		TRACED_RETURN(REAL(name) arguments, is_ours(from), letter, -1, 0, from, to, NULL, 0);                   \
	}

ON_NAME(rename, 'n', whole(AT_FDCWD, path, buffer), (const char *path, const char *other), (path, other), other)
ON_NAME(renameat, 'n', whole(at, path, buffer), (int at, const char *path, int beside, const char *other),
	(at, path, beside, other), whole(beside, other, second))
ON_NAME(linkat, 'k', whole(at, path, buffer), (int at, const char *path, int beside, const char *other, int flags),
	(at, path, beside, other, flags), whole(beside, other, second))
ON_NAME(unlink, 'u', whole(AT_FDCWD, path, buffer), (const char *path), (path), NULL)
ON_NAME(unlinkat, 'u', whole(at, path, buffer), (int at, const char *path, int flags), (at, path, flags), NULL)
ON_NAME(rmdir, 'u', whole(AT_FDCWD, path, buffer), (const char *path), (path), NULL)
ON_NAME(mkdir, 'd', whole(AT_FDCWD, path, buffer), (const char *path, mode_t mode), (path, mode), NULL)

/* A client knows what was sent. */
ssize_t send(int descriptor, const void *bytes, size_t count, int flags)
{
	TRACED_RETURN(REAL(send)(descriptor, bytes, count, flags), 1, 'A', descriptor, 0, NULL, NULL, bytes,
		      (size_t)result);
}

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
