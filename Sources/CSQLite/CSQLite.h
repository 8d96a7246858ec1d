/* libsqlite3: the store. Functions with variable arguments, which Swift does not import, are wrapped here. */
#include <sqlite3.h>

/*
 * Sets the library up. Call it once, before SQLite is used.
 *
 * Memory is not counted, because that takes a mutex for each allocation. No database is mapped into memory, so reading one
 * that was truncated is an error.
 */
static inline int sqlite_prepare_library(void)
{
	int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);

	if (code == SQLITE_OK)
		code = sqlite3_config(SQLITE_CONFIG_MMAP_SIZE, (sqlite3_int64)0, (sqlite3_int64)0);
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
