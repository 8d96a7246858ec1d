/* usage: countdown KEY [SECONDS]
 *
 * Starts a countdown, or finds it running, and follows it to its end, with sd-varlink of libsystemd 257 or newer:
 *
 *     cc -o countdown countdown.c $(pkg-config --cflags --libs libsystemd)
 *
 * The countdown is the daemon's: end this program and begin it again, and it has gone on. The daemon may be restarted,
 * too: the watch is taken up where it was. */

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

struct course {
        const char *key;
        int64_t duration_usec;
        char *path;
        /* All up to this revision has been told; who comes back with it misses nothing. */
        int64_t since;
        bool is_begun, is_ended, is_lost;
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

static void tell(struct course *course, const char *what, sd_json_variant *countdown) {
        printf("%s: %s, %" PRId64 " s left\n", course->key, what, (integer(countdown, "remainingUSec") + 500000) / 1000000);
}

/* On a connection of its own: while a watch goes on, its connection takes no other call. */
static int start(struct course *course) {
        sd_varlink *daemon = NULL;
        sd_json_variant *reply = NULL;
        const char *error = NULL;
        int r;

        r = sd_varlink_connect_address(&daemon, course->path);
        if (r < 0)
                return r;
        r = sd_varlink_callbo(
                        daemon, "io.countdownd.Start", &reply, &error,
                        SD_JSON_BUILD_PAIR_STRING("key", course->key),
                        SD_JSON_BUILD_PAIR_INTEGER("durationUSec", course->duration_usec));
        if (r >= 0 && error) {
                fprintf(stderr, "Start: %s\n", error);
                exit(EXIT_FAILURE);
        }
        if (r >= 0)
                tell(course, string(reply, "outcome"), sd_json_variant_by_key(reply, "countdown"));
        sd_varlink_close_unref(daemon);
        return r;
}

static int take_event(struct course *course, sd_json_variant *event) {
        const char *type = string(event, "type");

        if (sd_json_variant_by_key(event, "revision"))
                course->since = integer(event, "revision");
        if (strcmp(type, "synced") == 0 && !course->is_begun) {
                /* From now on all is told that happens, so that nothing is missed of what is started. */
                int r = start(course);
                course->is_begun = r >= 0;
                return r;
        }
        if (strcmp(type, "tick") == 0)
                tell(course, "goes on", event);
        if (strcmp(type, "finished") == 0 || strcmp(type, "cancelled") == 0) {
                printf("%s: %s\n", course->key, type);
                course->is_ended = true;
        }
        return 0;
}

static int take_reply(
                sd_varlink *daemon,
                sd_json_variant *parameters,
                const char *error,
                sd_varlink_reply_flags_t flags,
                void *userdata) {
        struct course *course = userdata;
        sd_json_variant *events = sd_json_variant_by_key(parameters, "events");

        if (error && strcmp(error, SD_VARLINK_ERROR_DISCONNECTED) == 0) {
                course->is_lost = true;
                return 0;
        }
        if (error) {
                fprintf(stderr, "Watch: %s\n", error);
                exit(EXIT_FAILURE);
        }
        for (size_t i = 0; i < sd_json_variant_elements(events) && !course->is_ended && !course->is_lost; i++)
                course->is_lost = take_event(course, sd_json_variant_by_index(events, i)) < 0;
        return 0;
}

/* Follows the countdown to its end, or until the daemon is gone. */
static int follow(struct course *course) {
        sd_varlink *daemon = NULL;
        int r;

        r = sd_varlink_connect_address(&daemon, course->path);
        if (r < 0)
                return r;
        sd_varlink_set_userdata(daemon, course);
        sd_varlink_bind_reply(daemon, take_reply);
        /* A watch is silent for as long as nothing happens. */
        sd_varlink_set_relative_timeout(daemon, UINT64_MAX);
        r = sd_varlink_observebo(
                        daemon, "io.countdownd.Watch",
                        SD_JSON_BUILD_PAIR("keys", SD_JSON_BUILD_ARRAY(SD_JSON_BUILD_STRING(course->key))),
                        SD_JSON_BUILD_PAIR_CONDITION(
                                        course->since > 0, "since", SD_JSON_BUILD_INTEGER(course->since)));
        for (course->is_lost = false; r >= 0 && !course->is_ended && !course->is_lost;) {
                r = sd_varlink_process(daemon);
                if (r == 0)
                        r = sd_varlink_wait(daemon, UINT64_MAX);
        }
        sd_varlink_close_unref(daemon);
        return r;
}

int main(int argc, char *argv[]) {
        const char *named = getenv("COUNTDOWND_SOCKET"), *directory = getenv("XDG_RUNTIME_DIR");
        struct course course = {};

        if (argc < 2 || (!named && !directory)) {
                fprintf(stderr, "usage: %s KEY [SECONDS], with XDG_RUNTIME_DIR or COUNTDOWND_SOCKET set\n", argv[0]);
                return EXIT_FAILURE;
        }
        course.key = argv[1];
        course.duration_usec = (argc > 2 ? atof(argv[2]) : 60) * 1000000;
        if (asprintf(&course.path, "%s%s", named ?: directory, named ? "" : "/countdownd/io.countdownd") < 0)
                fail("asprintf", -ENOMEM);
        setlinebuf(stdout);

        while (!course.is_ended) {
                int r = follow(&course);
                if (course.is_ended)
                        break;
                fprintf(stderr, "no daemon%s%s; trying again\n", r < 0 ? ": " : "", r < 0 ? strerror(-r) : "");
                sleep(1);
        }
        free(course.path);
        return EXIT_SUCCESS;
}
