/*
 * Kernel calls that Swift's Glibc module lacks, or whose types are not allowed with strict memory safety. Each function
 * makes one call with plain arguments. If the call fails it returns -1 and sets errno.
 */
#pragma once

#include <errno.h>
#include <fnmatch.h>
#include <libintl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/* Files */

/* Whether a file is on a file system in memory, a tmpfs or a ramfs: 1 or 0. */
static inline int linux_is_in_memory(const char *path)
{
	struct statfs status;

	if (statfs(path, &status) < 0)
		return -1;
	return status.f_type == 0x01021994 || status.f_type == (typeof(status.f_type))0x858458f6;
}

/* epoll(7) */

/* struct epoll_event, without the union. */
struct linux_ready {
	uint64_t token;
	uint32_t events;
};

enum {
	LINUX_READABLE = EPOLLIN,
	LINUX_WRITABLE = EPOLLOUT,
	LINUX_HUNG_UP = EPOLLHUP,
	LINUX_FAILED = EPOLLERR,
	LINUX_READY_AT_ONCE = 256, /* the most events that linux_epoll_wait returns */
};

static inline int linux_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token)
{
	struct epoll_event event = { .events = events, .data.u64 = token };
	return epoll_ctl(epoll, operation, descriptor, &event);
}

/* Waits for events, for a number of nanoseconds or, if it is negative, forever. Returns the number of events. */
static inline int linux_epoll_wait(int epoll, struct linux_ready *ready, int64_t nanoseconds)
{
	struct epoll_event events[LINUX_READY_AT_ONCE];
	if (nanoseconds > 0) {
		/* epoll_wait(2) waits for whole milliseconds, and epoll_pwait2(2) is newer than some kernels. */
		struct pollfd set = { .fd = epoll, .events = POLLIN };
		struct timespec time = { .tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000 };
		if (ppoll(&set, 1, &time, NULL) <= 0)
			return 0;
	}
	int count = epoll_wait(epoll, events, LINUX_READY_AT_ONCE, nanoseconds < 0 ? -1 : 0);
	for (int i = 0; i < count; i++)
		ready[i] = (struct linux_ready){ .token = events[i].data.u64, .events = events[i].events };
	return count;
}

/* Lets waits of the calling thread end on time. By default they may be 50 us late. */
static inline void linux_wait_exactly(void)
{
	prctl(PR_SET_TIMERSLACK, 1);
}

/* unix(7) */

static inline int linux_unix_address(struct sockaddr_un *address, const char *path)
{
	size_t length = strlen(path);
	if (length >= sizeof address->sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, path, length);
	return 0;
}

static inline int linux_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static inline int linux_unix_bind(int descriptor, const char *path)
{
	struct sockaddr_un address;
	if (linux_unix_address(&address, path) < 0)
		return -1;
	return bind(descriptor, (struct sockaddr *)&address, sizeof address);
}

static inline int linux_unix_connect(int descriptor, const char *path)
{
	struct sockaddr_un address;
	if (linux_unix_address(&address, path) < 0)
		return -1;
	return connect(descriptor, (struct sockaddr *)&address, sizeof address);
}

/*
 * Sends a datagram as sd_notify(3) and sd_journal_send(3) do, but fails with EAGAIN instead of waiting for room. The path of an abstract
 * socket begins with @.
 */
static inline int linux_unix_tell(const char *path, const char *text)
{
	struct sockaddr_un address;
	if (linux_unix_address(&address, path) < 0)
		return -1;
	if (*path == '@')
		address.sun_path[0] = 0;
	int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (descriptor < 0)
		return -1;
	socklen_t length = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	ssize_t sent = sendto(descriptor, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address, length);
	int code = errno;
	close(descriptor);
	errno = code;
	return sent < 0 ? -1 : 0;
}

int accept4(int, struct sockaddr *, socklen_t *, int);

