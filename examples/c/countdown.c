/* usage: countdown KEY [SECONDS]
 *
 * Starts a countdown, or finds it running, and follows it to its end, with sd-varlink of libsystemd 257 or newer:
 *
 *     cc -o countdown countdown.c $(pkg-config --cflags --libs libsystemd)
 *
 * The countdown belongs to the daemon: stop this program and run it again, and the countdown is still running. If the
 * daemon restarts, the program resumes its watch and misses no event. */

#define _GNU_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-json.h>
#include <systemd/sd-varlink.h>
#include <unistd.h>

struct watch {
        const char *key;
        int64_t duration_usec;
        char *path;
        /* All changes up to this revision have been received. A watch with it as "since" misses none; 0 before "synced". */
        int64_t since;
        bool is_synced, is_started, is_ended, is_lost;
};

static void fail(const char *what, int r) {
        fprintf(stderr, "%s: %s\n", what, strerror(-r));
        exit(EXIT_FAILURE);
}

static int64_t integer(sd_json_variant *object, const char *name) {
        sd_json_variant *value = sd_json_variant_by_key(object, name);
        return value ? sd_json_variant_integer(value) : 0;
}

static const char *string(sd_json_variant *object, const char *name) {
        sd_json_variant *value = sd_json_variant_by_key(object, name);
        return value ? sd_json_variant_string(value) : "";
}

static void show(struct watch *watch, const char *what, sd_json_variant *countdown) {
        printf("%s: %s, %" PRId64 " s left\n", watch->key, what, (integer(countdown, "remainingUSec") + 500000) / 1000000);
}

/* On a second connection: calls behind a watch wait until it ends. */
static int start(struct watch *watch) {
        sd_varlink *daemon = NULL;
        sd_json_variant *reply = NULL;
        const char *error = NULL;
        int r;

        r = sd_varlink_connect_address(&daemon, watch->path);
        if (r < 0)
                return r;
        r = sd_varlink_callbo(
                        daemon, "io.countdownd.Start", &reply, &error,
                        SD_JSON_BUILD_PAIR_STRING("key", watch->key),
                        SD_JSON_BUILD_PAIR_INTEGER("durationUSec", watch->duration_usec));
        if (r >= 0 && error) {
                fprintf(stderr, "Start: %s\n", error);
                exit(EXIT_FAILURE);
        }
        if (r >= 0)
                show(watch, string(reply, "outcome"), sd_json_variant_by_key(reply, "countdown"));
        sd_varlink_close_unref(daemon);
        return r;
}

static int handle_event(struct watch *watch, sd_json_variant *event) {
        const char *type = string(event, "type");

        if (strcmp(type, "synced") == 0)
                watch->is_synced = true;
        if (watch->is_synced && sd_json_variant_by_key(event, "revision"))
                watch->since = integer(event, "revision");
        if (strcmp(type, "synced") == 0 && !watch->is_started) {
                /* From now on the daemon sends every change, so no event of the countdown is missed. */
                int r = start(watch);
                watch->is_started = r >= 0;
                return r;
        }
        if (strcmp(type, "tick") == 0)
                show(watch, "running", event);
        if (strcmp(type, "finished") == 0 || strcmp(type, "cancelled") == 0) {
                printf("%s: %s\n", watch->key, type);
                watch->is_ended = true;
        }
        return 0;
}

static int handle_reply(
                sd_varlink *daemon,
                sd_json_variant *parameters,
                const char *error,
                sd_varlink_reply_flags_t flags,
                void *userdata) {
        struct watch *watch = userdata;
        sd_json_variant *events = sd_json_variant_by_key(parameters, "events");

        if (error && (strcmp(error, SD_VARLINK_ERROR_DISCONNECTED) == 0 ||
                      /* A daemon that has just started cannot open its store yet. */
                      strcmp(error, "io.countdownd.StorageFailed") == 0)) {
                watch->is_lost = true;
                return 0;
        }
        if (error && strcmp(error, "io.countdownd.HistoryTrimmed") == 0) {
                /* The daemon has lost its history, perhaps with the countdown: begin again. */
                watch->since = 0;
                watch->is_synced = false;
                watch->is_started = false;
                watch->is_lost = true;
                return 0;
        }
        if (error) {
                fprintf(stderr, "Watch: %s\n", error);
                exit(EXIT_FAILURE);
        }
        for (size_t i = 0; i < sd_json_variant_elements(events) && !watch->is_ended && !watch->is_lost; i++)
                watch->is_lost = handle_event(watch, sd_json_variant_by_index(events, i)) < 0;
        return 0;
}

/* Follows the countdown to its end, or until the connection ends. */
static int follow(struct watch *watch) {
        sd_varlink *daemon = NULL;
        int r;

        r = sd_varlink_connect_address(&daemon, watch->path);
        if (r < 0)
                return r;
        sd_varlink_set_userdata(daemon, watch);
        sd_varlink_bind_reply(daemon, handle_reply);
        /* A watch may be silent for any time. */
        sd_varlink_set_relative_timeout(daemon, UINT64_MAX);
        r = sd_varlink_observebo(
                        daemon, "io.countdownd.Watch",
                        SD_JSON_BUILD_PAIR("keys", SD_JSON_BUILD_ARRAY(SD_JSON_BUILD_STRING(watch->key))),
                        SD_JSON_BUILD_PAIR_CONDITION(
                                        watch->since > 0, "since", SD_JSON_BUILD_INTEGER(watch->since)));
        for (watch->is_lost = false; r >= 0 && !watch->is_ended && !watch->is_lost;) {
                r = sd_varlink_process(daemon);
                if (r == 0)
                        r = sd_varlink_wait(daemon, UINT64_MAX);
        }
        sd_varlink_close_unref(daemon);
        return r;
}

int main(int argc, char *argv[]) {
        const char *named = getenv("COUNTDOWND_SOCKET"), *directory = getenv("XDG_RUNTIME_DIR");
        struct watch watch = {};

        if (argc < 2 || (!named && !directory)) {
                fprintf(stderr, "usage: %s KEY [SECONDS], with XDG_RUNTIME_DIR or COUNTDOWND_SOCKET set\n", argv[0]);
                return EXIT_FAILURE;
        }
        watch.key = argv[1];
        watch.duration_usec = (argc > 2 ? atof(argv[2]) : 60) * 1000000;
        if (asprintf(&watch.path, "%s%s", named ?: directory, named ? "" : "/countdownd/io.countdownd") < 0)
                fail("asprintf", -ENOMEM);
        setlinebuf(stdout);

        while (!watch.is_ended) {
                int r = follow(&watch);
                if (watch.is_ended)
                        break;
                fprintf(stderr, "no daemon%s%s; trying again\n", r < 0 ? ": " : "", r < 0 ? strerror(-r) : "");
                sleep(1);
        }
        free(watch.path);
        return EXIT_SUCCESS;
}
