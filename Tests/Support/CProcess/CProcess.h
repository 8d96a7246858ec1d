/* What the test harness needs of processes and Glibc's Swift module lacks, as it is compiled without _GNU_SOURCE. */
#pragma once

#include <errno.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <wchar.h>

extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern int pipe2(int ends[2], int flags);
extern int posix_openpt(int flags);
extern int grantpt(int terminal);
extern int unlockpt(int terminal);
extern int ptsname_r(int terminal, char *name, size_t size);

extern int wcwidth(wchar_t character);
extern int prlimit(pid_t process, int resource, const struct rlimit *limit, struct rlimit *before);

/* Which sanitizers watch what is compiled with this, Swift code too; scripts/sanitize gives them to both compilers. */
static const int is_sanitized_for_addresses = __has_feature(address_sanitizer);
static const int is_sanitized_for_threads = __has_feature(thread_sanitizer);
static const int is_sanitized_for_undefined_behavior = __has_feature(undefined_behavior_sanitizer);

/* Faults that they have to find. */
static inline int read_behind(const int *numbers, int count) { return numbers[count]; }
static inline int add_without_care(int left, int right) { return left + right; }

/* A limit of another process from now on. */
static inline int process_limit(pid_t process, int resource, rlim_t count)
{
	struct rlimit limit;
	if (prlimit(process, resource, NULL, &limit) < 0)
		return -1;
	limit.rlim_cur = count;
	return prlimit(process, resource, &limit, NULL);
}

static inline int process_limit_descriptors(pid_t process, rlim_t count)
{
	return process_limit(process, RLIMIT_NOFILE, count);
}

static inline int process_limit_file_size(pid_t process, rlim_t bytes)
{
	return process_limit(process, RLIMIT_FSIZE, bytes);
}

/* A descriptor that poll(2) finds readable once the process has ended. */
static inline int process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/*
 * connect(2) as another user, which takes root: the kernel tells the other end who connected. The system call, not the C
 * library's function, because that changes the user of every thread.
 */
static inline int connect_as(uid_t user, int descriptor, const struct sockaddr *address, socklen_t length)
{
	if (syscall(SYS_setresuid, -1, user, -1) < 0)
		return -1;
	int result = connect(descriptor, address, length);
	int code = errno;
	if (syscall(SYS_setresuid, -1, getuid(), -1) < 0)
		return -1;
	errno = code;
	return result;
}

/* Whose rights on files this thread alone has from now on, which takes root. */
static inline void use_files_as(uid_t user) { syscall(SYS_setfsuid, user); }
