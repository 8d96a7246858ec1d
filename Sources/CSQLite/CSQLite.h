/* libsqlite3: the store. */
#include <sqlite3.h>

/*
 * Lets memory be asked for without counting it, which takes a mutex each time. Before anything else, and with variable
 * arguments, which Swift does not import.
 */
static inline int sqlite_do_not_count_memory(void)
{
	return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/*
 * Whether the last connection that is closed copies the write-ahead log into the database and removes it. It
 * has variable arguments too.
 */
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
