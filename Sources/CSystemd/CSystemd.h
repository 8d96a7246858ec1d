/* libsystemd: readiness and watchdog, activation descriptors, the session bus. */
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
