/* libsqlite3: the store. Functions with variable arguments, which Swift does not import, are wrapped here. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Handles SIGBUS, which the kernel sends if a page of a mapped file is gone because another program has truncated the file:
 * the index of the write-ahead log is mapped. An empty page of this process takes its place; SQLite finds no index in it and
 * makes it anew from the log, and the next commit finds that the file was truncated. Any other SIGBUS ends the process.
 */
static inline void sqlite_replace_lost_page(int number, siginfo_t *info, void *context)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)info->si_addr & ~(size - 1));

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		sigaction(number, &standard, (struct sigaction *)0);
}

/*
 * Sets the library and the process up for a store. Call it once, before SQLite is used.
 *
 * Memory is not counted, as that takes a mutex for each allocation. No database is mapped into memory, so that truncating
 * one is an error of a read; the index of the log is, so that lost pages of it are replaced. A file that reaches RLIMIT_FSIZE is an error of the write, and not
 * the end of the process.
 */
static inline int sqlite_prepare_process(void)
{
	struct sigaction lost_page = { .sa_sigaction = sqlite_replace_lost_page, .sa_flags = SA_SIGINFO };
	int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);

	if (code == SQLITE_OK)
		code = sqlite3_config(SQLITE_CONFIG_MMAP_SIZE, (sqlite3_int64)0, (sqlite3_int64)0);
	sigaction(SIGBUS, &lost_page, (struct sigaction *)0);
	signal(SIGXFSZ, SIG_IGN);
	return code;
}

/*
 * Lets nothing that is written in the schema run: no trigger, and in views, constraints and indexes no function that could
 * have an effect. The schema itself can be changed only by CREATE, ALTER and DROP.
 */
static inline void sqlite_distrust_schema(sqlite3 *database)
{
	sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
	sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
	sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/* Says whether the last connection that is closed copies the write-ahead log into the database and removes it. */
static inline int sqlite_keep_log_on_close(sqlite3 *database, int keeps)
{
	return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

/* Brings what was written to the file of a database onto the disk. */
static inline int sqlite_sync(sqlite3 *database)
{
	sqlite3_file *file;
	int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);

	return code == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) : code;
}

#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#endif

/*
 * Locks a byte of a database that SQLite never locks, beyond the end of any file. The lock belongs to the open file and not
 * to the process, so SQLite's locks are not affected by it. Returns -1 and sets errno if another open file has the lock.
 */
static inline int sqlite_lock_for_daemon(int descriptor)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INT64_C(1) << 62, .l_len = 1 };

	return fcntl(descriptor, F_OFD_SETLK, &lock);
}
