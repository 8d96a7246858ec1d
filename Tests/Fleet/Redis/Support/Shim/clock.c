/* Preloaded into redis-server, moves its clock by the microseconds in the file that CLOCK_SHIFT names, which may change. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift;

__attribute__((constructor)) static void begin(void)
{
	int file = open(getenv("CLOCK_SHIFT"), O_RDONLY);
	void *memory = mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, file, 0);

	shift = memory == MAP_FAILED ? NULL : memory;
	close(file);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;
	int64_t moved;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	moved = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 + (shift == NULL ? 0 : *shift);
	time->tv_sec = moved / 1000000;
	time->tv_usec = moved % 1000000;
	return 0;
}
