/* libsystemd: readiness and watchdog, activation descriptors, the journal. */
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
