/* libsqlite3: the store. */
#include <sqlite3.h>

/*
 * Whether the last connection that is closed copies the write-ahead log into the database and removes it. A call with
 * variable arguments, which Swift does not import.
 */
static inline int sqlite_keep_log_on_close(sqlite3 *database, int keeps)
{
	return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}
