/* libsystemd: readiness and watchdog, activation descriptors, the journal, the session bus. */
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