static inline int linux_accept(int listener)
{
	return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* struct ucred, which the C library declares for GNU programs only. */
struct linux_credentials {
	pid_t process;
	uid_t user;
	gid_t group;
};

/* The user of the process that connected, at that time (SO_PEERCRED). */
static inline int linux_peer_user(int descriptor, uid_t *user)
{
	struct linux_credentials credentials;
	socklen_t size = sizeof credentials;
	if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
		return -1;
	*user = credentials.user;
	return 0;
}

/* timerfd_create(2): a descriptor that becomes readable when the system clock is set. */

static inline int linux_clock_watch_create(void)
{
	return timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
}

static inline int linux_clock_watch_arm(int descriptor)
{
	/* So far away that it never fires. Reading fails with ECANCELED after the clock was set. */
	struct itimerspec never = { .it_value.tv_sec = (time_t)1 << 40 };
	return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

/* Sets the instant of a timer of the boot clock, in microseconds; 0 for none. */
static inline int linux_boot_timer_set(int descriptor, int64_t microseconds)
{
	struct itimerspec time = {
		.it_value = { .tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000 },
	};
	return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &time, NULL);
}

/* localtime_r(3) and strftime(3) */

/* Writes a date and time without a NUL. Returns the number of bytes, or 0 if the text has another length. */
static inline int linux_format_time(const struct tm *time, const char *format, unsigned char *text, size_t length)
{
	char buffer[64];
	if (time == NULL || strftime(buffer, sizeof buffer, format, time) != length)
		return 0;
	memcpy(text, buffer, length);
	return (int)length;
}

enum { LINUX_MINUTE_LENGTH = sizeof "2026-01-31 17:30" - 1 };

/* Writes the local date and time to the minute. */
static inline int linux_local_minute(time_t time, unsigned char *text)
{
	struct tm local;
	return linux_format_time(localtime_r(&time, &local), "%Y-%m-%d %H:%M", text, LINUX_MINUTE_LENGTH);
}

enum { LINUX_STAMP_LENGTH = sizeof "20260131T173000Z" - 1 };

/* Writes the date and time in UTC for a file name. */
static inline int linux_utc_stamp(time_t time, unsigned char *text)
{
	struct tm utc;
	return linux_format_time(gmtime_r(&time, &utc), "%Y%m%dT%H%M%SZ", text, LINUX_STAMP_LENGTH);
}

/* fnmatch(3), newlocale(3), gettext(3) */

/* Whether the whole text matches a pattern without escapes, character by character if the system has C.UTF-8. */
static inline int linux_pattern_matches(const char *pattern, const char *text)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK | LC_COLLATE_MASK, "C.UTF-8", (locale_t)0);
	locale_t before = utf8 != (locale_t)0 ? uselocale(utf8) : (locale_t)0;
	int matches = fnmatch(pattern, text, FNM_NOESCAPE) == 0;
	if (utf8 != (locale_t)0) {
		uselocale(before);
		freelocale(utf8);
	}
	return matches;
}

/*
 * The locale of the messages that the environment names, for linux_translate; null if the system does not have it. The
 * locale of the process stays C.
 */
static inline void *linux_message_locale(void)
{
	return newlocale(LC_CTYPE_MASK | LC_MESSAGES_MASK, "", (locale_t)0);
}

/* Where the translations of a domain are, in UTF-8. */
static inline int linux_bind_translations(const char *domain, const char *folder)
{
	return bindtextdomain(domain, folder) != NULL && bind_textdomain_codeset(domain, "UTF-8") != NULL ? 0 : -1;
}

/* The translation of a message; with a plural, of the form for the number. The message itself if there is none. */
static inline const char *linux_translate(void *locale, const char *domain, const char *message, const char *plural,
					  unsigned long number)
{
	locale_t before = uselocale((locale_t)locale);
	const char *translation = plural != NULL ? dngettext(domain, message, plural, number) : dgettext(domain, message);
	uselocale(before);
	return translation;
}

/* The message of an error number in a locale. */
static inline const char *linux_error_message(void *locale, int code)
{
	locale_t before = uselocale((locale_t)locale);
	const char *message = strerror(code);
	uselocale(before);
	return message;
}

