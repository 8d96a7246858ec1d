/* libsqlite3: the store. */
#include <sqlite3.h>