/* signalfd(2) */

/*
 * A descriptor that becomes readable on one of these signals, which are blocked from then on. Signals that the process
 * was started to ignore stay ignored.
 */
static inline int linux_signal_descriptor(const int *signals, int count)
{
	sigset_t taken;
	sigemptyset(&taken);
	for (int i = 0; i < count; i++) {
		struct sigaction action;
		if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&taken, signals[i]);
	}
	if (pthread_sigmask(SIG_BLOCK, &taken, NULL) != 0)
		return -1;
	return signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* The number of the next signal of the descriptor and its code (si_code); 0 if there is none. */
static inline int linux_next_signal(int descriptor, int *code)
{
	struct signalfd_siginfo signal;
	if (read(descriptor, &signal, sizeof signal) != sizeof signal)
		return 0;
	*code = signal.ssi_code;
	return (int)signal.ssi_signo;
}

/* pthread_create(3) */

enum { LINUX_MOST_THREADS = 16 };

static inline void *linux_read_end(void *pipe)
{
	char byte;
	(void)!read((int)(intptr_t)pipe, &byte, 1);
	return NULL;
}

/* Starts as many threads at once, up to LINUX_MOST_THREADS, and ends them again; -1 if the system refuses one. */
static inline int linux_can_start_threads(int count)
{
	int ends[2], code = 0, started = 0;
	pthread_t threads[LINUX_MOST_THREADS];
	if (pipe(ends) < 0)
		return -1;
	while (started < count && started < LINUX_MOST_THREADS && code == 0) {
		code = pthread_create(&threads[started], NULL, linux_read_end, (void *)(intptr_t)ends[0]);
		started += code == 0;
	}
	close(ends[1]);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	close(ends[0]);
	errno = code;
	return code == 0 ? 0 : -1;
}

/* CRC-32C, the checksum of iSCSI (RFC 3720), of which common processors have an instruction */

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static inline uint32_t linux_crc32c_by_instruction(uint32_t sum, const unsigned char *bytes, size_t count)
{
	uint64_t wide = sum, word;
	for (; count >= 8; bytes += 8, count -= 8) {
		memcpy(&word, bytes, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	for (sum = (uint32_t)wide; count > 0; bytes++, count--)
		sum = __builtin_ia32_crc32qi(sum, *bytes);
	return sum;
}

static inline int linux_has_crc32c(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
__attribute__((target("crc"))) static inline uint32_t linux_crc32c_by_instruction(uint32_t sum, const unsigned char *bytes, size_t count)
{
	uint64_t word;
	for (; count >= 8; bytes += 8, count -= 8) {
		memcpy(&word, bytes, 8);
		sum = __builtin_arm_crc32cd(sum, word);
	}
	for (; count > 0; bytes++, count--)
		sum = __builtin_arm_crc32cb(sum, *bytes);
	return sum;
}

static inline int linux_has_crc32c(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
#else
static inline uint32_t linux_crc32c_by_instruction(uint32_t sum, const unsigned char *bytes, size_t count)
{
	(void)bytes;
	(void)count;
	return sum;
}

static inline int linux_has_crc32c(void)
{
	return 0;
}
#endif

/* The same by a table of half bytes. */
static inline uint32_t linux_crc32c_by_table(uint32_t sum, const unsigned char *bytes, size_t count)
{
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	for (; count > 0; bytes++, count--) {
		sum ^= *bytes;
		sum = sum >> 4 ^ table[sum & 15];
		sum = sum >> 4 ^ table[sum & 15];
	}
	return sum;
}

/* The CRC-32C of bytes that follow those of which a sum is known. */
static inline uint32_t linux_crc32c(uint32_t sum, const void *bytes, size_t count)
{
	return ~(linux_has_crc32c() ? linux_crc32c_by_instruction : linux_crc32c_by_table)(~sum, (const unsigned char *)bytes, count);
}
